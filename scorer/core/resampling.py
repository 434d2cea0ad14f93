"""What is drawn again from the examples, and the unbiased pass@k. The same seed gives the same on every Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

BLOCK = 2**19
"""So many numbers are drawn at a time, whatever the draws and values: 4 MiB."""


def bootstrap(counts: Mapping[float, int], *, draws: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile interval of a mean, as (low, high), from resampled examples; (0, 0) without any.

    ``counts`` says how many examples have each value; for a paired difference of two files they are -1, 0 and 1.
    Each draw takes as many examples as there are, with replacement. Only how often each value is drawn matters, so
    one multinomial number is drawn: the same distribution as drawing example by example, in far less time. The
    generator is numpy's legacy one, whose numbers no version changes (NEP 19).
    The quantiles are the nearest-rank ones, so the ends are means that a draw gave. Source: B. Efron (1979).
    """
    n = sum(counts.values())
    if not n:
        return 0.0, 0.0
    import numpy

    values = sorted(counts)
    shares = [counts[value] / n for value in values]
    generator = numpy.random.RandomState(numpy.random.MT19937(seed))
    means: list[float] = []
    while len(means) < draws:
        some = min(draws - len(means), BLOCK // len(values) + 1)
        means += (generator.multinomial(n, shares, size=some) @ numpy.array(values, dtype=float) / n).tolist()
    means.sort()
    return means[math.ceil(0.025 * draws) - 1], means[math.ceil(0.975 * draws) - 1]


def pass_at_k(n: int, correct: int, k: int) -> Fraction:
    """The unbiased estimate, exact, of the chance that one of ``k`` attempts is right, from ``n`` >= k attempts.

    Source: M. Chen et al. (2021), "Evaluating large language models trained on code": 1 - C(n - c, k) / C(n, k).
    """
    return 1 - Fraction(math.comb(n - correct, k), _choices(n, k))


@lru_cache(maxsize=64)
def _choices(n: int, k: int) -> int:
    """C(n, k), a number of thousands of digits where there are thousands of attempts; most examples have as many."""
    return math.comb(n, k)
