"""A stream that may be compressed -> the bytes in it, piece by piece: gzip, and zstd where Python has it (3.14)."""

from __future__ import annotations

import io
import zlib
from importlib import import_module
from typing import IO, Any

from scorer.core import messages
from scorer.core.findings import Message, Reporter

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BUFFER = 2**20
"""Bytes that are unpacked at a time."""


def unpacked(stream: IO[bytes], report: Reporter) -> tuple[IO[bytes], bool]:
    """The stream, or one of the bytes that it holds compressed; and whether it is compressed.

    At most ``limits.unpacked_bytes`` bytes come out. More bytes, and data that break off, become a finding, and what
    came before is read. zstd data are given back unchanged where this Python has no module for them.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    head = buffered.peek(4)[:4]
    inner = _opened(head, buffered)
    if inner is None:
        return buffered, False
    return io.BufferedReader(_Unpacked(inner, report), _BUFFER), True


def _opened(head: bytes, stream: IO[bytes]) -> Any:
    if head.startswith(GZIP):
        return import_module("gzip").GzipFile(fileobj=stream)
    if head == ZSTD:
        try:
            return import_module("compression.zstd").ZstdFile(stream)
        except ImportError:
            return None
    return None


class _Unpacked(io.RawIOBase):
    """The bytes of a compressed file, up to the limit or to where it breaks."""

    def __init__(self, inner: Any, report: Reporter) -> None:
        self.inner, self.report = inner, report
        self.left = report.findings.limits.unpacked_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = int(self.inner.readinto(buffer))
        except (EOFError, OSError, zlib.error, ValueError) as error:
            return self._end(messages.DAMAGED, why=error)
        except Exception as error:  # zstd's own error exists only where its module does
            if type(error).__name__ != "ZstdError":
                raise
            return self._end(messages.DAMAGED, why=error)
        self.left -= count
        return count if self.left >= 0 else self._end(messages.UNPACKED_TOO_LONG)

    def _end(self, message: Message, why: object = None) -> int:
        self.report(message, why=why)
        self.inner, self.left = io.BytesIO(), 0  # nothing more comes, and nothing more is reported
        return 0
