"""The answer in one row: its point, its candidate points or its box, under the spellings that are read.

Source of the spellings and of their order: the public Pointerbench scorer, so that its files give its number. Where
that number would be an accident (a boolean or ``1_40`` taken for a number, a null dropped from a box, the digit of a
key's name read as a coordinate), the right reading wins, the row is listed, and the other reading is kept beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from scorer.core import messages
from scorer.core.findings import NUMBERS, Code, Reporter, shorten, type_name, write_numbers
from scorer.core.limits import reason
from scorer.core.records import Box, Point, Points

POINT_KEYS = ("point", "pred", "coordinate", "prediction")
BOX_KEYS = ("bbox", "box", "pred", "prediction")
FLAT_BOX_KEYS = ("x0", "y0", "x1", "y1")
TEXT_KEYS = ("text", "raw", "answer")
IGNORED_KEYS = ("correctness", "correct", "hit", "outcome", "target", "gt", "eval")
"""Names under which harnesses keep their own verdict or the ground truth in a row of predictions."""

HUGE_DIGITS = 15
"""Digits up to which whole numbers are exact in a double. Longer ones are checked against the limit with care."""

_ORDINARY = 10**HUGE_DIGITS

# Patterns are compiled when first needed, which for most files is never.
_DECIMAL = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_NUMBER_IN_TEXT = r"(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)"
_NUMBER_AS_PUBLIC_SCORER = r"-?\d+(?:\.\d+)?"


class Geometry(NamedTuple):
    """What a row answers, in the space of the row."""

    points: Points = ()
    """The candidate points, for examples that ask for a point."""
    bbox: Box | None = None
    """The box, for examples that ask for a box."""
    fault: Code | None = None
    """Why there is no usable geometry."""
    public: tuple[float, ...] | None = None
    """The 2 or 4 numbers that the public scorer takes by accident, where there is such an accident."""


def read_points(row: Mapping[str, Any], report: Reporter, *, any_candidate: bool = False) -> Geometry:
    """The point of a row, or its candidate points where the benchmark takes any of them."""
    if any_candidate and isinstance(row.get("points"), list):
        return _candidates(row, report)
    for key in POINT_KEYS:
        value = row.get(key)
        if isinstance(value, list) and len(value) >= 2:
            _report_conflict(row, key, (*POINT_KEYS, "points"), report)
            return _point(key, value, report)
    if "x" in row and "y" in row:
        return _point("x, y", [row["x"], row["y"]], report)
    return _no_point(row, report)


def read_box(row: Mapping[str, Any], report: Reporter) -> Geometry:
    """The box of a row: a list, the numbers in a text, or flat corners, in the public scorer's order."""
    fault: Code | None = None
    for key in BOX_KEYS:
        value = row.get(key)
        if isinstance(value, list):
            bad = next((i for i, entry in enumerate(value) if _number_fault(entry, report)), None)
            if bad is None and len(value) >= 4:
                _report_conflict(row, key, BOX_KEYS, report)
                if len(value) > 4:
                    report(messages.MORE_NUMBERS, numbers=len(value), key=key, hint="", used="four")
                return _box([float(entry) for entry in value[:4]], report)
            if bad is not None:
                what = _number_fault(value[bad], report)
                report(messages.NO_NUMBER_IN_BOX, key=key, entries=len(value), entry=bad + 1, what=what)
                fault = Code.BAD_NUMBER
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


def _candidates(row: Mapping[str, Any], report: Reporter) -> Geometry:
    """``points`` and, where it is given too, ``point`` before them."""
    if len(row["points"]) > report.findings.limits.candidates:
        report(messages.TOO_MANY_CANDIDATES, count=len(row["points"]))
        return Geometry(fault=Code.CANDIDATE_COUNT)
    entries = [(f"candidate {position} of points", entry) for position, entry in enumerate(row["points"], 1)]
    if isinstance(row.get("point"), list):
        entries.insert(0, ("point", row["point"]))
    points: list[Point] = []
    fault = Code.EMPTY_ANSWER
    for name, entry in entries:
        if not isinstance(entry, list) or len(entry) < 2:
            report(messages.NO_PAIR, name=name)
            fault = Code.WRONG_SHAPE
            continue
        geometry = _point(name, entry, report, lost="it does not count")
        points.extend(geometry.points)
        fault = geometry.fault or fault
    if not entries:
        report(messages.NO_CANDIDATES)
    if len(points) > 1:
        report(messages.SEVERAL_CANDIDATES, count=len(points))
    if any(x < 0 and y < 0 for x, y in points) and not all(x < 0 and y < 0 for x, y in points):
        report(messages.REFUSAL_AND_POINT)
    return Geometry(tuple(points)) if points else Geometry(fault=fault)


