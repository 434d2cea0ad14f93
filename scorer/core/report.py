"""The records of a finished score: cells and tables, the report with its evidence, the check, the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from scorer._version import __version__
from scorer.core.findings import Finding
from scorer.core.outcomes import Outcome
from scorer.core.records import PIXEL, Axis, Benchmark, GroundTruth, Prediction, Space, Verdict
from scorer.core.signature import parse_signature
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

    def to_dict(self) -> dict[str, Any]:
        """Hits, n, accuracy and interval as plain data, rounded to four decimals; None for those of an empty cell."""
        if not self.n:
            return {"hits": 0, "n": 0, "accuracy": None, "ci95": None}
        ends = [round(end, 4) for end in self.interval]
        return {"hits": self.hits, "n": self.n, "accuracy": round(self.accuracy, 4), "ci95": ends}


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

    def to_dict(self) -> dict[str, Any]:
        """The figures over several attempts as plain data."""
        return {
            "k": self.k,
            "most": self.most,
            "observed": self.observed,
            "run_errors": self.errors,
            "series": [
                {
                    "name": series.name,
                    "value": None if series.mean is None else round(float(series.mean), 4),
                    "evaluated": series.evaluated,
                    "total": series.total,
                    "ci95": None if series.interval is None else [round(end, 4) for end in series.interval],
                }
                for series in self.series
            ],
            "consistency": list(self.consistency),
        }


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

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain data, with the exact fraction that it is."""
        return {
            "mode": self.mode,
            "axis": self.axis.name,
            "overlapping": self.axis.overlapping,
            **_fraction_dict(self.value),
            "branches": [{"path": node.path, "n": node.n, **_fraction_dict(node.value)} for node in self.branches],
            "outside": list(self.outside),
        }


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
        """The table of the categories: that of the axis ``category``, else the first, else an empty one."""
        first = self.tables[0] if self.tables else Table(Axis("category"), ())
        return next((table for table in self.tables if table.axis.name == "category"), first)

    @property
    def answered(self) -> Cell:
        """Hits over the examples that got a usable answer: a second figure, never the score."""
        return Cell("answered", self.total.hits, self.outcomes["hit"] + self.outcomes["miss"])

    @property
    def missing_predictions(self) -> int:
        """no_answer + run_error + absent, as the public Pointerbench scorer counts them."""
        return self.total.n - self.answered.n

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, as ``score --json`` writes it; ``score schema report`` prints its form.

        The public Pointerbench scorer's keys keep their places and their rounding; others stand beside them.
        """
        total, truth = self.total, self.ground_truth
        data: dict[str, Any] = {
            "accepted": True,
            "benchmark": self.benchmark.id,
            "n": total.n,
            "accuracy": round(total.accuracy, 4),
            "hits": total.hits,
            "missing_predictions": self.missing_predictions,
        }
        for axis, cells in self.tables:
            data[f"by_{axis.name}"] = {cell.label: {"acc": round(cell.accuracy, 4), "n": cell.n} for cell in cells}
        data |= {
            "ci95": [round(end, 4) for end in total.interval],
            "outcomes": dict(self.outcomes),
            "no_answer_reasons": dict(self.no_answer_reasons),
            "false_refusals": self.false_refusals,
            "refusal_markers": dict(self.refusal_markers),
            "answered": self.answered.to_dict(),
            "tables": {
                axis.name: {
                    "overlapping": axis.overlapping,
                    "cells": [{"label": cell.label, **cell.to_dict()} for cell in cells],
                }
                for axis, cells in self.tables
            },
            "macro": _macro_dict(self.categories),
            "coordinates": {
                "space": None if self.space is None else str(self.space),
                "row_spaces": [str(space) for space in self.row_spaces],
            },
            "alternatives": {
                other.name: {"reason": other.reason, "rows": other.rows, **Cell("", other.hits, total.n).to_dict()}
                for other in self.alternatives
            },
            "ground_truth": truth.to_dict(),
            "signature": self.signature,
            "signature_fields": parse_signature(self.signature),
            "version": __version__,
        }
        named = {"variant": self.variant, "profile": self.profile, "filter": truth.filter}
        data |= {key: value for key, value in named.items() if value}
        if self.actionable is not None and self.refusals is not None:
            data |= {"actionable": self.actionable.to_dict(), "refusals": self.refusals.to_dict()}
        if self.aggregation is not None:
            data["aggregation"] = self.aggregation.to_dict()
        if self.attempts is not None:
            data["attempts"] = self.attempts.to_dict()
        data["findings"] = [finding.to_dict() for finding in self.findings]
        data["finding_counts"] = dict(self.finding_counts)
        return data


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
    """Those of the benchmarks, in their order."""

    def to_dict(self) -> dict[str, Any]:
        """The check as plain data, as ``score check --json`` writes it."""
        return {
            "accepted": self.accepted,
            "benchmarks": list(self.benchmarks),
            "rows": self.rows,
            "ground_truth": {truth.benchmark.id: truth.to_dict() for truth in self.ground_truths},
            "absent_ids": {name: list(ids) for name, ids in self.absent.items()},
            "findings": [finding.to_dict() for finding in self.findings],
            "finding_counts": dict(self.finding_counts),
            "version": __version__,
        }


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


def _macro_dict(categories: Table) -> dict[str, Any]:
    """The plain mean of the category cells: another figure than the score."""
    axis, cells = categories
    mean = sum(cell.accuracy for cell in cells) / len(cells) if cells else None
    return {"axis": axis.name, "cells": len(cells), "value": None if mean is None else round(mean, 4)}


def _fraction_dict(value: Fraction | None) -> dict[str, Any]:
    if value is None:
        return {"value": None, "fraction": None}
    return {"value": round(float(value), 4), "fraction": f"{value.numerator}/{value.denominator}"}
