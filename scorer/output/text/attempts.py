"""Figures over several attempts as text."""

from __future__ import annotations

from scorer.core.report import Attempts
from scorer.output.text.figures import exact_percent, interval_percent
from scorer.output.text.tables import remark, table


def attempts_table(attempts: Attempts, table_format: str) -> str:
    """A table of the figures, each with its number of examples, and a line on how often examples were right."""
    rows = [
        [
            series.name,
            exact_percent(series.mean),
            f"{series.evaluated}/{series.total}",
            "-" if series.interval is None else interval_percent(series.interval),
        ]
        for series in attempts.series
    ]
    text = table(["attempts", "value %", "examples", "95% CI"], rows, table_format)
    k, counts = attempts.k, attempts.consistency
    note = f"of {sum(counts)} examples with all {k} attempts: {counts[k]} right in all, {counts[0]} in none"
    return text + "\n" + remark(f"{note}, {sum(counts[1:k])} in some", table_format)
