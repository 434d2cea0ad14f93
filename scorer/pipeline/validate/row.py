"""A row of a known example -> its prediction, whatever the row holds; and what is noted of the file on the way."""

from __future__ import annotations

import json
from typing import Any

from scorer.core.errors import UsageError
from scorer.core.findings import NUMBERS, Code, Reporter, shorten, type_name
from scorer.core.limits import reason
from scorer.core.records import PIXEL, Example, Point, Prediction, Refusal, Space
from scorer.core.spaces import parse_space
from scorer.pipeline.validate.answers import IGNORED_KEYS, Geometry, holds_answer, read_box, read_points

_IGNORED = frozenset(IGNORED_KEYS)


class RowReader:
    """Reads rows one by one. ``space`` is that of rows which name none.

    After all rows: ``row_spaces`` are the spaces that answers named themselves, ``named_spaces`` all that were met by
    their names, ``uses_default`` whether any answer left it to ``space``, ``has_markers`` whether any row refuses by a
    marker; with ``refusal`` "negative-only" such a row is no answer.
    """

    def __init__(self, space: Space, refusal: Refusal, *, any_candidate: bool) -> None:
        self.space, self.refusal, self.any_candidate = space, refusal, any_candidate
        self.row_spaces: set[Space] = set()
        self.named_spaces: dict[str, Space] = {}
        self.uses_default = False
        self.has_markers = False

    def read(
        self, row: dict[str, Any], example: Example, report: Reporter, attempt: int = 1
    ) -> tuple[Prediction, Prediction | None]:
        """The prediction of a row and, where there is one, the public scorer's accident with it."""
        if row.get("error"):
            # Whatever else the row carries is not read: what is left of a failed reply is kept for people.
            if holds_answer(row):
                both = "the row records an error and also gives an answer; it counts as run_error"
                report("error-with-answer", both)
            error = _error_text(row["error"])
            return Prediction(example.id, error=error, attempt=attempt, line=report.line, source=report.source), None
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
            self.note_space(row.get("space"), space)
        prediction = Prediction(
            example.id,
            geometry.points,
            geometry.bbox,
            space,
            None,
            geometry.fault,
            attempt,
            report.line,
            report.source,
            marker,
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
        for key in () if _IGNORED.isdisjoint(row) else IGNORED_KEYS:
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
            known = self.named_spaces.get(named)
            if known is None:
                known = parse_space(named)
                if len(self.named_spaces) >= report.findings.limits.spaces:
                    if not report.findings.only_counts("bad-space"):
                        report("bad-space", f"more different spaces than {reason('spaces', report.findings.limits)}")
                    return PIXEL, "bad-space"
                self.named_spaces[named] = known
            return known, None
        except UsageError as unknown:
            report("bad-space", f"{unknown}; the row counts as no_answer")
            return PIXEL, "bad-space"

    def note_space(self, named: object, space: Space) -> None:
        """Keep that an answer was in a space, by whichever way it got there."""
        if named is None:
            self.uses_default = True
        else:
            self.row_spaces.add(space)


def _is_centre(point: Point, box: object) -> bool:
    """Whether a point is the centre of a box: then the box is the answer that the point was made from."""
    if not (isinstance(box, list) and len(box) == 4 and all(type(number) in NUMBERS for number in box)):
        return False
    try:
        x0, y0, x1, y1 = map(float, box)
    except OverflowError:  # of whole numbers that no double can hold
        return False
    return point == ((x0 + x1) / 2, (y0 + y1) / 2)


def _error_text(error: object) -> str:
    """What a row says of its failure, as text of bounded length."""
    if not isinstance(error, str):
        try:
            error = json.dumps(error, default=str)
        except (TypeError, ValueError, RecursionError):  # made in Python: an object within itself, or keys of any type
            error = f"an error that is no JSON ({type_name(error)})"
    return shorten(error, 500)


def _as_public(prediction: Prediction, numbers: tuple[float, ...]) -> Prediction:
    if len(numbers) == 2:
        return prediction._replace(points=((numbers[0], numbers[1]),), fault=None)
    x0, y0, x1, y1 = numbers
    return prediction._replace(bbox=(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), fault=None)
