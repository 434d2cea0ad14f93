"""Two reports over the same examples -> the hits that the second one gained and lost, with tests and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scorer.core.errors import UsageError
from scorer.core.records import Axis
from scorer.core.report import Report
from scorer.core.signature import format_signature, parse_signature
from scorer.core.stats import bootstrap, holm, mcnemar

DRAWS = 10_000
"""Number of bootstrap draws behind an interval; it is part of the signature of a comparison."""
OF_THE_FILE = frozenset({"space", "profile", "version"})
"""Keys of a signature that describe the file. They may differ between two files that are scored alike."""


class Counts(NamedTuple):
    """How many examples are hits in both files, in one of them, or in neither."""

    both: int
    """Hits of both files."""
    gained: int
    """Hits of the other file that are none of the first one."""
    lost: int
    """Hits of the first file that are none of the other one."""
    neither: int
    """Examples that are no hit of either file."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(self)

    @property
    def first(self) -> int:
        """The hits of the first file."""
        return self.both + self.lost

    @property
    def other(self) -> int:
        """The hits of the other file."""
        return self.both + self.gained

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the exact McNemar test of ``gained`` against ``lost``."""
        return mcnemar(self.gained, self.lost)

    def interval(self, seed: int) -> tuple[float, float]:
        """The 95 % paired bootstrap interval of the difference in accuracy, as (low, high) in -1..1.

        The difference is the accuracy of the other file minus that of the first one.
        """
        return bootstrap({1: self.gained, -1: self.lost, 0: self.both + self.neither}, draws=DRAWS, seed=seed)


class CellComparison(NamedTuple):
    """The comparison of the examples in one cell of an axis."""

    label: str
    """The value of the axis."""
    counts: Counts
    """Of the examples in the cell."""
    adjusted: float
    """The p-value of the cell, adjusted with Holm's method for all cells of the axis."""


class Comparison(NamedTuple):
    """Two reports of one benchmark, compared example by example. Differences are the other one minus the first one."""

    first: Report
    """The report of the file that the other one is compared with."""
    other: Report
    """The report of the other file, over the same examples."""
    counts: Counts
    """Of the whole benchmark."""
    interval: tuple[float, float]
    """The 95 % paired bootstrap interval of the difference in accuracy, as (low, high) in -1..1."""
    gained: tuple[str, ...]
    """The ids that are hits of the other file only, in ground-truth order."""
    lost: tuple[str, ...]
    """The ids that are hits of the first file only, in ground-truth order."""
    axes: tuple[tuple[Axis, tuple[CellComparison, ...]], ...]
    """Every axis of the benchmark with its cells, sorted by label."""
    differing: tuple[str, ...]
    """The signature keys in which the two differ, apart from OF_THE_FILE; empty unless ``across`` allowed them."""
    seed: int
    """The seed of the bootstrap."""

    @property
    def signature(self) -> str:
        """The settings that fix the comparison: what the two signatures share, the tests and the seed."""
        first, other = parse_signature(self.first.signature), parse_signature(self.other.signature)
        shared = {key: value for key, value in first.items() if other.get(key) == value}
        return format_signature(shared | {"test": f"mcnemar+bootstrap[{DRAWS}]", "seed": str(self.seed)})


def compare(first: Report, other: Report, *, across: bool = False, seed: int = 0) -> Comparison:
    """Compare two reports of one benchmark example by example. ``seed`` is that of the bootstrap interval.

    Raises UsageError where the reports are not about the same examples, or where their signatures differ in a key that
    does not describe the file, unless ``across`` allows that.
    """
    if first.benchmark.id != other.benchmark.id:
        raise UsageError(f"{first.benchmark.id} and {other.benchmark.id} have no example in common")
    differing = _differing_keys(first.signature, other.signature)
    if differing and not across:
        listed = "; ".join(f"{key}: {one or 'none'} and {another or 'none'}" for key, one, another in differing)
        raise UsageError(f"the two were not scored alike ({listed}); --across compares them nevertheless")
    if [v.example.id for v in first.verdicts] != [v.example.id for v in other.verdicts]:
        raise UsageError("the two are not about the same examples, so they cannot be paired")
    tallies: list[Counter[tuple[str, bool, bool]]] = [Counter() for _ in first.benchmark.axes]
    changed: dict[tuple[bool, bool], list[str]] = {(False, True): [], (True, False): []}
    totals: Counter[tuple[bool, bool]] = Counter()
    for one, another in zip(first.verdicts, other.verdicts, strict=True):
        pair = one.outcome == "hit", another.outcome == "hit"
        totals[pair] += 1
        if pair in changed:
            changed[pair].append(one.example.id)
        for tally, labels in zip(tallies, one.example.labels, strict=True):
            for label in labels:
                tally[label, *pair] += 1
    counts = _counts(totals)
    return Comparison(
        first=first,
        other=other,
        counts=counts,
        interval=counts.interval(seed),
        gained=tuple(changed[False, True]),
        lost=tuple(changed[True, False]),
        axes=tuple((axis, _cells(tally)) for axis, tally in zip(first.benchmark.axes, tallies, strict=True)),
        differing=tuple(key for key, _, _ in differing),
        seed=seed,
    )


def _differing_keys(one: str, other: str) -> list[tuple[str, str, str]]:
    """The keys in which two signatures differ, apart from OF_THE_FILE, each with both values; "" for a missing one."""
    first, second = parse_signature(one), parse_signature(other)
    keys = [key for key in dict.fromkeys([*first, *second]) if key not in OF_THE_FILE]
    return [(key, first.get(key, ""), second.get(key, "")) for key in keys if first.get(key) != second.get(key)]


def _counts(pairs: Counter[tuple[bool, bool]]) -> Counts:
    """Counts of (hit of the first file, hit of the other file)."""
    return Counts(pairs[True, True], pairs[False, True], pairs[True, False], pairs[False, False])


def _cells(tally: Counter[tuple[str, bool, bool]]) -> tuple[CellComparison, ...]:
    pairs: dict[str, Counter[tuple[bool, bool]]] = {}
    for (label, first, other), count in tally.items():
        pairs.setdefault(label, Counter())[first, other] += count
    cells = [(label, _counts(pairs[label])) for label in sorted(pairs)]
    adjusted = holm([counts.p_value for _, counts in cells])
    return tuple(CellComparison(*cell, p_value) for cell, p_value in zip(cells, adjusted, strict=True))


def pair_up(files: Sequence[tuple[str, Iterable[Report]]]) -> list[tuple[str, Report, Report]]:
    """Pairs to compare: every file after the first one against it, benchmark by benchmark.

    ``files`` are names with reports. A pair is the name of the other file, the first file's report and the other
    file's report. Raises UsageError where a file lacks a benchmark that another one has.
    """
    by_id = [(name, {report.benchmark.id: report for report in reports}) for name, reports in files]
    (first_name, first), *others = by_id
    for name, reports in others:
        for one, has, two in ((name, first, reports), (first_name, reports, first)):
            missing = [benchmark for benchmark in has if benchmark not in two]
            if missing:
                raise UsageError(f"{one} has no row of {', '.join(missing)}, so there is nothing to compare")
    return [(name, first[benchmark], reports[benchmark]) for name, reports in others for benchmark in first]
