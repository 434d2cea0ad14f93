"""Figures over several attempts -> a table and JSON. Strings and plain data only."""

from __future__ import annotations

from typing import Any

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


def attempts_json(attempts: Attempts) -> dict[str, Any]:
    """The figures over several attempts as data; ``consistency`` counts examples by how often they were right."""
    return {
        "k": attempts.k,
        "most": attempts.most,
        "observed": attempts.observed,
        "run_errors": attempts.errors,
        "series": [
            {
                "name": series.name,
                "value": None if series.mean is None else round(float(series.mean), 4),
                "evaluated": series.evaluated,
                "total": series.total,
                "ci95": None if series.interval is None else [round(end, 4) for end in series.interval],
            }
            for series in attempts.series
        ],
        "consistency": list(attempts.consistency),
    }
