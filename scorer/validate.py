"""Rows -> predictions: ids, duplicates, spaces, attempts. Nothing here raises on any JSON value."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, islice
from typing import Any

from scorer.answers import (
    BOX_KEYS,
    IGNORED_KEYS,
    POINT_KEYS,
    Geometry,
    holds_answer,
    keys_of,
    plain_points,
    read_box,
    read_points,
)
from scorer.errors import UsageError
from scorer.ids import Ids
from scorer.limits import reason
from scorer.model import PIXEL, Batch, Example, Kept, Point, Prediction, Refusal, Space, Try
from scorer.problems import NUMBERS, Code, Problems, Reporter, shorten, type_name, write_numbers
from scorer.spaces import parse_space

MAX_ODD_ROWS = 1000
MAX_ENTRIES = 20
MAX_TEXT = 4000
"""So many rows are kept for a diagnosis, with so many entries and so much of each text."""


TakeLater = Callable[[str, Sequence[Try], Mapping[int, Prediction]], Sequence[int]]
"""What becomes of rows of later attempts, a byte each: one more than the position of its outcome in OUTCOMES.

It gets the name of the file, plain answers in its order, and the predictions of those that are not plain by position.
"""

_new = tuple.__new__  # half the time of calling a record's class, where a file has a record for each row


class Collector:
    """Takes the rows of one benchmark and keeps, for each example, the prediction that counts.

    After all rows: ``predictions`` by id (the last row of an id wins), ``first`` the first row of each id that was
    given again with another answer, ``public`` the accidents of the public scorer, ``odd_rows`` the first rows in
    which something was found or which refuse, ``row_spaces`` the spaces that answers named themselves, and
    ``uses_default`` whether any answer left it to ``space``. All of these are of attempt 1. Of later attempts ``later``
    holds, by id and attempt, what ``take_later`` made of each as one byte; without it they are reported and left out.
    ``has_markers`` says whether any row refuses by a marker; with ``refusal`` "negative-only" such a row is no answer.
    """

    def __init__(
        self,
        examples: Mapping[str, Example],
        ids: Ids,
        problems: Problems,
        *,
        any_candidate: bool = False,
        space: Space = PIXEL,
        refusal: Refusal = "markers",
        take_later: TakeLater | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.examples = examples
        self.ids = ids
        self.problems = problems
        self.any_candidate = any_candidate
        self.space = space
        self.refusal = refusal
        self.has_markers = False
        self.predictions: dict[str, Prediction] = {}
        self.first: dict[str, Prediction] = {}
        self.public: dict[str, Prediction] = {}
        self.odd_rows: dict[str, Mapping[str, Any]] = {}
        self.take_later = take_later
        self.kept = kept
        self.later: defaultdict[str, bytearray] = defaultdict(bytearray)
        self.row_spaces: set[Space] = set()
        self.named_spaces: dict[str, Space] = {}
        self.uses_default = False
        self.known_rows = 0
        self.refused_rows = 0
        self.left_out_rows = 0

    def take(self, source: str, batch: Batch) -> Batch:
        """Read the rows of this benchmark's examples and give back the others, whose ids it does not know.

        Whatever is wrong with a row becomes a problem.
        """
        lines, rows = batch
        rest: Batch = [], []
        try:
            examples = [self.examples[row["id"]] for row in rows]
        except (KeyError, TypeError):  # of any row whose id is unknown, missing or no string
            ids = [row.get("id") for row in rows]
            found = [self.examples.get(row_id) if isinstance(row_id, str) else None for row_id in ids]
            unknown = [example is None for example in found]
            rest = list(compress(lines, unknown)), list(compress(rows, unknown))
            lines, rows = list(compress(lines, found)), list(compress(rows, found))
            examples = [example for example in found if example is not None]
        self.known_rows += len(rows)
        self._read_all(source, lines, rows, examples)
        return rest

    def _read_all(
        self, source: str, lines: Sequence[int], rows: Sequence[dict[str, Any]], examples: Sequence[Example]
    ) -> None:
        """Read rows, each of its example, in the order of the file."""
        problems, default, spaces, kept = self.problems, self.space, self.named_spaces, self.kept
        highest = problems.limits.attempts if self.take_later is not None else 1
        seen_space: Space | None = None
        tries: list[Try] = []
        others: dict[int, Prediction] = {}
        plain = plain_points(rows, problems.limits.digits)
        for line, row, example, point in zip(lines, rows, examples, plain, strict=True):
            report: Reporter | None = None
            attempt = row.get("attempt", 1)
            if type(attempt) is not int or attempt < 1:
                report = Reporter(problems, source, line, example.id)
                attempt = _attempt(attempt, report)
            if attempt > highest:
                self._leave_out(source, line, example.id)
                continue
            if kept is not None:
                kept.rows[example.id, attempt] = row
            named = row.get("space")
            space = default if named is None else spaces.get(named) if type(named) is str else None
            if point is not None and report is None and space is not None and example.rule != "coverage_precision":
                if space is not seen_space:
                    self._note_space(named, space)
                    seen_space = space
                if attempt > 1:
                    tries.append((example, point, space, attempt, line))
                else:
                    x, y = point
                    fields = example.id, ((x, y),), None, space, None, None, 1, line, source, ""
                    self._keep(_new(Prediction, fields), None, odd=False)
                continue
            report = report or Reporter(problems, source, line, example.id)
            prediction, public = self._read(row, example, report)
            if attempt > 1:
                others[len(tries)] = prediction._replace(attempt=attempt)
                tries.append((example, (), PIXEL, attempt, line))
            else:
                self._keep(prediction, public, odd=self._keep_odd(row, prediction, report))
        if tries:
            self._keep_later(source, tries, others)

    def _leave_out(self, source: str, line: int, example_id: str) -> None:
        """A row of an attempt that is not taken is a problem."""
        code: Code = "other-attempt" if self.take_later is None else "bad-attempt"
        if self.problems.only_counts(code):
            return
        message = "a row of a later attempt; only attempt 1 is scored (--attempts K takes K)"
        if self.take_later is not None:
            message = f"the attempt is beyond {reason('attempts', self.problems.limits)}; it is not scored"
        self.problems.add(code, message, source, line, row_id=example_id)

    def _note_space(self, named: object, space: Space) -> None:
        """Keep that an answer was in a space, by whichever way it got there."""
        if named is None:
            self.uses_default = True
        else:
            self.row_spaces.add(space)

    def _keep(self, prediction: Prediction, public: Prediction | None, *, odd: bool) -> None:
        """Keep what a row of attempt 1 says in place of what an earlier one of its id said."""
        example_id = prediction.id
        previous = self.predictions.get(example_id)
        if previous is not None:
            self.public.pop(example_id, None)
            if not odd:
                self.odd_rows.pop(example_id, None)
            self._report_duplicate(previous, prediction)
        if public is not None:
            self.public[example_id] = public
        self.predictions[example_id] = prediction

    def _keep_later(self, source: str, tries: Sequence[Try], others: Mapping[int, Prediction]) -> None:
        """Keep what becomes of attempts after the first, which is one byte each: they may be many."""
        assert self.take_later is not None
        later = self.later
        codes = self.take_later(source, tries, others)
        for (example, _, _, attempt, line), code in zip(tries, codes, strict=True):
            outcomes = later[example.id]
            place = attempt - 2
            if place == len(outcomes):
                outcomes.append(code)
                continue
            if place > len(outcomes):
                outcomes.extend(bytes(place + 1 - len(outcomes)))
            elif outcomes[place] and not self.problems.only_counts("duplicate-id"):
                report = Reporter(self.problems, source, line, example.id)
                report("duplicate-id", f"attempt {attempt} was already given; the last row counts")
            outcomes[place] = code

    def _keep_odd(self, row: dict[str, Any], prediction: Prediction, report: Reporter) -> bool:
        """Keep what is short of a row in which something was found, or which refuses; whether that was done."""
        odd = report.used or any(x < 0 and y < 0 for x, y in prediction.points)
        if odd and (len(self.odd_rows) < MAX_ODD_ROWS or prediction.id in self.odd_rows):
            self.odd_rows[prediction.id] = {key: _short(row[key]) for key in islice(row, MAX_ENTRIES)}
            return True
        return False

    def refuse(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Report a row whose id is none of this benchmark's examples."""
        row_id = row.get("id")
        if isinstance(row_id, str) and row_id in self.ids.left_out:
            self.known_rows += 1
            self.left_out_rows += 1
            return
        self.refused_rows += 1
        if isinstance(row_id, str):
            if not self.problems.only_counts("unknown-id"):
                self.problems.add("unknown-id", self.ids.unknown(row_id), source, line, row_id=row_id)
        elif not self.problems.only_counts("id-type" if "id" in row else "no-id"):
            self._report_missing_id(source, line, row)

    def _read(self, row: dict[str, Any], example: Example, report: Reporter) -> tuple[Prediction, Prediction | None]:
        """The prediction of a row and, where there is one, the public scorer's accident with it."""
        if row.get("error"):
            # Whatever else the row carries is not read: what is left of a failed reply is kept for people.
            if holds_answer(row):
                both = "the row records an error and also gives an answer; it counts as run_error"
                report("error-with-answer", both)
            error = _error_text(row["error"])
            return Prediction(example.id, error=error, line=report.line, source=report.source), None
        space, fault = self._space_of(row, report)
        geometry = Geometry(fault=fault)
        if not fault:
            read = read_box if example.rule == "coverage_precision" else self._read_points
            geometry = read(row, report)
        marker = self._marker(row, geometry)
        if marker and self.refusal == "negative-only":
            report("refusal-marker", f"refuses by {shorten(marker)}, not by a negative answer; it counts as no_answer")
            geometry = Geometry(fault="refusal-marker")
        self._report_ignored(row, example, geometry, report)
        if geometry.points or geometry.bbox is not None:
            self._note_space(row.get("space"), space)
        prediction = Prediction(
            example.id,
            geometry.points,
            geometry.bbox,
            space,
            fault=geometry.fault,
            line=report.line,
            source=report.source,
            refusal=marker,
        )
        public = None if geometry.public is None else _as_public(prediction, geometry.public)
        return prediction, public

    def _read_points(self, row: dict[str, Any], report: Reporter) -> Geometry:
        return read_points(row, report, any_candidate=self.any_candidate)

    def _marker(self, row: dict[str, Any], geometry: Geometry) -> str:
        """The marker by which the reply behind a row refused, "" for any other answer."""
        marker = row.get("refusal")
        if not (isinstance(marker, str) and marker and all(x < 0 and y < 0 for x, y in geometry.points)):
            return ""
        self.has_markers = True
        return shorten(marker)

    def _report_ignored(self, row: dict[str, Any], example: Example, geometry: Geometry, report: Reporter) -> None:
        """Fields that some harnesses write beside an answer: their verdict, or the target."""
        for key in IGNORED_KEYS:
            if row.get(key) is not None:
                report("ignored-field", f'"{key}" is not read: verdicts and targets are made here')
        boxes = ("bbox", "box") if geometry.points and example.rule != "coverage_precision" else ()
        for key in boxes:
            if row.get(key) is not None and not _is_centre(geometry.points[0], row[key]):
                report("ignored-field", f'"{key}" is not read for a point task (the target, or the box of the answer?)')

    def _space_of(self, row: dict[str, Any], report: Reporter) -> tuple[Space, Code | None]:
        """The space of a row's numbers, and the fault of a row whose own one is unknown."""
        named = row.get("space")
        if named is None:
            return self.space, None
        try:
            if not isinstance(named, str):
                raise UsageError(f"space must be a string, found {type_name(named)}")
            self.named_spaces[named] = parse_space(named)
            return self.named_spaces[named], None
        except UsageError as unknown:
            report("bad-space", f"{unknown}; the row counts as no_answer")
            return PIXEL, "bad-space"

    def _report_missing_id(self, source: str, line: int, row: dict[str, Any]) -> None:
        if "id" not in row:
            self.problems.add("no-id", _explain_missing_id(row), source, line)
            return
        found = row["id"]
        shown = f" {found}" if isinstance(found, int) and abs(found) < 10**18 else ""
        self.problems.add(
            "id-type",
            f"id must be a string, found {type_name(found)}{shown} (ids are strings like {self.ids.example})",
            source,
            line,
        )

    def _report_duplicate(self, previous: Prediction, prediction: Prediction) -> None:
        same = _answer(previous) == _answer(prediction)
        if not same:
            self.first.setdefault(prediction.id, previous)
        if self.problems.only_counts("duplicate-id"):
            return
        report = Reporter(self.problems, prediction.source, prediction.line, prediction.id)
        before = f"line {previous.line}"
        if previous.source != prediction.source:
            before += f" of {previous.source}"
        if same:
            report("duplicate-id", f"was already given on {before} with the same answer")
            return
        report(
            "duplicate-id",
            f"was already given on {before} with another answer "
            f"({write_answer(previous)} then, {write_answer(prediction)} here); the last row counts",
        )


