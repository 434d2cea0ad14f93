"""What the collectors hold -> verdicts and reports: convert, judge, aggregate.

The second half of a run, and the place where what concerns a file as a whole is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple, overload

from scorer._version import __version__
from scorer.core.findings import Code, Findings
from scorer.core.geometry import is_off, is_outside, places_off
from scorer.core.records import (
    OUTCOMES,
    PIXEL,
    Alternative,
    Answers,
    Attempts,
    Example,
    GroundTruth,
    Kept,
    Outcome,
    Prediction,
    Refusal,
    Report,
    Size,
    Space,
    Tries,
    Verdict,
)
from scorer.core.signature import build, format_signature
from scorer.pipeline.aggregate import count_outcomes, no_answer_reasons, tabulate_axes, tally, total
from scorer.pipeline.convert import point_to_pixels, to_pixels
from scorer.pipeline.judge import is_false_refusal, is_refusal, judge_points
from scorer.pipeline.judge import judge as judge_pixels
from scorer.pipeline.routing import Reread, Router
from scorer.pipeline.validate import Collector, write_answer


def judge(example: Example, prediction: Prediction | None) -> Verdict:
    """Judge one prediction by its example's rule; cheap enough to serve as a reward.

    The prediction may be in any space: it is converted to pixels first. ``verdict.outcome`` is
    ``hit``, ``miss``, ``no_answer``, ``run_error`` or, for None, ``absent``. Never raises on finite coordinates; ids
    are not compared.
    """
    if prediction is not None and prediction.space is not PIXEL:
        prediction = to_pixels(prediction, example.image_size)
    return judge_pixels(example, prediction)


_POSITION = {outcome: number for number, outcome in enumerate(OUTCOMES)}
_OUTCOMES_OF_CODES: tuple[Outcome, ...] = ("absent", *OUTCOMES)
_CODES_OF_HITS = bytes([_POSITION["miss"] + 1, _POSITION["hit"] + 1]).ljust(256)


class RunSettings(NamedTuple):
    """How a run reads its files: the space of rows that name none, the attempts that are scored, the findings, which
    refusals count, and what makes each row anew first.
    """

    space: Space
    profile: str
    attempts: int
    findings: Findings
    kept: Kept | None = None
    refusal: Refusal = "markers"
    reread: Reread | None = None

    def router(self, load: Callable[[str], GroundTruth], fixed: GroundTruth | None) -> Router:
        """A router that reads so."""
        attempts = self.findings.limits.attempts if self.attempts > 1 else 1
        return Router(
            load, fixed, self.space, self.findings, self.judge_tries, attempts, self.kept, self.refusal, self.reread
        )

    def judge_tries(self, tries: Tries) -> bytearray:
        """Judge rows as they come: then what is read and what it is held against are still at hand."""
        examples, space = tries.examples, tries.space
        points: Sequence[Sequence[float]] = tries.points
        if space is not PIXEL:
            points = [
                point_to_pixels(x, y, space, each.image_size) for each, (x, y) in zip(examples, points, strict=True)
            ]
        hits = judge_points(examples, points)
        codes = bytearray(hits).translate(_CODES_OF_HITS)
        if self.kept is not None:  # with the verdict of each
            return bytearray(self._judge_one(each, tries.prediction(place)) for place, each in enumerate(examples))
        for place in places_off(points, map(attrgetter("image_size"), examples)):
            (x, y), example = points[place], examples[place]
            if hits[place]:
                continue
            # What is not a number is no plain point, or one that its space cannot express; it equals nothing.
            if x != x or (is_off(x, y, example.image_size) and not self.findings.only_counts("out-of-frame")):
                codes[place] = self._judge_one(example, tries.prediction(place))
        return codes

    def _judge_one(self, example: Example, prediction: Prediction) -> int:
        """The outcome of one row, with all that is to be said and kept of it."""
        if prediction.space is not PIXEL:
            prediction = _in_pixels(example, prediction, self.findings)
        verdict = judge_pixels(example, prediction)
        if verdict.outcome == "miss":
            _note_outside(prediction, example.image_size, self.findings)
        if self.kept is not None and prediction.attempt > 1:
            self.kept.later[example.id, prediction.attempt] = verdict
        return _POSITION[verdict.outcome] + 1


class Verdicts(Sequence[Verdict]):
    """The verdicts of a report, in ground-truth order, each made when it is looked at: most runs need few of them."""

    def __init__(self, examples: Sequence[Example], predictions: Sequence[Prediction | None]) -> None:
        self._examples, self._predictions = examples, predictions

    def __len__(self) -> int:
        return len(self._examples)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return Verdicts(self._examples[index], self._predictions[index])
        return judge(self._examples[index], self._predictions[index])

    def __iter__(self) -> Iterator[Verdict]:
        return map(judge, self._examples, self._predictions)

    def __repr__(self) -> str:
        return f"<{len(self)} verdicts>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)


def make_report(ground_truth: GroundTruth, collector: Collector, sources: list[str], settings: RunSettings) -> Report:
    """The report of one benchmark. What is wrong with the file as a whole joins the findings of ``settings``.

    The ground truth is walked, not the file: an absent answer can only count as wrong, never shrink n.
    """
    benchmark, findings = ground_truth.benchmark, settings.findings
    predictions = collector.predictions
    verdicts = Verdicts(ground_truth.examples, predictions)
    codes = collector.codes
    counts = tally(ground_truth.examples, map(_OUTCOMES_OF_CODES.__getitem__, codes))
    no_answers = map(verdicts.__getitem__, _places_of("no_answer", codes))
    source = ", ".join(sources)
    _note_left_out(collector, source, findings)
    _note_spaces(collector, source, findings)
    absent = [ground_truth.examples[place] for place in _places_of("absent", codes)]
    _note_absent(ground_truth, absent, source, findings)
    attempts = _attempts(collector, settings.attempts) if settings.attempts > 1 else None
    if attempts is not None:
        _note_absent_attempts(ground_truth, attempts, source, findings)
    has_refusals = "refusal" in benchmark.rules
    reader = collector.reader
    space = reader.space if reader.uses_default or not reader.row_spaces else None
    row_spaces = tuple(sorted(reader.row_spaces))
    markers = _refusal_markers(collector)
    refusal = settings.refusal if markers or settings.refusal == "negative-only" else ""
    return Report(
        benchmark=benchmark,
        variant=ground_truth.variant,
        total=total(benchmark.id, counts),
        outcomes=count_outcomes(counts),
        no_answer_reasons=no_answer_reasons(no_answers),
        actionable=total("actionable", counts, refusals=False) if has_refusals else None,
        refusals=total("refusal", counts, refusals=True) if has_refusals else None,
        false_refusals=_false_refusals(verdicts, predictions, _places_of("miss", codes)),
        tables=tabulate_axes(benchmark.axes, counts),
        space=space,
        row_spaces=row_spaces,
        profile=settings.profile,
        signature=format_signature(
            build(ground_truth, space, row_spaces, settings.profile, settings.attempts, __version__, refusal)
        ),
        ground_truth=ground_truth,
        alternatives=_alternatives(collector, any_candidate=benchmark.any_candidate),
        verdicts=verdicts,
        answers=Answers(predictions, reader.space, reader.uses_default, collector.odd_rows),
        attempts=attempts,
        refusal_markers=markers,
    )


def _refusal_markers(collector: Collector) -> dict[str, int]:
    """How many of the rows that count refuse by each marker, whether that reading is on or not."""
    if not collector.reader.has_markers:
        return {}
    named = Counter(prediction.refusal for prediction in collector.predictions if prediction and prediction.refusal)
    return dict(sorted(named.items()))


def _attempts(collector: Collector, k: int) -> Attempts:
    """The figures over several attempts; their arithmetic is imported where it is asked for."""
    from scorer.pipeline.attempts import NO_ROW, summarize_attempts

    outcomes_of = bytes([NO_ROW, *range(len(OUTCOMES))]).ljust(256)
    tries = (bytes([code]) + collector.later.get(place, b"") for place, code in enumerate(collector.codes))
    return summarize_attempts((codes.translate(outcomes_of) for codes in tries), k)


def _places_of(outcome: Outcome, codes: bytearray) -> Iterator[int]:
    """The places of the examples with an outcome, of which there are often few."""
    code = _OUTCOMES_OF_CODES.index(outcome)
    place = codes.find(code)
    while place >= 0:
        yield place
        place = codes.find(code, place + 1)


def _false_refusals(verdicts: Verdicts, predictions: Sequence[Prediction | None], misses: Iterable[int]) -> int:
    """How many answers say that a target which exists is not there."""
    return sum(
        is_false_refusal(verdicts[place])
        for place in misses
        if (prediction := predictions[place]) is not None and is_refusal(prediction.points)
    )


def _in_pixels(example: Example, prediction: Prediction, findings: Findings) -> Prediction:
    """A prediction in pixels; what its space cannot express on its image_size is a finding."""
    pixels = to_pixels(prediction, example.image_size)
    if pixels.fault and not prediction.fault:
        size = f"{example.image_size[0]}x{example.image_size[1]}"
        message = f"{prediction.space} cannot express this answer on a {size} screenshot"
        code: Code = "bad-space" if pixels.fault == "bad-space" else "bad-number"
        findings.add(code, message, pixels.source, pixels.line, row_id=example.id)
    return pixels


def _note_outside(prediction: Prediction, image_size: Size, findings: Findings) -> None:
    """A finding where a miss lies off its screenshot."""
    if is_outside(prediction, image_size) and not findings.only_counts("out-of-frame"):
        place = f"pixel {write_answer(prediction)}, outside the {image_size[0]}x{image_size[1]} screenshot"
        findings.add("out-of-frame", f"the answer is {place}", prediction.source, prediction.line, row_id=prediction.id)


def _note_left_out(collector: Collector, source: str, findings: Findings) -> None:
    if collector.left_out_rows:
        message = f"{collector.left_out_rows} rows belong to examples that the filter leaves out"
        findings.add("not-selected", message, source)


def _note_spaces(collector: Collector, source: str, findings: Findings) -> None:
    reader = collector.reader
    spaces = reader.row_spaces | ({reader.space} if reader.uses_default else set())
    if len(spaces) > 1:
        listed = ", ".join(map(str, sorted(spaces)))
        findings.add("mixed-space", f"answers of {collector.ids.benchmark} are in several spaces: {listed}", source)


def _note_absent(ground_truth: GroundTruth, absent: Sequence[Example], source: str, findings: Findings) -> None:
    """One finding for all examples without a row."""
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
    findings.add("absent-id", message, source)


def _note_absent_attempts(ground_truth: GroundTruth, attempts: Attempts, source: str, findings: Findings) -> None:
    """One finding for all attempts without a row, those at examples that have no row at all among them."""
    wanted = len(ground_truth.examples) * attempts.k
    if attempts.observed < wanted:
        missing = wanted - attempts.observed
        message = f"{missing} of {wanted} attempts at examples of {ground_truth.benchmark.id} have no row"
        findings.add("absent-attempt", message, source)


def _alternatives(collector: Collector, *, any_candidate: bool) -> tuple[Alternative, ...]:
    """What the hits would be under other readings of some rows: those that the collector kept, and one candidate."""
    several = {
        prediction.id: prediction._replace(points=prediction.points[:1])
        for prediction in (collector.predictions if any_candidate else ())
        if prediction is not None and len(prediction.points) > 1
    }
    readings = (
        ("first_row", "had the first row counted for the {} ids given again", collector.first),
        ("public_scorer", "with the public scorer's reading of {} rows that it misreads", collector.public),
        ("first_candidate", "with the first candidate point alone in {} rows; the score is hit@candidates", several),
    )
    hit, places = _POSITION["hit"] + 1, collector.ids.known
    found: list[Alternative] = []
    for name, reason, others in readings:
        if not others:
            continue
        hits = collector.codes.count(hit) + sum(
            (judge(collector.examples[places[key]], other).outcome == "hit") - (collector.codes[places[key]] == hit)
            for key, other in others.items()
        )
        found.append(Alternative(name, reason.format(len(others)), len(others), hits))
    return tuple(found)
