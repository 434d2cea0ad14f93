"""Reports, verdicts and comparisons as plain data, as ``--json`` and ``--details`` write them. Nothing here writes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scorer._version import __version__
from scorer.core.errors import ScorerError
from scorer.core.records import Verdict
from scorer.core.report import Report, Suite

if TYPE_CHECKING:
    from scorer.evidence.compare import Comparison, Counts
    from scorer.evidence.diagnosis.records import Diagnosis


def dump(data: Any, indent: int | None = None) -> str:
    """JSON in ASCII: no character of a file reaches a terminal unescaped, no lone surrogate stops an encoder."""
    return json.dumps(data, indent=indent, ensure_ascii=True, allow_nan=False)


def report_json(report: Report) -> dict[str, Any]:
    """A report as plain data: ``report.to_dict()``."""
    return report.to_dict()


def reports_json(reports: Sequence[Report], found: Iterable[Suite]) -> dict[str, Any]:
    """One report as it is; several below ``benchmarks``, with the suites that they make up."""
    if len(reports) == 1:
        return reports[0].to_dict()
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
        "benchmarks": {report.benchmark.id: report.to_dict() for report in reports},
    }


def rejection_json(error: ScorerError) -> dict[str, Any]:
    """A rejected file, or one whose ground truth is missing: why, the findings, and no accuracy."""
    return {
        "accepted": False,
        "error": error.message,
        "findings": [finding.to_dict() for finding in error.findings],
        "finding_counts": error.counts,
        "version": __version__,
    }


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


def comparison_json(found: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    """A comparison as data; differences are the other file's less the first one's."""
    return {
        "benchmark": found.first.benchmark.id,
        "first": {"source": names[0], "signature": found.first.signature},
        "other": {"source": names[1], "signature": found.other.signature},
        "differing": list(found.differing),
        **_counts_json(found.counts),
        "ci95": [round(end, 4) for end in found.interval],
        "gained_ids": list(found.gained),
        "lost_ids": list(found.lost),
        "axes": {
            axis.name: {
                "overlapping": axis.overlapping,
                "cells": [
                    {"label": cell.label, **_counts_json(cell.counts), "p_holm": cell.adjusted} for cell in cells
                ],
            }
            for axis, cells in found.axes
        },
        "signature": found.signature,
        "version": __version__,
    }


def _counts_json(counts: Counts) -> dict[str, Any]:
    return {
        "n": counts.n,
        "both": counts.both,
        "gained": counts.gained,
        "lost": counts.lost,
        "neither": counts.neither,
        "difference": round((counts.gained - counts.lost) / counts.n, 4) if counts.n else None,
        "p_mcnemar": counts.p_value,
    }


def diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """A diagnosis as data: the records under the names of their fields; ``named`` the better readings' names."""
    data = diagnosis._asdict()
    for key in ("readings", "misses", "signs"):
        data[key] = [record._asdict() for record in data[key]]
    data["fit"] = None if diagnosis.fit is None else diagnosis.fit._asdict()
    data["named"] = [reading.name for reading in diagnosis.named]
    return data


def attach(data: dict[str, Any], diagnoses: Sequence[Diagnosis]) -> None:
    """Put each diagnosis under ``diagnosis`` of its report's JSON."""
    for diagnosis in diagnoses:
        report = data if len(diagnoses) == 1 else data["benchmarks"][diagnosis.benchmark]
        report["diagnosis"] = diagnosis_json(diagnosis)
