"""The file that rows are appended to, one line each, flushed as it arrives; it is also the memory of a run.

Invariant: whatever moment a run is killed at, the file holds every row that was finished, and after the next run each
(id, attempt) once.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from scorer.core.errors import UsageError
from scorer.pipeline.reread import NO_REPLY

Key = tuple[str, int]


START = b'{"id": '
"""The first bytes of every row. They tell half a row, which is removed, from the end of another kind of file."""


class Journal:
    """Rows by (id, attempt). Opening it repairs the end of the file; a file of another kind is left unchanged."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows: dict[Key, dict[str, Any]] = {}
        self._superseded = False
        try:
            self._read()
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
        """Leave each (id, attempt) once: of several rows the one that says most, of equal ones the last."""
        os.close(self._file)
        self.compact()

    def compact(self) -> None:
        """Write the file again without replaced rows. The old file stays until the new one is complete."""
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

    def _read(self) -> None:
        """Take every row; then finish a last one that lacks its line end, or cut off half of one."""
        with suppress(FileNotFoundError), open(self.path, "rb+") as stream:
            start, line = 0, b""
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n") and _is_half(line):
                    stream.truncate(start)
                    return
                if line.strip():
                    self._keep(self._parse(number, line))
                start += len(line)
            if line.strip() and not line.endswith(b"\n"):
                stream.seek(0, os.SEEK_END)
                stream.write(b"\n")

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


def _is_half(line: bytes) -> bool:
    """Whether a line without its end is the beginning of a row, and no more than that."""
    try:
        json.loads(line)
    except ValueError:
        return line.startswith(START) or START.startswith(line)
    return False


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


def _rank(row: Mapping[str, Any]) -> int:
    """How much a row says: an answer, a reply without one, nothing."""
    error = row.get("error")
    if not error:
        return 2
    return 0 if isinstance(error, dict) and error.get("code") in NO_REPLY else 1
