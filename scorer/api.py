"""What Python programs call: files or rows in, reports out. ``route`` and ``assemble`` do the two halves.

Nothing here prints, exits or reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, get_args

from scorer.benchmarks import BENCHMARKS
from scorer.core.errors import PredictionsError, UsageError
from scorer.core.findings import Findings
from scorer.core.limits import DEFAULT_LIMITS, Limits, reason
from scorer.core.records import PIXEL, Check, GroundTruth, Kept, Refusal, Report, Space, Suite
from scorer.core.spaces import parse_space
from scorer.ground_truth.load import load_benchmark
from scorer.pipeline.judge import misses_point_somewhere
from scorer.pipeline.routing import Progress, Router
from scorer.pipeline.scoring import RunSettings, judge, make_report
from scorer.profiles import get_profile

if TYPE_CHECKING:
    from scorer.evidence.diagnosis.records import Diagnosis
    from scorer.pipeline.batch import Columns

__all__ = [
    "check",
    "check_streams",
    "diagnose",
    "examine_streams",
    "hints",
    "judge",
    "load_benchmark",
    "score",
    "score_batch",
    "score_streams",
    "suites",
]

Predictions = str | os.PathLike[str] | Iterable[Mapping[str, Any]]
"""A file (JSON Lines or a JSON array) or rows made in Python."""

Streams = Iterable[tuple[str, Callable[[], IO[bytes]]]]
"""Names for messages, each with what opens the binary stream."""


def score(
    ground_truth: GroundTruth,
    predictions: Predictions,
    *,
    space: str | Space | None = None,
    profile: str | None = None,
    attempts: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    refusal: Refusal = "markers",
    from_raw: bool = False,
) -> Report:
    """Score predictions against one loaded benchmark.

    ``predictions`` is a file (JSON Lines or a JSON array) or an iterable of rows such as
    ``{"id": "pbs_0001", "point": [612, 388]}``.
    ``space`` says what the numbers of rows without a ``space`` of their own mean (default: the profile's, else
    pixel). n is the number of loaded examples whatever the file holds. ``limits`` bounds what is taken from a file.
    With ``attempts`` over 1 the report also has the figures over that many attempts at each example; the score stays
    that of attempt 1. ``refusal`` "negative-only" leaves out refusals by a marker in the reply. ``from_raw`` reads the
    answers anew out of the rows' ``raw`` replies, as ``profile`` does.

    Raises PredictionsError, with every fault in its ``findings``, where the predictions cannot be read as
    predictions of this benchmark; UsageError for an unknown space or profile.
    """
    settings = _settings(space, profile, attempts, Findings(limits=limits), refusal, from_raw=from_raw)
    return _reports(_routed_to(ground_truth, predictions, settings), settings)[0]


def score_batch(
    ground_truth: GroundTruth,
    batch: Columns | Sequence[Mapping[str, Any]],
    *,
    space: str | Space | None = None,
    profile: str | None = None,
    refusal: Refusal = "markers",
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, list[Any]]:
    """Judge each row of a batch by itself: for engines that read, spread and aggregate large data by their own means.

    ``batch`` holds columns by name, each a list or an array, or is a data frame, or a sequence of rows. An entry that
    is None, NaN or pandas' NA says that its row lacks the key, as engines write it; a NaN inside a point is a bad
    number.

    The columns that come back are aligned with the rows: ``outcome`` is ``hit``, ``miss``, ``no_answer``,
    ``run_error``, or None where ``score`` would not take the row (an id that is no example of the ground truth, an
    attempt beyond the limit); ``hit`` is whether it is one; ``findings`` lists the codes of what was found in the row.
    Verdicts are those of ``score``, for rows of any attempt alike.

    A batch knows neither absent examples nor rows of other batches, so the score is left to whoever has them all:
    keep one row of each (id, attempt), the last one as ``score`` does, and divide the hits of attempt 1 by
    ``len(ground_truth.examples)``, never by the number of rows. ``hit`` is False where ``outcome`` is None.

    Raises UsageError for a batch without "id", for columns of unequal lengths, and for an unknown space or profile.
    """
    from scorer.pipeline.batch import EVERY_FINDING, judge_batch

    findings = Findings(limits=limits._replace(findings=EVERY_FINDING))
    return judge_batch(ground_truth, batch, _settings(space, profile, limits.attempts, findings, refusal))


def score_streams(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
    attempts: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    kept: Kept | None = None,
    refusal: Refusal = "markers",
    from_raw: bool = False,
    progress: Progress | None = None,
) -> list[Report]:
    """Score named streams against the benchmarks that their ids belong to, loaded by ``load`` when first met.

    With ``benchmark`` every row belongs to that one, and ids of others are unknown. Reports come in the order of
    the benchmark table. ``kept``, if given, is filled with rows and later verdicts. ``progress``, if given, is called
    with the number of rows after each batch that is read, of some 32 KiB. Raises what ``score`` and ``load`` raise.
    """
    settings = _settings(space, profile, attempts, Findings(limits=limits), refusal, from_raw=from_raw)
    return _reports(_routed(streams, load, benchmark, settings._replace(kept=kept), progress), settings)


def check(
    ground_truth: GroundTruth,
    predictions: Predictions,
    *,
    space: str | Space | None = None,
    profile: str | None = None,
    attempts: int = 1,
    limits: Limits = DEFAULT_LIMITS,
) -> Check:
    """Check predictions of one loaded benchmark as a leaderboard would; see check_streams."""
    settings = _settings(space, profile, attempts, Findings(strict=True, limits=limits))
    return _examined(_routed_to(ground_truth, predictions, settings), settings)[0]


def check_streams(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
    attempts: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Check:
    """Check named streams strictly: every fault that ``score`` lives with is an error, and every example needs a row.

    The rows are read exactly as ``score_streams`` reads them, ``progress`` included; only the severity of what is found
    differs. A check without findings means that ``score`` warns of nothing. Raises what ``load`` raises.
    """
    return examine_streams(
        streams,
        load,
        benchmark=benchmark,
        space=space,
        profile=profile,
        attempts=attempts,
        limits=limits,
        progress=progress,
    )[0]


def examine_streams(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
    attempts: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> tuple[Check, list[Report]]:
    """The strict check of named streams and the reports that the same reading gives; of use where it is accepted.

    ``progress`` is called as by ``score_streams``.
    """
    settings = _settings(space, profile, attempts, Findings(strict=True, limits=limits))
    return _examined(_routed(streams, load, benchmark, settings, progress), settings)


def diagnose(report: Report) -> Diagnosis:
    """What may be wrong with the file of a report that ``score`` made: other readings of its coordinates, how its
    misses miss, signs of trouble. Advice alone: the report stays as it is.
    """
    from scorer.evidence.diagnosis import diagnose as try_readings

    return try_readings(report)


def hints(reports: Iterable[Report]) -> list[str]:
    """One line for each reading of the coordinates that is near certain to be the right one; for most files none.

    Most reports are done with after a look at a few of their misses; only where those point somewhere is more tried.
    """
    suspicious = [report for report in reports if misses_point_somewhere(report.verdicts, report.total.accuracy)]
    if not suspicious:
        return []
    from scorer.evidence.diagnosis import hints as likely_readings

    return likely_readings(suspicious)


def suites(reports: Iterable[Report]) -> list[Suite]:
    """The suites of which at least two benchmarks were scored. All of a suite's benchmarks are its members."""
    scored = {report.benchmark.id: report for report in reports}
    members: dict[str, list[tuple[str, Report | None]]] = {}
    for known in BENCHMARKS.values():
        if known.suite:
            members.setdefault(known.suite, []).append((known.column, scored.get(known.id)))
    return [
        Suite(name, tuple(pairs))
        for name, pairs in members.items()
        if sum(report is not None for _, report in pairs) > 1
    ]


