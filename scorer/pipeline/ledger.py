"""What a file says about each example of one benchmark, and what became of it: filled row by row, read at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, overload

from scorer.benchmarks import ID_PATTERNS
from scorer.benchmarks.ids import Ids
from scorer.core import messages
from scorer.core.findings import Reporter, shorten, type_name, write_numbers
from scorer.core.outcomes import CODES, OUTCOMES_OF_CODES, Outcome
from scorer.core.records import PIXEL, Example, GroundTruth, Prediction, Verdict
from scorer.core.report import Kept
from scorer.core.spaces import to_pixels
from scorer.pipeline.judge import is_off_screenshot
from scorer.pipeline.settings import Settings
from scorer.pipeline.validate.answers import BOX_KEYS, POINT_KEYS, keys_of
from scorer.pipeline.validate.rows import Answer, Validator

MAX_ODD_ROWS = 1000
"""Upper bound on the rows that are kept for a diagnosis."""
MAX_ENTRIES = 20
"""Upper bound on the entries of such a row, and of each list or object in it."""
MAX_TEXT = 4000
"""Upper bound on the characters of each text in such a row."""

_SAID = slice(Prediction._fields.index("points"), Prediction._fields.index("error") + 1)
"""The fields of a prediction that its row answers: points, bbox, space, error."""


class Row(NamedTuple):
    """One row whose id is that of an example."""

    ledger: Ledger
    """Of the benchmark that the example belongs to."""
    place: int
    """The position of the example in the ground truth."""
    values: dict[str, Any]
    """The row as parsed JSON."""
    report: Reporter
    """Adds findings about the row."""

    @property
    def example(self) -> Example:
        """The example that the row answers."""
        return self.ledger.examples[self.place]


class Ledger:
    """The rows of one benchmark and their outcomes. All attributes but ``later`` are about attempt 1."""

    def __init__(
        self, ground_truth: GroundTruth, settings: Settings, examples: Sequence[Example] | None = None
    ) -> None:
        """``examples`` are those that rows may answer, where they are not all of the ground truth's."""
        benchmark = ground_truth.benchmark
        self.ground_truth = ground_truth
        self.settings = settings
        self.examples = ground_truth.examples if examples is None else examples
        example_id = next((example.id for example in self.examples), benchmark.id_example)
        self.ids = Ids(benchmark.id, self.examples, ground_truth.left_out, example_id, ID_PATTERNS)
        self.validator = Validator(
            settings.space, settings.refusal, settings.highest_attempt, any_candidate=benchmark.any_candidate
        )
        self.is_quick = settings.kept is None
        """Whether plain rows may take the quick way, which keeps no rows."""
        self.asks_box = [example.rule == "coverage_precision" for example in self.examples]
        """Aligned with the examples: whether each asks for a box."""
        self.predictions: list[Prediction | None] = [None] * len(self.examples)
        """Aligned with the examples: the prediction that counts, in the space of its row. The last row wins."""
        self.codes = bytearray(len(self.examples))
        """Aligned with the examples: the outcome as one of ``CODES``."""
        self.verdicts: dict[int, Verdict] = {}
        """Place -> verdict, for the rows that were judged one by one. The others follow from prediction and code."""
        self.later: dict[int, bytearray] = {}
        """Place -> codes of attempts 2, 3, ..."""
        self.first: dict[str, Prediction] = {}
        """Id -> the first row, for ids that were given again with another answer."""
        self.public: dict[str, Prediction] = {}
        """Id -> the accident of the public scorer, where the row that counts causes one."""
        self.odd_rows: dict[str, Mapping[str, Any]] = {}
        """Id -> the row, with long values cut, for the first rows in which something was found or which refuse."""
        self.kept: Kept | None = settings.kept
        self.outcomes_by_line: dict[int, Outcome] | None = None
        """Line -> outcome, where each row is wanted by itself."""
        self.known_rows = 0
        """Rows of examples, those that a filter left out included."""
        self.rejected_rows = 0
        """Rows whose id is none of the benchmark's."""
        self.left_out_rows = 0
        """Rows of examples that a filter left out."""

    def keep(self, row: Row, answer: Answer, verdict: Verdict) -> None:
        """Keep an answer with its verdict, in place of an earlier one of the same id and attempt."""
        prediction, outcome = answer.prediction, verdict.outcome
        if prediction.attempt == 1:
            odd = row.report.used or any(x < 0 and y < 0 for x, y in prediction.points)
            self.keep_answer(row.place, row.values, answer, row.report, odd=odd)
            self.codes[row.place] = CODES[outcome]
            self.verdicts[row.place] = verdict
        else:
            self.keep_later(row.place, prediction.attempt, CODES[outcome], row.report)
        if outcome == "miss" and is_off_screenshot(verdict):
            report_off_screenshot(verdict, row.report)
        if self.kept is not None:
            key = row.example.id, prediction.attempt
            self.kept.rows[key] = row.values
            if prediction.attempt > 1:
                self.kept.later[key] = verdict
        if self.outcomes_by_line is not None:
            self.outcomes_by_line[row.report.line] = outcome

    def keep_answer(self, place: int, values: dict[str, Any], answer: Answer, report: Reporter, *, odd: bool) -> None:
        """Keep what a row of attempt 1 says; an earlier row of its id becomes a finding."""
        prediction = answer.prediction
        previous = self.predictions[place]
        kept_odd = odd and self._keep_odd(values, prediction.id)
        if previous is not None:
            self.public.pop(prediction.id, None)
            if not kept_odd:
                self.odd_rows.pop(prediction.id, None)
            self._report_duplicate(previous, prediction, report)
        if answer.public is not None:
            self.public[prediction.id] = answer.public
        self.predictions[place] = prediction

    def keep_later(self, place: int, attempt: int, code: int, report: Reporter) -> None:
        """Keep the outcome of an attempt after the first; the last row of an attempt wins."""
        later = self.later.get(place)
        if later is None:
            later = self.later[place] = bytearray()
        if attempt - 2 >= len(later):
            later.extend(bytes(attempt - 1 - len(later)))
        elif later[attempt - 2]:
            report(messages.ATTEMPT_AGAIN, attempt=attempt)
        later[attempt - 2] = code

    def reject(self, line: int, row: dict[str, Any], report: Reporter) -> None:
        """Count and report a row whose id is none of the examples'."""
        row_id = row.get("id")
        if isinstance(row_id, str) and row_id in self.ids.left_out:
            self.known_rows += 1
            self.left_out_rows += 1
            return
        self.rejected_rows += 1
        report_unknown(row, self.ids, report.at(line, row_id if isinstance(row_id, str) else ""))

    def _report_duplicate(self, previous: Prediction, prediction: Prediction, report: Reporter) -> None:
        before = f"line {previous.line}"
        if previous.source != prediction.source:
            before += f" of {previous.source}"
        if previous[_SAID] == prediction[_SAID]:
            report(messages.SAME_ANSWER_AGAIN, before=before)
            return
        self.first.setdefault(prediction.id, previous)
        then, here = partial(write_answer, previous), partial(write_answer, prediction)
        report(messages.OTHER_ANSWER, before=before, then=then, here=here)

    def _keep_odd(self, row: dict[str, Any], example_id: str) -> bool:
        """Keep a row for a diagnosis, with long values cut; False where there is no room."""
        if len(self.odd_rows) >= MAX_ODD_ROWS and example_id not in self.odd_rows:
            return False
        self.odd_rows[example_id] = {key: _short(row[key]) for key in islice(row, MAX_ENTRIES)}
        return True


