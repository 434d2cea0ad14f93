"""Reports, verdicts, comparisons and diagnoses as plain data: what ``--json`` and ``--details`` write."""

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
    """JSON in ASCII: a terminal acts on no character of it, and a lone surrogate from a file can be encoded.

    Raises ValueError for a number that is not finite.
    """
    return json.dumps(data, indent=indent, ensure_ascii=True, allow_nan=False)


def report_json(report: Report) -> dict[str, Any]:
    """A report as plain data: ``report.to_dict()``."""
    return report.to_dict()


def reports_json(reports: Sequence[Report], found: Iterable[Suite]) -> dict[str, Any]:
    """The data of one report; of several, each below ``benchmarks``, with the ``suites`` that they belong to."""
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
    """Why there is no score, because the predictions were rejected or the ground truth cannot be used. No accuracy."""
    return {
        "accepted": False,
        "error": error.message,
        "findings": [finding.to_dict() for finding in error.findings],
        "finding_counts": error.counts,
        "version": __version__,
    }


def details(report: Report) -> Iterator[dict[str, Any]]:
    """One row per example, in ground-truth order; see ``detail``."""
    for verdict in report.verdicts:
        yield detail(verdict, report.benchmark.id)


def detail(verdict: Verdict, benchmark: str) -> dict[str, Any]:
    """A verdict of a benchmark as data. Coordinates and distances are in pixels of the original screenshot.

    Keys without a value are left out, as are numbers that are not finite.
    """
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
    """A comparison as data. ``names`` are those of the first and of the other file.

    Differences are accuracies in -1..1, the other file's minus the first one's.
    """
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
    """A diagnosis as data: its fields by their names, and under ``named`` the names of the better readings."""
    data = diagnosis._asdict()
    for key in ("readings", "misses", "signs"):
        data[key] = [record._asdict() for record in data[key]]
    data["fit"] = None if diagnosis.fit is None else diagnosis.fit._asdict()
    data["named"] = [reading.name for reading in diagnosis.named]
    return data


def attach(data: dict[str, Any], diagnoses: Sequence[Diagnosis]) -> None:
    """Add each diagnosis to the data of its report, under ``diagnosis``. ``data`` is what ``reports_json`` returned."""
    for diagnosis in diagnoses:
        report = data if len(diagnoses) == 1 else data["benchmarks"][diagnosis.benchmark]
        report["diagnosis"] = diagnosis_json(diagnosis)