def _point(key: str, value: list[Any], report: Reporter, lost: str = "the row counts as no_answer") -> Geometry:
    if all(isinstance(entry, list) for entry in value):
        report(messages.SEVERAL_POINTS, count=len(value), key=key)
        return Geometry(fault=Code.CANDIDATE_COUNT)
    if len(value) > 2:
        hint = " (decimal comma?)" if len(value) == 3 else " (a box?)" if len(value) == 4 else ""
        report(messages.MORE_NUMBERS, numbers=len(value), key=key, hint=hint, used="two")
    numbers: list[float] = []
    for name, entry in zip("xy", value, strict=False):
        if isinstance(entry, str) and re.fullmatch(_DECIMAL, entry.strip()) and math.isfinite(float(entry)):
            report(messages.NUMBER_IS_TEXT, name=name, value=float(entry))
            numbers.append(float(entry))
        elif fault := _number_fault(entry, report):
            report(messages.NO_NUMBER, name=name, what=fault, lost=lost)
        else:
            numbers.append(float(entry))
    if len(numbers) == 2:
        return Geometry(((numbers[0], numbers[1]),))
    return Geometry(fault=Code.BAD_NUMBER, public=_floats(value[:2]))


def _box(numbers: list[float], report: Reporter) -> Geometry:
    x0, y0, x1, y1 = numbers
    if x1 < x0 or y1 < y0:
        as_sizes = write_numbers([x0, y0, x0 + x1, y0 + y1])
        report(messages.INVERTED_BOX, box=write_numbers(numbers), as_sizes=as_sizes)
    box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    if box[0] == box[2] or box[1] == box[3]:
        report(messages.ZERO_AREA, box=write_numbers(numbers))
    return Geometry(bbox=box)


def _flat_box(row: Mapping[str, Any], report: Reporter) -> Geometry:
    for key in FLAT_BOX_KEYS:
        if fault := _number_fault(row[key], report):
            report(messages.NO_NUMBER, name=key, what=fault, lost="the row counts as no_answer")
            return Geometry(fault=Code.BAD_NUMBER)
    return _box([float(row[key]) for key in FLAT_BOX_KEYS], report)


def _box_in_text(key: str, value: object, report: Reporter) -> Geometry | None:
    """Four numbers from a text (or a list in its place); None where there are fewer."""
    if isinstance(value, list):
        numbers = [float(entry) for entry in value if not _number_fault(entry, report)]
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
        report(messages.ACCIDENT_IN_TEXT, key=key, box=write_numbers(other))
        return Geometry(fault=Code.WRONG_SHAPE, public=other)
    public_reading = ""
    if other is not None:
        reads = write_numbers(other)
        public_reading = f". The public scorer reads {reads}: it takes the digit of a name for a coordinate"
    report(messages.BOX_IN_TEXT, box=write_numbers(numbers[:4]), key=key, public=public_reading)
    return _box(numbers[:4], report)._replace(public=other)


def _first_numbers(pattern: str, text: str) -> list[float]:
    numbers: list[float] = []
    for match in re.finditer(pattern, text):
        value = float(match[0])
        if not math.isfinite(value):
            return []
        numbers.append(value)
        if len(numbers) == 4:
            break
    return numbers


