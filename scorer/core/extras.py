"""Packages of the extras, which a plain installation lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scorer.core.errors import UsageError


@contextmanager
def needs(package: str, extra: str = "inference") -> Iterator[None]:
    """Around an import: where the package is missing, say how to get it."""
    try:
        yield
    except ImportError as missing:
        raise UsageError(
            f"{package} is not installed ({missing}); "
            f"get it with: python -m pip install 'gui-grounding-scorer[{extra}]'"
        ) from None
