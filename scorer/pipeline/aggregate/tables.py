"""Outcomes -> totals and axis tables, always over all examples of the ground truth.

The outcomes are counted once by the combinations of labels, rule and outcome; every figure is a sum over these counts.
Invariant: the tally's values add up to the number of ground-truth examples, whatever their outcomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from scorer.core.outcomes import OUTCOMES, Outcome
from scorer.core.records import Axis, Example, Labels, RuleName, Verdict
from scorer.core.report import Cell, Table

Tally = Mapping[tuple[Labels, RuleName, Outcome], int]


def tally(examples: Sequence[Example], outcomes: Iterable[Outcome]) -> Tally:
    """How many examples share labels, rule and outcome. ``outcomes`` is aligned with ``examples``."""
    labels, rules = map(attrgetter("labels"), examples), map(attrgetter("rule"), examples)
    return Counter(zip(labels, rules, outcomes, strict=True))


def count_outcomes(counts: Tally) -> dict[Outcome, int]:
    """How often each outcome occurs; the values add up to n."""
    totals: Counter[Outcome] = Counter()
    for (_, _, outcome), count in counts.items():
        totals[outcome] += count
    return {outcome: totals[outcome] for outcome in OUTCOMES}


def total(label: str, counts: Tally, *, refusals: bool | None = None) -> Cell:
    """Hits over all examples, or over the refusals alone, or over all but them."""
    hits = n = 0
    for (_, rule, outcome), count in counts.items():
        if refusals is None or (rule == "refusal") == refusals:
            n += count
            hits += count if outcome == "hit" else 0
    return Cell(label, hits, n)


def tabulate_axes(axes: Sequence[Axis], counts: Tally) -> tuple[Table, ...]:
    """One table per axis, cells sorted by label.

    An example that carries several labels of an axis counts once in each of their cells; only the cells of an axis
    with one label per example add up to n.
    """
    hits: list[Counter[str]] = [Counter() for _ in axes]
    sizes: list[Counter[str]] = [Counter() for _ in axes]
    for (labels, _, outcome), count in counts.items():
        for position, cells in enumerate(labels):
            for cell in cells:
                sizes[position][cell] += count
                hits[position][cell] += count if outcome == "hit" else 0
    return tuple(
        Table(axis, tuple(Cell(label, hits[position][label], n) for label, n in sorted(sizes[position].items())))
        for position, axis in enumerate(axes)
    )


def no_answer_reasons(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Why the rows that count as no_answer have no usable geometry: finding code -> rows."""
    faults = [
        verdict.prediction.fault or "wrong-shape"
        for verdict in verdicts
        if verdict.outcome == "no_answer" and verdict.prediction is not None
    ]
    return dict(sorted(Counter(faults).items()))
