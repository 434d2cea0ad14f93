"""A file -> rows with line numbers. Collects every bad line and never stops at the first.

Both forms are read: JSON Lines, where only LF (or CR LF) ends a line, and one JSON array. The standard library's
parser defines what is JSON here; orjson, if it is installed and the file is large enough to repay its import, is only
asked first, and what it refuses is read again. So no verdict depends on it.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count, islice
from typing import IO, Any

from scorer.limits import reason
from scorer.model import Row
from scorer.problems import Problems, type_name

MAX_DIGITS = 400
"""An integer with more digits than a double can hold; it is read as infinite and refused as a coordinate."""

MAX_KEYS_COUNTED = 32
"""In a row with more keys, counting each costs more than reading the row again."""

ORJSON_PAYS_FROM_BYTES = 4 * 2**20
"""Importing orjson costs as much as reading some megabytes with the standard parser."""

_BINARY = {
    codecs.BOM_UTF16_LE: "UTF-16 (byte order mark FF FE); save it as UTF-8",
    codecs.BOM_UTF16_BE: "UTF-16 (byte order mark FE FF); save it as UTF-8",
    b"\x1f\x8b": "compressed twice (gzip); decompress it",
    b"\x28\xb5\x2f\xfd": "compressed (zstd), which Python reads from 3.14 on; decompress it",
    b"PK\x03\x04": "a zip archive; unpack it",
}
_raw_decode = json.JSONDecoder().raw_decode
# Patterns are compiled when first needed, which for most files is never.
_STRING = rb'(?s)"(?:[^"\\]|\\.)*+"'
_BRACKETS = rb"[\[\]{}]"
_WHITE = r"[ \t\n\r]*"


def rows(
    stream: IO[bytes], source: str, problems: Problems, *, size: int = 0, check_keys: bool = True
) -> Iterator[Row]:
    """Yield (line number, object) for each row; add a problem for everything that is none.

    ``stream`` is binary and read once, line by line for JSON Lines and whole for an array. ``source`` is the name that
    the problems carry, ``size`` the number of bytes if it is known. ``check_keys`` also reports repeated keys.
    """
    limits = problems.limits
    read_line = partial(stream.readline, limits.line_bytes + 1)
    first_lines = islice(iter(read_line, b""), limits.rows)
    for number, line in enumerate(first_lines, 1):
        if number == 1:
            if _is_binary(line, source, problems):
                return
            line = _without_mark(line, source, problems)
        start = line.lstrip()
        if not start:
            continue
        if start.startswith(b"["):
            data = line + stream.read(max(0, limits.array_bytes + 1 - len(line)))
            if len(data) <= limits.array_bytes:
                yield from _array(data, number, source, problems, check_keys)
            else:
                longer = f"the JSON array is longer than {reason('array-bytes', limits)}; write JSON Lines instead"
                problems.add("array-too-long", longer, source, number)
            return
        lines = chain([line], iter(read_line, b""))
        if start.startswith(b"{") and b"}" not in line and line.endswith(b"\n"):
            data = line + stream.read(limits.line_bytes) + stream.readline(limits.line_bytes)  # whole lines
            whole = _spread_object(data, limits.depth)
            if whole is not None:
                yield number, whole
                return
            lines = chain(io.BytesIO(data), iter(read_line, b""))
        yield from _lines(lines, number, source, problems, _parser(size), check_keys)
        return
    if stream.read(1):
        _report_too_many_rows(source, problems)


def _spread_object(data: bytes, max_depth: int) -> dict[str, Any] | None:
    """The object that a file is as a whole, written over several lines; None where it is something else."""
    try:
        value = None if _too_deep(data, max_depth) else _standard_loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_binary(line: bytes, source: str, problems: Problems) -> bool:
    """Whether the file starts as UTF-16 or as an archive does, which one message says better than one a line."""
    for mark, found in _BINARY.items():
        if line.startswith(mark):
            problems.add("not-utf8", f"the file is {found}", source, 1)
            return True
    return False


def _without_mark(line: bytes, source: str, problems: Problems) -> bytes:
    if line.startswith(codecs.BOM_UTF8):
        problems.add("byte-order-mark", "a UTF-8 byte order mark at the start was ignored", source)
    return line.removeprefix(codecs.BOM_UTF8)


def _parser(size: int) -> Callable[[bytes], Any]:
    if size >= ORJSON_PAYS_FROM_BYTES:
        try:
            from orjson import loads
        except ImportError:
            pass
        else:
            return loads
    return _standard_loads


def _standard_loads(line: bytes) -> Any:
    """``json.loads`` of UTF-8, without the half of its time that goes into finding out what it was given."""
    text = line.decode()
    value, end = _raw_decode(text)
    if text[end:].strip(" \t\r\n"):
        raise ValueError
    return value


def _lines(
    lines: Iterator[bytes],
    first: int,
    source: str,
    problems: Problems,
    loads: Callable[[bytes], Any],
    check_keys: bool,
) -> Iterator[Row]:
    limits = problems.limits
    longest, deepest_needs = limits.line_bytes, 2 * limits.depth  # bytes: as many brackets must close
    for number, line in enumerate(islice(lines, limits.rows), first):
        length = len(line)
        if length > longest:
            longer = f"the line is longer, in bytes, than {reason('line-bytes', limits)}"
            problems.add("line-too-long", longer, source, number)
            if not line.endswith(b"\n"):
                next((rest for rest in lines if rest.endswith(b"\n")), None)
            continue
        if length > deepest_needs and _too_deep(line, limits.depth):
            _report_too_deep(source, number, problems)
            continue
        try:
            value = loads(line)
        except (ValueError, RecursionError):
            parsed = _parse_with_care(line, number, source, problems)
            if parsed is None:
                continue
            value = parsed[0]
        if type(value) is not dict:
            problems.add("not-an-object", f"expected an object, found {type_name(value)}", source, number)
            continue
        # A row whose keys are distinct has one colon for each of them, unless its values hold more.
        if check_keys and line.count(b":") != len(value) and _may_repeat_keys(line, value):
            _report_repeated_keys(line, number, source, problems)
        yield number, value
    if next(lines, None) is not None:
        _report_too_many_rows(source, problems)


def _report_too_many_rows(source: str, problems: Problems) -> None:
    problems.add("too-many-rows", f"the file has more lines than {reason('rows', problems.limits)}", source)


def _report_too_deep(source: str, line: int, problems: Problems) -> None:
    """Refused before parsing: each parser has a limit of its own, and no verdict may depend on it."""
    deeper = f"arrays or objects are nested deeper than {reason('depth', problems.limits)}"
    problems.add("bad-json", deeper, source, line)


def _too_deep(line: bytes, max_depth: int) -> bool:
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


class _Decoder(json.JSONDecoder):
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


def _parse_with_care(line: bytes, number: int, source: str, problems: Problems) -> tuple[Any] | None:
    """Read one line slowly and say what is wrong with it; None for a blank or a broken line."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add(
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
        return (_Decoder().decode(text),)
    except json.JSONDecodeError as error:
        problems.add("bad-json", _cause(text, error), source, number, column=error.pos + 1)
    except RecursionError:  # under the limit, but called from deep in somebody's stack
        _report_too_deep(source, number, problems)
    return None


