"""What can end a run. Each class carries its exit status; nothing here prints or exits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scorer.core.records import Finding


class ScorerError(Exception):
    """Base of everything the scorer raises on purpose.

    ``findings`` lists the faults found, in file order; ``counts`` says how many there are of each code, which is more
    where only the first ones were kept.
    """

    exit_code = 70

    def __init__(self, message: str, findings: Iterable[Finding] = (), counts: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.findings = tuple(findings)
        self.counts = dict(counts or {})

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
