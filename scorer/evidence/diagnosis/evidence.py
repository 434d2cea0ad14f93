"""The answers of a file, their errors, and the tests that compare two readings of them.

Errors are measured from the centre of the target in widths and heights of that target, so that small and large targets
count alike. A reading is always chosen for the whole file: no function here picks one for a single row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scorer.core.findings import NUMBERS
from scorer.core.records import Box, Example, Point, Points, Prediction
from scorer.core.report import Report
from scorer.core.stats import mcnemar
from scorer.evidence.diagnosis.readings import Reading, reread
from scorer.evidence.target import centre, error_in_sizes
from scorer.pipeline.judge import judge
from scorer.pipeline.validate.answers import BOX_KEYS

CLOSE = 3.0
"""Largest distance from the target's centre, in target sizes, at which an error can come from a small shift of all
answers. A larger error means that another place was named, so its direction says nothing about a shift."""


class Answer(NamedTuple):
    """One answer that names a place on an example with a target."""

    example: Example
    """The example that is answered. It has a target."""
    written: Prediction
    """The answer in its own space, before conversion; swapped corners of a box are as they were written."""
    declared: Prediction
    """The answer in pixels, as the score read it."""
    hit: bool
    """Whether it is a hit as declared."""
    may_change: bool
    """Whether other readings apply to it. They do not where the row names a space of its own although other rows leave
    theirs to the default: an option changes the default alone."""


class Trial(NamedTuple):
    """All answers under one reading. The columns are aligned with the answers."""

    reading: Reading
    """How the numbers are read."""
    pixels: tuple[Prediction, ...]
    """The answers in pixels."""
    hits: tuple[bool, ...]
    """Which answers hit."""
    errors: tuple[Point, ...]
    """(right, down) from the target's centre, in target sizes; infinite where the reading gives no pixels."""


class Lean(NamedTuple):
    """The direction of the declared errors, compared with the shift that another reading makes."""

    leaning: int = 0
    """Of ``moved``, the coordinates whose declared error has the direction that the shift would correct."""
    moved: int = 0
    """The coordinates (x and y apart) that the reading changes, of answers whose declared error is at most CLOSE."""
    typical: float = 0.0
    """The median length of the shift, in target sizes."""

    @property
    def p(self) -> float:
        """The exact two-sided sign test; 1 where most errors have the other direction."""
        others = self.moved - self.leaning
        return mcnemar(self.leaning, others) if self.leaning > others else 1.0


def answers_of(report: Report, at_most: int) -> list[Answer]:
    """The answers that name a place on an example with a target. Refusals are left out: no space changes them.

    Where the report has more than ``at_most`` examples, evenly spaced ones are looked at.
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
    """The four numbers of a row's box, before swapped corners were sorted; None where they are not in a list."""
    value = next((row[key] for key in BOX_KEYS if row.get(key) is not None), None)
    numbers = four_numbers(value)
    return None if numbers is None else (numbers[0], numbers[1], numbers[2], numbers[3])


def four_numbers(value: object) -> tuple[float, ...] | None:
    """A list of four JSON numbers, each below 1e15 in size; None for anything else."""
    if not isinstance(value, list) or len(value) != 4 or any(type(entry) not in NUMBERS for entry in value):
        return None
    numbers = tuple(value)
    return numbers if all(-1e15 < number < 1e15 for number in numbers) else None


def places(prediction: Prediction) -> Points:
    """The places that an answer names, in its own unit: its candidate points, or the centre of its box."""
    return prediction.points if prediction.bbox is None else (centre(prediction.bbox),)


def error(example: Example, prediction: Prediction) -> Point:
    """The error (right, down) of an answer in pixels, in target sizes; infinite where the answer names no place."""
    return error_in_sizes(example.target, places(prediction)) or (math.inf, math.inf)


def as_declared(answers: Sequence[Answer], reading: Reading) -> Trial:
    """The answers as the score read them. ``reading`` names that."""
    return _trial(reading, answers, [answer.declared for answer in answers])


def under(reading: Reading, answers: Sequence[Answer]) -> Trial:
    """The answers under another reading; those that it does not apply to stay as declared."""
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
    """How many answers hit only after a change, and how many only before it. The sequences are aligned."""
    gained = sum(now and not then for then, now in zip(before, after, strict=True))
    return gained, sum(before) + gained - sum(after)


def lean(declared: Trial, other: Trial) -> Lean:
    """Compare the direction of the declared errors with the shifts that another reading makes.

    If the declared reading were right, a coordinate would err as often to one side of its target as to the other,
    whatever the shift that another reading makes there. Only the sign of an error counts, for x and y apart, and only
    answers whose declared error is at most CLOSE.
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
    """How many answers are nearer to their target's centre under ``one``, and how many under ``other``.

    Only answers whose smaller error is at most CLOSE are counted.
    """
    lengths = [(math.hypot(*a), math.hypot(*b)) for a, b in zip(one.errors, other.errors, strict=True)]
    close = [(a, b) for a, b in lengths if min(a, b) <= CLOSE]
    return sum(a < b for a, b in close), sum(a > b for a, b in close)


def bonferroni_divisor(changes: Iterable[tuple[int, int]], level: float) -> int:
    """The number of tests to divide ``level`` by: only those that could become significant at all.

    ``changes`` holds (gained, lost) of each reading. A reading that changes few answers cannot reach the level however
    these changes fall, so it cannot reach it by chance either.
    Source: R. E. Tarone (1990), "A modified Bonferroni method for discrete data".
    """
    smallest = [mcnemar(gained + lost, 0) for gained, lost in changes]
    count = 1
    while sum(p <= level / count for p in smallest) > count:
        count += 1
    return count
