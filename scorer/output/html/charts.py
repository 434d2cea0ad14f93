"""What the charts show: cells with their intervals, hit rate by target size, and where misses land."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from scorer.core.records import Verdict
from scorer.core.report import Cell
from scorer.core.stats import wilson
from scorer.output.html.examples import bounds, places
from scorer.output.text.figures import percent

SIZES = (8, 16, 32, 64, 128)
"""Where the classes of target sizes end, in pixels of the shorter side."""

REACHES = (10, 100, 1000)
"""The scatter shows misses up to so many target sizes from the centre: the smallest of these that holds them all."""

PLOT = 360
"""Side of the scatter in its own units."""


class Bar(NamedTuple):
    """A cell as a row of a chart; positions in percent of its width."""

    label: str
    hits: int
    n: int
    accuracy: str
    middle: float
    low: float
    high: float


class Mark(NamedTuple):
    """The answer to one example in the scatter, in the plot's units."""

    id: str
    x: float
    y: float
    hit: bool


class Scatter(NamedTuple):
    """Where answers land, seen from the centre of their targets; ``lines`` are the rulers at 1, 10, ... target sizes.

    ``target`` is half the side of the square that stands for every target. ``summary`` says it in words.
    """

    marks: tuple[Mark, ...]
    misses: int
    lines: tuple[tuple[int, float], ...]
    target: float
    summary: str


def bar(cell: Cell) -> Bar:
    """A cell with its accuracy in percent and its Wilson interval."""
    low, high = wilson(cell.hits, cell.n)
    return Bar(cell.label, cell.hits, cell.n, percent(cell.hits, cell.n), cell.accuracy * 100, low * 100, high * 100)


def sizes(verdicts: Iterable[Verdict]) -> list[Cell]:
    """Hits and examples by the shorter side of the target; classes without an example are left out."""
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
    """From the target's centre to the answer, in target widths and heights; None where one of them names no place.

    Of several candidate points it is the nearest one. The shortest side counted is one pixel.
    """
    if not verdict.example.target or not (found := places(answer)):
        return None
    x0, y0, x1, y1 = bounds(verdict.example.target)
    width, height = max(x1 - x0, 1.0), max(y1 - y0, 1.0)
    vectors = [((x - (x0 + x1) / 2) / width, (y - (y0 + y1) / 2) / height) for x, y in found]
    return min(vectors, key=lambda vector: math.hypot(*vector))


def scatter(found: Sequence[tuple[str, bool, tuple[float, float]]]) -> Scatter | None:
    """The scatter of (id, hit, offset); None where nothing missed.

    The scale is logarithmic on both sides of the centre, so that a few pixels and a wrong scale show in one picture.
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
    """The median miss as a sentence: an offset that most of them share shows here."""
    across, down = (median(values) for values in zip(*misses, strict=True))
    sides = [
        f"{abs(value):.1f} target {unit} {side[value > 0]}"
        for value, unit, side in ((across, "widths", ("left of", "right of")), (down, "heights", ("above", "below")))
        if abs(value) >= 0.05
    ]
    return f"The median miss lies {' and '.join(sides) or 'on'} the centre."