def _no_point(row: Mapping[str, Any], report: Reporter) -> Geometry:
    for key in POINT_KEYS:
        value = row.get(key)
        if isinstance(value, str) and value:
            report(messages.POINT_IS_TEXT, key=key)
            return Geometry(fault=Code.WRONG_SHAPE)
        if isinstance(value, dict):
            report(messages.POINT_IS_OBJECT, key=key)
            return Geometry(fault=Code.WRONG_SHAPE)
        if isinstance(value, list):
            nested = len(value) == 1 and isinstance(value[0], list)
            report(messages.NESTED_POINT if nested else messages.HALF_A_POINT, key=key, numbers=len(value))
            return Geometry(fault=Code.WRONG_SHAPE)
    if isinstance(row.get("points"), list):
        report(messages.CANDIDATES_UNASKED)
        return Geometry(fault=Code.CANDIDATE_COUNT)
    return _nothing(row, "point", ("bbox", "box"), report)


def _no_box(row: Mapping[str, Any], fault: Code | None, report: Reporter) -> Geometry:
    if fault is not None:
        return Geometry(fault=fault)
    return _nothing(row, "bbox", ("bbox", "box", *POINT_KEYS, "x"), report)


def _nothing(row: Mapping[str, Any], wanted: str, others: tuple[str, ...], report: Reporter) -> Geometry:
    """A row without the geometry its example asks for: another shape, or none at all."""
    found = next((key for key in others if row.get(key) is not None), None)
    if found is not None:
        report(messages.POINT_WANTED if wanted == "point" else messages.BOX_WANTED, found=found)
        return Geometry(fault=Code.WRONG_SHAPE)
    report(messages.NO_ANSWER, wanted=wanted, has=keys_of(row))
    return Geometry(fault=Code.EMPTY_ANSWER)


def _report_conflict(row: Mapping[str, Any], used: str, keys: tuple[str, ...], report: Reporter) -> None:
    """Name the other spellings of an answer that say something else, whether they could be read or not."""
    value = row[used]
    for key in keys:
        other = row.get(key)
        if (
            key == used
            or other is None
            or (isinstance(other, list) and other[: len(value)] == value[: len(other)] != [])
        ):
            continue
        report(messages.KEY_CONFLICT, used=used, other=key)
    flat = ("x", "y") if "point" in keys else FLAT_BOX_KEYS
    if all(key in row for key in flat) and [row[key] for key in flat] != value[: len(flat)]:
        report(messages.KEY_CONFLICT, used=used, other=", ".join(flat))


def holds_answer(row: Mapping[str, Any]) -> bool:
    """Whether any field is there that an answer is read from, readable or not; texts kept beside it do not count."""
    named = (*POINT_KEYS, "points", *BOX_KEYS)
    flat = (("x", "y"), FLAT_BOX_KEYS)
    return any(row.get(key) for key in named) or any(all(row.get(k) is not None for k in keys) for keys in flat)


def _number_fault(value: object, report: Reporter) -> str:
    """What keeps a value from being a coordinate; "" for a finite JSON number of not too many digits."""
    limits = report.findings.limits
    if type(value) in NUMBERS and -_ORDINARY < value < _ORDINARY and limits.digits >= HUGE_DIGITS:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        if isinstance(value, str):
            return (
                f'a string, "{shorten(value)}"'
                if re.fullmatch(_DECIMAL, value.strip())
                else (f"not a decimal number: {shorten(value)}")
            )
        return "null" if value is None else f"a {type_name(value)}"
    if isinstance(value, float) and math.isnan(value):
        return "NaN, which is not JSON"
    # As a double, which is what some parsers make of long whole numbers and what is judged.
    if abs(_double(value)) >= 10**limits.digits:
        return f"not finite, or has more digits than {reason('digits', limits)}"
    return ""


def _double(value: float) -> float:
    """The number as a double; infinite where it is too long for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _floats(values: list[Any]) -> tuple[float, ...] | None:
    """The public scorer's ``float()`` of each value; None where it would stop with an exception or not be finite."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def keys_of(row: Mapping[str, Any]) -> str:
    """The keys of a row, for a message about one that is missing: " (it has: id, answer)"."""
    keys = [shorten(str(key), 20) for key in row]
    return f" (it has: {', '.join(keys[:8])}{', …' if len(keys) > 8 else ''})" if keys else ""
