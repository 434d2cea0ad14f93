"""The one way in for every file: open it, unpack it, find out its size, read its rows."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, NamedTuple

from scorer.core import messages
from scorer.core.findings import Findings
from scorer.core.records import Block, Row
from scorer.files.rows import blocks
from scorer.files.unpack import unpacked

COMPRESSION = 8
"""Assumed bytes of rows per compressed byte. It decides only whether a faster parser is worth its import."""


class Source(NamedTuple):
    """Something that rows are read from."""

    name: str
    """What findings call it: the path of a file, ``<stdin>``."""
    open: Callable[[], IO[bytes]]
    """Opens it as a binary stream."""

    def blocks(self, findings: Findings, *, check_keys: bool = True) -> Iterator[Block]:
        """Yield the rows in blocks, with their line numbers; whatever is no row becomes a finding.

        Plain, gzip and, from Python 3.14 on, zstd files are read, as JSON Lines or as one JSON array. ``check_keys``
        also reports keys that stand twice in an object. What cannot be opened or read is a finding like any other.
        """
        report = findings.at(self.name)
        try:
            stream = self.open()
        except (OSError, ValueError) as error:
            report(messages.CANNOT_BE_READ, why=getattr(error, "strerror", None) or error)
            return
        with stream:
            try:
                plain, is_compressed = unpacked(stream, report)
                size = _size(stream) * (COMPRESSION if is_compressed else 1)
                yield from blocks(plain, report, size=size, check_keys=check_keys)
            except OSError as error:
                report(messages.CANNOT_BE_READ, why=error.strerror or error)

    def rows(self, findings: Findings, *, check_keys: bool = True) -> Iterator[Row]:
        """Yield (line number, object) for each row; see ``blocks``."""
        for lines, rows in self.blocks(findings, check_keys=check_keys):
            yield from zip(lines, rows, strict=True)


def file_source(path: str | os.PathLike[str]) -> Source:
    """A file by its path."""
    return Source(os.fspath(path), lambda: open(path, "rb"))


def bytes_source(name: str, data: bytes) -> Source:
    """Bytes in memory."""
    return Source(name, partial(io.BytesIO, data))


def _size(stream: IO[bytes]) -> int:
    """Bytes in a stream, 0 where it does not tell."""
    try:
        return os.fstat(stream.fileno()).st_size
    except OSError:
        return 0
