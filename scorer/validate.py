"""Rows -> predictions: ids, shapes, finite numbers, duplicates. Nothing here raises on any JSON value.

The spellings and their order are those of the public Pointerbench scorer, so that its files give its number. Where
that number would be an accident (a boolean or ``1_40`` taken for a number, a null dropped from a box, the digit of a
key's name read as a coordinate), the right reading wins, the row is listed, and the other reading is kept beside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scorer.errors import UsageError
from scorer.ids import Ids
from scorer.model import PIXEL, Box, Example, Frame, Point, Prediction, Row, Rows, Space
from scorer.problems import Code, Problems, shorten, type_name
from scorer.spaces import parse_space

POINT_KEYS = ("point", "pred", "coordinate", "prediction")
BOX_KEYS = ("bbox", "box", "pred", "prediction")
FLAT_BOX_KEYS = ("x0", "y0", "x1", "y1")
TEXT_KEYS = ("text", "raw", "answer")

HUGE = 1e15
"""Coordinates beyond this lose whole pixels in a double; the quick way of reading leaves them to the slow one."""

_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NUMBER_IN_TEXT = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)")
_NUMBER_AS_PUBLIC_SCORER = re.compile(r"-?\d+(?:\.\d+)?")


class Geometry(NamedTuple):
    """What a row says, in its own space. ``public`` is the public scorer's accident, where there is one."""

    points: tuple[Point, ...] = ()
    bbox: Box | None = None
    fault: Code | None = None
    public: tuple[float, ...] | None = None


class Collector:
    """Takes the rows of one benchmark and keeps, for each example, the prediction that counts.

    After all rows: ``predictions`` by id (the last row of an id wins), ``first`` the first row of each id that was
    given again with another answer, ``public`` the accidents of the public scorer.
    """

    def __init__(
        self,
        examples: Mapping[str, Example],
        ids: Ids,
        problems: Problems,
        *,
        any_candidate: bool = False,
        space: Space = PIXEL,
    ) -> None:
        self.examples = examples
        self.ids = ids
        self.problems = problems
        self.any_candidate = any_candidate
        self.space = space
        self.predictions: dict[str, Prediction] = {}
        self.first: dict[str, Prediction] = {}
        self.public: dict[str, Prediction] = {}
        self.own_spaces: set[Space] = set()
        self.uses_default = False
        self.known_rows = 0
        self.refused_rows = 0

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces that rows were in, the default one also where there was no row."""
        default = {self.space} if self.uses_default or not self.own_spaces else set()
        return tuple(sorted(self.own_spaces | default))

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
            prediction: Prediction | None = None
            if len(row) == 2 and example.rule != "coverage_precision" and (points := _plain_point(row)):
                self.uses_default = True
                prediction = Prediction(example_id, points, None, self.space, None, None, 1, line, source)
            previous = kept.get(example_id)
            if previous is not None:
                self.public.pop(example_id, None)
            if prediction is None:
                prediction = self._read(row, example, _Reporter(self.problems, source, line, example_id))
            if prediction is not None:
                if previous is not None:
                    self._report_duplicate(previous, prediction)
                kept[example_id] = prediction

    def refuse(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Report a row whose id is none of this benchmark's examples."""
        row_id = row.get("id")
        if isinstance(row_id, str) and row_id in self.ids.left_out:
            self.known_rows += 1
            self.problems.add("not-selected", "the filter leaves this example out", source, line, row_id=row_id)
            return
        self.refused_rows += 1
        if isinstance(row_id, str):
            self.problems.add("unknown-id", self.ids.unknown(row_id), source, line, row_id=row_id)
        else:
            self._report_missing_id(source, line, row)

    def _read(self, row: dict[str, Any], example: Example, report: _Reporter) -> Prediction | None:
        space = self.space
        error = None
        if len(row) > 2 or "point" not in row:
            if not _is_first_attempt(row.get("attempt"), report):
                return None
            if row.get("space") is not None:
                try:
                    space = _row_space(row["space"])
                except UsageError as unknown:
                    report("bad-space", str(unknown))
                    return Prediction(example.id, fault="bad-space", line=report.line, source=report.source)
            if row.get("error"):
                error = row["error"] if isinstance(row["error"], str) else json.dumps(row["error"])
        if space == self.space:
            self.uses_default = True
        else:
            self.own_spaces.add(space)
        if example.rule == "coverage_precision":
            geometry = read_box(row, report)
        else:
            geometry = read_points(row, report, any_candidate=self.any_candidate)
        if error is not None and (geometry.points or geometry.bbox is not None):
            report("error-with-answer", "the row records an error and also gives an answer; it counts as run_error")
        prediction = Prediction(
            example.id,
            geometry.points,
            geometry.bbox,
            space,
            error,
            geometry.fault,
            1,
            report.line,
            report.source,
        )
        if geometry.public is not None:
            self.public[example.id] = _as_public(prediction, geometry.public)
        return prediction

    def _report_missing_id(self, source: str, line: int, row: dict[str, Any]) -> None:
        if "id" not in row:
            self.problems.add("no-id", _explain_missing_id(row), source, line)
            return
        found = row["id"]
        shown = f" {found}" if isinstance(found, int | float) else ""
        self.problems.add(
            "id-type",
            f"id must be a string, found {type_name(found)}{shown} (ids are strings like {self.ids.example})",
            source,
            line,
        )

    def _report_duplicate(self, previous: Prediction, prediction: Prediction) -> None:
        report = _Reporter(self.problems, prediction.source, prediction.line, prediction.id)
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
            f"({_show(previous)} then, {_show(prediction)} here); the last row counts",
        )