def _is_centre(point: Point, box: object) -> bool:
    """Whether a point is the centre of a box: then the box is the answer that the point was made from."""
    if not (isinstance(box, list) and len(box) == 4 and all(type(number) in NUMBERS for number in box)):
        return False
    try:
        return point == ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    except OverflowError:  # of whole numbers that no double can hold
        return False


def _short(value: Any, depth: int = 2) -> Any:
    """A value of a row, or the beginning of a long one: what is kept of a file is bounded."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, list | dict) and (depth == 0 or len(value) > MAX_ENTRIES):
        return None
    if isinstance(value, list):
        return [_short(entry, depth - 1) for entry in value]
    if isinstance(value, dict):
        return {key: _short(entry, depth - 1) for key, entry in value.items()}
    return value


def _attempt(attempt: object, report: Reporter) -> int:
    """The number of a row's attempt; what is none is read as 1."""
    if attempt is None:
        return 1
    if isinstance(attempt, int | float) and not isinstance(attempt, bool) and attempt >= 1:
        # A parser may read a long whole number as a float or as infinite: it is a later attempt all the same.
        if attempt == math.inf:
            return report.problems.limits.attempts + 1
        if attempt == int(attempt):
            return int(attempt)
    report("bad-attempt", "attempt must be a whole number from 1; read as 1")
    return 1


