"""Reports as people read them: headline, outcomes, tables, signature. Strings only; nothing here writes.

Everything that comes from a file is escaped on its way out: control, format and bidirectional characters for the
terminal, markup for the table format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scorer.core.report import Cell, Report, Suite, Table
from scorer.core.spaces import meaning
from scorer.output.text.aggregation import aggregation_text, exact_percent
from scorer.output.text.attempts import attempts_table
from scorer.output.text.figures import mean_percent, percent
from scorer.output.text.tables import escape, remark, table
from scorer.profiles import PROFILES


def report_text(report: Report, *, table_format: str, axes: Sequence[str] = ()) -> str:
    """A report as people read it: headline, outcomes, what the numbers mean, tables, signature.

    ``axes`` names the tables wanted; by default those of the benchmark that are not too long to print.
    """
    lines = [remark(line, table_format) for line in _head(report)]
    blocks = ["\n".join(lines)]
    if report.aggregation is not None:
        blocks.append(aggregation_text(report.aggregation, table_format))
    if report.attempts is not None:
        blocks.append(attempts_table(report.attempts, table_format))
    for axis_table in report.tables:
        axis, cells = axis_table.axis, axis_table.cells
        wanted = axis.name in axes if axes else axis.print_up_to is None or len(cells) <= axis.print_up_to
        if wanted:
            blocks.append(_axis_table(axis_table, table_format))
    blocks.append(remark(f"signature: {report.signature}", table_format))
    return "\n\n".join(blocks)


def suite_text(suite: Suite, *, table_format: str) -> str:
    """The accuracies that a suite is ranked by, in percent, and their plain mean."""
    headers = [suite.name, *(column for column, _ in suite.members), "average"]
    values = [percent(r.total.hits, r.total.n) if r is not None else "-" for _, r in suite.members]
    text = table(headers, [["acc %", *values, suite_percent(suite) or "-"]], table_format)
    missing = [column for column, report in suite.members if report is None]
    if missing:
        note = f"no average: {', '.join(missing)} not in the predictions"
        text += "\n" + remark(note, table_format)
    return text


def score_only_text(reports: Sequence[Report], found: Iterable[Suite]) -> str:
    """The bare percentage, of the aggregation if one is asked for; one line per benchmark where there are several.

    A suite is the mean of accuracies, so it has no line beside other figures.
    """
    values = [
        percent(report.total.hits, report.total.n)
        if report.aggregation is None
        else exact_percent(report.aggregation.value)
        for report in reports
    ]
    if len(reports) == 1:
        return values[0]
    lines = [f"{report.benchmark.id} {value}" for report, value in zip(reports, values, strict=True)]
    if all(report.aggregation is None for report in reports):
        lines += [f"{suite.name} {average}" for suite in found if (average := suite_percent(suite))]
    return "\n".join(lines)


def suite_percent(suite: Suite) -> str:
    """The mean of a suite's accuracies in percent, rounded once; "" while a benchmark is missing."""
    totals = [report.total for _, report in suite.members if report is not None]
    return mean_percent(totals) if len(totals) == len(suite.members) else ""


def _head(report: Report) -> Iterator[str]:
    outcomes, total = report.outcomes, report.total
    name = report.benchmark.id + (f" ({report.variant})" if report.variant else "")
    rows = [(name, total)]
    if report.actionable is not None and report.actionable.n:
        rows.append(("actionable (without refusals)", report.actionable))
    width = max(len(label) for label, _ in rows) + 2
    for label, cell in rows:
        yield (f"{label.ljust(width)} {percent(cell.hits, cell.n):>6} %   {cell.hits}/{cell.n}   95% CI {_range(cell)}")
    axis, cells = report.categories
    overlapping = "overlapping " if axis.overlapping else ""
    micro = f"micro {percent(total.hits, total.n)} % (hits/n)"
    yield (
        f"{micro} · macro {mean_percent(cells)} % (mean of {len(cells)} {overlapping}{axis.name} cells)"
        if cells
        else micro
    )
    parts = [f"{outcome} {count}" for outcome, count in outcomes.items()]
    if report.false_refusals or report.actionable is not None:
        parts.append(f"false refusals {report.false_refusals}")
    yield " · ".join(parts)
    if report.refusal_markers:
        named = ", ".join(f"{escape(marker)} {count}" for marker, count in report.refusal_markers.items())
        strict = "refusal:negative-only" in report.signature.split("|")
        yield f"refusals by marker: {named}" + (" (not counted: only negative answers refuse)" if strict else "")
    if report.no_answer_reasons:
        reasons = ", ".join(f"{code} {count}" for code, count in report.no_answer_reasons.items())
        yield f"no_answer because of: {reasons}"
    if report.missing_predictions and report.answered.n:
        cell = report.answered
        yield f"answered rows only: {cell.hits}/{cell.n} = {percent(cell.hits, cell.n)} % (not the score)"
    for other in report.alternatives:
        figure = f"{other.hits}/{total.n} = {percent(other.hits, total.n)} %"
        yield f"{other.reason}: {figure} (not the score)"
    yield f"coordinates: {_coordinates(report)}"
    if report.ground_truth.filter:
        known = total.n + len(report.ground_truth.left_out)
        yield f"filtered: {escape(report.ground_truth.filter)}; {total.n} of {known} examples"


def _coordinates(report: Report) -> str:
    """What the numbers of the file were taken to mean."""
    parts: list[str] = []
    if report.space is not None:
        named = PROFILES[report.profile].space if report.profile else None
        declared = f", by profile {report.profile}" if named == report.space else ""
        parts.append(f"{report.space} ({meaning(report.space)}){declared}")
    if report.row_spaces:
        own = ", ".join(f"{space} ({meaning(space)})" for space in report.row_spaces)
        parts.append(f"as the rows say: {own}")
    return "; ".join(parts)


def _axis_table(axis_table: Table, table_format: str) -> str:
    rows = [
        [cell.label, str(cell.hits), str(cell.n), percent(cell.hits, cell.n), _range(cell)] for cell in axis_table.cells
    ]
    text = table([axis_table.axis.name, "hits", "n", "acc %", "95% CI"], rows, table_format)
    if axis_table.axis.overlapping:
        note = "overlapping: one example may count in several rows, so they do not add up to n"
        text += "\n" + remark(note, table_format)
    return text


def _range(cell: Cell) -> str:
    low, high = cell.interval
    return f"{low * 100:.1f} – {high * 100:.1f}"
