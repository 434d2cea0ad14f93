"""The file that rows are appended to, one line each, flushed as it arrives; it is also the memory of a run.

Invariant: whatever moment a run is killed at, the file holds every row that was finished, and after the next run each
(id, attempt) once.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from scorer.errors import UsageError
from scorer.reparse import NO_REPLY

Key = tuple[str, int]


class Journal:
    """Rows by (id, attempt). Opening it repairs the end of the file; a row without its line end was never finished."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows: dict[Key, dict[str, Any]] = {}
        self._superseded = False
        try:
            self._repair()
            for number, line in self._lines():
                self._keep(self._parse(number, line))
            self.compact()
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from None

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row at once, in one piece."""
        line = _line(row)
        while line:
            line = line[os.write(self._file, line) :]
        self._keep(dict(row))

    def close(self) -> None:
        """Leave each (id, attempt) once: of several rows the one that says most, of equals the last."""
        os.close(self._file)
        self.compact()

    def compact(self) -> None:
        """Write the file anew without rows that later ones replaced; the old one stays until the new one is whole."""
        if not self._superseded:
            return
        folder, name = os.path.split(os.path.abspath(self.path))
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                for row in self.rows.values():
                    stream.write(_line(row))
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, os.stat(self.path).st_mode & 0o777)
            os.replace(temporary, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        self._superseded = False

    def _keep(self, row: dict[str, Any]) -> None:
        key = row["id"], row.get("attempt", 1)
        known = self.rows.get(key)
        if known is not None:
            self._superseded = True
            if _rank(known) > _rank(row):
                return
        self.rows[key] = row

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with suppress(FileNotFoundError), open(self.path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, line

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str) or "profile" not in row:
            raise UsageError(
                f"{self.path}:{number}: this line is no row of such a run, and the file is left alone; "
                "give another --out"
            )
        return row

    def _repair(self) -> None:
        """End the file with a line end: finish a whole row that lacks it, cut off half of one."""
        with suppress(FileNotFoundError), open(self.path, "rb+") as stream:
            end = stream.seek(0, os.SEEK_END)
            start = _last_line_start(stream, end)
            stream.seek(start)
            rest = stream.read()
            if not rest.strip():
                return
            try:
                json.loads(rest)
            except ValueError:
                stream.truncate(start)
            else:
                stream.seek(end)
                stream.write(b"\n")


def _line(row: Mapping[str, Any]) -> bytes:
    """A row as a line that any reader takes: valid UTF-8 and valid JSON, whatever a server sent."""
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except ValueError:  # a lone surrogate, or a number that is not finite
        return json.dumps(_finite(row)).encode() + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _last_line_start(stream: Any, end: int, step: int = 65536) -> int:
    """Where the text behind the last line end of a file starts."""
    position = end
    while position > 0:
        size = min(step, position)
        stream.seek(position - size)
        found = stream.read(size).rfind(b"\n")
        if found >= 0:
            return int(position - size + found + 1)
        position -= size
    return 0


def _rank(row: Mapping[str, Any]) -> int:
    """How much a row says: an answer, a reply without one, nothing."""
    error = row.get("error")
    if not error:
        return 2
    return 0 if isinstance(error, dict) and error.get("code") in NO_REPLY else 1
