"""How figures are written: percentages from exact ratios, p-values."""

from __future__ import annotations

SMALLEST = 0.0001
"""Below this a p-value is not written out."""


def percent(numerator: int, denominator: int, decimals: int = 2) -> str:
    """A ratio in percent, rounded half up from the exact ratio; "0.00" where the denominator is 0."""
    if denominator == 0:
        return f"{0:.{decimals}f}"
    scale = 10**decimals
    units = (200 * scale * numerator + denominator) // (2 * denominator)
    return f"{units // scale}.{units % scale:0{decimals}d}" if decimals else str(units)


def p_text(p_value: float) -> str:
    """A p-value with as many digits as mean something."""
    if p_value < SMALLEST:
        return f"<{SMALLEST}"
    return f"{p_value:.4f}" if p_value < 0.1 else f"{p_value:.2f}"
