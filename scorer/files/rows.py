"""A binary stream -> blocks of rows with line numbers. Every bad line is reported; reading goes on behind it.

Two forms are read: JSON Lines, where only LF (or CR LF) ends a line, and one JSON array. The standard library's parser
defines what is JSON. If orjson is installed and the file is large enough to repay its import, it is asked first, and
what it rejects is read again by the standard parser, so that no result depends on it.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress, islice
from typing import IO, Any

from scorer.core import messages
from scorer.core.findings import Message, Reporter, type_name
from scorer.core.records import Block
from scorer.files.faults import is_too_deep, may_repeat_keys, parse_with_care, report_repeated_keys

BLOCK_BYTES = 2**15
"""Bytes that are read at a time: enough rows to repay the cost of a step, few enough for the processor's cache."""

ORJSON_PAYS_FROM_BYTES = 4 * 2**20
"""File size from which orjson is used: its import takes as long as reading some megabytes with the standard parser."""

_BINARY = {
    codecs.BOM_UTF16_LE: "UTF-16 (byte order mark FF FE); save it as UTF-8",
    codecs.BOM_UTF16_BE: "UTF-16 (byte order mark FE FF); save it as UTF-8",
    b"\x1f\x8b": "compressed twice (gzip); decompress it",
    b"\x28\xb5\x2f\xfd": "compressed (zstd), which Python reads from 3.14 on; decompress it",
    b"PK\x03\x04": "a zip archive; unpack it",
}
_raw_decode = json.JSONDecoder().raw_decode


def blocks(stream: IO[bytes], report: Reporter, *, size: int = 0, check_keys: bool = True) -> Iterator[Block]:
    """Yield the rows in blocks, with their line numbers; add a finding for everything that is no row.

    ``stream`` is read once, block by block for JSON Lines and whole for an array. ``report`` adds findings about it.
    ``size`` is the number of bytes, 0 if it is not known. ``check_keys`` also reports keys that stand twice.
    """
    limits = report.findings.limits
    first_lines = islice(iter(partial(stream.readline, limits.line_bytes + 1), b""), limits.rows)
    for number, line in enumerate(first_lines, 1):
        if number == 1:
            if _is_binary(line, report):
                return
            line = _without_mark(line, report)
        start = line.lstrip()
        if not start and len(line) <= limits.line_bytes:
            continue
        if start.startswith(b"["):
            data = line + stream.read(max(0, limits.array_bytes + 1 - len(line)))
            if len(data) <= limits.array_bytes:
                from scorer.files.array import entries

                yield from (([at], [row]) for at, row in entries(data, number, report, check_keys))
            else:
                report.at(number)(messages.ARRAY_TOO_LONG)
            return
        if start.startswith(b"{") and b"}" not in line and line.endswith(b"\n"):
            line += stream.read(limits.line_bytes) + stream.readline(limits.line_bytes)  # whole lines
            behind = stream.read(1)
            whole = None if behind else _spread_object(line, limits.depth)
            if whole is not None:
                if check_keys and may_repeat_keys(line, whole):
                    report_repeated_keys(line, report.at(number))
                yield [number], [whole]
                return
            line += behind
        yield from _Lines(report, _parser(size), check_keys).blocks(line, stream, number)
        return
    if stream.read(1):
        report(messages.TOO_MANY_ROWS)


def _spread_object(data: bytes, max_depth: int) -> dict[str, Any] | None:
    """The object that a file is as a whole, written over several lines; None where it is something else."""
    try:
        value = None if is_too_deep(data, max_depth) else _standard_loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_binary(line: bytes, report: Reporter) -> bool:
    """Whether the file starts as UTF-16 or as an archive does. One finding says so better than one for each line."""
    for mark, found in _BINARY.items():
        if line.startswith(mark):
            report.at(1)(messages.NOT_TEXT, found=found)
            return True
    return False


def _without_mark(line: bytes, report: Reporter) -> bytes:
    if line.startswith(codecs.BOM_UTF8):
        report(messages.BYTE_ORDER_MARK)
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
    """``json.loads`` of UTF-8, without finding out the encoding first, which takes half of its time."""
    text = line.decode()
    value, end = _raw_decode(text)
    if text[end:].strip(" \t\r\n"):
        raise ValueError
    return value


