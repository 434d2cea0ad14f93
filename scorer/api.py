"""The one place that composes the stages: read, validate, convert, judge, aggregate.

Nothing here prints, exits or reads the environment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import IO, Any, get_args

from scorer._version import __version__
from scorer.aggregate import count_outcomes, no_answer_reasons, tabulate_axes, tally, total
from scorer.benchmarks import BENCHMARKS
from scorer.convert import to_pixels
from scorer.errors import PredictionsError, UsageError
from scorer.judge import is_false_refusal, judge_all
from scorer.judge import judge as judge_pixels
from scorer.load import load_benchmark
from scorer.model import (
    PIXEL,
    Alternative,
    Check,
    Example,
    GroundTruth,
    Prediction,
    Refusal,
    Report,
    Space,
    Suite,
    Verdict,
)
from scorer.problems import Code, Problems
from scorer.profiles import get_profile
from scorer.route import Reading, Router
from scorer.signature import build, format_signature
from scorer.spaces import parse_space
from scorer.validate import Collector, is_outside, write_answer

__all__ = ["check", "check_streams", "judge", "load_benchmark", "score", "score_streams", "suites"]

Predictions = str | os.PathLike[str] | Iterable[Mapping[str, Any]]
"""A file (JSON Lines or a JSON array) or rows made in Python."""

Streams = Iterable[tuple[str, Callable[[], IO[bytes]]]]
"""Names for messages, each with what opens the binary stream."""


def judge(example: Example, prediction: Prediction | None) -> Verdict:
    """Judge one prediction by its example's rule; cheap enough to serve as a reward.

    The prediction may be in any space: it is converted to pixels of ``example.frame`` first. ``verdict.outcome`` is
    ``hit``, ``miss``, ``no_answer``, ``run_error`` or, for None, ``absent``. Never raises on finite coordinates; ids
    are not compared.
    """
    if prediction is not None and prediction.space is not PIXEL:
        prediction = to_pixels(prediction, example.frame)
    return judge_pixels(example, prediction)


def score(
    ground_truth: GroundTruth,
    predictions: Predictions,
    *,
    space: str | Space | None = None,
    profile: str | None = None,
    refusal: Refusal = "markers",
    from_raw: bool = False,
) -> Report:
    """Score predictions against one loaded benchmark.

    ``predictions`` is a file (JSON Lines or a JSON array) or an iterable of rows such as
    ``{"id": "pbs_0001", "point": [612, 388]}``.
    ``space`` says what the numbers of rows without a ``space`` of their own mean (default: the profile's, else
    pixel). ``refusal`` "negative-only" leaves out refusals by a marker in the reply. ``from_raw`` reads the answers
    anew out of the rows' ``raw`` replies, as ``profile`` does. n is the number of loaded examples whatever the file
    holds.

    Raises PredictionsError, with every fault in its ``problems``, where the predictions cannot be read as
    predictions of this benchmark; UsageError for an unknown space or profile.
    """
    reading = _reading(space, profile, refusal, from_raw=from_raw)
    return _reports(_routed_to(ground_truth, predictions, reading, Problems()), profile or "")[0]


def score_streams(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
    refusal: Refusal = "markers",
    from_raw: bool = False,
) -> list[Report]:
    """Score named streams against the benchmarks that their ids belong to, loaded by ``load`` when first met.

    With ``benchmark`` every row belongs to that one, and ids of others are unknown. Reports come in the order of
    the benchmark table. Raises what ``score`` and ``load`` raise.
    """
    reading = _reading(space, profile, refusal, from_raw=from_raw)
    return _reports(_routed(streams, load, benchmark, reading, Problems()), profile or "")


def check(
    ground_truth: GroundTruth,
    predictions: Predictions,
    *,
    space: str | Space | None = None,
    profile: str | None = None,
) -> Check:
    """Check predictions of one loaded benchmark as a leaderboard would; see check_streams."""
    return _checked(_routed_to(ground_truth, predictions, _reading(space, profile), Problems(strict=True)))


def check_streams(
    streams: Streams,
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
) -> Check:
    """Check named streams strictly: every fault that ``score`` lives with is an error, and every example needs a row.

    The rows are read exactly as ``score_streams`` reads them; only the severity of what is found differs. A check
    without findings means that ``score`` warns of nothing. Raises what ``load`` raises.
    """
    return _checked(_routed(streams, load, benchmark, _reading(space, profile), Problems(strict=True)))


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
    streams: Streams, load: Callable[[str], GroundTruth], benchmark: str | None, reading: Reading, problems: Problems
) -> Router:
    """The router after all streams, of one benchmark or of those that their ids belong to."""
    router = Router(load, load(benchmark) if benchmark is not None else None, reading, problems)
    for name, opener in streams:
        router.read(name, opener)
    return router


def _routed_to(ground_truth: GroundTruth, predictions: Predictions, reading: Reading, problems: Problems) -> Router:
    """The router after one file, or after rows made in Python, of one loaded benchmark."""
    router = Router(lambda _: ground_truth, ground_truth, reading, problems)
    if isinstance(predictions, str | os.PathLike):
        router.read(os.fspath(predictions), partial(_open, predictions))
    else:
        router.take("<rows>", router.plain_rows("<rows>", predictions))
    return router


def _checked(router: Router) -> Check:
    rows = router.rows_met
    loaded = router.settle()
    reports = [_report(*each, router.sources, "", router.problems) for each in loaded]
    absent = {
        report.benchmark.id: tuple(v.example.id for v in report.verdicts if v.outcome == "absent") for report in reports
    }
    problems = router.problems
    return Check(
        not problems.refused,
        rows,
        tuple(report.benchmark.id for report in reports),
        absent,
        problems.in_file_order(router.sources),
        dict(problems.counts),
        tuple(ground_truth for ground_truth, _ in loaded),
    )


def _reports(router: Router, profile: str) -> list[Report]:
    problems = router.problems
    reread = router.reading.reread
    if reread is not None and reread.found_nothing:
        raise PredictionsError('not scored: no row has a "raw" reply to read; score the answers without --from-raw')
    found = [_report(*loaded, router.sources, profile, problems) for loaded in router.finish()]
    listed, counts = problems.in_file_order(router.sources), dict(problems.counts)
    return [report._replace(problems=listed, problem_counts=counts) for report in found]


def _report(
    ground_truth: GroundTruth, collector: Collector, sources: list[str], profile: str, problems: Problems
) -> Report:
    benchmark = ground_truth.benchmark
    watch = _Watch(problems)
    pixels = _pixels(ground_truth.examples, collector, problems)
    counts = tally(watch.over(judge_all(ground_truth.examples, pixels)))
    verdicts = tuple(watch.verdicts)
    others = [verdict for verdict in verdicts if verdict.outcome in ("absent", "no_answer")]
    source = ", ".join(sources)
    _note_left_out(collector, source, problems)
    _note_spaces(collector, source, problems)
    _note_absent(ground_truth, others, source, problems)
    has_refusals = "refusal" in benchmark.rules
    space = collector.space if collector.uses_default or not collector.row_spaces else None
    row_spaces = tuple(sorted(collector.row_spaces))
    markers = _refusal_markers(collector)
    strict = collector.refusal == "negative-only"
    refusal = collector.refusal if strict or markers else ""
    return Report(
        benchmark=benchmark,
        variant=ground_truth.variant,
        total=total(benchmark.id, counts),
        outcomes=count_outcomes(counts),
        no_answer_reasons=no_answer_reasons(others),
        actionable=total("actionable", counts, refusals=False) if has_refusals else None,
        refusals=total("refusal", counts, refusals=True) if has_refusals else None,
        false_refusals=watch.false_refusals,
        tables=tabulate_axes(benchmark.axes, counts),
        space=space,
        row_spaces=row_spaces,
        profile=profile,
        signature=format_signature(build(ground_truth, space, row_spaces, profile, __version__, refusal)),
        ground_truth=ground_truth,
        alternatives=_alternatives(collector, verdicts),
        verdicts=verdicts,
        refusal_markers=markers,
    )


def _refusal_markers(collector: Collector) -> dict[str, int]:
    """How many of the rows that count refuse by each marker, whether that reading is on or not."""
    if not collector.has_markers:
        return {}
    named = Counter(prediction.refusal for prediction in collector.predictions.values() if prediction.refusal)
    return dict(sorted(named.items()))


def _pixels(examples: Iterable[Example], collector: Collector, problems: Problems) -> Iterator[Prediction | None]:
    """The prediction of each example in pixels; what its space cannot express on its frame is a problem."""
    for example in examples:
        prediction = collector.predictions.get(example.id)
        if prediction is None or prediction.space is PIXEL:
            yield prediction
            continue
        pixels = to_pixels(prediction, example.frame)
        if pixels.fault and not prediction.fault:
            size = f"{example.frame[0]}x{example.frame[1]}"
            message = f"{prediction.space} cannot express this answer on a {size} screenshot"
            code: Code = "bad-space" if pixels.fault == "bad-space" else "bad-number"
            problems.add(code, message, pixels.source, pixels.line, row_id=example.id)
        yield pixels


def _note_left_out(collector: Collector, source: str, problems: Problems) -> None:
    if collector.left_out_rows:
        message = f"{collector.left_out_rows} rows belong to examples that the filter leaves out"
        problems.add("not-selected", message, source)


def _note_spaces(collector: Collector, source: str, problems: Problems) -> None:
    spaces = collector.row_spaces | ({collector.space} if collector.uses_default else set())
    if len(spaces) > 1:
        listed = ", ".join(map(str, sorted(spaces)))
        problems.add("mixed-space", f"answers of {collector.ids.benchmark} are in several spaces: {listed}", source)


def _note_absent(ground_truth: GroundTruth, verdicts: Iterable[Verdict], source: str, problems: Problems) -> None:
    """One problem for all examples without a row."""
    absent = [verdict.example for verdict in verdicts if verdict.outcome == "absent"]
    if not absent:
        return
    n = len(ground_truth.examples)
    listed = ", ".join(example.id for example in absent[:5]) + (", …" if len(absent) > 5 else "")
    message = f"{len(absent)} of {n} examples of {ground_truth.benchmark.id} have no row, count as wrong: {listed}"
    if all(example.rule == "refusal" for example in absent):
        refusals = sum(example.rule == "refusal" for example in ground_truth.examples)
        if refusals == len(absent):
            message += (
                f" (exactly the refusals: this looks like the {n - refusals}-row actionable subset, "
                "which cannot be ranked against full-set scores)"
            )
    problems.add("absent-id", message, source)


class _Watch:
    """Keeps the verdicts that pass by and looks at each miss once, while it is at hand."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.verdicts: list[Verdict] = []
        self.false_refusals = 0

    def over(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """The same verdicts, counted where they are false refusals and noted where they lie off their screenshot."""
        keep = self.verdicts.append
        for verdict in verdicts:
            keep(verdict)
            if verdict.outcome == "miss":
                self.false_refusals += is_false_refusal(verdict)
                prediction, frame = verdict.prediction, verdict.example.frame
                if prediction is not None and is_outside(prediction, frame):
                    place = f"pixel {write_answer(prediction)}, outside the {frame[0]}x{frame[1]} screenshot"
                    row = (prediction.source, prediction.line)
                    self.problems.add("out-of-frame", f"the answer is {place}", *row, row_id=prediction.id)
            yield verdict


def _alternatives(collector: Collector, verdicts: tuple[Verdict, ...]) -> tuple[Alternative, ...]:
    """What the hits would be under the readings that the collector kept beside the score."""
    again, misread = len(collector.first), len(collector.public)
    readings = (
        ("first_row", f"had the first row counted for the {again} ids given again", collector.first),
        ("public_scorer", f"with the public scorer's reading of {misread} rows that it misreads", collector.public),
    )
    by_id = {v.example.id: v for v in verdicts} if collector.first or collector.public else {}
    hits = sum(verdict.outcome == "hit" for verdict in by_id.values())
    found: list[Alternative] = []
    for name, reason, others in readings:
        changed = sum(
            (judge(by_id[key].example, other).outcome == "hit") - (by_id[key].outcome == "hit")
            for key, other in others.items()
        )
        if others:
            found.append(Alternative(name, reason, len(others), hits + changed))
    return tuple(found)


def _reading(
    space: str | Space | None, profile: str | None, refusal: Refusal = "markers", *, from_raw: bool = False
) -> Reading:
    """How rows are read. The space of rows that name none is the one given, else the profile's, else pixel."""
    named = get_profile(profile).space if profile is not None else PIXEL
    if refusal not in get_args(Refusal):
        raise UsageError(f'unknown reading of refusals "{refusal}"; known: {", ".join(get_args(Refusal))}')
    reread = None
    if from_raw:
        from scorer.reparse import Rereader

        reread = Rereader(profile)
    return Reading(named if space is None else parse_space(str(space)), refusal, reread)


def _open(path: str | os.PathLike[str]) -> IO[bytes]:
    return open(path, "rb")
