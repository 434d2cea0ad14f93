"""Reports, findings and records -> text, JSON and rows. Strings and plain data only; nothing here writes.

Everything that comes from a file is escaped on its way out: control, format and bidirectional characters for the
terminal, markup for the table format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from scorer._version import __version__
from scorer.core.errors import ScorerError
from scorer.core.findings import Finding, count_severities
from scorer.core.records import GroundTruth, Verdict
from scorer.core.report import Cell, Check, Report, Suite, Table
from scorer.core.signature import parse_signature
from scorer.core.spaces import meaning
from scorer.core.stats import wilson
from scorer.output.text.aggregation import aggregation_json, aggregation_text, exact_percent
from scorer.output.text.attempts import attempts_json, attempts_table
from scorer.output.text.figures import mean_percent, percent
from scorer.output.text.tables import escape, remark, table
from scorer.profiles import PROFILES

SHOWN_PER_CODE = {"error": 20, "warning": 3, "note": 3}


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


def score_only(reports: Sequence[Report], found: Iterable[Suite]) -> str:
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


def report_json(report: Report) -> dict[str, Any]:
    """A report as data. The public scorer's keys keep their places and their rounding; others stand beside them."""
    truth, total = report.ground_truth, report.total
    data: dict[str, Any] = {
        "accepted": True,
        "benchmark": report.benchmark.id,
        "n": total.n,
        "accuracy": round(total.accuracy, 4),
        "hits": total.hits,
        "missing_predictions": report.missing_predictions,
    }
    for axis_table in report.tables:
        data[f"by_{axis_table.axis.name}"] = {
            cell.label: {"acc": round(cell.accuracy, 4), "n": cell.n} for cell in axis_table.cells
        }
    data |= {
        "ci95": _interval(total),
        "outcomes": dict(report.outcomes),
        "no_answer_reasons": dict(report.no_answer_reasons),
        "false_refusals": report.false_refusals,
        "refusal_markers": dict(report.refusal_markers),
        "answered": _cell_json(report.answered),
        "tables": {
            axis_table.axis.name: {
                "overlapping": axis_table.axis.overlapping,
                "cells": [{"label": cell.label, **_cell_json(cell)} for cell in axis_table.cells],
            }
            for axis_table in report.tables
        },
        "macro": _macro_json(report.categories),
        "coordinates": {
            "space": None if report.space is None else str(report.space),
            "row_spaces": [str(space) for space in report.row_spaces],
        },
        "alternatives": {
            other.name: {"reason": other.reason, "rows": other.rows, **_cell_json(Cell("", other.hits, total.n))}
            for other in report.alternatives
        },
        "ground_truth": _ground_truth_json(truth),
        "signature": report.signature,
        "signature_fields": parse_signature(report.signature),
        "version": __version__,
    }
    if report.variant:
        data["variant"] = report.variant
    if report.profile:
        data["profile"] = report.profile
    if truth.filter:
        data["filter"] = truth.filter
    if report.actionable is not None and report.refusals is not None:
        data["actionable"] = _cell_json(report.actionable)
        data["refusals"] = _cell_json(report.refusals)
    if report.aggregation is not None:
        data["aggregation"] = aggregation_json(report.aggregation)
    if report.attempts is not None:
        data["attempts"] = attempts_json(report.attempts)
    data["findings"] = [finding_json(finding) for finding in report.findings]
    data["finding_counts"] = dict(report.finding_counts)
    return data


def reports_json(reports: Sequence[Report], found: Iterable[Suite]) -> dict[str, Any]:
    """One report as it is; several below ``benchmarks``, with the suites that they make up."""
    if len(reports) == 1:
        return report_json(reports[0])
    return {
        "accepted": True,
        "suites": {
            suite.name: {
                "accuracy": {
                    column: None if report is None else round(report.total.accuracy, 4)
                    for column, report in suite.members
                },
                "average": None if suite.average is None else round(suite.average, 4),
            }
            for suite in found
        },
        "benchmarks": {report.benchmark.id: report_json(report) for report in reports},
    }


def refusal_json(error: ScorerError) -> dict[str, Any]:
    """A refused file, or one whose ground truth is missing: why, the findings, and no accuracy."""
    return {
        "accepted": False,
        "error": error.message,
        "findings": [finding_json(finding) for finding in error.findings],
        "finding_counts": error.counts,
        "version": __version__,
    }


def check_json(checked: Check) -> dict[str, Any]:
    """The strict check as data."""
    return {
        "accepted": checked.accepted,
        "benchmarks": list(checked.benchmarks),
        "rows": checked.rows,
        "ground_truth": {truth.benchmark.id: _ground_truth_json(truth) for truth in checked.ground_truths},
        "absent_ids": {name: list(ids) for name, ids in checked.absent.items()},
        "findings": [finding_json(finding) for finding in checked.findings],
        "finding_counts": dict(checked.finding_counts),
        "version": __version__,
    }


