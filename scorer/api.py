"""What Python programs call: files or rows in, reports out. The stages are in ``scorer.pipeline``.

Nothing here prints, exits or reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Unpack

from scorer.benchmarks import SUITES
from scorer.core.errors import PredictionsError
from scorer.core.findings import Findings
from scorer.core.records import Example, GroundTruth, Prediction, Verdict
from scorer.core.report import Check, Kept, Report, Suite
from scorer.core.spaces import to_pixels
from scorer.files.source import Source, file_source
from scorer.ground_truth.load import load_benchmark
from scorer.pipeline.judge import judge as judge_pixels
from scorer.pipeline.routing import Load, Routing
from scorer.pipeline.scoring import Progress, RowSource
from scorer.pipeline.scoring import score as score_sources
from scorer.pipeline.settings import Options, Settings, make_settings

if TYPE_CHECKING:
    from scorer.evidence.diagnosis.records import Diagnosis
    from scorer.files.python_rows import Columns

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
"""A file (JSON Lines or a JSON array), rows made in Python, or a data frame."""

Streams = Iterable[tuple[str, Callable[[], IO[bytes]]]]
"""Names for messages, each with what opens the binary stream."""


def score(ground_truth: GroundTruth, predictions: Predictions, **options: Unpack[Options]) -> Report:
    """Score predictions against one loaded benchmark.

    ``predictions`` is a file (JSON Lines or a JSON array), a pandas data frame, or an iterable of rows such as
    ``{"id": "pbs_0001", "point": [612, 388]}``. n is the number of loaded examples whatever the file holds.

    ``options``: ``space`` says what the numbers of rows mean that name no space themselves (default: the profile's,
    else pixel); ``profile`` is a model profile, as a name for its space; with ``attempts`` over 1 the report also has
    the figures over that many attempts at each example, while the score stays that of attempt 1; ``refusal``
    "negative-only" leaves out refusals by a marker in the reply; ``from_raw`` reads the answers again from the rows'
    ``raw`` replies, as ``profile`` does; ``limits`` bounds what is taken from a file.

    Raises PredictionsError, with every fault in its ``findings``, where the predictions cannot be read as
    predictions of this benchmark; UsageError for an unknown space or profile.
    """
    return _score([_source(predictions)], lambda _: ground_truth, ground_truth, make_settings(options))[0]


def score_streams(
    streams: Streams,
    load: Load,
    *,
    benchmark: str | None = None,
    kept: Kept | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[Report]:
    """Score named streams against the benchmarks that their ids belong to, loaded by ``load`` when first met.

    With ``benchmark`` every row belongs to that one, and ids of others are unknown. Reports come in the order of
    the benchmark table. ``kept``, if given, is filled with rows and later verdicts. ``progress``, if given, is called
    with the number of rows after each block that is read, of some 32 KiB. ``options`` are those of ``score``. Raises
    what ``score`` and ``load`` raise.
    """
    settings = make_settings(options)._replace(kept=kept)
    only = load(benchmark) if benchmark is not None else None
    return _score(_sources(streams), load, only, settings, progress)


def check(ground_truth: GroundTruth, predictions: Predictions, **options: Unpack[Options]) -> Check:
    """Check predictions of one loaded benchmark as a leaderboard would. ``options`` are those of ``score``.

    Every fault that ``score`` tolerates is an error, and every example needs a row. The rows are read exactly as
    ``score`` reads them; only the severity of what is found differs. A check without findings means that ``score``
    warns of nothing.
    """
    return _examine([_source(predictions)], lambda _: ground_truth, ground_truth, make_settings(options))[0]


def check_streams(
    streams: Streams,
    load: Load,
    *,
    benchmark: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Check:
    """Check named streams as ``check`` does, of the benchmarks that their ids belong to; see ``score_streams``."""
    return examine_streams(streams, load, benchmark=benchmark, progress=progress, **options)[0]


def examine_streams(
    streams: Streams,
    load: Load,
    *,
    benchmark: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> tuple[Check, list[Report]]:
    """The strict check of named streams, and the reports that the same reading gives; of use where it is accepted."""
    only = load(benchmark) if benchmark is not None else None
    return _examine(_sources(streams), load, only, make_settings(options), progress)


def score_batch(
    ground_truth: GroundTruth, batch: Columns | Sequence[Mapping[str, Any]], **options: Unpack[Options]
) -> dict[str, list[Any]]:
    """Judge each row of a batch by itself: for engines that read, spread and aggregate large data by their own means.

    ``batch`` holds columns by name, each a list or an array, or is a data frame, or a sequence of rows. An entry that
    is None, NaN or pandas' NA says that its row lacks the key, as engines write it; a NaN inside a point is a bad
    number. ``options`` are those of ``score``; rows of any attempt are judged alike.

    The columns that come back are aligned with the rows: ``outcome`` is ``hit``, ``miss``, ``no_answer``,
    ``run_error``, or None where ``score`` would not take the row (an id that is no example of the ground truth, an
    attempt beyond the limit); ``hit`` is whether it is one; ``findings`` lists the codes of what was found in the row.

    A batch knows neither absent examples nor rows of other batches, so the score is left to whoever has them all:
    keep one row of each (id, attempt), the last one as ``score`` does, and divide the hits of attempt 1 by
    ``len(ground_truth.examples)``, never by the number of rows. ``hit`` is False where ``outcome`` is None.

    Raises UsageError for a batch without "id", for columns of unequal lengths, and for an unknown space or profile.
    """
    from scorer.pipeline.batch import judge_batch

    settings = make_settings(options)
    return judge_batch(ground_truth, batch, settings._replace(attempts=settings.limits.attempts))


def judge(example: Example, prediction: Prediction | None) -> Verdict:
    """Judge one prediction by its example's rule; cheap enough to serve as a reward.

    The prediction may be in any space: it is converted to pixels first. ``verdict.outcome`` is ``hit``, ``miss``,
    ``no_answer``, ``run_error`` or, for None, ``absent``. Never raises on finite coordinates; ids are not compared.
    """
    if prediction is not None:
        prediction = to_pixels(prediction, example.image_size)
    return judge_pixels(example, prediction)


def diagnose(report: Report) -> Diagnosis:
    """What may be wrong with the file of a report that ``score`` made: other readings of its coordinates, how its
    misses miss, signs of trouble. Advice alone: the report does not change.
    """
    from scorer.evidence.diagnosis import diagnose as try_readings

    return try_readings(report)


def hints(reports: Iterable[Report]) -> list[str]:
    """One line for each reading of the coordinates that is near certain to be the right one; for most files none.

    Most reports need only a look at a few of their misses. Other readings are tried where those point somewhere.
    """
    from scorer.evidence.suspicion import misses_point_somewhere

    suspicious = [report for report in reports if misses_point_somewhere(report.verdicts, report.total.accuracy)]
    if not suspicious:
        return []
    from scorer.evidence.diagnosis import hints as likely_readings

    return likely_readings(suspicious)


def suites(reports: Iterable[Report]) -> list[Suite]:
    """The suites of which at least two benchmarks were scored. All of a suite's benchmarks are its members."""
    scored = {report.benchmark.id: report for report in reports}
    members = {
        name: tuple((known.column, scored.get(known.id)) for known in benchmarks) for name, benchmarks in SUITES.items()
    }
    return [Suite(name, pairs) for name, pairs in members.items() if sum(report is not None for _, report in pairs) > 1]


