"""How far a long work is, as one line on a terminal: files that are read, screenshots that are made, calls to a model.

One kind of line serves all of them. Libraries were tried: click's bar takes its width from stdout, which may be a file,
hides the cursor with escape sequences and stays on the screen. This line consists of carriage returns and text, so that
any terminal shows it and nothing of it remains.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO

SHOW_AFTER = 2.0
"""Seconds before anything is shown: most works are done by then."""

EVERY = 0.1
"""Seconds between two states of the line."""

WIDTH = 80
"""Columns of a terminal that does not tell."""
LONGEST_BAR, SHORTEST_BAR = 30, 10
"""Columns of the bar, which is left out where there is no room for the shortest one."""


class ProgressLine:
    """Counts what is done and, after two seconds, shows the share of it, what it is, and the time left."""

    def __init__(self, terminal: TextIO, total: int | None, *, unit: str = "", done: int = 0) -> None:
        """``total`` is the number of units in all, None where it is not known; ``done`` were done before."""
        self.terminal, self.total, self.unit = terminal, total, unit
        self.done = self.first = done
        """Units that are done, now and at the start."""
        self.remark = ""
        """What is shown behind the count."""
        self.start = time.monotonic()
        self._shown = 0
        self._due = self.start + SHOW_AFTER

    def advance(self, units: int = 1) -> None:
        """Count units, and show the line if it is due."""
        self.done += units
        self.show_if_due()

    def show_if_due(self) -> None:
        """Show the line if enough time has passed since the last state of it."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + EVERY
            started = self.done - self.first
            left = None if not self.total or started <= 0 else (self.total - self.done) / started * (now - self.start)
            self._show(line(self.text(), self.share(), left, self._columns() - 1))

    def share(self) -> float | None:
        """The part that is done, 0..1; None where the total is not known."""
        return min(self.done / self.total, 1.0) if self.total else None

    def text(self) -> str:
        """What is done, in words."""
        return f"{self.done:,}/{self.total:,} {self.unit}{self.remark}"

    def clear(self) -> None:
        """Leave nothing on the screen, and the cursor where the line began."""
        if self._shown:
            self._show("")

    def _show(self, text: str) -> None:
        # The cursor waits at the start, so that whatever else is written, such as the ^C of a terminal, stands on this
        # line and goes with it.
        padded = text.ljust(min(self._shown, self._columns() - 1))
        self._shown = len(text)
        with suppress(OSError):
            self.terminal.write(f"\r{padded}\r")
            self.terminal.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self.terminal.fileno()).columns or WIDTH
        except OSError:
            return WIDTH


class ReadingLine(ProgressLine):
    """The line of files that are read: bytes are the units, rows are named beside them."""

    def __init__(self, terminal: TextIO, total: int | None) -> None:
        super().__init__(terminal, total)
        self.rows = 0

    def __call__(self, rows: int) -> None:
        """Count rows; called after each block."""
        self.rows += rows
        self.show_if_due()

    def counted(self, opener: Callable[[], IO[bytes]]) -> IO[bytes]:
        """The stream that ``opener`` opens; what is read from it, before it is unpacked, is counted."""
        return io.BufferedReader(_Counted(opener(), self))

    def text(self) -> str:
        sizes = _sizes(self.total, min(self.done, self.total)) if self.total else _sizes(self.done)
        return f"{self.rows:,} rows  {sizes}"


@contextmanager
def counting(total: int, unit: str, *, done: int = 0) -> Iterator[ProgressLine | None]:
    """A line on stderr for ``total`` units of work, where stderr is a terminal; nothing of it remains at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    progress = ProgressLine(sys.stderr, total, unit=unit, done=done)
    try:
        yield progress
    finally:
        progress.clear()


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


def line(text: str, share: float | None, seconds: float | None, width: int) -> str:
    """Bar, share, text and the time left, no longer than ``width``: what does not fit is left out.

    ``seconds`` are those that are left. Without a share there is neither bar nor time.
    """
    if share is None:
        return text[:width]
    text = f"{int(share * 100):3} %  {text}"
    left = f"  {_clock(seconds)}" if seconds is not None else ""
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

    def __init__(self, inner: Any, progress: ProgressLine) -> None:
        self.inner, self.progress = inner, progress

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self.inner.fileno())

    def readinto(self, buffer: Any) -> int:
        count = int(self.inner.readinto(buffer))
        self.progress.done += count
        return count

    def close(self) -> None:
        self.inner.close()
        super().close()
