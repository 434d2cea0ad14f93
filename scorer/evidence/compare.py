"""Two reports over the same examples -> what one gained and lost against the other, and whether chance explains it."""

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
OF_THE_FILE = frozenset({"space", "profile", "version"})
"""Keys of a signature that say how a file is written, not what it is held against."""


class Counts(NamedTuple):
    """Examples by what became of them in the first file and in the other one."""

    both: int
    gained: int
    lost: int
    neither: int

    @property
    def n(self) -> int:
        """All examples."""
        return sum(self)

    @property
    def first(self) -> int:
        """Hits of the first file."""
        return self.both + self.lost

    @property
    def other(self) -> int:
        """Hits of the other file."""
        return self.both + self.gained

    @property
    def p_value(self) -> float:
        """The exact McNemar test."""
        return mcnemar(self.gained, self.lost)

    def interval(self, seed: int) -> tuple[float, float]:
        """The 95 % paired bootstrap interval of the difference in accuracy, the other file's less the first one's."""
        return bootstrap({1: self.gained, -1: self.lost, 0: self.both + self.neither}, draws=DRAWS, seed=seed)


class CellComparison(NamedTuple):
    """One cell of an axis; ``adjusted`` is its p-value by Holm's method over the cells of the axis."""

    label: str
    counts: Counts
    adjusted: float


class Comparison(NamedTuple):
    """The other report against the first one, of one benchmark.

    ``gained`` and ``lost`` are the ids that only the other and only the first file got right, in ground-truth order.
    ``differing`` are the keys in which the signatures differ although it is not the files that differ in them.
    """

    first: Report
    other: Report
    counts: Counts
    interval: tuple[float, float]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    axes: tuple[tuple[Axis, tuple[CellComparison, ...]], ...]
    differing: tuple[str, ...]
    seed: int

    @property
    def signature(self) -> str:
        """What fixes the comparison: the keys that the two signatures share, the tests and the seed."""
        first, other = parse_signature(self.first.signature), parse_signature(self.other.signature)
        shared = {key: value for key, value in first.items() if other.get(key) == value}
        return format_signature(shared | {"test": f"mcnemar+bootstrap[{DRAWS}]", "seed": str(self.seed)})


def compare(first: Report, other: Report, *, across: bool = False, seed: int = 0) -> Comparison:
    """Compare two reports of one benchmark example by example.

    Raises UsageError where the reports are of other examples, or where their signatures differ in more than the
    files themselves and ``across`` does not say that this is meant.
    """
    if first.benchmark.id != other.benchmark.id:
        raise UsageError(f"{first.benchmark.id} and {other.benchmark.id} have no example in common")
    differing = _differing_keys(first.signature, other.signature)
    if differing and not across:
        listed = "; ".join(f"{key}: {one or 'none'} and {another or 'none'}" for key, one, another in differing)
        raise UsageError(f"the two were not scored alike ({listed}); --across compares them all the same")
    if [v.example.id for v in first.verdicts] != [v.example.id for v in other.verdicts]:
        raise UsageError("the two are not over the same examples, so they cannot be paired")
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
        first,
        other,
        counts,
        counts.interval(seed),
        tuple(changed[False, True]),
        tuple(changed[True, False]),
        tuple((axis, _cells(tally)) for axis, tally in zip(first.benchmark.axes, tallies, strict=True)),
        tuple(key for key, _, _ in differing),
        seed,
    )


def _differing_keys(one: str, other: str) -> list[tuple[str, str, str]]:
    first, second = parse_signature(one), parse_signature(other)
    keys = [key for key in dict.fromkeys([*first, *second]) if key not in OF_THE_FILE]
    return [(key, first.get(key, ""), second.get(key, "")) for key in keys if first.get(key) != second.get(key)]


def _counts(pairs: Counter[tuple[bool, bool]]) -> Counts:
    return Counts(pairs[True, True], pairs[False, True], pairs[True, False], pairs[False, False])


def _cells(tally: Counter[tuple[str, bool, bool]]) -> tuple[CellComparison, ...]:
    pairs: dict[str, Counter[tuple[bool, bool]]] = {}
    for (label, first, other), count in tally.items():
        pairs.setdefault(label, Counter())[first, other] += count
    cells = [(label, _counts(pairs[label])) for label in sorted(pairs)]
    adjusted = holm([counts.p_value for _, counts in cells])
    return tuple(CellComparison(*cell, p_value) for cell, p_value in zip(cells, adjusted, strict=True))


def pair_up(files: Sequence[tuple[str, Iterable[Report]]]) -> list[tuple[str, Report, Report]]:
    """Each other file's report beside the first file's of the same benchmark, with the other file's name.

    Raises UsageError where a file lacks a benchmark that another one has.
    """
    by_id = [(name, {report.benchmark.id: report for report in reports}) for name, reports in files]
    (first_name, first), *others = by_id
    for name, reports in others:
        for one, has, two in ((name, first, reports), (first_name, reports, first)):
            missing = [benchmark for benchmark in has if benchmark not in two]
            if missing:
                raise UsageError(f"{one} has no row of {', '.join(missing)}, so there is nothing to compare")
    return [(name, first[benchmark], reports[benchmark]) for name, reports in others for benchmark in first]
