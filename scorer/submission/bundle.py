"""Predictions and answers about the run -> the files of a bundle: official rows, claimed figures and hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scorer._version import __version__
from scorer.api import examine_streams
from scorer.core.errors import PredictionsError
from scorer.core.records import Verdict
from scorer.core.report import Check, Report
from scorer.output.data import dump, report_json
from scorer.submission.files import PREDICTIONS, SUBMISSION, SUMS, opener_of, sums

FORMAT = 1
"""Version of the form of submission.json; verification accepts this version alone."""

CLAIMS = (
    "n",
    "accuracy",
    "hits",
    "missing_predictions",
    "ci95",
    "outcomes",
    "false_refusals",
    "actionable",
    "refusals",
    "tables",
    "signature",
)
"""Keys of the JSON report that a bundle claims. Verification computes each from the predictions and compares."""


def predictions_name(benchmark: str) -> str:
    """Name of the predictions file of a benchmark in a bundle: ``predictions/BENCHMARK.jsonl``."""
    return f"{PREDICTIONS}/{benchmark}.jsonl"


def make_bundle(checked: Check, given: Sequence[Report], manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a bundle, name -> content, from the strict check of predictions and the reports of that reading.

    ``manifest`` holds the answers that ``read_manifest`` returned. The claimed figures are those that the bundled rows
    give when they are read again.

    Raises PredictionsError, with all findings, where the strict check does not accept the predictions.
    """
    if not checked.accepted:
        errors = sum(finding.severity == "error" for finding in checked.findings)
        message = f"not bundled: score check rejects the predictions ({errors} errors listed)"
        raise PredictionsError(message, checked.findings, checked.finding_counts)
    contents = {predictions_name(report.benchmark.id): predictions_file(report) for report in given}
    truths = {truth.benchmark.id: truth for truth in checked.ground_truths}
    claims: dict[str, Any] = {}
    for report in given:
        name = report.benchmark.id
        data = contents[predictions_name(name)]
        in_pixels, (again,) = examine_streams([(name, opener_of(data))], truths.__getitem__, benchmark=name)
        if not in_pixels.accepted:
            message = "not bundled: score check rejects the answers once they are pixels of the original screenshot"
            raise PredictionsError(message, in_pixels.findings, in_pixels.finding_counts)
        claims[name] = {
            "sha256": hashlib.sha256(data).hexdigest(),
            "made_from": {
                "space": None if report.space is None else str(report.space),
                "row_spaces": [str(own) for own in report.row_spaces],
                "signature": report.signature,
            },
            **claimed(again),
        }
    submission = {
        "format": FORMAT,
        "scorer": __version__,
        "manifest": dict(manifest),
        "variant": next((report.variant for report in given if report.variant), None),
        "benchmarks": claims,
    }
    contents[SUBMISSION] = write_submission(submission)
    contents[SUMS] = sums({name: hashlib.sha256(data).hexdigest() for name, data in contents.items()})
    return contents


def predictions_file(report: Report) -> bytes:
    """The official rows of a report as the content of a file. Equal answers give equal bytes."""
    return "".join(json.dumps(row) + "\n" for row in official_rows(report)).encode()


def official_rows(report: Report) -> Iterator[dict[str, Any]]:
    """One row per answered example, in ground-truth order: id, and point or bbox in pixels of the original screenshot.

    Several candidate points are written as ``points``, and a failed call as ``error``.
    """
    return (_official_row(verdict) for verdict in report.verdicts if verdict.prediction is not None)


def _official_row(verdict: Verdict) -> dict[str, Any]:
    prediction = verdict.prediction
    assert prediction is not None
    if prediction.error is not None:
        return {"id": verdict.example.id, "error": prediction.error}
    if prediction.bbox is not None:
        return {"id": verdict.example.id, "bbox": list(prediction.bbox)}
    points = [list(point) for point in prediction.points]
    return {"id": verdict.example.id, **({"point": points[0]} if len(points) == 1 else {"points": points})}


def claimed(report: Report) -> dict[str, Any]:
    """The part of a report's JSON that a bundle claims: the keys in ``CLAIMS``."""
    return {key: value for key, value in report_json(report).items() if key in CLAIMS}


def write_submission(submission: Mapping[str, Any]) -> bytes:
    """The content of submission.json. Equal submissions give equal bytes."""
    return (dump(submission, indent=2) + "\n").encode()
