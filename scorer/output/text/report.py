"""Reports as text: headline, outcomes, tables, signature.

All text that comes from a file is escaped: characters that a terminal would act on, and the markup of the table format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scorer.core.report import Report, Suite
from scorer.core.spaces import meaning
from scorer.output.text.figures import exact_percent, interval_percent, mean_percent, percent
from scorer.output.text.tables import axis_table, escape, is_printed, remark, remarks, table
from scorer.profiles import PROFILES


def report_text(report: Report, *, table_format: str, axes: Sequence[str] = ()) -> str:
    """A report as text: headline, outcomes, the space of the coordinates, a table for each axis, signature.

    ``axes`` are the names of the axes to print; without any, those that are not too long.
    """
    blocks = [remarks(_head(report), table_format)]
    if report.aggregation is not None:
        from scorer.output.text.aggregation import aggregation_text

        blocks.append(aggregation_text(report.aggregation, table_format))
    if report.attempts is not None:
        from scorer.output.text.attempts import attempts_table

        blocks.append(attempts_table(report.attempts, table_format))
    for axis, cells in report.tables:
        if is_printed(axis, len(cells), axes):
            rows = [
                [cell.label, str(cell.hits), str(cell.n), percent(cell.hits, cell.n), interval_percent(cell.interval)]
                for cell in cells
            ]
            blocks.append(axis_table(axis, ["hits", "n", "acc %", "95% CI"], rows, table_format))
    blocks.append(remark(f"signature: {report.signature}", table_format))
    return "\n\n".join(blocks)


def suite_text(suite: Suite, *, table_format: str) -> str:
    """A table of the accuracies that a suite is ranked by, in percent, with their plain mean."""
    headers = [suite.name, *(column for column, _ in suite.members), "average"]
    values = [percent(r.total.hits, r.total.n) if r is not None else "-" for _, r in suite.members]
    text = table(headers, [["acc %", *values, suite_percent(suite) or "-"]], table_format)
    missing = [column for column, report in suite.members if report is None]
    if missing:
        note = f"no average: {', '.join(missing)} not in the predictions"
        text += "\n" + remark(note, table_format)
    return text


def score_only_text(reports: Sequence[Report], found: Iterable[Suite]) -> str:
    """The score in percent and nothing else; where there are several benchmarks, a line with name and score for each.

    The score is the figure of the aggregation where one was asked for. A suite has a line of its own only where none
    was, because it is defined as the mean of accuracies.
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
    """The mean of a suite's accuracies in percent, rounded half up from the exact value; "" if one is missing."""
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
        accuracy, interval = percent(cell.hits, cell.n), interval_percent(cell.interval)
        yield f"{label.ljust(width)} {accuracy:>6} %   {cell.hits}/{cell.n}   95% CI {interval}"
    axis, cells = report.categories
    overlapping = "overlapping " if axis.overlapping else ""
    macro = f" · macro {mean_percent(cells)} % (mean of {len(cells)} {overlapping}{axis.name} cells)" if cells else ""
    yield f"micro {percent(total.hits, total.n)} % (hits/n){macro}"
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
    """The spaces that the coordinates of the file were read in, each with its meaning."""
    parts: list[str] = []
    if report.space is not None:
        named = PROFILES[report.profile].space if report.profile else None
        declared = f", by profile {report.profile}" if named == report.space else ""
        parts.append(f"{report.space} ({meaning(report.space)}){declared}")
    if report.row_spaces:
        own = ", ".join(f"{space} ({meaning(space)})" for space in report.row_spaces)
        parts.append(f"as the rows say: {own}")
    return "; ".join(parts)
