"""Offline, exact scoring of GUI-grounding predictions. ``score`` on the command line, these names in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorer._version import __version__
from scorer.api import check, check_streams, diagnose, judge, load_benchmark, score, score_batch, score_streams, suites
from scorer.core.errors import GroundTruthError, PredictionsError, ScorerError, UsageError
from scorer.core.findings import Finding
from scorer.core.limits import Limits
from scorer.core.records import Axis, Benchmark, Example, GroundTruth, Prediction, Space, Verdict
from scorer.core.report import Alternative, Cell, Check, Report, Suite, Table
from scorer.core.spaces import parse_space

if TYPE_CHECKING:
    from scorer.output.data import report_json
    from scorer.pipeline.reread import parse_reply

__all__ = [
    "Alternative",
    "Axis",
    "Benchmark",
    "Cell",
    "Check",
    "Example",
    "Finding",
    "GroundTruth",
    "GroundTruthError",
    "Limits",
    "Prediction",
    "PredictionsError",
    "Report",
    "ScorerError",
    "Space",
    "Suite",
    "Table",
    "UsageError",
    "Verdict",
    "__version__",
    "check",
    "check_streams",
    "diagnose",
    "judge",
    "load_benchmark",
    "parse_reply",
    "parse_space",
    "report_json",
    "score",
    "score_batch",
    "score_streams",
    "suites",
]


def __getattr__(name: str) -> Any:
    # A plain score needs neither; each is loaded when it is first asked for.
    if name == "parse_reply":
        from scorer.pipeline.reread import parse_reply

        return parse_reply
    if name == "report_json":
        from scorer.output.data import report_json

        return report_json
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
