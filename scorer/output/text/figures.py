"""Numbers as text: percentages from exact ratios, intervals, p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scorer.core.report import Cell

if TYPE_CHECKING:
    from fractions import Fraction

SMALLEST = 0.0001
"""Smallest p-value that is written as a number; a smaller one is written as "<0.0001"."""


def percent(numerator: int, denominator: int, decimals: int = 2) -> str:
    """A ratio of whole numbers in percent, rounded half up from the exact ratio; "0.00" where the denominator is 0."""
    if denominator == 0:
        return f"{0:.{decimals}f}"
    scale = 10**decimals
    units = (200 * scale * numerator + denominator) // (2 * denominator)
    return f"{units // scale}.{units % scale:0{decimals}d}" if decimals else str(units)


def mean_percent(cells: Sequence[Cell], decimals: int = 2) -> str:
    """The plain mean of the cells' accuracies in percent, rounded half up from the exact ratio.

    "" where there are no cells or where one of them has no examples.
    """
    if not cells or not all(cell.n for cell in cells):
        return ""
    denominator = math.prod(cell.n for cell in cells)
    numerator = sum(cell.hits * (denominator // cell.n) for cell in cells)
    return percent(numerator, denominator * len(cells), decimals)


def exact_percent(value: Fraction | None) -> str:
    """A fraction in 0..1 in percent, rounded half up from the exact value; "-" for None."""
    return "-" if value is None else percent(value.numerator, value.denominator)


def interval_percent(interval: tuple[float, float]) -> str:
    """An interval (low, high) in 0..1 in percent, with one decimal."""
    low, high = interval
    return f"{low * 100:.1f} – {high * 100:.1f}"


def p_text(p_value: float) -> str:
    """A p-value with two decimals, four below 0.1, or as "<0.0001"."""
    if p_value < SMALLEST:
        return f"<{SMALLEST}"
    return f"{p_value:.4f}" if p_value < 0.1 else f"{p_value:.2f}"
