"""What is wrong with a line, and what its author can do about it; and the parser that notices repeated keys."""

from __future__ import annotations

import json
import re
from typing import Any

from scorer.core import messages
from scorer.core.findings import Message, Reporter

MAX_DIGITS = 400
"""Digits up to which an integer is parsed exactly. A double holds 308, so longer ones are read as infinite."""

# Patterns are compiled when first needed, which for most files is never.
_STRING = rb'(?s)"(?:[^"\\]|\\.)*+"?'  # one without an end reaches to the end, and is looked through once
_BRACKETS = rb"[\[\]{}]"


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
    """``int`` without its limit on the number of digits: what is too long for a double becomes infinite."""
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


def parse_with_care(line: bytes, report: Reporter) -> tuple[Any] | None:
    """Read one line slowly and report what is wrong with it; None for a blank or a broken line."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        report(messages.NOT_UTF8, offset=error.start, byte=line[error.start], column=error.start + 1)
        return None
    if not text.strip():
        return None
    try:
        return (Decoder().decode(text),)
    except json.JSONDecodeError as error:
        cause = f"{error.msg[:1].lower()}{error.msg[1:]}"
        report(_message(text, error), at=error.pos + 1, cause=cause, column=error.pos + 1)
    except RecursionError:  # within the limit, but called from deep inside another program
        report(messages.TOO_DEEP)
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


def report_repeated_keys(line: bytes, report: Reporter) -> None:
    """Read a line again and report each key of its outermost object that stands there twice."""
    decoder = Decoder()
    row = decoder.decode(line.decode())
    add_repeated_keys(decoder.repeated, row, report)


def add_repeated_keys(repeated: list[str], row: dict[str, Any], report: Reporter) -> None:
    """Report each of these keys of a row."""
    row_id = row.get("id")
    report = report.at(report.line, row_id if isinstance(row_id, str) else "")
    for key in repeated:
        report(messages.REPEATED_KEY, key=key)


def _message(text: str, error: json.JSONDecodeError) -> Message:
    """What probably happened to a line that is not JSON."""
    start = text.lstrip()
    if start.startswith("```"):
        return messages.MARKDOWN_FENCE
    if start.startswith("\ufeff"):
        return messages.MARK_INSIDE
    if error.msg == "Extra data":
        return messages.SECOND_VALUE if text[error.pos :].startswith(("{", "[")) else messages.TEXT_AFTER_VALUE
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return messages.INCOMPLETE_LINE if text.endswith("\n") else messages.INCOMPLETE_FILE
    if re.match(r"[\[{(]\s*'", start) or "'id'" in start:
        return messages.SINGLE_QUOTES
    return messages.NOT_JSON
