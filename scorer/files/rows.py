"""A file -> batches of rows with line numbers. Collects every bad line and never stops at the first.

Both forms are read: JSON Lines, where only LF (or CR LF) ends a line, and one JSON array. The standard library's
parser defines what is JSON here; orjson, if it is installed and the file is large enough to repay its import, is only
asked first, and what it refuses is read again. So no verdict depends on it.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress, islice
from typing import IO, Any

from scorer.core.findings import Code, Findings, type_name
from scorer.core.limits import reason
from scorer.core.records import Batch, Row
from scorer.files.faults import (
    is_too_deep,
    may_repeat_keys,
    parse_with_care,
    report_repeated_keys,
    report_too_deep,
    report_too_many_rows,
)

BLOCK_BYTES = 2**15
"""So much is read at a time: enough rows to pay for a step, few enough for the nearest memory."""

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


def rows(
    stream: IO[bytes], source: str, findings: Findings, *, size: int = 0, check_keys: bool = True
) -> Iterator[Row]:
    """Yield (line number, object) for each row, as ``batches`` reads them."""
    for lines, found in batches(stream, source, findings, size=size, check_keys=check_keys):
        yield from zip(lines, found, strict=True)


def batches(
    stream: IO[bytes], source: str, findings: Findings, *, size: int = 0, check_keys: bool = True
) -> Iterator[Batch]:
    """Yield the rows, many at a time, with their line numbers; add a finding for everything that is no row.

    ``stream`` is binary and read once, block by block for JSON Lines and whole for an array. ``source`` is the name
    that the findings carry, ``size`` the number of bytes if it is known. ``check_keys`` also reports repeated keys.
    """
    limits = findings.limits
    first_lines = islice(iter(partial(stream.readline, limits.line_bytes + 1), b""), limits.rows)
    for number, line in enumerate(first_lines, 1):
        if number == 1:
            if _is_binary(line, source, findings):
                return
            line = _without_mark(line, source, findings)
        start = line.lstrip()
        if not start and len(line) <= limits.line_bytes:
            continue
        if start.startswith(b"["):
            data = line + stream.read(max(0, limits.array_bytes + 1 - len(line)))
            if len(data) <= limits.array_bytes:
                from scorer.files.array import entries

                yield from (([at], [row]) for at, row in entries(data, number, source, findings, check_keys))
            else:
                longer = f"the JSON array is longer than {reason('array-bytes', limits)}; write JSON Lines instead"
                findings.add("array-too-long", longer, source, number)
            return
        if start.startswith(b"{") and b"}" not in line and line.endswith(b"\n"):
            line += stream.read(limits.line_bytes) + stream.readline(limits.line_bytes)  # whole lines
            behind = stream.read(1)
            whole = None if behind else _spread_object(line, limits.depth)
            if whole is not None:
                if check_keys and may_repeat_keys(line, whole):
                    report_repeated_keys(line, number, source, findings)
                yield [number], [whole]
                return
            line += behind
        yield from _Lines(source, findings, _parser(size), check_keys).batches(line, stream, number)
        return
    if stream.read(1):
        report_too_many_rows(source, findings)


def _spread_object(data: bytes, max_depth: int) -> dict[str, Any] | None:
    """The object that a file is as a whole, written over several lines; None where it is something else."""
    try:
        value = None if is_too_deep(data, max_depth) else _standard_loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_binary(line: bytes, source: str, findings: Findings) -> bool:
    """Whether the file starts as UTF-16 or as an archive does, which one message says better than one a line."""
    for mark, found in _BINARY.items():
        if line.startswith(mark):
            findings.add("not-utf8", f"the file is {found}", source, 1)
            return True
    return False


def _without_mark(line: bytes, source: str, findings: Findings) -> bytes:
    if line.startswith(codecs.BOM_UTF8):
        findings.add("byte-order-mark", "a UTF-8 byte order mark at the start was ignored", source)
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


class _Lines:
    """Reads the lines of one file.

    A block of them is parsed at once where each is a flat object, line by line where each is an object, and else with
    care: three ways to the same rows.
    """

    def __init__(self, source: str, findings: Findings, loads: Callable[[bytes], Any], check_keys: bool) -> None:
        self.source, self.findings, self.loads, self.check_keys = source, findings, loads, check_keys

    def batches(self, start: bytes, stream: IO[bytes], first: int) -> Iterator[Batch]:
        """The rows of ``start``, which is line ``first`` and maybe more, and of the rest of the stream."""
        last = self.findings.limits.rows
        for data in _blocks(start, stream, self.findings.limits.line_bytes + 1):
            count = _count(b"\n", data) + (not data.endswith(b"\n"))
            taken = min(count, last - first + 1)
            if taken < count:
                data = b"".join(islice(io.BytesIO(data), taken))
            if taken:
                numbers, rows = self._batch(data, range(first, first + taken))
                # Rows whose keys are distinct have one colon for each of them, unless their values hold more.
                if self.check_keys and _count(b":", data) != sum(map(len, rows)):
                    self._check_keys(data, first, numbers, rows)
                yield numbers, rows
            if taken < count:
                report_too_many_rows(self.source, self.findings)
                return
            first += count

    def _batch(self, data: bytes, numbers: Sequence[int]) -> Batch:
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
        limits = self.findings.limits
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
        limits = self.findings.limits
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
                report_repeated_keys(line, number, self.source, self.findings)

    def _fault_before_parsing(self, line: bytes) -> Code | None:
        """Why a line is not even parsed. So many levels need twice as many bytes: as many brackets must close."""
        limits = self.findings.limits
        if len(line) > limits.line_bytes:
            return "line-too-long"
        return "bad-json" if len(line) > 2 * limits.depth and is_too_deep(line, limits.depth) else None

    def _object(self, line: bytes, number: int) -> dict[str, Any] | None:
        """The object on one line; None, and a finding unless the line is blank, where there is none."""
        findings, source = self.findings, self.source
        match self._fault_before_parsing(line):
            case "line-too-long":
                longer = f"the line is longer, in bytes, than {reason('line-bytes', findings.limits)}"
                findings.add("line-too-long", longer, source, number)
                return None
            case "bad-json":
                report_too_deep(source, number, findings)
                return None
        try:
            value = self.loads(line)
        except (ValueError, RecursionError):
            parsed = parse_with_care(line, number, source, findings)
            if parsed is None:
                return None
            value = parsed[0]
        if isinstance(value, dict):
            return value
        findings.add("not-an-object", f"expected an object, found {type_name(value)}", source, number)
        return None


def _count(byte: bytes, data: bytes) -> int:
    """How often a byte stands in the data. ``bytes.count`` takes several times as long before Python 3.13."""
    return len(data) - len(data.replace(byte, b""))


def _blocks(start: bytes, stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Whole lines, many at a time, ``start`` first; only one of ``longest`` bytes and more may lack its end."""
    data = start + stream.read(BLOCK_BYTES) + stream.readline(longest)
    while data:
        yield data
        if not data.endswith(b"\n"):
            while (rest := stream.readline(longest)) and not rest.endswith(b"\n"):
                pass
        data = stream.read(BLOCK_BYTES) + stream.readline(longest)
