"""The entries of a file that is one JSON array, each with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count

from scorer.core import messages
from scorer.core.findings import Reporter, type_name
from scorer.core.records import Row
from scorer.files.faults import Decoder, add_repeated_keys, is_too_deep

_WHITE = r"[ \t\n\r]*"

WINDOW = 2**14
"""Characters that may lie behind the position before the text is cut there. The parser counts lines from its start."""


def entries(data: bytes, line: int, report: Reporter, check_keys: bool) -> Iterator[Row]:
    """The entries of one JSON array, each with the line it starts on. Goes on at the next line after a fault."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + data.count(b"\n", 0, error.start)
        offset = error.start - (data.rfind(b"\n", 0, error.start) + 1)
        report.at(at)(messages.NOT_UTF8, offset=offset, byte=data[error.start], column=offset + 1)
        return
    if is_too_deep(data, report.findings.limits.depth):
        report.at(line)(messages.TOO_DEEP)
        return
    decoder = Decoder()
    position = _Position(text, line)
    position.move(text.index("[") + 1)
    comma = 0  # the line of the comma before this entry, 0 for the first one
    for entry in count():
        position.skip_white()
        at = position.line
        match position.text[position.index : position.index + 1]:
            case "":
                report.at(at)(messages.ARRAY_NOT_CLOSED)
                return
            case "]":
                if comma:
                    report.at(comma)(messages.TRAILING_COMMA, end=at)
                break
        if entry == report.findings.limits.rows:
            report(messages.TOO_MANY_ROWS)
            return
        try:
            value, end = decoder.raw_decode(position.text, position.index)
        except RecursionError:
            report.at(at)(messages.TOO_DEEP)
            return
        except json.JSONDecodeError as error:
            broken = at + position.text.count("\n", position.index, error.pos)
            column = error.pos - position.text.rfind("\n", 0, error.pos)
            report.at(broken)(messages.NOT_JSON, at=column, cause=error.msg, column=column)
            if not position.next_line():
                return
            comma = 0
            continue
        if isinstance(value, dict):
            if check_keys:
                add_repeated_keys(decoder.repeated, value, report.at(at))
            yield at, value
        else:
            report.at(at)(messages.NOT_AN_OBJECT, found=type_name(value))
        position.move(end)
        position.skip_white()
        match position.text[position.index : position.index + 1]:
            case ",":
                comma = position.line
                position.move(position.index + 1)
            case "]" | "":
                comma = 0
            case _:
                comma = 0
                report.at(position.line)(messages.MISSING_COMMA)
    position.move(position.index + 1)
    position.skip_white()
    if position.index < len(position.text):
        report.at(position.line)(messages.TEXT_AFTER_ARRAY)


class _Position:
    """A place in a text and the line it is on. It only moves forwards.

    After a fault the text behind it is dropped, because the parser's errors count lines from the start of the text.
    """

    def __init__(self, text: str, line: int) -> None:
        self.text, self.index, self.line = text, 0, line
        self._white = re.compile(_WHITE)

    def move(self, index: int) -> None:
        self.line += self.text.count("\n", self.index, index)
        self.index = index

    def skip_white(self) -> None:
        match = self._white.match(self.text, self.index)
        if match is not None:
            self.move(match.end())

    def next_line(self) -> bool:
        end = self.text.find("\n", self.index)
        if end < 0:
            return False
        self.move(end + 1)
        if self.index > WINDOW:
            self.text, self.index = self.text[self.index :], 0
        return True
