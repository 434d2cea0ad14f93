"""Reading and scoring the files of a command: the one place behind score, check, compare, report and bundle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scorer.api import examine_streams, score_streams
from scorer.cli.console import echo_findings, make_locator, reading, rejection_written
from scorer.core.findings import Finding
from scorer.core.records import GroundTruth
from scorer.core.report import Check, Kept, Report
from scorer.ground_truth.load import Selection
from scorer.ground_truth.search import Locator
from scorer.pipeline.settings import Options


class Request(NamedTuple):
    """Files that belong together, and how they are read."""

    files: Sequence[str]
    """Paths; - is stdin."""
    locator: Locator
    """Finds the ground truth."""
    benchmark: str | None
    """The benchmark that all rows belong to; None: found from the ids."""
    options: Options
    """How rows are read and scored."""
    json_path: str | None = None
    """Where the reason goes if the files are rejected."""


def make_request(
    files: Sequence[str],
    *,
    benchmark: str | None,
    gt: str | None,
    data: str | None,
    instruction_variant: str | None,
    options: Options,
    json_path: str | None = None,
) -> Request:
    """A request from the options that all these commands share."""
    locator = make_locator(Selection(instruction_variant or ""), gt, data)
    return Request(files, locator, benchmark, options, json_path)


def score_request(request: Request, *, kept: Kept | None = None) -> list[Report]:
    """Score the files. Raises PredictionsError where they are rejected, after the reason was written as JSON."""
    with rejection_written(request.json_path), reading(request.files) as (streams, progress):
        return score_streams(
            streams,
            request.locator.load_name,
            benchmark=request.benchmark or request.locator.benchmark_of_file(),
            kept=kept,
            progress=progress,
            **request.options,
        )


def check_request(request: Request) -> tuple[Check, list[Report]]:
    """Check the files strictly; the reports are those that the same reading gives."""
    with rejection_written(request.json_path), reading(request.files) as (streams, progress):
        return examine_streams(
            streams,
            request.locator.load_name,
            benchmark=request.benchmark or request.locator.benchmark_of_file(),
            progress=progress,
            **request.options,
        )


class FindingsEcho:
    """Writes what was found to stderr; what was found in a ground truth only once, however often it is used."""

    def __init__(self, *, show_all: bool) -> None:
        self.show_all = show_all
        self._said: set[tuple[str, str]] = set()

    def reports(self, reports: Sequence[Report]) -> None:
        """The findings behind the reports of one request, those in the ground truths first."""
        truths = self._new(report.ground_truth for report in reports)
        echo_findings([*truths, *reports[0].findings], reports[0].finding_counts, show_all=self.show_all)

    def ground_truths(self, truths: Sequence[GroundTruth]) -> None:
        """The findings in ground truths alone."""
        echo_findings(self._new(truths), {}, show_all=self.show_all)

    def _new(self, truths: Iterable[GroundTruth]) -> list[Finding]:
        found: list[Finding] = []
        for truth in truths:
            key = truth.path, truth.variant
            if key not in self._said:
                self._said.add(key)
                found += truth.findings
        return found
