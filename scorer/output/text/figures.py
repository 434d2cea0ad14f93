"""How figures are written: percentages from exact ratios, p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorer.core.report import Cell

SMALLEST = 0.0001
"""Below this a p-value is not written out."""


def percent(numerator: int, denominator: int, decimals: int = 2) -> str:
    """A ratio in percent, rounded half up from the exact ratio; "0.00" where the denominator is 0."""
    if denominator == 0:
        return f"{0:.{decimals}f}"
    scale = 10**decimals
    units = (200 * scale * numerator + denominator) // (2 * denominator)
    return f"{units // scale}.{units % scale:0{decimals}d}" if decimals else str(units)


def mean_percent(cells: Sequence[Cell], decimals: int = 2) -> str:
    """The plain mean of the cells' accuracies in percent, rounded once, from the exact ratio; "" without cells."""
    if not cells or not all(cell.n for cell in cells):
        return ""
    denominator = math.prod(cell.n for cell in cells)
    numerator = sum(cell.hits * (denominator // cell.n) for cell in cells)
    return percent(numerator, denominator * len(cells), decimals)


def p_text(p_value: float) -> str:
    """A p-value with as many digits as mean something."""
    if p_value < SMALLEST:
        return f"<{SMALLEST}"
    return f"{p_value:.4f}" if p_value < 0.1 else f"{p_value:.2f}"
