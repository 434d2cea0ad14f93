"""What the ground-truth readers of all benchmarks check in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scorer.core.findings import NUMBERS, Findings, shorten, type_name
from scorer.core.records import Example, Size

LARGEST = 10**15
LARGEST_SIDE = 10_000_000


class RowError(ValueError):
    """A ground-truth row that cannot be used. The message says what was found and what is needed."""


def number_list(name: str, value: object) -> list[float]:
    """A list of finite numbers, as it is."""
    if type(value) is not list:
        raise RowError(f"{name} must be a list of numbers, found {type_name(value)}")
    for entry in value:
        # The bounds are false for NaN, for infinities and for whole numbers that no double can hold.
        if type(entry) not in NUMBERS or not -LARGEST < entry < LARGEST:
            position = [other is entry for other in value].index(True) + 1
            what = "not finite" if type(entry) in NUMBERS else f"a {type_name(entry)}, not a number"
            raise RowError(f"{name}: entry {position} is {what}")
    return value


def image_size(value: object) -> Size:
    """[width, height] as two whole numbers from 1."""
    if type(value) is list and len(value) == 2:
        width, height = value
        if type(width) is int and type(height) is int and 0 < width < LARGEST_SIDE and 0 < height < LARGEST_SIDE:
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
