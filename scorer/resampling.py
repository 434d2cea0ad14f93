"""What is drawn again from the examples, and the unbiased pass@k. The same seed gives the same on every Python."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from scorer.stats import binomial


def bootstrap(counts: Mapping[float, int], *, draws: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile interval of a mean, as (low, high), from resampled examples; (0, 0) without any.

    ``counts`` says how many examples have each value; for a paired difference of two files they are -1, 0 and 1.
    Each draw takes as many examples as there are, with replacement. Only how often each value is drawn matters, so
    one binomial number is drawn per value: the same distribution as drawing example by example, in far less time.
    The quantiles are the nearest-rank ones, so the ends are means that a draw gave. Source: B. Efron (1979).
    """
    n = sum(counts.values())
    if not n:
        return 0.0, 0.0
    values = sorted(counts)
    uniform = random.Random(seed).random
    means: list[float] = []
    for _ in range(draws):
        left, weight, total = n, n, 0.0
        for value in values[:-1]:
            drawn = _quantile(left, counts[value] / weight, uniform()) if left else 0
            total += value * drawn
            left -= drawn
            weight -= counts[value]
        means.append((total + values[-1] * left) / n)
    means.sort()
    return means[math.ceil(0.025 * draws) - 1], means[math.ceil(0.975 * draws) - 1]


def pass_at_k(n: int, correct: int, k: int) -> Fraction:
    """The unbiased estimate, exact, of the chance that one of ``k`` attempts is right, from ``n`` >= k attempts.

    Source: M. Chen et al. (2021), "Evaluating large language models trained on code": 1 - C(n - c, k) / C(n, k).
    """
    return 1 - Fraction(math.comb(n - correct, k), math.comb(n, k))


def _quantile(n: int, p: float, u: float) -> int:
    """The smallest number of successes in ``n`` trials whose cumulative probability reaches ``u``."""
    first, cumulated = _cumulated(n, min(p, 1.0))
    return min(first + bisect_left(cumulated, u), n)


@lru_cache(maxsize=4096)
def _cumulated(n: int, p: float) -> tuple[int, list[float]]:
    """The first number of successes that is not beyond chance, and the cumulative probabilities from there on."""
    mode = min(int((n + 1) * p), n)
    below = binomial(n, p, down_from=mode)[::-1]
    above = binomial(n, 1 - p, down_from=n - mode)[1:]
    return mode - len(below) + 1, list(accumulate(below + above))