def _may_repeat_keys(line: bytes, row: dict[str, Any]) -> bool:
    """False only where no key can stand twice in the line: each is there once, and none can be written otherwise."""
    if b"\\u" in line or len(row) > MAX_KEYS_COUNTED:
        return True
    return any(not key.isidentifier() or line.count(b'"%b"' % key.encode()) > 1 for key in row)


def _report_repeated_keys(line: bytes, number: int, source: str, problems: Problems) -> None:
    decoder = _Decoder()
    row = decoder.decode(line.decode())
    _add_repeated_keys(decoder.repeated, row, number, source, problems)


def _add_repeated_keys(repeated: list[str], row: dict[str, Any], number: int, source: str, problems: Problems) -> None:
    row_id = row.get("id")
    for key in repeated:
        message = f'the key "{key}" appears twice; the last value counts'
        problems.add("repeated-key", message, source, number, row_id=row_id if isinstance(row_id, str) else "")


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


def _array(data: bytes, line: int, source: str, problems: Problems, check_keys: bool) -> Iterator[Row]:
    """The entries of one JSON array, each with the line it starts on. Goes on at the next line after a fault."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + data.count(b"\n", 0, error.start)
        offset = error.start - (data.rfind(b"\n", 0, error.start) + 1)
        found = f"byte offset {offset}: not valid UTF-8 (0x{data[error.start]:02x}); save the file as UTF-8"
        problems.add("not-utf8", found, source, at, column=offset + 1)
        return
    if _too_deep(data, problems.limits.depth):
        _report_too_deep(source, line, problems)
        return
    decoder = _Decoder()
    position = _Position(text, line)
    position.move(text.index("[") + 1)
    comma = 0  # the line of the comma before this entry, 0 for the first one
    for entry in count():
        position.skip_white()
        at = position.line
        match text[position.index : position.index + 1]:
            case "":
                problems.add("bad-json", "the array is not closed (interrupted run?)", source, at)
                return
            case "]":
                if comma:
                    problems.add("bad-json", f"trailing comma before the ] on line {at}; remove it", source, comma)
                break
        if entry == problems.limits.rows:
            _report_too_many_rows(source, problems)
            return
        try:
            value, end = decoder.raw_decode(text, position.index)
        except RecursionError:
            _report_too_deep(source, at, problems)
            return
        except json.JSONDecodeError as error:
            broken = at + text.count("\n", position.index, error.pos)
            column = error.pos - text.rfind("\n", 0, error.pos)
            problems.add("bad-json", f"column {column}: not JSON ({error.msg})", source, broken, column=column)
            if not position.next_line():
                return
            comma = 0
            continue
        if isinstance(value, dict):
            if check_keys:
                _add_repeated_keys(decoder.repeated, value, at, source, problems)
            yield at, value
        else:
            problems.add("not-an-object", f"expected an object, found {type_name(value)}", source, at)
        position.move(end)
        position.skip_white()
        match text[position.index : position.index + 1]:
            case ",":
                comma = position.line
                position.move(position.index + 1)
            case "]" | "":
                comma = 0
            case _:
                comma = 0
                problems.add(
                    "bad-json",
                    "missing comma between array entries (JSONL lines wrapped in [ ]?)",
                    source,
                    position.line,
                )
    position.move(position.index + 1)
    position.skip_white()
    if position.index < len(text):
        problems.add("bad-json", "text after the ] that closes the array", source, position.line)


class _Position:
    """A place in a text and the line it is on, moved forwards only."""

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
        if end >= 0:
            self.move(end + 1)
        return end >= 0
