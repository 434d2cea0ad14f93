"""What is wrong with a line, said so that its author can mend it; and the parser that tells repeated keys."""

from __future__ import annotations

import json
import re
from typing import Any

from scorer.core.findings import Findings
from scorer.core.limits import reason

MAX_DIGITS = 400
"""An integer with more digits than a double can hold; it is read as infinite and refused as a coordinate."""

# Patterns are compiled when first needed, which for most files is never.
_STRING = rb'(?s)"(?:[^"\\]|\\.)*+"?'  # one without an end reaches to the end, and is looked through once
_BRACKETS = rb"[\[\]{}]"


def report_too_many_rows(source: str, findings: Findings) -> None:
    """What comes behind the last row that is taken is not read."""
    findings.add("too-many-rows", f"the file has more lines than {reason('rows', findings.limits)}", source)


def report_too_deep(source: str, line: int, findings: Findings) -> None:
    """Refused before parsing: each parser has a limit of its own, and no verdict may depend on it."""
    deeper = f"arrays or objects are nested deeper than {reason('depth', findings.limits)}"
    findings.add("bad-json", deeper, source, line)


def is_too_deep(line: bytes, max_depth: int) -> bool:
    """Whether arrays and objects lie deeper within each other; brackets in texts do not count."""
    if line.count(b"[") + line.count(b"{") <= max_depth:
        return False
    depth = 0
    for bracket in re.findall(_BRACKETS, re.sub(_STRING, b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > max_depth:
            return True
    return False


def _integer(digits: str) -> int | float:
    """``int``, but without its limit on the number of digits: what is too long for a double becomes infinite."""
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


class Decoder(json.JSONDecoder):
    """The standard decoder, which also remembers the repeated keys of the outermost object it read last."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=self._object, parse_int=_integer)
        self.repeated: list[str] = []

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        self.repeated = []
        if len(row) != len(pairs):
            seen: set[str] = set()
            self.repeated = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
        return row


def parse_with_care(line: bytes, number: int, source: str, findings: Findings) -> tuple[Any] | None:
    """Read one line slowly and say what is wrong with it; None for a blank or a broken line."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        findings.add(
            "not-utf8",
            f"byte offset {error.start}: not valid UTF-8 (0x{line[error.start]:02x}); save the file as UTF-8",
            source,
            number,
            column=error.start + 1,
        )
        return None
    if not text.strip():
        return None
    try:
        return (Decoder().decode(text),)
    except json.JSONDecodeError as error:
        findings.add("bad-json", _cause(text, error), source, number, column=error.pos + 1)
    except RecursionError:  # under the limit, but called from deep in somebody's stack
        report_too_deep(source, number, findings)
    return None


def may_repeat_keys(line: bytes, row: dict[str, Any]) -> bool:
    """Whether more colons stand in a line than its keys and texts need; a key that stands twice has one of its own."""
    return line.count(b":") != colons_of(row) or (b"\\u003" in line and b"\\u003a" in line.lower())


def colons_of(row: dict[str, Any]) -> int:
    """The colons that a parsed row is written with, where none is escaped: one for each key, and those in texts."""
    total = 0
    values: list[Any] = [row]
    for value in values:  # which grows on the way
        kind = type(value)
        if kind is str:
            total += value.count(":")
        elif kind is dict:
            total += len(value) + "".join(value).count(":")
            values += value.values()
        elif kind is list:
            values += value
    return total


def report_repeated_keys(line: bytes, number: int, source: str, findings: Findings) -> None:
    """Read a line again and add a finding for each key of its outermost object that stands there twice."""
    decoder = Decoder()
    row = decoder.decode(line.decode())
    add_repeated_keys(decoder.repeated, row, number, source, findings)


def add_repeated_keys(repeated: list[str], row: dict[str, Any], number: int, source: str, findings: Findings) -> None:
    """Add a finding for each of these keys of a row."""
    row_id = row.get("id")
    for key in repeated:
        message = f'the key "{key}" appears twice; the last value counts'
        findings.add("repeated-key", message, source, number, row_id=row_id if isinstance(row_id, str) else "")


def _cause(text: str, error: json.JSONDecodeError) -> str:
    """What probably happened to a line that is not JSON, with the next step."""
    start = text.lstrip()
    if start.startswith("```"):
        return "a markdown fence in a predictions file; remove the fence lines"
    if start.startswith("\ufeff"):
        return "a byte order mark in the middle of the file (files joined?); remove it"
    if error.msg == "Extra data":
        if text[error.pos :].startswith(("{", "[")):
            return (
                f"column {error.pos + 1}: second JSON value on the same line "
                "(missing newline after an interrupted run?)"
            )
        return f"column {error.pos + 1}: text after the JSON value"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        if text.endswith("\n"):
            return "incomplete JSON (one object over several lines? write each row on a line of its own)"
        return "incomplete JSON, no newline at the end of the file (interrupted run?)"
    if re.match(r"[\[{(]\s*'", start) or "'id'" in start:
        return "single quotes: this is Python repr, not JSON; write rows with json.dumps"
    return f"column {error.pos + 1}: not JSON ({error.msg[:1].lower()}{error.msg[1:]})"
