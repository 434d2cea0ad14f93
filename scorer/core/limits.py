"""What a run takes from a file before it refuses more: memory and time stay bounded whatever the file.

Every limit can be set (``--max NAME=N``), and the message that refuses something names its limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scorer.core.errors import UsageError


class Limits(NamedTuple):
    """The limits of one run, by the names that ``--max`` takes (``line-bytes``)."""

    line_bytes: int = 4 * 2**20
    array_bytes: int = 8 * 2**20
    unpacked_bytes: int = 2**32
    rows: int = 20_000_000
    depth: int = 400
    digits: int = 308
    attempts: int = 20_000
    candidates: int = 1000
    spaces: int = 1000
    findings: int = 1000
    bundle_bytes: int = 16 * 2**20


DEFAULT_LIMITS = Limits()

LIMITS: dict[str, tuple[int, str]] = {
    "line-bytes": (2**30, "bytes in a line of JSON Lines"),
    "array-bytes": (2**32, "bytes in a file that is one JSON array, which is read whole"),
    "unpacked-bytes": (2**50, "bytes that a compressed file holds"),
    "rows": (10**12, "lines of a file, or entries of an array"),
    "depth": (400, "arrays and objects within each other"),
    "digits": (308, "digits of a coordinate before its decimal point"),
    "attempts": (10**6, "the highest attempt of a row that is taken"),
    "candidates": (10**6, "candidate points of a row"),
    "spaces": (10**6, "different spaces that the rows of a benchmark name"),
    "findings": (10**7, "findings of one code that are kept and listed; the others are counted"),
    "bundle-bytes": (2**40, "bytes in one file of a bundle"),
}
"""Name -> the highest value that can be set, and what is counted."""


def named(limits: Limits) -> dict[str, int]:
    """The limits by the names that ``--max`` takes."""
    return {field.replace("_", "-"): value for field, value in limits._asdict().items()}


def reason(name: str, limits: Limits) -> str:
    """How a message names a limit: ``the limit of 400 (--max depth=N sets another)``."""
    return f"the limit of {named(limits)[name]} (--max {name}=N sets another)"


def parse_limits(given: Iterable[str]) -> Limits:
    """``NAME=N`` texts -> limits. Raises UsageError for an unknown name and for a number that cannot be one."""
    chosen: dict[str, int] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in LIMITS:
            raise UsageError(f'--max {text}: no limit "{name}"; known: {", ".join(LIMITS)}')
        highest, _ = LIMITS[name]
        if not (value.isascii() and value.isdecimal() and len(value) < 20 and 1 <= int(value) <= highest):
            raise UsageError(f"--max {text}: {name} must be a whole number from 1 to {highest}")
        chosen[name.replace("-", "_")] = int(value)
    return Limits(**chosen)
