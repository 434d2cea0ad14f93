"""A file's answers, how they err, and the tests by which one reading is better than another.

Errors are measured from the centre of a target in widths and heights of that target, so that small and large ones
weigh alike. Nothing here looks at a single row to choose a reading.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scorer.core.findings import NUMBERS
from scorer.core.records import Box, Example, Point, Prediction
from scorer.core.report import Report
from scorer.core.stats import mcnemar
from scorer.evidence.diagnosis.readings import Reading, reread
from scorer.pipeline.judge import judge
from scorer.pipeline.validate.answers import BOX_KEYS

CLOSE = 3.0
"""Errors up to so many target sizes say something about a small shift of all answers; larger ones are other places."""


class Answer(NamedTuple):
    """One answer to an example with a target: as written, in its own space, and in pixels as declared."""

    example: Example
    written: Prediction
    declared: Prediction
    hit: bool
    may_change: bool


class Trial(NamedTuple):
    """The answers under one reading, in pixels: which hit, and each one's error (right, down) in target sizes."""

    reading: Reading
    pixels: tuple[Prediction, ...]
    hits: tuple[bool, ...]
    errors: tuple[Point, ...]


class Lean(NamedTuple):
    """Of ``moved`` coordinates that a reading shifts, so many err as declared to the side that it explains."""

    leaning: int = 0
    moved: int = 0
    typical: float = 0.0

    @property
    def p(self) -> float:
        """The exact two-sided sign test; 1 where most lean the other way."""
        others = self.moved - self.leaning
        return mcnemar(self.leaning, others) if self.leaning > others else 1.0


def answers_of(report: Report, at_most: int) -> list[Answer]:
    """The answers that name a place on an example with a target. Refusals read the same in every space.

    Of more than ``at_most`` examples only evenly spaced ones are looked at.
    """
    kept = report.answers
    found: list[Answer] = []
    every = slice(None, None, -(-len(report.verdicts) // at_most) or 1)
    for verdict, written in zip(report.verdicts[every], kept.predictions[every], strict=True):
        example, pixels = verdict.example, verdict.prediction
        if verdict.outcome not in ("hit", "miss") or example.rule == "refusal" or pixels is None or written is None:
            continue
        if any(x < 0 and y < 0 for x, y in pixels.points):
            continue
        if written.bbox is not None and example.id in kept.odd_rows:
            written = written._replace(bbox=corners_as_written(kept.odd_rows[example.id]) or written.bbox)
        may_change = written.space == kept.space or not kept.uses_default
        found.append(Answer(example, written, pixels, verdict.outcome == "hit", may_change))
    return found


def corners_as_written(row: Mapping[str, Any]) -> Box | None:
    """The four numbers of a row's box before swapped corners were sorted; None where a text or a name holds them."""
    value = next((row[key] for key in BOX_KEYS if row.get(key) is not None), None)
    numbers = four_numbers(value)
    return None if numbers is None else (numbers[0], numbers[1], numbers[2], numbers[3])


def four_numbers(value: object) -> tuple[float, ...] | None:
    """A list of four finite JSON numbers; None for anything else."""
    if not isinstance(value, list) or len(value) != 4 or any(type(entry) not in NUMBERS for entry in value):
        return None
    numbers = tuple(value)
    return numbers if all(-1e15 < number < 1e15 for number in numbers) else None


def bounds(example: Example) -> Box:
    """The rectangle around a target, in pixels."""
    xs, ys = example.target[0::2], example.target[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def centre(prediction: Prediction) -> Point:
    """The place an answer names: its first point, or the centre of its box."""
    if prediction.bbox is None:
        return prediction.points[0]
    x0, y0, x1, y1 = prediction.bbox
    return x0 / 2 + x1 / 2, y0 / 2 + y1 / 2  # the sum of two huge ones would not be finite


def error(example: Example, prediction: Prediction) -> Point:
    """How far right and down of the target's centre an answer lies, in target sizes; of candidates, the nearest."""
    x0, y0, x1, y1 = bounds(example)
    width, height = max(x1 - x0, 1.0), max(y1 - y0, 1.0)
    places = prediction.points if prediction.bbox is None else (centre(prediction),)
    offsets = [((x - (x0 + x1) / 2) / width, (y - (y0 + y1) / 2) / height) for x, y in places]
    return min(offsets, key=lambda offset: math.hypot(*offset), default=(math.inf, math.inf))


def as_declared(answers: Sequence[Answer], reading: Reading) -> Trial:
    """The answers as the score took them."""
    return _trial(reading, answers, [answer.declared for answer in answers])


def under(reading: Reading, answers: Sequence[Answer]) -> Trial:
    """The answers under a reading; those whose rows name their own space stay as declared."""
    return _trial(
        reading,
        answers,
        [
            reread(answer.written, reading, answer.example.image_size) if answer.may_change else answer.declared
            for answer in answers
        ],
    )


def _trial(reading: Reading, answers: Sequence[Answer], pixels: Sequence[Prediction]) -> Trial:
    hits = tuple(judge(answer.example, each).outcome == "hit" for answer, each in zip(answers, pixels, strict=True))
    errors = tuple(error(answer.example, each) for answer, each in zip(answers, pixels, strict=True))
    return Trial(reading, tuple(pixels), hits, errors)


def gained_and_lost(before: Sequence[bool], after: Sequence[bool]) -> tuple[int, int]:
    """How many hit only after, and how many only before."""
    gained = sum(now and not then for then, now in zip(before, after, strict=True))
    return gained, sum(before) + gained - sum(after)


def lean(declared: Trial, other: Trial) -> Lean:
    """How the close errors of the declared reading lie to the shifts that another one makes.

    Were the declared reading right, a coordinate would err to either side of its target alike, wherever the other
    reading moves it. Each coordinate counts by its sign alone, x and y apart.
    """
    leaning = moved = 0
    shifts: list[float] = []
    for here, there in zip(declared.errors, other.errors, strict=True):
        if not (math.hypot(*here) <= CLOSE and all(map(math.isfinite, there))):
            continue
        shifts.append(math.dist(here, there))
        for before, after in zip(here, there, strict=True):
            if before and before != after:
                moved += 1
                leaning += (before > 0) == (before > after)
    typical = sorted(shifts)[len(shifts) // 2] if shifts else 0.0
    return Lean(leaning, moved, typical)


def nearer_and_farther(one: Trial, other: Trial) -> tuple[int, int]:
    """How many answers are nearer to their target's centre under the one, and how many under the other reading."""
    lengths = [(math.hypot(*a), math.hypot(*b)) for a, b in zip(one.errors, other.errors, strict=True)]
    close = [(a, b) for a, b in lengths if min(a, b) <= CLOSE]
    return sum(a < b for a, b in close), sum(a > b for a, b in close)


def bonferroni_divisor(changes: Iterable[tuple[int, int]], level: float) -> int:
    """By how many tests Bonferroni has to divide: those that could reach the level at all.

    A reading that changes few rows cannot be significant however they fall, so it cannot be falsely so either.
    Source: R. E. Tarone (1990), "A modified Bonferroni method for discrete data".
    """
    smallest = [mcnemar(gained + lost, 0) for gained, lost in changes]
    count = 1
    while sum(p <= level / count for p in smallest) > count:
        count += 1
    return count
