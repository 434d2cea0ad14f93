"""What can end a run. Each class carries its exit status; nothing here prints or exits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from scorer.core.findings import Finding


class ScorerError(Exception):
    """Base of everything that the scorer raises on purpose."""

    exit_code = 70
    """The exit status of a command that ends by this error."""

    def __init__(self, message: str, findings: Iterable[Finding] = (), counts: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.findings = tuple(findings)
        """The faults, in file order."""
        self.counts = dict(counts or {})
        """How many faults there are of each code; more than ``findings`` holds where only the first were kept."""

    def __str__(self) -> str:
        worst = next((finding for finding in self.findings if finding.severity == "error"), None)
        if worst is None:
            return self.message
        place = f"{worst.source}:{worst.line}" if worst.line else worst.source
        return f"{self.message}; {place}: {worst.message}"


class PredictionsError(ScorerError):
    """The predictions cannot be read as predictions; no number was made."""

    exit_code = 1


class UsageError(ScorerError, ValueError):
    """A name or a setting that does not exist, or two that contradict each other."""

    exit_code = 2


class GroundTruthError(ScorerError):
    """The ground truth is absent or malformed."""

    exit_code = 3


@contextmanager
def needs(package: str, extra: str = "inference") -> Iterator[None]:
    """Put around an import of an extra's package: where it is missing, UsageError says how to install it."""
    try:
        yield
    except ImportError as missing:
        raise UsageError(
            f"{package} is not installed ({missing}); "
            f"get it with: python -m pip install 'gui-grounding-scorer[{extra}]'"
        ) from None