class _Lines:
    """Reads the lines of one file.

    A block is parsed at once where each line is a flat object, line by line where each is an object, and else with
    care. All three ways give the same rows.
    """

    def __init__(self, report: Reporter, loads: Callable[[bytes], Any], check_keys: bool) -> None:
        self.report, self.limits, self.loads, self.check_keys = report, report.findings.limits, loads, check_keys

    def blocks(self, start: bytes, stream: IO[bytes], first: int) -> Iterator[Block]:
        """The rows of ``start``, which is line ``first`` and maybe more, and of the rest of the stream."""
        last = self.limits.rows
        for data in _whole_lines(start, stream, self.limits.line_bytes + 1):
            count = _count(b"\n", data) + (not data.endswith(b"\n"))
            taken = min(count, last - first + 1)
            if taken < count:
                data = b"".join(islice(io.BytesIO(data), taken))
            if taken:
                numbers, rows = self._block(data, range(first, first + taken))
                # Rows whose keys are distinct have one colon for each of them, unless their values hold more.
                if self.check_keys and _count(b":", data) != sum(map(len, rows)):
                    self._check_keys(data, first, numbers, rows)
                yield numbers, rows
            if taken < count:
                self.report(messages.TOO_MANY_ROWS)
                return
            first += count

    def _block(self, data: bytes, numbers: Sequence[int]) -> Block:
        rows = self._flat_objects(data, len(numbers))
        if rows is not None:
            return numbers, rows
        lines = io.BytesIO(data).readlines()
        rows = self._objects(lines)
        if rows is not None:
            return numbers, rows
        single = [self._object(line, number) for line, number in zip(lines, numbers, strict=True)]
        return list(compress(numbers, [row is not None for row in single])), [row for row in single if row is not None]

    def _flat_objects(self, data: bytes, count: int) -> list[dict[str, Any]] | None:
        """The objects on ``count`` lines, parsed as one array, where it is sure that each line holds one of them.

        With as many braces as lines, each at the start of a line, no object lies in another; and where as many values
        come out, each begins at its brace and ends before the next one, so with its line. None where any of it fails.
        """
        limits = self.limits
        nested = data.find(b"{", 1, data.find(b"\n")) > 0  # one look at the first line tells most files that are not
        if nested or not data.startswith(b"{") or _count(b"{", data) != count or data.count(b"\n{") != count - 1:
            return None
        step = min(limits.line_bytes, 2 * limits.depth) // 2  # no line without an end in this many bytes is too long
        if step < 1 or not all(data.find(b"\n", at, at + step) >= 0 for at in range(0, len(data), step)):
            return None
        try:
            values = self.loads(b"[" + data.removesuffix(b"\n").replace(b"\n", b",") + b"]")
        except (ValueError, RecursionError):
            return None
        return values if len(values) == count and set(map(type, values)) == {dict} else None

    def _objects(self, lines: list[bytes]) -> list[dict[str, Any]] | None:
        """The objects on lines that hold one each; None where any line holds anything else."""
        limits = self.limits
        may_have_faults = max(map(len, lines)) > min(limits.line_bytes, 2 * limits.depth)
        if may_have_faults and any(map(self._fault_before_parsing, lines)):
            return None
        try:
            values = list(map(self.loads, lines))
        except (ValueError, RecursionError):
            return None
        return values if set(map(type, values)) == {dict} else None

    def _check_keys(self, data: bytes, first: int, numbers: Sequence[int], rows: list[dict[str, Any]]) -> None:
        lines = io.BytesIO(data).readlines()
        for number, row in zip(numbers, rows, strict=True):
            line = lines[number - first]
            if may_repeat_keys(line, row):
                report_repeated_keys(line, self.report.at(number))

    def _fault_before_parsing(self, line: bytes) -> Message | None:
        """Why a line is not parsed at all. A line with too many levels has at least two brackets for each of them."""
        limits = self.limits
        if len(line) > limits.line_bytes:
            return messages.LINE_TOO_LONG
        return messages.TOO_DEEP if len(line) > 2 * limits.depth and is_too_deep(line, limits.depth) else None

    def _object(self, line: bytes, number: int) -> dict[str, Any] | None:
        """The object on one line. None where there is none; that is a finding unless the line is blank."""
        report = self.report.at(number)
        fault = self._fault_before_parsing(line)
        if fault is not None:
            report(fault)
            return None
        try:
            value = self.loads(line)
        except (ValueError, RecursionError):
            parsed = parse_with_care(line, report)
            if parsed is None:
                return None
            value = parsed[0]
        if isinstance(value, dict):
            return value
        report(messages.NOT_AN_OBJECT, found=type_name(value))
        return None


def _count(byte: bytes, data: bytes) -> int:
    """How often a byte stands in the data. ``bytes.count`` takes several times as long before Python 3.13."""
    return len(data) - len(data.replace(byte, b""))


def _whole_lines(start: bytes, stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Whole lines, many at a time, ``start`` first. Only a line of ``longest`` bytes and more may lack its end."""
    data = start + stream.read(BLOCK_BYTES) + stream.readline(longest)
    while data:
        yield data
        if not data.endswith(b"\n"):
            while (rest := stream.readline(longest)) and not rest.endswith(b"\n"):
                pass
        data = stream.read(BLOCK_BYTES) + stream.readline(longest)
