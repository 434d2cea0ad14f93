"""Verified bundles -> a leaderboard.

Who cannot be told apart shares a rank; who cannot be ranked stands below the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from scorer.benchmarks import BENCHMARKS
from scorer.core.report import Cell, Report
from scorer.core.stats import mcnemar, mean_interval
from scorer.submission.verify import Verified

LEVEL = 0.05
"""Neighbours whose exact McNemar test gives at least this share a rank."""


class Column(NamedTuple):
    """One figure of an entry: hits and n of each part whose plain mean it is. Empty where there is none.

    A ``brief`` one is printed without its interval.
    """

    name: str
    parts: tuple[Cell, ...]
    brief: bool = False

    @property
    def ratio(self) -> Fraction | None:
        """The exact mean of the parts' accuracies."""
        if not self.parts or not all(part.n for part in self.parts):
            return None
        return sum((Fraction(part.hits, part.n) for part in self.parts), Fraction()) / len(self.parts)

    @property
    def interval(self) -> tuple[float, float]:
        """95 %: Wilson's for one part, Zou and Donner's for the mean of several."""
        return mean_interval([(part.hits, part.n) for part in self.parts])


class Entry(NamedTuple):
    """One line of a board. ``rank`` is 0 where it is not ranked, for the ``reason`` that is given.

    ``p_above`` is the p-value of the paired difference to the entry above, None for the first one.
    """

    source: str
    manifest: Mapping[str, object]
    columns: tuple[Column, ...]
    rank: int = 0
    shared: bool = False
    p_above: float | None = None
    reason: str = ""


class Board(NamedTuple):
    """A leaderboard; ``ranked_by`` names the column that orders it. Those that are not ranked come last."""

    title: str
    ranked_by: str
    entries: tuple[Entry, ...]


def make_boards(bundles: Sequence[Verified]) -> list[Board]:
    """One board for Pointerbench, one for each variant of OSWorld-G: what was asked differently is never mixed.

    Bundles that do not hold stand below the line of each board that they would be on, without figures.
    """
    boards = []
    for name in dict.fromkeys(known.suite for known in BENCHMARKS.values() if known.suite):
        members = [known.id for known in BENCHMARKS.values() if known.suite == name]
        found = [(bundle, _of(bundle, members)) for bundle in bundles]
        if any(reports for _, reports in found):
            boards.append(_board(name, "average", [(b, r, _suite_columns(r)) for b, r in found if r], len(members)))
    for known in BENCHMARKS.values():
        for variant in known.files if not known.suite else ():
            found = [(b, [r for r in _of(b, [known.id]) if r.variant == variant]) for b in bundles]
            if any(reports for _, reports in found):
                title = f"{known.id} ({variant})" if variant else known.id
                boards.append(_board(title, "overall", [(b, r, _own_columns(r[0])) for b, r in found if r], 1))
    return boards


def _of(bundle: Verified, benchmarks: Iterable[str]) -> list[Report]:
    return [report for report in bundle.reports if report.benchmark.id in benchmarks]


def _suite_columns(reports: Sequence[Report]) -> tuple[Column, ...]:
    """Each benchmark of the suite and their mean, empty while one is missing."""
    by_id = {report.benchmark.id: report.total for report in reports}
    suite = reports[0].benchmark.suite
    members = [known for known in BENCHMARKS.values() if known.suite == suite]
    parts = [Column(known.column, (by_id[known.id],) if known.id in by_id else ()) for known in members]
    totals = tuple(by_id.values())
    return *parts, Column("average", totals if len(totals) == len(members) else ())


def _own_columns(report: Report) -> tuple[Column, ...]:
    """The categories of one benchmark, all its examples, and those with a target."""
    cells = {cell.label: cell for table in report.tables if table.axis.name == "category" for cell in table.cells}
    columns = [Column(label, (cells[label],), brief=True) for label in report.benchmark.categories if label in cells]
    columns.append(Column("overall", (report.total,)))
    if report.actionable is not None:
        columns.append(Column("actionable", (report.actionable,)))
    return tuple(columns)


Found = tuple[Verified, list[Report], tuple[Column, ...]]


def _board(title: str, ranked_by: str, found: Sequence[Found], parts: int) -> Board:
    position = [column.name for column in found[0][2]].index(ranked_by)
    ranked = [each for each in found if each[0].holds and len(each[1]) == parts]
    ranked.sort(key=lambda each: (-(each[2][position].ratio or 0), str(each[0].manifest.get("model")), each[0].source))
    p_values = [_p_value(above[1], below[1]) for above, below in pairwise(ranked)]
    entries: list[Entry] = []
    for number, (bundle, _, columns) in enumerate(ranked):
        above = p_values[number - 1] if number else None
        tied_above = above is not None and above >= LEVEL
        tied_below = number < len(p_values) and p_values[number] >= LEVEL
        rank = entries[-1].rank if tied_above else number + 1
        entries.append(Entry(bundle.source, bundle.manifest, columns, rank, tied_above or tied_below, above))
    for bundle, reports, columns in found:
        if not bundle.holds:
            empty = tuple(column._replace(parts=()) for column in columns)
            entries.append(Entry(bundle.source, bundle.manifest, empty, reason="does not verify"))
        elif len(reports) < parts:
            entries.append(Entry(bundle.source, bundle.manifest, columns, reason=missing_parts(reports)[0]))
    return Board(title, ranked_by, tuple(entries))


def missing_parts(reports: Sequence[Report]) -> list[str]:
    """What a suite lacks of which some reports are here: ``["incomplete: no Text"]``."""
    here = {report.benchmark.id for report in reports}
    parts = []
    for suite in dict.fromkeys(report.benchmark.suite for report in reports if report.benchmark.suite):
        missing = [known.column for known in BENCHMARKS.values() if known.suite == suite and known.id not in here]
        if missing:
            parts.append(f"incomplete: no {', '.join(missing)}")
    return parts


def _p_value(above: Sequence[Report], below: Sequence[Report]) -> float:
    """The exact McNemar test on the same examples, those of all benchmarks of a suite together."""
    gained = lost = 0
    for one, other in zip(above, below, strict=True):
        for first, second in zip(one.verdicts, other.verdicts, strict=True):
            gained += first.outcome == "hit" != second.outcome
            lost += second.outcome == "hit" != first.outcome
    return mcnemar(gained, lost)
