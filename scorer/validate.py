"""Rows -> predictions: ids, duplicates, spaces, attempts. Nothing here raises on any JSON value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from scorer.answers import (
    BOX_KEYS,
    POINT_KEYS,
    Geometry,
    holds_answer,
    keys_of,
    plain_point,
    read_box,
    read_points,
)
from scorer.errors import UsageError
from scorer.ids import Ids
from scorer.model import PIXEL, Example, Frame, Point, Prediction, Refusal, Row, Rows, Space
from scorer.problems import NUMBERS, Code, Problems, Reporter, shorten, type_name, write_numbers
from scorer.spaces import parse_space

IGNORED_KEYS = ("correctness", "correct", "hit", "outcome", "target", "gt", "eval")
"""Names under which harnesses keep their own verdict or the ground truth in a row of predictions."""


class Collector:
    """Takes the rows of one benchmark and keeps, for each example, the prediction that counts.

    After all rows: ``predictions`` by id (the last row of an id wins), ``first`` the first row of each id that was
    given again with another answer, ``public`` the accidents of the public scorer, ``row_spaces`` the spaces that
    answers named themselves, ``uses_default`` whether any answer left it to ``space``, and ``has_markers`` whether any
    row refuses by a marker. With ``refusal`` "negative-only" such a row is no answer.
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
        self.row_spaces: set[Space] = set()
        self.uses_default = False
        self.known_rows = 0
        self.refused_rows = 0
        self.left_out_rows = 0

    def take(self, source: str, rows: Rows) -> Iterator[Row]:
        """Read the rows of this benchmark's examples and yield the others, whose ids it does not know.

        Whatever is wrong with a row becomes a problem.
        """
        find, kept = self.examples.get, self.predictions
        for line, row in rows:
            row_id = row.get("id")
            example = find(row_id) if type(row_id) is str else None
            if example is None:
                yield line, row
                continue
            self.known_rows += 1
            example_id = example.id  # equal to row_id; keeping one string of the two halves their memory
            public: Prediction | None = None
            if len(row) == 2 and example.rule != "coverage_precision" and (points := plain_point(row)):
                self.uses_default = True
                prediction = Prediction(example_id, points, None, self.space, None, None, 1, line, source)
            else:
                report = Reporter(self.problems, source, line, example_id)
                if not _is_first_attempt(row.get("attempt"), report):
                    continue
                prediction, public = self._read(row, example, report)
            previous = kept.get(example_id)
            if previous is not None:
                self.public.pop(example_id, None)
                self._report_duplicate(previous, prediction)
            if public is not None:
                self.public[example_id] = public
            kept[example_id] = prediction

    def refuse(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Report a row whose id is none of this benchmark's examples."""
        row_id = row.get("id")
        if isinstance(row_id, str) and row_id in self.ids.left_out:
            self.known_rows += 1
            self.left_out_rows += 1
            return
        self.refused_rows += 1
        if isinstance(row_id, str):
            self.problems.add("unknown-id", self.ids.unknown(row_id), source, line, row_id=row_id)
        else:
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
            if row.get("space") is None:
                self.uses_default = True
            else:
                self.row_spaces.add(space)
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
            return parse_space(named), None
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
        report = Reporter(self.problems, prediction.source, prediction.line, prediction.id)
        before = f"line {previous.line}"
        if previous.source != prediction.source:
            before += f" of {previous.source}"
        if _answer(previous) == _answer(prediction):
            report("duplicate-id", f"was already given on {before} with the same answer")
            return
        self.first.setdefault(prediction.id, previous)
        report(
            "duplicate-id",
            f"was already given on {before} with another answer "
            f"({write_answer(previous)} then, {write_answer(prediction)} here); the last row counts",
        )


def is_outside(prediction: Prediction, frame: Frame) -> bool:
    """Whether a candidate point or a corner, in pixels, lies off the screenshot; a refusal's point does not count."""
    width, height = frame
    for x, y in prediction.points:
        if (x < 0) != (y < 0) or x > width or y > height:
            return True
    if prediction.bbox is None:
        return False
    x0, y0, x1, y1 = prediction.bbox
    return x0 < 0 or y0 < 0 or x1 > width or y1 > height


def _is_centre(point: Point, box: object) -> bool:
    """Whether a point is the centre of a box: then the box is the answer that the point was made from."""
    if not (isinstance(box, list) and len(box) == 4 and all(type(number) in NUMBERS for number in box)):
        return False
    return point == ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def _is_first_attempt(attempt: object, report: Reporter) -> bool:
    if attempt is None:
        return True
    if isinstance(attempt, int | float) and not isinstance(attempt, bool) and attempt >= 1:
        # A parser may read a long whole number as a float or as infinite: it is a later attempt all the same.
        if attempt == 1:
            return True
        if attempt == math.inf or attempt == int(attempt):
            report("other-attempt", "a row of a later attempt; only attempt 1 is scored")
            return False
    report("bad-attempt", "attempt must be a whole number from 1; read as 1")
    return True


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
