"""Intervals and tests, each with its source.

Closed forms depend on neither a library nor a seed. The bootstrap draws from numpy's legacy generator, whose numbers no
version changes, so that a seed gives the same interval everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval for a proportion, as (low, high) in 0..1; (0, 1) when n is 0.

    Source: E. B. Wilson (1927), without continuity correction. Unlike the normal approximation it keeps its
    coverage near 0 and 1 and for the small cells that category tables are full of.
    """
    if n == 0:
        return 0.0, 1.0
    z2 = Z_95 * Z_95
    p = hits / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At the ends the exact bound is 0 or 1; the square root leaves a last-bit error there.
    return (0.0 if hits == 0 else centre - half), (1.0 if hits == n else centre + half)


def mean_interval(proportions: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """A 95 % interval, as (low, high), for the plain mean of independent proportions given as (hits, n).

    Source: G. Zou and A. Donner (2008), "Construction of confidence limits about effect measures" (MOVER), with
    Wilson's interval for each proportion; for a single one it is Wilson's.
    """
    below = above = mean = 0.0
    for hits, n in proportions:
        p = hits / n if n else 0.0
        low, high = wilson(hits, n)
        mean += p / len(proportions)
        below += ((p - low) / len(proportions)) ** 2
        above += ((high - p) / len(proportions)) ** 2
    return mean - math.sqrt(below), mean + math.sqrt(above)


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided p-value of the exact McNemar test: how likely so uneven a split of the changes is by chance alone.

    ``gained`` and ``lost`` are the examples that only the one and only the other got right; without any it is 1.
    Source: the exact conditional test, a binomial test of min(gained, lost) in gained + lost at one half.
    """
    n = gained + lost
    tail = sum(binomial(n, 0.5, down_from=min(gained, lost)))
    return min(1.0, 2 * tail)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p-values, in their order: each may be held against one level for all.

    Source: S. Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return adjusted


def binomial(n: int, p: float, *, down_from: int) -> list[float]:
    """Probabilities of ``down_from`` successes in ``n`` trials, one less, and so on until no double can tell."""
    if p in (0.0, 1.0):
        return [1.0] if down_from == n * p else [0.0]
    logarithm = math.lgamma(n + 1) - math.lgamma(down_from + 1) - math.lgamma(n - down_from + 1)
    probability = math.exp(logarithm + down_from * math.log(p) + (n - down_from) * math.log1p(-p))
    terms = [probability]
    for successes in range(down_from, 0, -1):
        probability *= successes * (1 - p) / ((n - successes + 1) * p)
        terms.append(probability)
        if probability <= 1e-20 * terms[0]:
            break
    return terms


_DRAWN_AT_ONCE = 2**19
"""Upper bound on the random numbers held at a time: 4 MiB of doubles, whatever the draws and values."""


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
        some = min(draws - len(means), _DRAWN_AT_ONCE // len(values) + 1)
        means += (generator.multinomial(n, shares, size=some) @ numpy.array(values, dtype=float) / n).tolist()
    means.sort()
    return means[math.ceil(0.025 * draws) - 1], means[math.ceil(0.975 * draws) - 1]


def pass_at_k(n: int, correct: int, k: int) -> Fraction:
    """The unbiased estimate, exact, of the chance that one of ``k`` attempts is right, from ``n`` >= k attempts.

    Source: M. Chen et al. (2021), "Evaluating large language models trained on code": 1 - C(n - c, k) / C(n, k).
    """
    from fractions import Fraction

    return 1 - Fraction(math.comb(n - correct, k), _choices(n, k))


@lru_cache(maxsize=64)
def _choices(n: int, k: int) -> int:
    """C(n, k), a number of thousands of digits where there are thousands of attempts; most examples have as many."""
    return math.comb(n, k)