class Verdicts(Sequence[Verdict]):
    """The verdicts of a ledger, in ground-truth order. None is judged here: outcomes were kept as rows were judged."""

    def __init__(
        self,
        examples: Sequence[Example],
        predictions: Sequence[Prediction | None],
        codes: bytes | bytearray,
        made: Mapping[int, Verdict],
    ) -> None:
        self._examples, self._predictions, self._codes, self._made = examples, predictions, codes, made

    def __len__(self) -> int:
        return len(self._examples)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else tuple(map(self._at, places))

    def __iter__(self) -> Iterator[Verdict]:
        return map(self._at, range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} verdicts>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def _at(self, place: int) -> Verdict:
        made = self._made.get(place)
        if made is not None:
            return made
        example, prediction = self._examples[place], self._predictions[place]
        if prediction is not None and prediction.space is not PIXEL:
            prediction = to_pixels(prediction, example.image_size)
        return Verdict(example, prediction, OUTCOMES_OF_CODES[self._codes[place]])


def report_unknown(row: dict[str, Any], ids: Ids, report: Reporter) -> None:
    """Report a row that has no id, an id of another type, or an id that the benchmark does not have."""
    row_id = row.get("id")
    if isinstance(row_id, str):
        report(messages.UNKNOWN_ID, explanation=partial(ids.unknown, row_id))
    elif "id" in row:
        shown = f" {row_id}" if isinstance(row_id, int) and abs(row_id) < 10**18 else ""
        report(messages.ID_TYPE, found=f"{type_name(row_id)}{shown}", example=ids.example)
    else:
        _report_missing_id(row, report)


def _report_missing_id(row: dict[str, Any], report: Reporter) -> None:
    lists = [key for key, value in row.items() if isinstance(value, list)]
    objects = [key for key in lists if all(isinstance(entry, dict) for entry in row[key]) and row[key]]
    if objects:
        report(messages.LIST_INSIDE, key=shorten(str(objects[0])), entries=len(row[objects[0]]))
    elif row and len(lists) == len(row) and not set(row) & {*POINT_KEYS, *BOX_KEYS}:
        report(messages.IDS_AS_KEYS)
    else:
        report(messages.NO_ID, has=keys_of(row))


def report_off_screenshot(verdict: Verdict, report: Reporter) -> None:
    """Report a miss that lies off its screenshot."""
    assert verdict.prediction is not None
    width, height = verdict.example.image_size
    answer = partial(write_answer, verdict.prediction)
    report(messages.OUTSIDE_THE_SCREENSHOT, answer=answer, width=width, height=height)


def write_answer(prediction: Prediction) -> str:
    """What a prediction says, for a message."""
    if prediction.error is not None:
        return "an error"
    if prediction.bbox is not None:
        return write_numbers(prediction.bbox)
    return " ".join(write_numbers(point) for point in prediction.points) or "no answer"


def _short(value: Any, depth: int = 2) -> Any:
    """A value of a row, or the beginning of a long one."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, list | dict) and (depth == 0 or len(value) > MAX_ENTRIES):
        return None
    if isinstance(value, list):
        return [_short(entry, depth - 1) for entry in value]
    if isinstance(value, dict):
        return {key: _short(entry, depth - 1) for key, entry in value.items()}
    return value