def _routed(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    benchmark: str | None,
    settings: RunSettings,
    progress: Progress | None,
) -> Router:
    """The router after all streams, of one benchmark or of those that their ids belong to."""
    router = settings.router(load, load(benchmark) if benchmark is not None else None)
    for name, opener in streams:
        router.read(name, opener, progress)
    return router


def _routed_to(ground_truth: GroundTruth, predictions: Predictions, settings: RunSettings) -> Router:
    """The router after one file, or after rows made in Python, of one loaded benchmark."""
    router = settings.router(lambda _: ground_truth, ground_truth)
    if isinstance(predictions, str | os.PathLike):
        router.read(os.fspath(predictions), partial(_open, predictions))
    else:
        router.take("<rows>", router.plain_rows("<rows>", predictions))
    return router


def _examined(router: Router, settings: RunSettings) -> tuple[Check, list[Report]]:
    rows = router.rows_met
    loaded = router.settle()
    reports = [make_report(*each, router.sources, settings) for each in loaded]
    absent = {
        report.benchmark.id: tuple(v.example.id for v in report.verdicts if v.outcome == "absent") for report in reports
    }
    findings = router.findings
    checked = Check(
        not findings.refused,
        rows,
        tuple(report.benchmark.id for report in reports),
        absent,
        findings.in_file_order(router.sources),
        dict(findings.counts),
        tuple(ground_truth for ground_truth, _ in loaded),
    )
    return checked, reports


def _reports(router: Router, settings: RunSettings) -> list[Report]:
    findings = settings.findings
    if settings.reread is not None and settings.reread.found_nothing:
        raise PredictionsError('not scored: no row has a "raw" reply to read; score the answers without --from-raw')
    found = [make_report(*loaded, router.sources, settings) for loaded in router.finish()]
    listed, counts = findings.in_file_order(router.sources), dict(findings.counts)
    return [report._replace(findings=listed, finding_counts=counts) for report in found]


def _settings(
    space: str | Space | None,
    profile: str | None,
    attempts: int,
    findings: Findings,
    refusal: Refusal = "markers",
    *,
    from_raw: bool = False,
) -> RunSettings:
    """How a run reads: rows that name no space are in the one given, else in the profile's, else in pixels."""
    if attempts < 1:
        raise UsageError(f"attempts must be 1 or more, found {attempts}")
    if attempts > findings.limits.attempts:
        raise UsageError(f"{attempts} attempts are more than {reason('attempts', findings.limits)}")
    if refusal not in get_args(Refusal):
        raise UsageError(f'unknown reading of refusals "{refusal}"; known: {", ".join(get_args(Refusal))}')
    named = get_profile(profile).space if profile is not None else PIXEL
    settings = RunSettings(named if space is None else parse_space(str(space)), profile or "", attempts, findings)
    if from_raw:
        from scorer.pipeline.reread import Rereader

        settings = settings._replace(reread=Rereader(profile))
    return settings._replace(refusal=refusal)


def _open(path: str | os.PathLike[str]) -> IO[bytes]:
    return open(path, "rb")