def check_lines(checked: Check, *, show_all: bool) -> Iterator[str]:
    """Every finding that was kept, the absent ids if all are asked for, and the verdict with its counts."""
    yield from finding_lines(checked.findings, checked.finding_counts, show_all=True)
    if show_all:
        for name, ids in checked.absent.items():
            if ids:
                yield escape(f"without a row in {name}: {', '.join(ids)}")
    totals = count_severities(checked.finding_counts, strict=True)
    counted = ((totals["error"], "error"), (totals["warning"], "warning"))
    found = ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in counted)
    of = f" of {', '.join(checked.benchmarks)}" if checked.benchmarks else ""
    rows = "1 row" if checked.rows == 1 else f"{checked.rows} rows"
    yield f"{'accepted' if checked.accepted else 'not accepted'}: {found} in {rows}{of}"


def dump(data: Any, indent: int | None = None) -> str:
    """JSON in ASCII: no character of a file reaches a terminal unescaped, no lone surrogate stops an encoder."""
    return json.dumps(data, indent=indent, ensure_ascii=True, allow_nan=False)


def details(report: Report) -> Iterator[dict[str, Any]]:
    """One row per example, in ground-truth order; geometry in pixels of the original screenshot."""
    for verdict in report.verdicts:
        yield detail(verdict, report.benchmark.id)


def detail(verdict: Verdict, benchmark: str) -> dict[str, Any]:
    """A verdict as data. Keys without a value are left out."""
    example, prediction = verdict.example, verdict.prediction
    row: dict[str, Any] = {
        "benchmark": benchmark,
        "id": example.id,
        "outcome": verdict.outcome,
        "rule": example.rule,
        "target": list(example.target),
    }
    if prediction is not None:
        if prediction.points:
            row["points"] = [list(point) for point in prediction.points]
        if prediction.bbox is not None:
            row["bbox"] = list(prediction.bbox)
        if verdict.outcome == "no_answer":
            row["reason"] = prediction.fault or "wrong-shape"
        if prediction.error is not None:
            row["error"] = prediction.error
    for name, value in (
        ("coverage", verdict.coverage),
        ("precision", verdict.precision),
        ("distance", verdict.distance),
    ):
        if value is not None and math.isfinite(value):
            row[name] = value
    if prediction is not None:
        row["source"], row["line"] = prediction.source, prediction.line
    return row


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding as data; line, column and id are left out where there is none."""
    return {key: value for key, value in finding._asdict().items() if value not in (0, "")}


def finding_lines(findings: Iterable[Finding], counts: Mapping[str, int], *, show_all: bool) -> list[str]:
    """Findings as aligned lines: place, severity, code, message. Long runs of one code are cut, and said to be."""
    kept = list(findings)
    shown: list[Finding] = []
    seen: dict[str, int] = {}
    for finding in kept:
        seen[finding.code] = seen.get(finding.code, 0) + 1
        if show_all or seen[finding.code] <= SHOWN_PER_CODE[finding.severity]:
            shown.append(finding)
    rows = [(_place(finding), finding.severity, finding.code, _message(finding)) for finding in shown]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    for code, many in groupby(sorted(finding.code for finding in kept)):
        total = max(counts.get(code, 0), len(list(many)))
        left = total - sum(finding.code == code for finding in shown)
        if left:
            hint = "only the first are kept" if show_all else "--all lists them"
            lines.append(f"… and {left} more {code} ({hint})")
    return lines


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
    macro = f"macro {mean_percent(cells)} % (mean of {len(cells)} {overlapping}{axis.name} cells)"
    yield f"micro {percent(total.hits, total.n)} % (hits/n) · {macro}"
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
    low, high = wilson(cell.hits, cell.n)
    return f"{low * 100:.1f} – {high * 100:.1f}"


def _interval(cell: Cell) -> list[float]:
    return [round(bound, 4) for bound in wilson(cell.hits, cell.n)]


def _cell_json(cell: Cell) -> dict[str, Any]:
    if not cell.n:
        return {"hits": 0, "n": 0, "accuracy": None, "ci95": None}
    return {"hits": cell.hits, "n": cell.n, "accuracy": round(cell.accuracy, 4), "ci95": _interval(cell)}


def _macro_json(categories: Table) -> dict[str, Any]:
    """The plain mean of the category cells: another figure than the score."""
    cells = categories.cells
    mean = sum(cell.accuracy for cell in cells) / len(cells) if cells else None
    return {"axis": categories.axis.name, "cells": len(cells), "value": None if mean is None else round(mean, 4)}


def _ground_truth_json(truth: GroundTruth) -> dict[str, Any]:
    """What the predictions were held against."""
    data: dict[str, Any] = {
        "path": truth.path,
        "sha256": truth.sha256,
        "official": truth.official,
        "examples": len(truth.examples),
    }
    if truth.variant:
        data["variant"] = truth.variant
    if truth.categories_source:
        data |= {"categories": truth.categories_source, "categories_sha256": truth.categories_sha256}
    data["findings"] = [finding_json(finding) for finding in truth.findings]
    return data


def _place(finding: Finding) -> str:
    place = escape(finding.source)
    return f"{place}:{finding.line}" if finding.line else place


def _message(finding: Finding) -> str:
    prefix = f"{finding.id}: " if finding.id and finding.id not in finding.message else ""
    return escape(prefix + finding.message)
