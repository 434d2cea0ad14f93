"""The model's replies in a file of predictions. Scoring reads and keeps no reply, so the page reads the file again."""

from __future__ import annotations

from collections.abc import Collection

from scorer.core.findings import Findings
from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.files.source import file_source

KEYS = ("raw", "text", "answer")
"""Names under which a row may keep the reply; the first one that holds a text is used."""


def read_replies(file: str, lines: Collection[int], limits: Limits = DEFAULT_LIMITS) -> dict[tuple[str, int], str]:
    """The replies in the given lines (from 1) of a predictions file: (file, line) -> text.

    Raises OSError where the file cannot be read.
    """
    found: dict[tuple[str, int], str] = {}
    findings = Findings(limits=limits)
    for line, row in file_source(file).rows(findings, check_keys=False):
        reply = next((row[key] for key in KEYS if isinstance(row.get(key), str)), "")
        if reply and line in lines:
            found[file, line] = reply
    return found
