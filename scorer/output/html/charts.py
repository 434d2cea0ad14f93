"""The data of the charts: cells with their intervals, hit rate by target size, and the scatter of the errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from scorer.core.records import Verdict
from scorer.core.report import Cell
from scorer.core.stats import wilson
from scorer.evidence.target import bounds, error_in_sizes
from scorer.output.html.examples import places
from scorer.output.text.figures import percent

SIZES = (8, 16, 32, 64, 128)
"""Limits between the classes of target sizes, in pixels of the shorter side."""

REACHES = (10, 100, 1000)
"""Possible ends of the scatter's axes, in target sizes: the smallest one that holds all misses is used."""

PLOT = 360
"""Side of the scatter in units of its SVG. Its centre is (0, 0)."""


class Bar(NamedTuple):
    """A cell as a row of a chart. Positions are percentages, 0..100, of the width of the chart."""

    label: str
    """The label of the cell."""
    hits: int
    """The hits of the cell."""
    n: int
    """The number of examples in the cell."""
    accuracy: str
    """The accuracy in percent, as text."""
    middle: float
    """The position of the accuracy."""
    low: float
    """The position of the lower end of the 95 % interval."""
    high: float
    """The position of the upper end of the 95 % interval."""


class Mark(NamedTuple):
    """The answer to one example in the scatter."""

    id: str
    """The id of the example."""
    x: float
    """The position to the right of the centre, in units of PLOT."""
    y: float
    """The position below the centre, in units of PLOT."""
    hit: bool
    """Whether the answer is a hit."""


class Scatter(NamedTuple):
    """Where answers land, seen from the centres of their targets."""

    marks: tuple[Mark, ...]
    """One per answer that names a place, hits too."""
    misses: int
    """How many of the marks are misses."""
    lines: tuple[tuple[int, float], ...]
    """The squares that mark distances of 1, 10, ... target sizes: the distance, and half the side in units of PLOT."""
    target: float
    """Half the side, in units of PLOT, of the square that stands for every target."""
    summary: str
    """The median miss in a sentence."""


def bar(cell: Cell) -> Bar:
    """A cell as a row of a chart, with its accuracy and its Wilson interval."""
    low, high = wilson(cell.hits, cell.n)
    return Bar(cell.label, cell.hits, cell.n, percent(cell.hits, cell.n), cell.accuracy * 100, low * 100, high * 100)


def sizes(verdicts: Iterable[Verdict]) -> list[Cell]:
    """One cell per class of target sizes, by the shorter side of the target. Classes without examples are left out."""
    counts = [[0, 0] for _ in range(len(SIZES) + 1)]
    for verdict in verdicts:
        if verdict.example.target:
            x0, y0, x1, y1 = bounds(verdict.example.target)
            place = sum(min(x1 - x0, y1 - y0) >= end for end in SIZES)
            counts[place][0] += verdict.outcome == "hit"
            counts[place][1] += 1
    names = [f"< {SIZES[0]} px", *(f"{low} – {high} px" for low, high in pairwise(SIZES)), f"≥ {SIZES[-1]} px"]
    return [Cell(name, hits, n) for name, (hits, n) in zip(names, counts, strict=True) if n]


def offset(verdict: Verdict, answer: dict[str, Any]) -> tuple[float, float] | None:
    """The error (right, down) of an answer in target sizes; see ``error_in_sizes``.

    ``answer`` is the data of the verdict's answer. None where the example has no target or the answer names no place.
    """
    target = verdict.example.target
    return error_in_sizes(target, places(answer)) if target else None


def scatter(found: Sequence[tuple[str, bool, tuple[float, float]]]) -> Scatter | None:
    """The scatter of answers given as (id, hit, offset in target sizes); None where none of them is a miss.

    The scale is logarithmic on both sides of the centre, so that errors of a few pixels and errors of a wrong space are
    visible in one picture. Misses beyond the largest of REACHES are drawn at the edge.
    """
    misses = [vector for _, hit, vector in found if not hit]
    if not misses:
        return None
    farthest = max(abs(value) for vector in misses for value in vector)
    reach = next((reach for reach in REACHES if farthest <= reach), REACHES[-1])

    def place(value: float) -> float:
        shrunk = math.log1p(min(abs(value), reach) / 0.5) / math.log1p(reach / 0.5)
        return round(PLOT / 2 * math.copysign(shrunk, value), 1)

    marks = tuple(Mark(name, place(x), place(y), hit) for name, hit, (x, y) in found)
    lines = tuple((line, place(line)) for line in (1, *REACHES) if line < reach)
    return Scatter(marks, len(misses), lines, place(0.5), _in_words(misses))


def _in_words(misses: Sequence[tuple[float, float]]) -> str:
    """The median miss in a sentence, which shows an offset that most misses share."""
    across, down = (median(values) for values in zip(*misses, strict=True))
    sides = [
        f"{abs(value):.1f} target {unit} {side[value > 0]}"
        for value, unit, side in ((across, "widths", ("left of", "right of")), (down, "heights", ("above", "below")))
        if abs(value) >= 0.05
    ]
    return f"The median miss lies {' and '.join(sides) or 'on'} the centre."
