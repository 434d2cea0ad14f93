"""What the ground-truth readers of all benchmarks check in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from scorer.core.findings import NUMBERS, Findings, shorten, type_name
from scorer.core.records import Example, Size

LARGEST = 10_000_000
"""Bound, in pixels, of an image side and of the magnitude of a target coordinate.

Hundreds of times the largest screens: a row beyond it is damaged or is not in pixels. It keeps the products of
coordinates, which polygons need, far below the largest double. There is no smallest magnitude: beside tiny coordinates
shapely's 106 bits can be wrong about points within 1e-20 pixels of an edge, and about no others.
"""


class RowError(ValueError):
    """A ground-truth row that cannot be used. The message says what was found and what is needed."""


def number_list(name: str, value: object) -> list[float]:
    """The value, checked to be a list of finite numbers. RowError names the first entry that is none."""
    if type(value) is not list:
        raise RowError(f"{name} must be a list of numbers, found {type_name(value)}")
    for position, entry in enumerate(value, 1):
        if type(entry) not in NUMBERS:
            raise RowError(f"{name}: entry {position} is a {type_name(entry)}, not a number")
        if not -inf < entry < inf:  # this way round for NaN
            raise RowError(f"{name}: entry {position} is not finite")
    return value


def coordinate_list(name: str, value: object) -> list[float]:
    """The value, checked to be a list of coordinates in pixels. RowError names the first entry that is none."""
    numbers = number_list(name, value)
    for position, number in enumerate(numbers, 1):
        if not -LARGEST < number < LARGEST:
            needed = f"pixels between -{LARGEST:,} and {LARGEST:,}"
            raise RowError(f"{name}: entry {position} is {shown(number)} (needs {needed})")
    return numbers


def image_size(value: object) -> Size:
    """[width, height] as two whole numbers from 1."""
    if type(value) is list and len(value) == 2:
        width, height = value
        if type(width) is int and type(height) is int and 0 < width < LARGEST and 0 < height < LARGEST:
            return width, height
    raise RowError(f"image_size must be [width, height], two whole numbers from 1, found {shown(value)}")


def text(row: dict[str, Any], key: str) -> str:
    """A string field; "" where the row lacks it."""
    value = row.get(key, "")
    if type(value) is str:
        return value
    raise RowError(f"{key} must be a string, found {type_name(value)}")


def row_id(row: dict[str, Any]) -> str:
    """The id of a row, a non-empty string."""
    value = row.get("id")
    if type(value) is str and value:
        return value
    raise RowError(f"id must be a string, found {type_name(value)}")


def shown(value: object) -> str:
    """A short form of a value for a message."""
    return shorten(repr(value))


class Records:
    """The records of one annotation file: which ids were met, and what is wrong with the others."""

    def __init__(self, source: str, findings: Findings) -> None:
        self.source, self.findings = source, findings
        self.entries: dict[str, int] = {}
        self.targets: dict[str, tuple[float, ...]] = {}

    def report(self, row: dict[str, Any], entry: int, line: int, fault: RowError) -> None:
        """Add the finding of a record that cannot be used, by id if it has one."""
        name = row.get("id")
        known = name if isinstance(name, str) else ""
        who = f"id {known}" if known else f"entry {entry}"
        self.findings.add("gt-row", f"{who}: {fault}", self.source, line, row_id=known)

    def is_new(self, example: Example, entry: int, line: int, before: Iterable[Example]) -> bool:
        """False, and a finding, where one of the examples ``before`` this entry has the id."""
        first = self.entries.setdefault(example.id, entry)
        if first == entry:
            return True
        if example.id not in self.targets:
            self.targets = {known.id: known.target for known in before}
        how = "the same box" if self.targets[example.id] == example.target else "different boxes"
        message = f"id {example.id} appears twice (entries {first} and {entry}) with {how}"
        self.findings.add("gt-duplicate-id", message, self.source, line, row_id=example.id)
        return False
