"""The records of a finished score: cells and tables, the report with its evidence, the check, the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from scorer.core.findings import Finding
from scorer.core.records import PIXEL, Axis, Benchmark, GroundTruth, Outcome, Prediction, Space, Verdict
from scorer.core.stats import wilson

if TYPE_CHECKING:
    from fractions import Fraction


class Cell(NamedTuple):
    """Hits and examples of one value of an axis, or of a whole benchmark."""

    label: str
    hits: int
    n: int
    """The number of examples, whatever became of them."""

    @property
    def accuracy(self) -> float:
        """hits / n, 0..1; 0.0 for an empty cell."""
        return self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy, as (low, high) in 0..1; (0, 1) for an empty cell."""
        return wilson(self.hits, self.n)


class Table(NamedTuple):
    """The cells of one axis."""

    axis: Axis
    cells: tuple[Cell, ...]
    """Sorted by label."""


class Alternative(NamedTuple):
    """What the hits would be under another reading of some tolerated rows. It is advice, never the score."""

    name: str
    """The reading: ``first_row``, ``public_scorer`` or ``first_candidate``."""
    reason: str
    """The reading in words, with the number of rows."""
    rows: int
    """How many rows are read differently."""
    hits: int
    """The hits of the whole benchmark under that reading."""


class Answers(NamedTuple):
    """The rows behind a report as they were read: what a diagnosis looks at, and no score does."""

    predictions: Sequence[Prediction | None]
    """Aligned with the verdicts, in the spaces of the rows, before any conversion; None where there is no row."""
    space: Space = PIXEL
    """The space of rows that name none."""
    uses_default: bool = True
    """Whether any answer left its space to ``space``."""
    odd_rows: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """By id, the first rows in which something was found or which refuse, with long values cut."""


class Series(NamedTuple):
    """One figure over several attempts."""

    name: str
    """``avg@K``, ``pass@K`` or a variant of them in words."""
    mean: Fraction | None
    """The exact mean over the evaluated examples; None where there are none."""
    evaluated: int
    """The number of examples with enough attempts for this figure."""
    total: int
    """The number of all examples."""
    interval: tuple[float, float] | None
    """95 %, as (low, high) in 0..1; None where there is no mean."""


class Attempts(NamedTuple):
    """What ``k`` attempts at each example gave."""

    k: int
    most: int
    """The largest number of attempts that any example has."""
    observed: int
    """How many of the first k attempts at all examples have a row."""
    errors: int
    """How many of those failed."""
    series: tuple[Series, ...]
    consistency: tuple[int, ...]
    """Of the examples with all k attempts, how many were right in none, in one, ... in all of them."""


class Branch(NamedTuple):
    """A node of a category tree."""

    path: str
    value: Fraction | None
    """The exact value, 0..1; None where the node has no examples."""
    n: int
    """The number of examples below the node."""


class Aggregation(NamedTuple):
    """One exact figure made of the cells of an axis."""

    mode: str
    """How: ``micro_weighted``, ``category_mean`` or ``category_hierarchy``."""
    axis: Axis
    value: Fraction | None
    """0..1; None where there is nothing to aggregate."""
    branches: tuple[Branch, ...]
    """The nodes of the tree, each before its children; empty for the other modes."""
    outside: tuple[str, ...]
    """The categories that are not in the tree."""


class Report(NamedTuple):
    """The score of one benchmark with its evidence.

    Invariant: ``total.n`` is the number of ground-truth examples, and the outcomes add up to it. An absent, failed or
    unreadable answer stays in the denominator.
    """

    benchmark: Benchmark
    variant: str
    """The instruction variant, "" where the benchmark has none."""
    total: Cell
    """Hits and n of the benchmark: the score."""
    outcomes: Mapping[Outcome, int]
    """How many examples have each outcome."""
    no_answer_reasons: Mapping[str, int]
    """Of the outcomes ``no_answer``: finding code -> rows."""
    actionable: Cell | None
    """The examples with a target; None where the benchmark has no refusals."""
    refusals: Cell | None
    """The examples without a target; None where the benchmark has no refusals."""
    false_refusals: int
    """How many answers refuse although there is a target."""
    tables: tuple[Table, ...]
    """One per axis of the benchmark, in its order."""
    space: Space | None
    """What rows without a space of their own were read in; None where there were no such rows."""
    row_spaces: tuple[Space, ...]
    """The spaces that rows named themselves, sorted."""
    profile: str
    """The id of the profile that was given, "" for none."""
    signature: str
    """The settings that fix the number; see ``scorer.core.signature``."""
    ground_truth: GroundTruth
    alternatives: tuple[Alternative, ...]
    """What other readings of tolerated rows would give."""
    verdicts: Sequence[Verdict]
    """One per example, in ground-truth order."""
    findings: tuple[Finding, ...] = ()
    """What was found in the predictions, in file order."""
    finding_counts: Mapping[str, int] = MappingProxyType({})
    """How many findings there are of each code; more than ``findings`` holds where only the first were kept."""
    answers: Answers = Answers(())
    attempts: Attempts | None = None
    """The figures over several attempts, where they were asked for."""
    aggregation: Aggregation | None = None
    """The figure of another aggregation, where one was asked for."""
    refusal_markers: Mapping[str, int] = MappingProxyType({})
    """Marker -> how many of the rows that count refuse by it."""

    @property
    def categories(self) -> Table:
        """The table whose cells are the categories: that of the axis ``category``, else the first."""
        return next((table for table in self.tables if table.axis.name == "category"), self.tables[0])

    @property
    def answered(self) -> Cell:
        """Hits over the examples that got a usable answer: a second figure, never the score."""
        return Cell("answered", self.total.hits, self.outcomes["hit"] + self.outcomes["miss"])

    @property
    def missing_predictions(self) -> int:
        """no_answer + run_error + absent, as the public Pointerbench scorer counts them."""
        return self.total.n - self.answered.n


class Kept(NamedTuple):
    """What a run keeps beyond its report where it is asked to: filled while rows are judged."""

    rows: dict[tuple[str, int], Mapping[str, Any]]
    """(id, attempt) -> the row that counts."""
    later: dict[tuple[str, int], Verdict]
    """(id, attempt) -> the verdict, for attempts after the first."""


class Check(NamedTuple):
    """What the strict check found."""

    accepted: bool
    rows: int
    """How many rows the files hold."""
    benchmarks: tuple[str, ...]
    """The benchmarks that the rows belong to."""
    absent: Mapping[str, tuple[str, ...]]
    """Benchmark -> the ids of its examples without a row."""
    findings: tuple[Finding, ...]
    """In file order."""
    finding_counts: Mapping[str, int]
    """How many findings there are of each code; more than ``findings`` holds where only the first were kept."""
    ground_truths: tuple[GroundTruth, ...] = ()


class Suite(NamedTuple):
    """Benchmarks that are ranked by the plain mean of their accuracies."""

    name: str
    members: tuple[tuple[str, Report | None], ...]
    """Every benchmark of the suite: its column and its report, None where it was not scored."""

    @property
    def average(self) -> float | None:
        """The mean of the accuracies, 0..1; None while a member was not scored."""
        accuracies = [report.total.accuracy for _, report in self.members if report is not None]
        return sum(accuracies) / len(accuracies) if len(accuracies) == len(self.members) else None
