"""A row of a known example -> its prediction, whatever the row holds; and what is noted of the file on the way."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from scorer.core import messages
from scorer.core.errors import UsageError
from scorer.core.findings import NUMBERS, Code, Reporter, shorten, type_name
from scorer.core.records import PIXEL, Example, Point, Prediction, Refusal, Space
from scorer.core.spaces import parse_space
from scorer.pipeline.validate.answers import IGNORED_KEYS, Geometry, holds_answer, read_box, read_points

_IGNORED = frozenset(IGNORED_KEYS)


class Answer(NamedTuple):
    """What a row says, after validation."""

    prediction: Prediction
    """In the space of the row."""
    public: Prediction | None = None
    """What the public scorer would read by accident, where that is something else."""


class Validator:
    """Validates the rows of one benchmark, one by one, and notes what concerns the file as a whole."""

    def __init__(self, space: Space, refusal: Refusal, attempts: int, *, any_candidate: bool) -> None:
        self.space = space
        """The space of rows that name none."""
        self.refusal = refusal
        """Whether a refusal by a marker counts."""
        self.attempts = attempts
        """The highest attempt that is taken."""
        self.any_candidate = any_candidate
        """Whether a row may give several candidate points."""
        self.row_spaces: set[Space] = set()
        """The spaces that answers named themselves, so far."""
        self.named_spaces: dict[str, Space] = {}
        """All spaces that rows named, by their names, so far."""
        self.uses_default = False
        """Whether any answer so far left its space to ``space``."""
        self.has_markers = False
        """Whether any row so far refuses by a marker."""

    def validate(self, row: dict[str, Any], example: Example, report: Reporter) -> Answer | None:
        """The answer of a row; None for an attempt that is not taken. Whatever is wrong becomes a finding."""
        attempt = read_attempt(row.get("attempt"), report)
        if attempt > self.attempts:
            report(messages.LATER_ATTEMPT if self.attempts == 1 else messages.ATTEMPT_TOO_HIGH)
            return None
        if row.get("error"):
            # Nothing else in the row is read: what is left of a failed reply is kept for people.
            if holds_answer(row):
                report(messages.ERROR_WITH_ANSWER)
            error = _error_text(row["error"])
            return Answer(Prediction(example.id, error=error, attempt=attempt, line=report.line, source=report.source))
        space, fault = self._space_of(row, report)
        geometry = Geometry(fault=fault) if fault else self._geometry(row, example, report)
        marker = self._marker(row, geometry)
        if marker and self.refusal == "negative-only":
            report(messages.REFUSAL_MARKER, marker=shorten(marker))
            geometry = Geometry(fault=Code.REFUSAL_MARKER)
        _report_ignored(row, example, geometry, report)
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
        return Answer(prediction, None if geometry.public is None else _as_public(prediction, geometry.public))

    def note_space(self, named: object, space: Space) -> None:
        """Note that an answer is in a space, and whether its row named it."""
        if named is None:
            self.uses_default = True
        else:
            self.row_spaces.add(space)

    def _geometry(self, row: dict[str, Any], example: Example, report: Reporter) -> Geometry:
        if example.rule == "coverage_precision":
            return read_box(row, report)
        return read_points(row, report, any_candidate=self.any_candidate)

    def _marker(self, row: dict[str, Any], geometry: Geometry) -> str:
        """The marker by which the reply behind a row refused, "" for any other answer."""
        marker = row.get("refusal")
        if not (isinstance(marker, str) and marker and all(x < 0 and y < 0 for x, y in geometry.points)):
            return ""
        self.has_markers = True
        return shorten(marker)

    def _space_of(self, row: dict[str, Any], report: Reporter) -> tuple[Space, Code | None]:
        """The space of a row's numbers, and the fault of a row that names an unknown one."""
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
                    report(messages.TOO_MANY_SPACES)
                    return PIXEL, Code.BAD_SPACE
                self.named_spaces[named] = known
            return known, None
        except UsageError as unknown:
            report(messages.UNKNOWN_SPACE, why=unknown)
            return PIXEL, Code.BAD_SPACE


def read_attempt(attempt: object, report: Reporter) -> int:
    """The number of a row's attempt, from 1; anything that is no such number is reported and read as 1."""
    if attempt is None:
        return 1
    if isinstance(attempt, int | float) and not isinstance(attempt, bool) and attempt >= 1:
        # A parser may read a long whole number as a float or as infinite. It is a later attempt all the same.
        if attempt == math.inf:
            return report.findings.limits.attempts + 1
        if attempt == int(attempt):
            return int(attempt)
    report(messages.NO_ATTEMPT)
    return 1


def _report_ignored(row: dict[str, Any], example: Example, geometry: Geometry, report: Reporter) -> None:
    """Report fields that some harnesses write beside an answer: their verdict, or the target."""
    for key in () if _IGNORED.isdisjoint(row) else IGNORED_KEYS:
        if row.get(key) is not None:
            report(messages.VERDICT_IN_ROW, key=key)
    boxes = ("bbox", "box") if geometry.points and example.rule != "coverage_precision" else ()
    for key in boxes:
        if row.get(key) is not None and not _is_centre(geometry.points[0], row[key]):
            report(messages.BOX_IN_ROW, key=key)


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