class _Reporter:
    """Adds problems about one row."""

    __slots__ = ("id", "line", "problems", "source")

    def __init__(self, problems: Problems, source: str, line: int, row_id: str) -> None:
        self.problems, self.source, self.line, self.id = problems, source, line, row_id

    def __call__(self, code: Code, message: str) -> None:
        self.problems.add(code, message, self.source, self.line, row_id=self.id)


def read_points(row: Mapping[str, Any], report: _Reporter, *, any_candidate: bool = False) -> Geometry:
    """The point of a row, or its candidate points where the benchmark takes any of them."""
    if any_candidate and isinstance(row.get("points"), list):
        return _candidates(row, report)
    for key in POINT_KEYS:
        value = row.get(key)
        if isinstance(value, list) and len(value) >= 2:
            _report_conflict(row, key, POINT_KEYS, value, report)
            return _point(key, value, report)
    if "x" in row and "y" in row:
        return _point("x, y", [row["x"], row["y"]], report)
    return _no_point(row, report)


def read_box(row: Mapping[str, Any], report: _Reporter) -> Geometry:
    """The box of a row: a list, the numbers in a text, or flat corners, in the public scorer's order."""
    fault: Code | None = None
    for key in BOX_KEYS:
        value = row.get(key)
        if isinstance(value, list):
            bad = next((i for i, entry in enumerate(value) if _number_fault(entry)), None)
            if bad is None and len(value) >= 4:
                _report_conflict(row, key, BOX_KEYS, value, report)
                if len(value) > 4:
                    report("extra-numbers", f"{len(value)} numbers in {key}; the first four count")
                return _box([float(entry) for entry in value[:4]], report)
            if bad is not None:
                what = _number_fault(value[bad])
                report("bad-number", f"{key} has {len(value)} entries, entry {bad + 1} is {what}")
                fault = "bad-number"
                kept = [entry for entry in value if isinstance(entry, int | float)]
                if len(kept) >= 4:
                    return Geometry(fault=fault, public=_floats(kept[:4]))
        elif isinstance(value, str):
            geometry = _box_in_text(key, value, report)
            if geometry is not None:
                return geometry
    if all(key in row for key in FLAT_BOX_KEYS):
        return _flat_box(row, report)
    text = next((row[key] for key in TEXT_KEYS if row.get(key)), None)
    geometry = _box_in_text("the text", text, report)
    return geometry if geometry is not None else _no_box(row, fault, report)


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


def _plain_point(row: Mapping[str, Any]) -> tuple[Point, ...]:
    """The point of a row that holds an id, two finite numbers and nothing else: nearly every row of most files.

    ``row`` has two keys, one of them "id". Anything else is () and goes the long way, which reads such a row alike.
    """
    point = row.get("point")
    if type(point) is list and len(point) == 2:
        x, y = point
        # The bounds are false for NaN, for infinities and for what no double can hold.
        if type(x) in _NUMBERS and type(y) in _NUMBERS and -HUGE < x < HUGE and -HUGE < y < HUGE:
            return ((x, y),)
    return ()


