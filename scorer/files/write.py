"""Writing files and folders completely or not at all: nothing unfinished has the final name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from scorer.core.errors import UsageError


@contextmanager
def whole(out: str) -> Iterator[str]:
    """A temporary path for a file or a folder, which is renamed to ``out`` once everything is written.

    Missing parent folders are made.

    Raises UsageError where ``out`` exists (an empty folder does not count) or cannot be written.
    """
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        raise UsageError(f"{out} exists already; remove it or name another")
    try:
        parent = os.path.dirname(os.path.abspath(out))
        os.makedirs(parent, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=parent) as beside:
            made = os.path.join(beside, "made")
            yield made
            os.replace(made, out)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror})") from None


def replace_file(path: str, data: bytes) -> None:
    """Replace the content of a file in one step. Raises UsageError where that cannot be done."""
    beside = f"{path}.writing"
    try:
        with open(beside, "wb") as stream:
            stream.write(data)
        os.replace(beside, path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def make_file(path: str, data: bytes) -> None:
    """Write a file, and make its missing parent folders."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(data)
