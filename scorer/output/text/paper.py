"""Reports as the rows that papers print. Percentages have one decimal, rounded half up from the exact ratio."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scorer.core.report import Cell, Report, Suite
from scorer.output.text.figures import mean_percent, percent
from scorer.output.text.tables import table

DECIMALS = 1
"""Decimals of a percentage in a paper's table."""


def paper_tables(reports: Sequence[Report], suites: Iterable[Suite], label: str, table_format: str) -> list[str]:
    """One table with one row, named ``label``, for each suite and for each benchmark that is in none of ``suites``."""
    tables = []
    for suite in suites:
        cells = [None if report is None else report.total for _, report in suite.members]
        average = mean_percent([cell for cell in cells if cell is not None], DECIMALS) if None not in cells else "-"
        names = [column for column, _ in suite.members]
        tables.append(table(["model", *names, "Average"], [[label, *map(_share, cells), average]], table_format))
    for report in reports:
        if report.benchmark.suite and any(report is member for suite in suites for _, member in suite.members):
            continue
        if report.benchmark.suite:
            tables.append(table(["model", report.benchmark.column], [[label, _share(report.total)]], table_format))
        else:
            cells_by_label = {cell.label: cell for cell in report.categories.cells}
            columns = report.benchmark.paper
            values = [_share(cells_by_label.get(category)) for category, _ in columns]
            headers = ["model", *(heading for _, heading in columns), "Overall"]
            tables.append(table(headers, [[label, *values, _share(report.total)]], table_format))
    return tables


def _share(cell: Cell | None) -> str:
    return "-" if cell is None or not cell.n else percent(cell.hits, cell.n, DECIMALS)
