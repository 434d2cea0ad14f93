"""A stream that may be compressed -> the bytes in it, piece by piece: gzip, and zstd where Python has it (3.14)."""

from __future__ import annotations

import io
import zlib
from importlib import import_module
from typing import IO, Any

from scorer.core.findings import Findings
from scorer.core.limits import reason

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BUFFER = 2**20


def unpacked(stream: IO[bytes], source: str, findings: Findings) -> tuple[IO[bytes], bool]:
    """The stream, or one of the bytes that it holds compressed, and whether it does.

    No more than ``limits.unpacked_bytes`` come out. That, and data that break off, become a finding, and what came
    before is read. zstd data that this Python has no module for are given back as they are.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    head = buffered.peek(4)[:4]
    inner = _opened(head, buffered)
    if inner is None:
        return buffered, False
    return io.BufferedReader(_Unpacked(inner, source, findings), _BUFFER), True


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

    def __init__(self, inner: Any, source: str, findings: Findings) -> None:
        self.inner, self.source, self.findings = inner, source, findings
        self.left = findings.limits.unpacked_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = int(self.inner.readinto(buffer))
        except (EOFError, OSError, zlib.error, ValueError) as error:
            return self._end(f"the compressed data are damaged or cut ({error}); compress the file again")
        except Exception as error:  # zstd's own error exists only where its module does
            if type(error).__name__ != "ZstdError":
                raise
            return self._end(f"the compressed data are damaged ({error}); compress the file again")
        self.left -= count
        if self.left < 0:
            return self._end(
                f"what is compressed is longer, in bytes, than {reason('unpacked-bytes', self.findings.limits)}"
            )
        return count

    def _end(self, why: str) -> int:
        self.findings.add("unreadable", why, self.source)
        self.inner, self.left = io.BytesIO(), 0  # nothing more comes, and nothing more is said
        return 0
