"""Figures over several attempts -> a table and JSON. Strings and plain data only."""

from __future__ import annotations

from scorer.core.report import Attempts
from scorer.output.text.figures import percent
from scorer.output.text.tables import remark, table


def attempts_table(attempts: Attempts, table_format: str) -> str:
    """The figures over several attempts, over how many examples, and how many examples go both ways."""
    rows = []
    for series in attempts.series:
        value, interval = "-", "-"
        if series.mean is not None and series.interval is not None:
            value = percent(series.mean.numerator, series.mean.denominator)
            interval = f"{series.interval[0] * 100:.1f} – {series.interval[1] * 100:.1f}"
        rows.append([series.name, value, f"{series.evaluated}/{series.total}", interval])
    text = table(["attempts", "value %", "examples", "95% CI"], rows, table_format)
    k, counts = attempts.k, attempts.consistency
    note = f"of {sum(counts)} examples with all {k} attempts: {counts[k]} right in all, {counts[0]} in none"
    return text + "\n" + remark(f"{note}, {sum(counts[1:k])} in some", table_format)
