"""Intervals. Closed forms only, so that a number does not depend on a library or a seed."""

from __future__ import annotations

import math

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
