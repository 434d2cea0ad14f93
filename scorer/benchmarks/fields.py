"""Checks of the fields that ground-truth records of all benchmarks have."""

from __future__ import annotations

from typing import Any

from scorer.core.findings import NUMBERS, shorten, type_name
from scorer.core.records import Size

LARGEST = 10**15
"""Upper bound of a coordinate's absolute value."""
LARGEST_SIDE = 10_000_000
"""Upper bound of a screenshot's width and height in pixels."""


class RecordError(ValueError):
    """A ground-truth record that cannot be used. The message says what was found and what is needed."""


def number_list(name: str, value: object) -> list[float]:
    """A list of finite numbers, unchanged. Raises RecordError for anything else."""
    if type(value) is not list:
        raise RecordError(f"{name} must be a list of numbers, found {type_name(value)}")
    for entry in value:
        # The bounds are false for NaN, for infinities and for whole numbers that no double can hold.
        if type(entry) not in NUMBERS or not -LARGEST < entry < LARGEST:
            position = [other is entry for other in value].index(True) + 1
            what = "not finite" if type(entry) in NUMBERS else f"a {type_name(entry)}, not a number"
            raise RecordError(f"{name}: entry {position} is {what}")
    return value


def image_size(value: object) -> Size:
    """[width, height] as two whole numbers from 1. Raises RecordError for anything else."""
    if type(value) is list and len(value) == 2:
        width, height = value
        if type(width) is int and type(height) is int and 0 < width < LARGEST_SIDE and 0 < height < LARGEST_SIDE:
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
