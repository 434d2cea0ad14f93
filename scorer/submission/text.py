"""Verified bundles and boards -> lines, tables, JSON, CSV. All functions return text or plain data; none writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from scorer._version import __version__
from scorer.core.findings import shorten
from scorer.core.report import Report
from scorer.output.data import report_json
from scorer.output.text.figures import percent
from scorer.output.text.tables import escape, remark, table
from scorer.submission.board import LEVEL, Board, Column, Entry, missing_parts
from scorer.submission.verify import Verified

NAME = 60
"""Characters of a model's or an organisation's name that a line or a table shows, so that both fit on a screen."""


def verified_lines(bundles: Sequence[Verified]) -> Iterator[str]:
    """One line per bundle: whether it holds, then its model and recomputed figures, or its first error."""
    width = max(len(escape(bundle.source)) for bundle in bundles)
    for bundle in bundles:
        if bundle.holds:
            figures = [_figure(report) for report in bundle.reports]
            text = " · ".join([_whose(bundle.manifest), *figures, *missing_parts(bundle.reports)])
        else:
            errors = [finding for finding in bundle.findings if finding.severity == "error"]
            place = f"{errors[0].source}:{errors[0].line}" if errors[0].line else errors[0].source
            inside = place.removeprefix(bundle.source).lstrip("/:")
            text = shorten(f"{inside}: {errors[0].message}" if inside else errors[0].message, 200)
            if len(errors) > 1:
                text += f" (the first of {len(errors)} errors)"
        yield f"{'holds' if bundle.holds else 'fails'}  {escape(bundle.source).ljust(width)}  {escape(text)}"


def verified_json(bundles: Sequence[Verified]) -> dict[str, Any]:
    """The JSON of ``score verify``: for each bundle whether it holds, the recomputed reports, and the findings."""
    return {
        "all_hold": all(bundle.holds for bundle in bundles),
        "bundles": [
            {
                "source": bundle.source,
                "holds": bundle.holds,
                "manifest": dict(bundle.manifest),
                "benchmarks": {report.benchmark.id: report_json(report) for report in bundle.reports},
                "findings": [finding.to_dict() for finding in bundle.findings],
                "finding_counts": dict(bundle.finding_counts),
            }
            for bundle in bundles
        ],
        "version": __version__,
    }


def board_text(board: Board, table_format: str) -> str:
    """A board as tables in a format of tabulate: the ranked entries, and below them those that are not ranked."""
    names = [column.name for column in board.entries[0].columns]
    ranked = [entry for entry in board.entries if entry.rank]
    others = [entry for entry in board.entries if not entry.rank]
    blocks = [f"{board.title}, by {board.ranked_by}; accuracy in percent with its 95 % interval"]
    if ranked:
        rows = [[_rank(entry), _whose(entry.manifest), *map(_cell, entry.columns)] for entry in ranked]
        blocks.append(table(["rank", "model", *names], rows, table_format, left=2))
    if any(entry.shared for entry in ranked):
        level = f"{LEVEL:g}"
        blocks.append(f"= neighbours that differ by chance alone: exact McNemar on the same examples, p >= {level}")
    if others:
        rows = [
            ["-", _whose(entry.manifest), *map(_cell, entry.columns), f"{entry.reason} ({entry.source})"]
            for entry in others
        ]
        blocks.append("not ranked:")
        blocks.append(table(["rank", "model", *names, "why"], rows, table_format, left=2))
    drawn = [block if "\n" in block else remark(block, table_format) for block in blocks]
    return "\n\n".join(drawn)


def boards_json(boards: Sequence[Board], bundles: Sequence[Verified]) -> dict[str, Any]:
    """The JSON of ``score leaderboard``: the boards, and the paths of the bundles that do not hold."""
    return {
        "boards": [
            {
                "title": board.title,
                "ranked_by": board.ranked_by,
                "level": LEVEL,
                "entries": [
                    {
                        "rank": entry.rank or None,
                        "shared": entry.shared,
                        "p_above": entry.p_above,
                        "reason": entry.reason or None,
                        "source": entry.source,
                        "manifest": dict(entry.manifest),
                        "columns": {column.name: _column_json(column) for column in entry.columns},
                    }
                    for entry in board.entries
                ],
            }
            for board in boards
        ],
        "do_not_hold": [bundle.source for bundle in bundles if not bundle.holds],
        "version": __version__,
    }


def boards_csv(boards: Sequence[Board]) -> str:
    """The boards as CSV, one row per figure of each entry, accuracies from 0 to 1.

    A text that a spreadsheet would take for a formula is preceded by a quotation mark.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["board", "rank", "shared", "model", "organisation", "figure", "accuracy", "low", "high", "why"])
    for board in boards:
        for entry in board.entries:
            names = [_plain(entry.manifest.get(key)) for key in ("model", "organisation")]
            rank = str(entry.rank or "")
            for column in entry.columns:
                found = _column_json(column)
                figures = ["", "", ""] if found is None else [found["accuracy"], *found["ci95"]]
                shared = str(entry.shared).lower()
                writer.writerow([board.title, rank, shared, *names, column.name, *figures, entry.reason])
    return out.getvalue().removesuffix("\n")


def _figure(report: Report) -> str:
    variant = f" ({report.variant})" if report.variant else ""
    return f"{report.benchmark.id}{variant} {percent(report.total.hits, report.total.n)} %"


def _whose(manifest: Any) -> str:
    model, organisation = str(manifest.get("model", "?")), str(manifest.get("organisation", "none"))
    return shorten(model, NAME) + ("" if organisation.lower() == "none" else f" ({shorten(organisation, NAME)})")


def _rank(entry: Entry) -> str:
    return f"{entry.rank}{'=' if entry.shared else ''}"


def _cell(column: Column) -> str:
    ratio = column.ratio
    if ratio is None:
        return "-"
    if column.brief:
        return percent(ratio.numerator, ratio.denominator)
    low, high = column.interval
    return f"{percent(ratio.numerator, ratio.denominator)} ({low * 100:.1f} – {high * 100:.1f})"


def _column_json(column: Column) -> dict[str, Any] | None:
    ratio = column.ratio
    if ratio is None:
        return None
    data: dict[str, Any] = {"accuracy": round(float(ratio), 4), "ci95": [round(end, 4) for end in column.interval]}
    if len(column.parts) == 1:
        data |= {"hits": column.parts[0].hits, "n": column.parts[0].n}
    return data


def _plain(value: object) -> str:
    text = escape(str(value))
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