def _source(predictions: Predictions) -> RowSource:
    if isinstance(predictions, str | os.PathLike):
        return file_source(predictions)
    from scorer.files.python_rows import PythonRows

    return PythonRows("<rows>", predictions)


def _sources(streams: Streams) -> Iterable[Source]:
    return (Source(name, opener) for name, opener in streams)


def _run(
    sources: Iterable[RowSource],
    load: Load,
    only: GroundTruth | None,
    settings: Settings,
    progress: Progress | None,
    *,
    strict: bool,
) -> tuple[list[Report], Routing]:
    routing = Routing(load, settings, Findings(strict=strict, limits=settings.limits), only)
    if not settings.from_raw:
        return score_sources(sources, routing, progress), routing
    from scorer.pipeline.reread import RawSource, Rereader

    reader = Rereader(settings.profile)
    reports: list[Report] = []
    try:
        reports = score_sources((RawSource(source, reader) for source in sources), routing, progress)
    except PredictionsError:
        if not reader.found_nothing:  # else that is the cause of everything that was found
            raise
    if reader.found_nothing:
        raise PredictionsError('not scored: no row has a "raw" reply to read; score the answers without --from-raw')
    return reports, routing


def _score(
    sources: Iterable[RowSource],
    load: Load,
    only: GroundTruth | None,
    settings: Settings,
    progress: Progress | None = None,
) -> list[Report]:
    reports, routing = _run(sources, load, only, settings, progress, strict=False)
    findings = routing.findings
    listed, counts = findings.in_file_order(routing.sources), dict(findings.counts)
    return [report._replace(findings=listed, finding_counts=counts) for report in reports]


def _examine(
    sources: Iterable[RowSource],
    load: Load,
    only: GroundTruth | None,
    settings: Settings,
    progress: Progress | None = None,
) -> tuple[Check, list[Report]]:
    reports, routing = _run(sources, load, only, settings, progress, strict=True)
    findings = routing.findings
    absent = {
        report.benchmark.id: tuple(v.example.id for v in report.verdicts if v.outcome == "absent") for report in reports
    }
    checked = Check(
        not findings.has_errors,
        routing.rows_met,
        tuple(report.benchmark.id for report in reports),
        absent,
        findings.in_file_order(routing.sources),
        dict(findings.counts),
        tuple(report.ground_truth for report in reports),
    )
    return checked, reports
