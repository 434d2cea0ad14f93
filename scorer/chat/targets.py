"""The arguments of a call, or the fields of a JSON object -> points and boxes, in the numbers of the reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from scorer.core.findings import NUMBERS, shorten
from scorer.core.records import Box, Point

Shape = Point | Box

NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]{1,3})?"
SEPARATOR = r"(?:\s*+[,;]\s*+|\s++)"
_LIST = re.compile(rf"[\s\[({{<]*+({NUMBER}(?:{SEPARATOR}{NUMBER})*+)[\s\])}}>]*+")
_TAG = re.compile(r"</?(?:point|box|bbox)>")
_SINGLE = re.compile(NUMBER)

# A drag is judged at its start, so its keys come first. Four numbers under a point's key are a box.
POINT_KEYS = (
    "start_coordinate",
    "start_box",
    "start_point",
    "coordinate",
    "coordinates",
    "point_2d",
    "point",
    "points",
    "element",
    "position",
    "center",
)
BOX_KEYS = ("bbox_2d", "bbox", "box_2d", "box", "bounding_box")
TARGET_KEYS = (*POINT_KEYS, *BOX_KEYS)
_FLAT = (("x", "y"), ("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2"))
_MAX_TEXT = 2000
"""Upper bound on the characters of one coordinate field. Longer ones hold no coordinates."""


class UnreadableError(ValueError):
    """A field for the target holds no target. The message says what it holds."""


def shapes_of(arguments: Mapping[str, Any], y_first: frozenset[str]) -> list[Shape]:
    """The points or boxes in one set of arguments; the point, where there is one, before the box around it.

    Raises UnreadableError where a target's field holds something else.
    """
    for keys in (POINT_KEYS, BOX_KEYS):
        for key in keys:
            if arguments.get(key) is not None:
                shapes = _shapes(key, arguments[key], key in y_first)
                if shapes:
                    return shapes
    for flat in _FLAT:
        if all(key in arguments for key in flat):
            return [to_shape([_single(key, arguments) for key in flat])]
    return []


def to_shape(numbers: list[float]) -> Shape:
    """Two or four finite numbers as a point or a box. Raises UnreadableError for any other count."""
    if not all(map(math.isfinite, numbers)):
        raise UnreadableError("non-finite coordinate")
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    raise UnreadableError(f"{len(numbers)} numbers, expected 2 or 4")


def centre(shape: Shape) -> Point:
    """A point itself, or the middle of a box."""
    if len(shape) == 2:
        return shape
    x0, y0, x1, y1 = shape
    return (x0 + x1) / 2, (y0 + y1) / 2


def numbers_in(text: str) -> list[float] | None:
    """The numbers of a text that is nothing but a bracketed or bare list of them; None for any other text."""
    text = text.strip().strip("'\"")
    if len(text) > _MAX_TEXT:
        return None
    match = _LIST.fullmatch(_TAG.sub(" ", text))
    return [float(number) for number in _SINGLE.findall(match[1])] if match else None


def _shapes(key: str, value: object, y_first: bool) -> list[Shape]:
    """The shapes under one key: a list of numbers, a list of such lists, an object, or any of them in a string."""
    if isinstance(value, str):
        numbers = numbers_in(value)
        if numbers is None:
            if re.search(r"[0-9]", value[:_MAX_TEXT]) and key != "element":
                raise UnreadableError(f'{key} is "{shorten(value)}", no [x, y]')
            return []
        return [_ordered(numbers, y_first)]
    if isinstance(value, Mapping):
        return shapes_of(value, frozenset()) if "x" in value or "x0" in value or "x1" in value else []
    if not isinstance(value, list) or not value:
        return []
    if all(isinstance(entry, list) for entry in value):
        numbers = [number for entry in value for number in _numbers(key, entry)]
        if key in BOX_KEYS and [len(entry) for entry in value] == [2, 2]:
            return [_ordered(numbers, y_first)]
        return [_ordered(_numbers(key, entry), y_first) for entry in value]
    if all(isinstance(entry, Mapping) for entry in value):
        return [shape for entry in value for shape in _shapes(key, entry, y_first)]
    return [_ordered(_numbers(key, value), y_first)]


def _ordered(numbers: list[float], y_first: bool) -> Shape:
    if y_first and len(numbers) in (2, 4):
        numbers = [numbers[index ^ 1] for index in range(len(numbers))]
    return to_shape(numbers)


def _numbers(key: str, values: list[Any]) -> list[float]:
    found: list[float] = []
    for value in values:
        number = _number(value)
        if number is None:
            raise UnreadableError(f"{key} holds {shorten(repr(value), 40)}, not a number")
        found.append(number)
    return found


def _single(key: str, arguments: Mapping[str, Any]) -> float:
    """The coordinate under one key."""
    number = _number(arguments[key])
    if number is not None:
        return number
    value = arguments[key]
    packed = numbers_in(value) if isinstance(value, str) else None
    what = f"{len(packed)} numbers" if packed else "nothing" if value in ("", None) else shorten(repr(value), 40)
    raise UnreadableError(f"{key} holds {what}, expected one number")


def _number(value: object) -> float | None:
    if type(value) in NUMBERS:
        try:
            return float(value)  # type: ignore[arg-type]
        except OverflowError:
            return math.inf
    if isinstance(value, str) and len(value) <= _MAX_TEXT and _SINGLE.fullmatch(value.strip()):
        return float(value)
    return None
