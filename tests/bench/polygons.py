"""Time ``points_in_polygon`` against a loop that asks shapely row by row, pair by pair, and print the ratio.

    python tests/bench/polygons.py [--runs 7] [--points 1000000]

The rings are the polygons of OSWorld-G where SCORER_DATA names the folder of its data, else generated ones of their
sizes; the points lie in and around their bounding boxes. All is seeded. The loop takes a tenth of the points and its
time counts ten times. Rows where the two differ end the run: both say that the boundary is out.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import shapely

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

SEED = 20260101
SHARE = 10
"""The loop takes every so-manieth point."""
AROUND = 0.25
"""How far points lie outside a bounding box, in its sides."""
TARGET = 20


class Task(NamedTuple):
    """A ring with its points, and the polygon that the loop asks."""

    ring: tuple[float, ...]
    xs: list[float]
    ys: list[float]
    polygon: Any


def annotated_rings(folder: str) -> list[tuple[float, ...]]:
    """The polygons of OSWorld-G's annotations."""
    import scorer

    truth = scorer.load_benchmark("osworld-g", folder)
    return [example.target for example in truth.examples if example.rule == "point_in_polygon"]


def generated_rings(rng: random.Random) -> list[tuple[float, ...]]:
    """40 star-shaped rings of 5 to 21 corners."""
    rings: list[tuple[float, ...]] = []
    for _ in range(40):
        x, y, radius, corners = rng.uniform(300, 1600), rng.uniform(300, 700), rng.uniform(8, 300), rng.randint(5, 21)
        ring: list[float] = []
        for corner in range(corners):  # no two are half a turn apart, so that no ring crosses itself
            angle, reach = math.tau * (corner + rng.uniform(0, 0.9)) / corners, radius * rng.uniform(0.4, 1)
            ring += (round(x + reach * math.cos(angle), 2), round(y + reach * math.sin(angle), 2))
        rings.append(tuple(ring))
    return rings


def task(rng: random.Random, ring: tuple[float, ...], points: int) -> Task:
    """A ring with points to a tenth of a pixel, as models give them."""

    def spread(numbers: tuple[float, ...]) -> list[float]:
        low, high = min(numbers), max(numbers)
        margin = AROUND * (high - low)
        return [round(rng.uniform(low - margin, high + margin), 1) for _ in range(points)]

    polygon = shapely.Polygon(list(zip(ring[0::2], ring[1::2], strict=True)))
    return Task(ring, spread(ring[0::2]), spread(ring[1::2]), polygon)


def at_once(tasks: list[Task]) -> list[list[bool]]:
    """All points, ring by ring."""
    from scorer.core.geometry import points_in_polygon

    return [points_in_polygon(xs, ys, ring) for ring, xs, ys, _ in tasks]


def row_by_row(tasks: list[Task]) -> list[list[bool]]:
    """A share of the points, one by one."""
    return [
        [polygon.contains(shapely.Point(x, y)) for x, y in zip(xs[::SHARE], ys[::SHARE], strict=True)]
        for _, xs, ys, polygon in tasks
    ]


def seconds(function: Callable[[list[Task]], object], tasks: list[Task]) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    function(tasks)
    return time.perf_counter() - start


def differing(tasks: list[Task]) -> int:
    """How many rows the two judge differently, of rings that shapely takes as they are."""
    both = zip(tasks, at_once(tasks), row_by_row(tasks), strict=True)
    return sum(
        mine != its
        for one, answers, expected in both
        if one.polygon.is_valid
        for mine, its in zip(answers[::SHARE], expected, strict=True)
    )


def pairs_of_runs(runs: int, points: int) -> tuple[list[tuple[float, float]], str]:
    """Seconds of our run and of the loop, scaled to all points, pair by pair; and what was run. SystemExit where the
    two differ.
    """
    rng = random.Random(SEED)
    folder = os.environ.get("SCORER_DATA")
    rings = annotated_rings(folder) if folder else generated_rings(rng)
    tasks = [task(rng, ring, max(SHARE, points // len(rings))) for ring in rings]
    if wrong := differing(tasks):
        raise SystemExit(f"{wrong} points are judged differently")
    kind = "annotated" if folder else "generated"
    what = f"{sum(len(one.xs) for one in tasks)} points in {len(rings)} {kind} rings"
    return [(seconds(at_once, tasks), seconds(row_by_row, tasks) * SHARE) for _ in range(runs)], what


def ratios(runs: int, points: int) -> tuple[list[float], float, None]:
    """The loop's time over ours, pair by pair, and the median of our seconds; memory is not looked at."""
    pairs, _ = pairs_of_runs(runs, points)
    return [its / mine for mine, its in pairs], statistics.median(mine for mine, _ in pairs), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs (default 7)")
    parser.add_argument("--points", type=int, default=1_000_000, help="points of all rings (default 1000000)")
    options = parser.parse_args()
    pairs, what = pairs_of_runs(options.runs, options.points)
    mine, its = (statistics.median(times) for times in zip(*pairs, strict=True))
    found = [its / mine for mine, its in pairs]
    print(
        f"{what}: loop / at once {statistics.median(found):.1f} x  ({min(found):.1f} – {max(found):.1f})  {mine:.3f} s "
        f"at once, {its:.3f} s in a loop ({SHARE} x a {SHARE}th of the points)   target >= {TARGET}"
    )


if __name__ == "__main__":
    main()
