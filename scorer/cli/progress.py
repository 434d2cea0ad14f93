"""How far the reading of files is, as one line on a terminal. Loaded only where there is one.

click's bar takes its width from stdout, which may be a file, hides the cursor with escape sequences and stays on the
screen. This line has carriage returns and spaces alone, so that any terminal shows it and nothing of it remains.
"""

from __future__ import annotations

import io
import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, Any, TextIO

SHOW_AFTER = 2.0
"""Seconds of reading before anything is shown: most runs are done by then."""

EVERY = 0.1
"""Seconds between two looks of the line."""

WIDTH, LONGEST_BAR, SHORTEST_BAR = 80, 30, 10
"""Columns of a terminal that does not tell, and of the bar, which goes where there is no room for it."""


class Progress:
    """Counts what is read and, after two seconds, shows it: called with the number of rows after each batch."""

    def __init__(self, terminal: TextIO, total: int | None) -> None:
        """``total`` is the number of bytes of all files, None where one of them does not tell."""
        self.terminal, self.total = terminal, total
        self.rows = self.bytes = self.shown = 0
        self.start = time.monotonic()
        self.due = self.start + SHOW_AFTER

    def __call__(self, rows: int) -> None:
        self.rows += rows
        now = time.monotonic()
        if now >= self.due:
            self.due = now + EVERY
            self._show(line(self.rows, self.bytes, self.total, now - self.start, self._columns() - 1))

    def counted(self, opener: Callable[[], IO[bytes]]) -> IO[bytes]:
        """The stream that ``opener`` opens; what is read from it, before it is unpacked, is counted here."""
        return io.BufferedReader(_Counted(opener(), self))

    def clear(self) -> None:
        """Leave nothing on the screen, and the cursor where the line began."""
        if self.shown:
            self._show("")

    def _show(self, text: str) -> None:
        # The cursor waits at the start: what else may be written, such as the ^C of a terminal, stands on the line and
        # goes with it.
        padded = text.ljust(min(self.shown, self._columns() - 1))
        self.shown = len(text)
        with suppress(OSError):
            self.terminal.write(f"\r{padded}\r")
            self.terminal.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self.terminal.fileno()).columns or WIDTH
        except OSError:
            return WIDTH


def total_bytes(files: Iterable[str]) -> int | None:
    """Bytes in files, stdin for -, together; None where one of them, such as a pipe, does not tell."""
    total = 0
    for name in files:
        try:
            found = os.fstat(0) if name == "-" else os.stat(name)
        except OSError:  # reading it says why
            continue
        if not stat.S_ISREG(found.st_mode):
            return None
        total += found.st_size
    return total


def line(rows: int, done: int, total: int | None, seconds: float, width: int) -> str:
    """Share, rows, bytes and the time left after ``seconds``, no longer than ``width``: what does not fit is left out.

    Without ``total`` there is neither share nor time.
    """
    if not total:
        return f"{rows:,} rows  {_sizes(done)}"[:width]
    share = min(done / total, 1.0)
    text = f"{int(share * 100):3} %  {rows:,} rows  {_sizes(total, min(done, total))}"
    left = f"  {_clock(seconds * (1 - share) / share)}" if share else ""
    for more in (left, " left" if left else ""):
        if len(text) + len(more) <= width:
            text += more
    room = min(width - len(text) - 3, LONGEST_BAR)
    if room >= SHORTEST_BAR:
        text = f"[{'#' * int(share * room):-<{room}}] {text}"
    return text[:width]


def _sizes(most: int, done: int | None = None) -> str:
    """A number of bytes, or how many of them are done, with three figures at most: 12.3/45.6 MB."""
    power = min((len(str(most)) - 1) // 3, 4)
    scale = 1000**power
    decimals = 0 if not power else max(0, 2 - (len(str(most)) - 1) % 3)
    return "/".join(f"{each / scale:.{decimals}f}" for each in (done, most) if each is not None) + (
        f" {('B', 'kB', 'MB', 'GB', 'TB')[power]}"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Counted(io.RawIOBase):
    """The bytes of a stream, counted as they are read."""

    def __init__(self, inner: Any, progress: Progress) -> None:
        self.inner, self.progress = inner, progress

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self.inner.fileno())

    def readinto(self, buffer: Any) -> int:
        count = int(self.inner.readinto(buffer))
        self.progress.bytes += count
        return count

    def close(self) -> None:
        self.inner.close()
        super().close()
