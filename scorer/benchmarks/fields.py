"""Checks of the fields that ground-truth records of all benchmarks have."""

from __future__ import annotations

from math import inf
from typing import Any

from scorer.core.findings import NUMBERS, shorten, type_name
from scorer.core.records import Size

LARGEST = 10_000_000
"""Bound, in pixels, of an image side and of the magnitude of a target coordinate.

It is hundreds of times the largest screens: a record beyond it is damaged or is not in pixels. It keeps the products of
coordinates, which polygons need, far below the largest double. There is no smallest magnitude: beside tiny coordinates
shapely's 106 bits can be wrong about points within 1e-20 pixels of an edge, and about no others.
"""


class RecordError(ValueError):
    """A ground-truth record that cannot be used. The message says what was found and what is needed."""


def number_list(name: str, value: object) -> list[float]:
    """The value, checked to be a list of finite numbers. Raises RecordError that names the first entry that is none."""
    if type(value) is not list:
        raise RecordError(f"{name} must be a list of numbers, found {type_name(value)}")
    for position, entry in enumerate(value, 1):
        if type(entry) not in NUMBERS:
            raise RecordError(f"{name}: entry {position} is a {type_name(entry)}, not a number")
        if not -inf < entry < inf:  # this way round for NaN
            raise RecordError(f"{name}: entry {position} is not finite")
    return value


def coordinate_list(name: str, value: object) -> list[float]:
    """The value, checked to be a list of coordinates in pixels. Raises RecordError that names the first other entry."""
    numbers = number_list(name, value)
    for position, number in enumerate(numbers, 1):
        if not -LARGEST < number < LARGEST:
            needed = f"pixels between -{LARGEST:,} and {LARGEST:,}"
            raise RecordError(f"{name}: entry {position} is {shown(number)} (needs {needed})")
    return numbers


def image_size(value: object) -> Size:
    """[width, height] as two whole numbers from 1. Raises RecordError for anything else."""
    if type(value) is list and len(value) == 2:
        width, height = value
        if type(width) is int and type(height) is int and 0 < width < LARGEST and 0 < height < LARGEST:
            return width, height
    raise RecordError(f"image_size must be [width, height], two whole numbers from 1, found {shown(value)}")


def text(record: dict[str, Any], key: str) -> str:
    """A string field; "" where the record lacks it. Raises RecordError for a value of another type."""
    value = record.get(key, "")
    if type(value) is str:
        return value
    raise RecordError(f"{key} must be a string, found {type_name(value)}")


def record_id(record: dict[str, Any]) -> str:
    """The id of a record, a string that is not empty. Raises RecordError where there is none."""
    value = record.get("id")
    if type(value) is str and value:
        return value
    raise RecordError(f"id must be a string, found {type_name(value)}")


def shown(value: object) -> str:
    """A short form of a value for a message."""
    return shorten(repr(value))
