"""Verified bundles -> leaderboards.

Neighbours whose difference is not significant share a rank. Bundles that cannot be ranked are listed below the others.
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
"""Significance level: neighbours share a rank where the p-value of their exact McNemar test is at least this."""


class Column(NamedTuple):
    """One accuracy of an entry: of a benchmark, of a category, or the unweighted mean over a suite."""

    name: str
    """Heading of the column, such as "Sheets", "average" or "overall"."""

    parts: tuple[Cell, ...]
    """Hits and n of each part. Several parts are averaged with equal weights; without a part there is no figure."""

    brief: bool = False
    """Whether the figure is printed without its interval."""

    @property
    def ratio(self) -> Fraction | None:
        """The mean of the accuracies of the parts, from 0 to 1 and exact; None where there is no figure."""
        if not self.parts or not all(part.n for part in self.parts):
            return None
        return sum((Fraction(part.hits, part.n) for part in self.parts), Fraction()) / len(self.parts)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval as (low, high), from 0 to 1: Wilson's for one part, Zou and Donner's for a mean."""
        return mean_interval([(part.hits, part.n) for part in self.parts])


class Entry(NamedTuple):
    """One line of a board: one bundle, with its figures and its rank."""

    source: str
    """Path of the bundle, as it was given."""

    manifest: Mapping[str, object]
    """The answers about the run; empty where they could not be read."""

    columns: tuple[Column, ...]
    """The figures, with the same names and in the same order in all entries of a board."""

    rank: int = 0
    """Rank from 1; 0 where the bundle is not ranked."""

    shared: bool = False
    """Whether the entry above or below has the same rank."""

    p_above: float | None = None
    """p-value of the exact McNemar test against the entry above; None for the first entry and for unranked ones."""

    reason: str = ""
    """Why the bundle is not ranked; empty where it is ranked."""


class Board(NamedTuple):
    """One leaderboard."""

    title: str
    """The suite, or the benchmark with its variant: "osworld-g (refined)"."""

    ranked_by: str
    """Name of the column that orders the entries."""

    entries: tuple[Entry, ...]
    """The ranked entries from the best to the worst, then those that are not ranked."""


def make_boards(bundles: Sequence[Verified]) -> list[Board]:
    """One board for each suite, and one for each variant of a benchmark without a suite, where any bundle has results.

    Variants are never mixed, because their instructions differ. A bundle that does not hold is listed without rank and
    figures on each board that it would be on.
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
    """A column for each benchmark of the suite and one for their mean, which is empty where a benchmark is missing."""
    by_id = {report.benchmark.id: report.total for report in reports}
    suite = reports[0].benchmark.suite
    members = [known for known in BENCHMARKS.values() if known.suite == suite]
    parts = [Column(known.column, (by_id[known.id],) if known.id in by_id else ()) for known in members]
    totals = tuple(by_id.values())
    return *parts, Column("average", totals if len(totals) == len(members) else ())


def _own_columns(report: Report) -> tuple[Column, ...]:
    """The columns of one benchmark: its categories, all examples, and the examples that have a target."""
    cells = {cell.label: cell for table in report.tables if table.axis.name == "category" for cell in table.cells}
    columns = [Column(label, (cells[label],), brief=True) for label in report.benchmark.categories if label in cells]
    columns.append(Column("overall", (report.total,)))
    if report.actionable is not None:
        columns.append(Column("actionable", (report.actionable,)))
    return tuple(columns)


Found = tuple[Verified, list[Report], tuple[Column, ...]]
"""A bundle, its reports that belong on the board, and the columns made from them."""


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
    """For each suite that the reports cover only in part, what is missing: ``["incomplete: no Text"]``."""
    here = {report.benchmark.id for report in reports}
    parts = []
    for suite in dict.fromkeys(report.benchmark.suite for report in reports if report.benchmark.suite):
        missing = [known.column for known in BENCHMARKS.values() if known.suite == suite and known.id not in here]
        if missing:
            parts.append(f"incomplete: no {', '.join(missing)}")
    return parts


def _p_value(above: Sequence[Report], below: Sequence[Report]) -> float:
    """p-value of the exact McNemar test between two entries, over the examples of all benchmarks of the board."""
    gained = lost = 0
    for one, other in zip(above, below, strict=True):
        for first, second in zip(one.verdicts, other.verdicts, strict=True):
            gained += first.outcome == "hit" != second.outcome
            lost += second.outcome == "hit" != first.outcome
    return mcnemar(gained, lost)
