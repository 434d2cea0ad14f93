"""The one place that composes the stages: read, validate, convert, judge, aggregate.

Nothing here prints, exits or reads the environment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import IO, Any

from scorer._version import __version__
from scorer.aggregate import count_outcomes, no_answer_reasons, tabulate_axes, tally, total
from scorer.benchmarks import BENCHMARKS, EXAMPLE_IDS, ID_PATTERNS
from scorer.convert import to_pixels
from scorer.errors import GroundTruthError, PredictionsError
from scorer.ids import Ids, benchmark_of, resembled_benchmark
from scorer.judge import is_false_refusal, judge_all
from scorer.judge import judge as judge_pixels
from scorer.load import load_benchmark
from scorer.model import (
    PIXEL,
    Alternative,
    Example,
    GroundTruth,
    Prediction,
    Report,
    Row,
    Space,
    Suite,
    Verdict,
)
from scorer.problems import Code, Problems, type_name
from scorer.profiles import get_profile
from scorer.read import rows
from scorer.signature import build, format_signature
from scorer.spaces import parse_space
from scorer.validate import Collector, is_outside, write_answer

__all__ = ["judge", "load_benchmark", "score", "score_streams", "suites"]


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
    predictions: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    *,
    space: str | Space | None = None,
    profile: str | None = None,
) -> Report:
    """Score predictions against one loaded benchmark.

    ``predictions`` is a file (JSON Lines or a JSON array) or an iterable of rows such as
    ``{"id": "pbs_0001", "point": [612, 388]}``.
    ``space`` says what the numbers of rows without a ``space`` of their own mean (default: the profile's, else
    pixel). n is the number of loaded examples whatever the file holds.

    Raises PredictionsError, with every fault in its ``problems``, where the predictions cannot be read as
    predictions of this benchmark; UsageError for an unknown space or profile.
    """
    router = _Router(lambda _: ground_truth, ground_truth, _space(space, profile), profile or "")
    if isinstance(predictions, str | os.PathLike):
        router.read(os.fspath(predictions), partial(_open, predictions))
    else:
        router.take("<rows>", router.plain_rows("<rows>", predictions))
    return router.finish()[0]


def score_streams(
    streams: Iterable[tuple[str, Callable[[], IO[bytes]]]],
    load: Callable[[str], GroundTruth],
    *,
    benchmark: str | None = None,
    space: str | Space | None = None,
    profile: str | None = None,
) -> list[Report]:
    """Score named streams against the benchmarks that their ids belong to, loaded by ``load`` when first met.

    With ``benchmark`` every row belongs to that one, and ids of others are unknown. Reports come in the order of
    the benchmark table. Raises what ``score`` and ``load`` raise.
    """
    fixed = load(benchmark) if benchmark is not None else None
    router = _Router(load, fixed, _space(space, profile), profile or "")
    for name, opener in streams:
        router.read(name, opener)
    return router.finish()


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


class _Router:
    """Hands each row to the collector of the benchmark that its id belongs to, then makes the reports."""

    def __init__(
        self, load: Callable[[str], GroundTruth], fixed: GroundTruth | None, space: Space, profile: str
    ) -> None:
        self.load = load
        self.space = space
        self.profile = profile
        self.problems = Problems()
        self.loaded: dict[str, GroundTruth] = {}
        self.collectors: dict[str, Collector] = {}
        self.fixed = self._collector(fixed) if fixed is not None else None
        self.sources: list[str] = []
        self.strangers: list[tuple[str, int, dict[str, Any]]] = []
        self.strangers_met = 0

    def read(self, name: str, opener: Callable[[], IO[bytes]]) -> None:
        """Take the rows of a file; one that cannot be opened is a problem like any other."""
        try:
            with opener() as stream:
                self.take(name, rows(stream, name, self.problems, size=_size(stream)))
        except OSError as error:
            self.problems.add("unreadable", f"cannot be read ({error.strerror or error})", name)

    def plain_rows(self, source: str, given: Iterable[object]) -> Iterator[Row]:
        """Rows made in Python, as a file would hold them: tuples and arrays as lists, their numbers as JSON's."""
        for number, row in enumerate(given, 1):
            if isinstance(row, Mapping):
                yield number, {key: _plain(value) for key, value in row.items()}
            else:
                found = f"expected a mapping, found {type_name(row)}"
                self.problems.add("not-an-object", found, source, number)

    def take(self, source: str, rows: Iterator[Row]) -> None:
        """Take numbered rows. A source without any is an error."""
        self.sources.append(source)
        before = self.rows, self.problems.refused
        if self.fixed is not None:
            for line, row in self.fixed.take(source, rows):
                self.fixed.refuse(source, line, row)
        else:
            self._route(source, rows)
        if (self.rows, self.problems.refused) == before:
            self.problems.add("no-rows", "no prediction rows", source)

    @property
    def rows(self) -> int:
        """The rows met so far."""
        return self.strangers_met + sum(known.known_rows + known.refused_rows for known in self.collectors.values())

    def _route(self, source: str, rows: Iterator[Row]) -> None:
        """Let a benchmark take rows until one comes that is another's, which then takes over."""
        current: Collector | None = None
        while True:
            for line, row in rows if current is None else current.take(source, rows):
                owner = self._owner(row)
                if owner is None:
                    self._keep_stranger(source, line, row)
                    continue
                for _ in owner.take(source, [(line, row)]):
                    owner.refuse(source, line, row)
                if owner is not current:
                    current = owner
                    break
            else:
                return

    def _owner(self, row: dict[str, Any]) -> Collector | None:
        """The collector of the benchmark that the id of a row looks like, made when it is first needed."""
        row_id = row.get("id")
        name = benchmark_of(row_id, ID_PATTERNS) if isinstance(row_id, str) else None
        if name is None:
            return None
        return self.collectors.get(name) or self._collector(self.load(name))

    def finish(self) -> list[Report]:
        """The reports, in the order of the benchmark table; PredictionsError where there is nothing to score."""
        known = [name for name, collector in self.collectors.items() if collector.known_rows]
        met = self.rows
        self._place_strangers(known)
        if not known and not self.problems.refused:
            self.problems.add("no-known-id", self._no_known_id(met), ", ".join(self.sources))
        if self.problems.refused:
            found = self.problems.in_file_order(self.sources)
            raise PredictionsError(f"not scored: {self.problems.summary()}", found, self.problems.counts)
        reports = [self._report(self.loaded[name], self.collectors[name]) for name in BENCHMARKS if name in known]
        findings, counts = self.problems.in_file_order(self.sources), dict(self.problems.counts)
        return [report._replace(problems=findings, problem_counts=counts) for report in reports]

    def _collector(self, ground_truth: GroundTruth) -> Collector:
        benchmark = ground_truth.benchmark
        example_id = next((example.id for example in ground_truth.examples), benchmark.id_example)
        examples = {example.id: example for example in ground_truth.examples}
        collector = Collector(
            examples,
            Ids(benchmark.id, examples, ground_truth.left_out, example_id, ID_PATTERNS),
            self.problems,
            any_candidate=benchmark.any_candidate,
            space=self.space,
        )
        self.loaded[benchmark.id] = ground_truth
        self.collectors[benchmark.id] = collector
        return collector

    def _keep_stranger(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Keep a row whose id tells no benchmark until it is known which ones the file is about."""
        self.strangers_met += 1
        if len(self.strangers) < self.problems.max_kept:
            self.strangers.append((source, line, row))
        else:
            self.problems.counts["unknown-id" if isinstance(row.get("id"), str) else "no-id"] += 1

    def _place_strangers(self, known: list[str]) -> None:
        if not self.collectors and self.strangers:
            self._load_likely()
        if self.collectors:
            collector = self.collectors[(known or list(self.collectors))[0]]
        else:
            examples = " or ".join(benchmark.id_example for benchmark in BENCHMARKS.values())
            collector = Collector({}, Ids("", {}, (), examples, ID_PATTERNS), self.problems)
        for source, line, row in self.strangers:
            collector.refuse(source, line, row)

    def _load_likely(self) -> None:
        """Load the benchmark that misspelt ids seem to mean, so that each can be told what it should be."""
        ids = [row["id"] for _, _, row in self.strangers if isinstance(row.get("id"), str)]
        likely = Counter(filter(None, (resembled_benchmark(row_id, EXAMPLE_IDS) for row_id in ids)))
        if likely:
            with suppress(GroundTruthError):
                self._collector(self.load(likely.most_common(1)[0][0]))

    def _no_known_id(self, met: int) -> str:
        ids = met - self.problems.counts["no-id"] - self.problems.counts["id-type"]
        if not ids:
            return 'no row has an id; rows look like {"id": "pbs_0001", "point": [612, 388]}'
        if len(self.collectors) != 1:
            known = ", ".join(BENCHMARKS)
            return f"none of {ids} ids looks like one of a known benchmark ({known}); --benchmark NAME says which it is"
        name, collector = next(iter(self.collectors.items()))
        looks = f"its ids look like {collector.ids.example}"
        if collector.ids.others:
            looks = f"they look like {collector.ids.others.most_common(1)[0][0]} ids"
        return f"none of {ids} ids belongs to {name}; {looks}"

    def _report(self, ground_truth: GroundTruth, collector: Collector) -> Report:
        benchmark = ground_truth.benchmark
        verdicts = tuple(judge_all(ground_truth.examples, self._pixels(ground_truth.examples, collector)))
        counts = tally(verdicts)
        others = [verdict for verdict in verdicts if verdict.outcome != "hit"]
        self._note_left_out(collector)
        self._note_absent(ground_truth, others)
        self._note_outside(others)
        has_refusals = "refusal" in benchmark.rules
        spaces = collector.spaces
        return Report(
            benchmark=benchmark,
            variant=ground_truth.variant,
            total=total(benchmark.id, counts),
            outcomes=count_outcomes(counts),
            no_answer_reasons=no_answer_reasons(others),
            actionable=total("actionable", counts, refusals=False) if has_refusals else None,
            refusals=total("refusal", counts, refusals=True) if has_refusals else None,
            false_refusals=sum(is_false_refusal(verdict) for verdict in others),
            tables=tabulate_axes(benchmark.axes, counts),
            spaces=spaces,
            profile=self.profile,
            signature=format_signature(build(ground_truth, spaces, self.profile, __version__)),
            ground_truth=ground_truth,
            alternatives=self._alternatives(collector, verdicts),
            verdicts=verdicts,
        )

    def _pixels(self, examples: Iterable[Example], collector: Collector) -> Iterator[Prediction | None]:
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
                self.problems.add(code, message, pixels.source, pixels.line, row_id=example.id)
            yield pixels

    def _note_left_out(self, collector: Collector) -> None:
        if collector.left_out_rows:
            message = f"{collector.left_out_rows} rows belong to examples that the filter leaves out"
            self.problems.add("not-selected", message, ", ".join(self.sources))

    def _note_absent(self, ground_truth: GroundTruth, verdicts: Iterable[Verdict]) -> None:
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
        self.problems.add("absent-id", message, ", ".join(self.sources))

    def _note_outside(self, verdicts: Iterable[Verdict]) -> None:
        """A problem for each answer that lies off its screenshot."""
        for verdict in verdicts:
            prediction, frame = verdict.prediction, verdict.example.frame
            if verdict.outcome == "miss" and prediction is not None and is_outside(prediction, frame):
                answer = write_answer(prediction)
                message = f"the answer is pixel {answer}, outside the {frame[0]}x{frame[1]} screenshot"
                self.problems.add("out-of-frame", message, prediction.source, prediction.line, row_id=prediction.id)

    def _alternatives(self, collector: Collector, verdicts: tuple[Verdict, ...]) -> tuple[Alternative, ...]:
        """What the hits would be under the readings that the collector kept beside the score."""
        readings = (
            ("first_row", "had the first row counted for the {rows} ids given again", collector.first),
            (
                "public_scorer",
                "with the public scorer's reading of {rows} rows listed as misread by it",
                collector.public,
            ),
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


def _space(space: str | Space | None, profile: str | None) -> Space:
    """The space of rows that name none: the one given, else the profile's, else pixel."""
    named = get_profile(profile).space if profile is not None else PIXEL
    if space is None:
        return named
    return parse_space(space) if isinstance(space, str) else space


def _open(path: str | os.PathLike[str]) -> IO[bytes]:
    return open(path, "rb")


def _size(stream: IO[bytes]) -> int:
    """Bytes in a stream, 0 where it does not tell."""
    try:
        return os.fstat(stream.fileno()).st_size
    except OSError:
        return 0


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and their scalars
        value = value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
