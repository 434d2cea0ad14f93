"""The entries of a file that is one JSON array, each with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count

from scorer.core.findings import Findings, type_name
from scorer.core.records import Row
from scorer.files.faults import Decoder, add_repeated_keys, is_too_deep, report_too_deep, report_too_many_rows

_WHITE = r"[ \t\n\r]*"

WINDOW = 2**14
"""So many characters may lie behind when the text is cut."""


def entries(data: bytes, line: int, source: str, findings: Findings, check_keys: bool) -> Iterator[Row]:
    """The entries of one JSON array, each with the line it starts on. Goes on at the next line after a fault."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + data.count(b"\n", 0, error.start)
        offset = error.start - (data.rfind(b"\n", 0, error.start) + 1)
        found = f"byte offset {offset}: not valid UTF-8 (0x{data[error.start]:02x}); save the file as UTF-8"
        findings.add("not-utf8", found, source, at, column=offset + 1)
        return
    if is_too_deep(data, findings.limits.depth):
        report_too_deep(source, line, findings)
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
                findings.add("bad-json", "the array is not closed (interrupted run?)", source, at)
                return
            case "]":
                if comma:
                    findings.add("bad-json", f"trailing comma before the ] on line {at}; remove it", source, comma)
                break
        if entry == findings.limits.rows:
            report_too_many_rows(source, findings)
            return
        try:
            value, end = decoder.raw_decode(position.text, position.index)
        except RecursionError:
            report_too_deep(source, at, findings)
            return
        except json.JSONDecodeError as error:
            broken = at + position.text.count("\n", position.index, error.pos)
            column = error.pos - position.text.rfind("\n", 0, error.pos)
            findings.add("bad-json", f"column {column}: not JSON ({error.msg})", source, broken, column=column)
            if not position.next_line():
                return
            comma = 0
            continue
        if isinstance(value, dict):
            if check_keys:
                add_repeated_keys(decoder.repeated, value, at, source, findings)
            yield at, value
        else:
            findings.add("not-an-object", f"expected an object, found {type_name(value)}", source, at)
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
                findings.add(
                    "bad-json",
                    "missing comma between array entries (JSONL lines wrapped in [ ]?)",
                    source,
                    position.line,
                )
    position.move(position.index + 1)
    position.skip_white()
    if position.index < len(position.text):
        findings.add("bad-json", "text after the ] that closes the array", source, position.line)


class _Position:
    """A place in a text and the line it is on, moved forwards only.

    What lies behind is let go after a fault: each error of the parser counts the lines from the start of the text.
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