_NUMBERS = frozenset({int, float})


def _is_first_attempt(attempt: object, report: _Reporter) -> bool:
    if attempt is None or (attempt == 1 and type(attempt) is int):
        return True
    if type(attempt) is int and attempt > 1:
        report("other-attempt", "a row of a later attempt; only attempt 1 is scored")
        return False
    report("bad-attempt", f"attempt must be a whole number from 1, found {type_name(attempt)}; read as 1")
    return True


def _row_space(value: object) -> Space:
    if not isinstance(value, str):
        raise UsageError(f"space must be a string, found {type_name(value)}")
    return parse_space(value)


def _candidates(row: Mapping[str, Any], report: _Reporter) -> Geometry:
    """``points`` and, where it is given too, ``point`` before them."""
    entries = list(row["points"])
    if isinstance(row.get("point"), list) and row["point"] not in entries:
        entries.insert(0, row["point"])
    points: list[Point] = []
    fault: Code = "empty-answer"
    for position, entry in enumerate(entries, 1):
        if not isinstance(entry, list) or len(entry) < 2:
            report("wrong-shape", f"candidate {position} of points is no [x, y]; it does not count")
            fault = "wrong-shape"
            continue
        geometry = _point(f"candidate {position}", entry, report)
        points.extend(geometry.points)
        fault = geometry.fault or fault
    if not entries:
        report("empty-answer", "points is empty")
    return Geometry(tuple(points)) if points else Geometry(fault=fault)


def _point(key: str, value: list[Any], report: _Reporter) -> Geometry:
    if all(isinstance(entry, list) for entry in value):
        report("candidate-count", f"{len(value)} points in {key}, expected one [x, y]")
        return Geometry(fault="candidate-count")
    if len(value) > 2:
        hint = " (decimal comma?)" if len(value) == 3 else " (a box?)" if len(value) == 4 else ""
        report("extra-numbers", f"{len(value)} numbers in {key}{hint}; the first two count")
    numbers: list[float] = []
    for name, entry in zip("xy", value, strict=False):
        if isinstance(entry, str) and _DECIMAL.fullmatch(entry.strip()) and math.isfinite(float(entry)):
            report("bad-number", f'{name} is a string, "{shorten(entry)}"; write numbers without quotes')
            numbers.append(float(entry))
        elif fault := _number_fault(entry):
            report("bad-number", f"{name} is {fault}")
        else:
            numbers.append(float(entry))
    if len(numbers) == 2:
        return Geometry(((numbers[0], numbers[1]),))
    return Geometry(fault="bad-number", public=_floats(value[:2]))


def _box(numbers: list[float], report: _Reporter) -> Geometry:
    x0, y0, x1, y1 = numbers
    if x1 < x0 or y1 < y0:
        as_sizes = f"read as x, y, width, height it would be {_list([x0, y0, x0 + x1, y0 + y1])}"
        report("inverted-box", f"{_list(numbers)}: the corners are swapped and were sorted; {as_sizes}")
    box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    if box[0] == box[2] or box[1] == box[3]:
        report("zero-area", f"{_list(numbers)}: the box has no area (a point given for a box task?)")
    return Geometry(bbox=box)


def _flat_box(row: Mapping[str, Any], report: _Reporter) -> Geometry:
    for key in FLAT_BOX_KEYS:
        if fault := _number_fault(row[key]):
            report("bad-number", f"{key} is {fault}")
            return Geometry(fault="bad-number")
    return _box([float(row[key]) for key in FLAT_BOX_KEYS], report)


def _box_in_text(key: str, value: object, report: _Reporter) -> Geometry | None:
    """Four numbers from a text (or a list in its place); None where there are fewer."""
    if isinstance(value, list):
        numbers = [float(entry) for entry in value if not _number_fault(entry)]
        public = _floats([entry for entry in value if isinstance(entry, int | float)][:4])
    elif isinstance(value, str):
        numbers = _first_numbers(_NUMBER_IN_TEXT, value)
        public = tuple(_first_numbers(_NUMBER_AS_PUBLIC_SCORER, value))
    else:
        return None
    other = public if public is not None and len(public) == 4 and list(public) != numbers[:4] else None
    if len(numbers) < 4:
        if other is None:
            return None
        report("number-in-text", f"no box in {key}; the public scorer would read {_list(other)} out of it")
        return Geometry(fault="wrong-shape", public=other)
    message = f'the box {_list(numbers[:4])} was read out of {key}; write it as "bbox"'
    if other is not None:
        message += f". The public scorer reads {_list(other)}: it takes the digit of a name for a coordinate"
    report("number-in-text", message)
    return _box(numbers[:4], report)._replace(public=other)


