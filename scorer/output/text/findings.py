"""Findings and the result of the strict check as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from scorer.core.findings import Finding, count_severities
from scorer.core.report import Check
from scorer.output.text.tables import escape

SHOWN_PER_CODE = {"error": 20, "warning": 3, "note": 3}
"""Upper bound on the findings of one code that are printed, by severity. ``--all`` prints all that were kept."""


def check_lines(checked: Check, *, show_all: bool) -> Iterator[str]:
    """The result of the strict check: all findings that were kept, then whether the files are accepted, with counts.

    With ``show_all`` the ids of examples without a row are listed too.
    """
    yield from finding_lines(checked.findings, checked.finding_counts, show_all=True)
    if show_all:
        for name, ids in checked.absent.items():
            if ids:
                yield escape(f"without a row in {name}: {', '.join(ids)}")
    totals = count_severities(checked.finding_counts, strict=True)
    counted = ((totals["error"], "error"), (totals["warning"], "warning"))
    found = ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in counted)
    of = f" of {', '.join(checked.benchmarks)}" if checked.benchmarks else ""
    rows = "1 row" if checked.rows == 1 else f"{checked.rows} rows"
    yield f"{'accepted' if checked.accepted else 'not accepted'}: {found} in {rows}{of}"


def finding_lines(findings: Iterable[Finding], counts: Mapping[str, int], *, show_all: bool) -> list[str]:
    """Findings as aligned lines: place, severity, code, message.

    ``counts`` holds how many findings there are of each code, which may be more than ``findings``. Without ``show_all``
    at most SHOWN_PER_CODE findings of a code are shown. A line for each code gives the number that is not shown.
    """
    kept = list(findings)
    shown: list[Finding] = []
    seen: dict[str, int] = {}
    for finding in kept:
        seen[finding.code] = seen.get(finding.code, 0) + 1
        if show_all or seen[finding.code] <= SHOWN_PER_CODE[finding.severity]:
            shown.append(finding)
    rows = [(_place(finding), finding.severity, finding.code, _message(finding)) for finding in shown]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    for code, many in groupby(sorted(finding.code for finding in kept)):
        total = max(counts.get(code, 0), len(list(many)))
        left = total - sum(finding.code == code for finding in shown)
        if left:
            hint = "only the first are kept" if show_all else "--all lists them"
            lines.append(f"… and {left} more {code} ({hint})")
    return lines


def _place(finding: Finding) -> str:
    """FILE:LINE, or FILE where the finding is about the whole file."""
    place = escape(finding.source)
    return f"{place}:{finding.line}" if finding.line else place


def _message(finding: Finding) -> str:
    """The message, after the id of the example where the message does not name it."""
    prefix = f"{finding.id}: " if finding.id and finding.id not in finding.message else ""
    return escape(prefix + finding.message)