def _error_text(error: object) -> str:
    """What a row says of its failure, as text of bounded length."""
    return shorten(error if isinstance(error, str) else json.dumps(error, default=str), 500)


def _as_public(prediction: Prediction, numbers: tuple[float, ...]) -> Prediction:
    if len(numbers) == 2:
        return prediction._replace(points=((numbers[0], numbers[1]),), fault=None)
    x0, y0, x1, y1 = numbers
    return prediction._replace(bbox=(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), fault=None)


def _explain_missing_id(row: dict[str, Any]) -> str:
    lists = [key for key, value in row.items() if isinstance(value, list)]
    objects = [key for key in lists if all(isinstance(entry, dict) for entry in row[key]) and row[key]]
    if objects:
        count = len(row[objects[0]])
        return f'the row has no id; found a list under "{shorten(objects[0])}" with {count} entries: submit that list'
    if row and len(lists) == len(row) and not set(row) & {*POINT_KEYS, *BOX_KEYS}:
        return 'the object maps ids to points; expected rows like {"id": ..., "point": [x, y]}'
    return f"the row has no id{keys_of(row)}; rows are never matched by position"


def _answer(prediction: Prediction) -> tuple[object, ...]:
    return prediction.points, prediction.bbox, prediction.error, prediction.space


def write_answer(prediction: Prediction) -> str:
    """What a prediction says, for a message."""
    if prediction.error is not None:
        return "an error"
    if prediction.bbox is not None:
        return write_numbers(prediction.bbox)
    return " ".join(write_numbers(point) for point in prediction.points) or "no answer"