def _first_numbers(pattern: re.Pattern[str], text: str) -> list[float]:
    numbers: list[float] = []
    for match in pattern.finditer(text):
        value = float(match[0]) if len(match[0]) <= 400 else math.inf
        if not math.isfinite(value):
            return []
        numbers.append(value)
        if len(numbers) == 4:
            break
    return numbers


def _no_point(row: Mapping[str, Any], report: _Reporter) -> Geometry:
    for key in POINT_KEYS:
        value = row.get(key)
        if isinstance(value, str) and value:
            report("wrong-shape", f"{key} is a string; write it as a JSON array [x, y]")
            return Geometry(fault="wrong-shape")
        if isinstance(value, dict):
            report("wrong-shape", f'{key} is an object; write it as "{key}": [x, y]')
            return Geometry(fault="wrong-shape")
        if isinstance(value, list):
            report("wrong-shape", f"{key} holds {len(value)} of two numbers")
            return Geometry(fault="wrong-shape")
    if isinstance(row.get("points"), list):
        report("candidate-count", 'the row has candidate "points"; this benchmark asks for one "point"')
        return Geometry(fault="candidate-count")
    return _nothing(row, "point", ("bbox", "box"), report)


def _no_box(row: Mapping[str, Any], fault: Code | None, report: _Reporter) -> Geometry:
    if fault is not None:
        return Geometry(fault=fault)
    return _nothing(row, "bbox", ("bbox", "box", *POINT_KEYS, "x"), report)


def _nothing(row: Mapping[str, Any], wanted: str, others: tuple[str, ...], report: _Reporter) -> Geometry:
    """A row without the geometry its example asks for: another shape, or none at all."""
    found = next((key for key in others if row.get(key) is not None), None)
    if found is not None:
        report("wrong-shape", f'wants "{wanted}"; the row has "{found}"')
        return Geometry(fault="wrong-shape")
    if not row.get("error"):
        report("empty-answer", f'the row has no "{wanted}"')
    return Geometry(fault="empty-answer")


def _report_conflict(
    row: Mapping[str, Any], used: str, keys: tuple[str, ...], value: list[Any], report: _Reporter
) -> None:
    for key in keys[keys.index(used) + 1 :]:
        other = row.get(key)
        if isinstance(other, list) and len(other) >= 2 and other[: len(value)] != value[: len(other)]:
            report("key-conflict", f"{used} and {key} differ; {used} was used")


def _number_fault(value: object) -> str:
    """What keeps a value from being a coordinate; "" for a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        if isinstance(value, str):
            return (
                f'a string, "{shorten(value)}"'
                if _DECIMAL.fullmatch(value.strip())
                else (f"not a decimal number: {shorten(value)}")
            )
        return "null" if value is None else f"a {type_name(value)}"
    try:
        number = float(value)
    except OverflowError:
        return "not finite (too many digits)"
    if math.isnan(number):
        return "NaN, which is not JSON"
    return "" if math.isfinite(number) else "not finite"


def _floats(values: list[Any]) -> tuple[float, ...] | None:
    """The public scorer's ``float()`` of each value; None where it would stop with an exception or not be finite."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


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
    return "the row has no id; rows are never matched by position"


def _answer(prediction: Prediction) -> tuple[object, ...]:
    return prediction.points, prediction.bbox, prediction.error, prediction.space


def _show(prediction: Prediction) -> str:
    if prediction.error is not None:
        return "an error"
    if prediction.bbox is not None:
        return _list(prediction.bbox)
    return " ".join(_list(point) for point in prediction.points) or "no answer"


def _list(numbers: tuple[float, ...] | list[float]) -> str:
    return "[" + ", ".join(f"{number:.15g}" for number in numbers) + "]"
