"""What a run takes from a file before it rejects more, so that memory and time stay bounded whatever the file holds.

Every limit can be set (``--max NAME=N``), and the message that rejects something names its limit.
"""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one run. ``--max`` takes the same names with hyphens (``line-bytes``)."""

    line_bytes: int = 4 * 2**20
    """Bytes of one line."""
    array_bytes: int = 8 * 2**20
    """Bytes of a file that is one JSON array, which is read whole."""
    unpacked_bytes: int = 2**32
    """Bytes that come out of a compressed file."""
    rows: int = 20_000_000
    """Lines of a file, or entries of an array."""
    depth: int = 400
    """Levels of arrays and objects within each other."""
    digits: int = 308
    """Digits of a coordinate before its decimal point; a double holds 308."""
    attempts: int = 20_000
    """The highest number of an attempt."""
    candidates: int = 1000
    """Candidate points of one row."""
    spaces: int = 1000
    """Different spaces that the rows of one benchmark name."""
    findings: int = 1000
    """Findings of one code that are kept with their text."""
    bundle_bytes: int = 16 * 2**20
    """Bytes of one file of a bundle."""


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
