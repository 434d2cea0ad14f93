"""What the model said in the rows that count. No rule reads it, so the scorer does not keep it; the page shows it."""

from __future__ import annotations

from collections.abc import Collection

from scorer.core.findings import Findings
from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.files.source import file_source

KEYS = ("raw", "text", "answer")
"""Names under which rows keep the reply, in the order in which they are looked for."""


def read_replies(file: str, lines: Collection[int], limits: Limits = DEFAULT_LIMITS) -> dict[tuple[str, int], str]:
    """The replies in these lines of a predictions file, by file and line. Raises OSError where it cannot be read."""
    found: dict[tuple[str, int], str] = {}
    findings = Findings(limits=limits)
    for line, row in file_source(file).rows(findings, check_keys=False):
        reply = next((row[key] for key in KEYS if isinstance(row.get(key), str)), "")
        if reply and line in lines:
            found[file, line] = reply
    return found
