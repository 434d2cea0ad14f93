"""Rows -> predictions: ids, duplicates, spaces, attempts. Nothing here raises on any JSON value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, islice
from typing import Any

from scorer.benchmarks.ids import Ids
from scorer.core.findings import Code, Findings, Reporter, shorten, type_name, write_numbers
from scorer.core.limits import reason
from scorer.core.records import PIXEL, Batch, Kept, Prediction, Refusal, Space, Tries
from scorer.pipeline.validate.answers import BOX_KEYS, POINT_KEYS, keys_of, plain_points
from scorer.pipeline.validate.row import RowReader

MAX_ODD_ROWS = 1000
MAX_ENTRIES = 20
MAX_TEXT = 4000
"""So many rows are kept for a diagnosis, with so many entries and so much of each text."""


JudgeTries = Callable[[Tries], Sequence[int]]
"""What becomes of rows, a byte each: one more than the position of its outcome in OUTCOMES."""

NOWHERE = [math.nan, math.nan]
"""Stands for what is no plain point; no rule takes it."""

_SAID = slice(Prediction._fields.index("points"), Prediction._fields.index("error") + 1)
"""Of a prediction, what its row answers: points, bbox, space, error."""

_new = tuple.__new__  # half the time of calling a record's class, where a file has a record for each row


class Collector:
    """Takes the rows of one benchmark and keeps, for each example, the prediction that counts.

    ``examples`` are those of ``ids``, and what a file gives for them stands beside them in columns. After all rows:
    ``predictions`` that count (the last row of an id wins), ``codes`` of what ``judge_tries`` made of them, 0 where
    there is no row; ``first`` the first row of each id that was given again with another answer, ``public`` the
    accidents of the public scorer, ``odd_rows`` the first rows in which something was found or which refuse; ``reader``
    knows what was noted of the file. All of these are of attempt 1. ``later`` has the codes of the other attempts by
    the place of the example, a byte each, since they may be many. Rows beyond ``attempts`` are reported and left out.
    """

    def __init__(
        self,
        ids: Ids,
        findings: Findings,
        *,
        any_candidate: bool = False,
        space: Space = PIXEL,
        refusal: Refusal = "markers",
        judge_tries: JudgeTries | None = None,
        attempts: int = 1,
        kept: Kept | None = None,
    ) -> None:
        self.ids = ids
        self.examples = ids.examples
        self.asks_box = [example.rule == "coverage_precision" for example in ids.examples]
        self.predictions: list[Prediction | None] = [None] * len(ids.examples)
        self.codes = bytearray(len(ids.examples))
        self.later: dict[int, bytearray] = {}
        self.findings = findings
        self.reader = RowReader(space, refusal, any_candidate=any_candidate)
        self.first: dict[str, Prediction] = {}
        self.public: dict[str, Prediction] = {}
        self.odd_rows: dict[str, Mapping[str, Any]] = {}
        self.judge_tries = judge_tries
        self.attempts = attempts
        self.kept = kept
        self.known_rows = 0
        self.refused_rows = 0
        self.left_out_rows = 0

    def take(self, source: str, batch: Batch) -> Batch:
        """Read the rows of this benchmark's examples and give back the others, whose ids it does not know.

        Whatever is wrong with a row becomes a finding.
        """
        lines, rows = batch
        rest: Batch = [], []
        try:
            places = [self.ids.known[row["id"]] for row in rows]
        except (KeyError, TypeError):  # of any row whose id is unknown, missing or no string
            ids = [row.get("id") for row in rows]
            found = [self.ids.known.get(row_id) if isinstance(row_id, str) else None for row_id in ids]
            unknown, known = [place is None for place in found], [place is not None for place in found]
            rest = list(compress(lines, unknown)), list(compress(rows, unknown))
            lines, rows = list(compress(lines, known)), list(compress(rows, known))
            places = [place for place in found if place is not None]
        self.known_rows += len(rows)
        self._read_all(source, lines, rows, places)
        return rest

    def _read_all(
        self, source: str, lines: Sequence[int], rows: Sequence[dict[str, Any]], places: Sequence[int]
    ) -> None:
        """Read rows, each of the example at its place, in the order of the file."""
        findings, kept, reader = self.findings, self.kept, self.reader
        default, spaces = reader.space, reader.named_spaces
        highest = self.attempts
        noted: object = ()  # what the last row that was noted says of its space, which is text or nothing
        tries, tried = Tries(source, default), list[int]()
        examples, predictions, asks_box = self.examples, self.predictions, self.asks_box
        plain = plain_points(rows, findings.limits.digits)
        for line, row, place, point in zip(lines, rows, places, plain, strict=True):
            report: Reporter | None = None
            attempt = row.get("attempt", 1)
            if type(attempt) is not int or attempt < 1:
                report = Reporter(findings, source, line, examples[place].id)
                attempt = _attempt(attempt, report)
            if attempt > highest:
                self._leave_out(source, line, examples[place].id)
                continue
            if kept is not None:
                kept.rows[examples[place].id, attempt] = row
            named = row.get("space")
            space = default if named is None else spaces.get(named) if type(named) is str else None
            if point is not None and report is None and space is not None and not asks_box[place]:
                if named != noted:
                    reader.note_space(named, space)
                    noted = named
                if not tried:
                    tries.space = space
                if attempt == 1 or space is not tries.space:
                    x, y = point
                    fields = examples[place].id, ((x, y),), None, space, None, None, attempt, line, source, ""
                    prediction = _new(Prediction, fields)
                if space is not tries.space:
                    tries.others[len(tried)] = prediction
                    point = NOWHERE
                if attempt == 1:
                    refuses = x < 0 > y
                    if predictions[place] is None and not refuses:
                        predictions[place] = prediction
                    else:
                        self._keep(place, prediction, None, odd=refuses and self._keep_odd(row, prediction.id))
            else:
                report = report or Reporter(findings, source, line, examples[place].id)
                prediction, public = reader.read(row, examples[place], report, attempt)
                if attempt == 1:
                    odd = report.used or any(x < 0 and y < 0 for x, y in prediction.points)
                    self._keep(place, prediction, public, odd=odd and self._keep_odd(row, prediction.id))
                tries.others[len(tried)] = prediction
                point = NOWHERE
            tried.append(place)
            tries.points.append(point)
            tries.attempts.append(attempt)
            tries.lines.append(line)
        self._keep_codes(tries, tried)

    def _leave_out(self, source: str, line: int, example_id: str) -> None:
        """A row of an attempt that is not taken is a finding."""
        code: Code = "other-attempt" if self.attempts == 1 else "bad-attempt"
        if self.findings.only_counts(code):
            return
        message = "a row of a later attempt; only attempt 1 is scored (--attempts K takes K)"
        if self.attempts > 1:
            message = f"the attempt is beyond {reason('attempts', self.findings.limits)}; it is not scored"
        self.findings.add(code, message, source, line, row_id=example_id)

    def _keep(self, place: int, prediction: Prediction, public: Prediction | None, *, odd: bool) -> None:
        """Keep what a row of attempt 1 says in place of what an earlier one of its id said."""
        previous = self.predictions[place]
        if previous is not None:
            self.public.pop(prediction.id, None)
            if not odd:
                self.odd_rows.pop(prediction.id, None)
            self._report_duplicate(previous, prediction)
        if public is not None:
            self.public[prediction.id] = public
        self.predictions[place] = prediction

    def _keep_codes(self, tries: Tries, places: Sequence[int]) -> None:
        """Keep what becomes of rows, each of the example at its place."""
        if self.judge_tries is None or not places:
            return
        tries.examples = [self.examples[place] for place in places]
        codes = self.judge_tries(tries)
        for place, attempt, code, line in zip(places, tries.attempts, codes, tries.lines, strict=True):
            if attempt == 1:
                self.codes[place] = code
                continue
            later = self.later.get(place)
            if later is None:
                later = self.later[place] = bytearray()
            if attempt - 2 == len(later):
                later.append(code)
                continue
            if attempt - 2 > len(later):
                later.extend(bytes(attempt - 1 - len(later)))
            elif later[attempt - 2] and not self.findings.only_counts("duplicate-id"):
                report = Reporter(self.findings, tries.source, line, self.examples[place].id)
                report("duplicate-id", f"attempt {attempt} was already given; the last row counts")
            later[attempt - 2] = code

    def _keep_odd(self, row: dict[str, Any], example_id: str) -> bool:
        """Keep what is short of a row in which something was found, or which refuses; whether there was room."""
        if len(self.odd_rows) >= MAX_ODD_ROWS and example_id not in self.odd_rows:
            return False
        self.odd_rows[example_id] = {key: _short(row[key]) for key in islice(row, MAX_ENTRIES)}
        return True

    def refuse(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Report a row whose id is none of this benchmark's examples."""
        row_id = row.get("id")
        if isinstance(row_id, str) and row_id in self.ids.left_out:
            self.known_rows += 1
            self.left_out_rows += 1
            return
        self.refused_rows += 1
        if isinstance(row_id, str):
            if not self.findings.only_counts("unknown-id"):
                self.findings.add("unknown-id", self.ids.unknown(row_id), source, line, row_id=row_id)
        elif not self.findings.only_counts("id-type" if "id" in row else "no-id"):
            self._report_missing_id(source, line, row)

    def _report_missing_id(self, source: str, line: int, row: dict[str, Any]) -> None:
        if "id" not in row:
            self.findings.add("no-id", _explain_missing_id(row), source, line)
            return
        found = row["id"]
        shown = f" {found}" if isinstance(found, int) and abs(found) < 10**18 else ""
        self.findings.add(
            "id-type",
            f"id must be a string, found {type_name(found)}{shown} (ids are strings like {self.ids.example})",
            source,
            line,
        )

    def _report_duplicate(self, previous: Prediction, prediction: Prediction) -> None:
        same = previous[_SAID] == prediction[_SAID]
        if not same:
            self.first.setdefault(prediction.id, previous)
        if self.findings.only_counts("duplicate-id"):
            return
        report = Reporter(self.findings, prediction.source, prediction.line, prediction.id)
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
            return report.findings.limits.attempts + 1
        if attempt == int(attempt):
            return int(attempt)
    report("bad-attempt", "attempt must be a whole number from 1; read as 1")
    return 1


def _explain_missing_id(row: dict[str, Any]) -> str:
    lists = [key for key, value in row.items() if isinstance(value, list)]
    objects = [key for key in lists if all(isinstance(entry, dict) for entry in row[key]) and row[key]]
    if objects:
        count = len(row[objects[0]])
        return (
            f'the row has no id; found a list under "{shorten(str(objects[0]))}" with {count} entries: submit that list'
        )
    if row and len(lists) == len(row) and not set(row) & {*POINT_KEYS, *BOX_KEYS}:
        return 'the object maps ids to points; expected rows like {"id": ..., "point": [x, y]}'
    return f"the row has no id{keys_of(row)}; rows are never matched by position"


def write_answer(prediction: Prediction) -> str:
    """What a prediction says, for a message."""
    if prediction.error is not None:
        return "an error"
    if prediction.bbox is not None:
        return write_numbers(prediction.bbox)
    return " ".join(write_numbers(point) for point in prediction.points) or "no answer"
