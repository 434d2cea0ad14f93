"""Reports -> the files of a bundle, in the official rows, with every figure that is claimed for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scorer._version import __version__
from scorer.api import Streams, examine_streams
from scorer.core.errors import PredictionsError
from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.core.records import GroundTruth, Verdict
from scorer.core.report import Check, Report
from scorer.output.data import dump, report_json
from scorer.submission.files import PREDICTIONS, SUBMISSION, SUMS, opener_of, sums

FORMAT = 1
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
"""Keys of the JSON report that a bundle claims, and that verification makes again."""


def predictions_name(benchmark: str) -> str:
    """Where a bundle holds the predictions of a benchmark."""
    return f"{PREDICTIONS}/{benchmark}.jsonl"


def make_bundle(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    manifest: Mapping[str, Any],
    *,
    benchmark: str | None = None,
    space: str | None = None,
    profile: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[dict[str, bytes], Check]:
    """The files of a bundle by name, and the strict check that the predictions passed.

    ``manifest`` holds checked answers. The figures are those that the bundled rows give when they are read again.
    Raises PredictionsError, with every fault, where the strict check refuses the predictions.
    """
    checked, given = examine_streams(streams, load, benchmark=benchmark, space=space, profile=profile, limits=limits)
    if not checked.accepted:
        errors = sum(finding.severity == "error" for finding in checked.findings)
        message = f"not bundled: score check refuses the predictions ({errors} errors listed)"
        raise PredictionsError(message, checked.findings, checked.finding_counts)
    contents = {predictions_name(report.benchmark.id): predictions_file(report) for report in given}
    truths = {truth.benchmark.id: truth for truth in checked.ground_truths}
    claims: dict[str, Any] = {}
    for report in given:
        name = report.benchmark.id
        data = contents[predictions_name(name)]
        in_pixels, (again,) = examine_streams([(name, opener_of(data))], truths.__getitem__, benchmark=name)
        if not in_pixels.accepted:
            message = "not bundled: score check refuses the answers once they are pixels of the original screenshot"
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
    return contents, checked


def predictions_file(report: Report) -> bytes:
    """The official rows of a report as the bytes of a file: of one set of answers there is one form."""
    return "".join(json.dumps(row) + "\n" for row in official_rows(report)).encode()


def official_rows(report: Report) -> Iterator[dict[str, Any]]:
    """One row per example, in ground-truth order: id and point or bbox in pixels of the original screenshot.

    Several candidate points stay ``points``, and a call that failed stays an ``error``.
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
    """The figures of a report that a bundle claims."""
    return {key: value for key, value in report_json(report).items() if key in CLAIMS}


def write_submission(submission: Mapping[str, Any]) -> bytes:
    """submission.json as bytes: of one content there is one form."""
    return (dump(submission, indent=2) + "\n").encode()
