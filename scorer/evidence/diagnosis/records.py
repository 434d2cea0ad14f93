"""The records of a diagnosis: plain data. ``scorer.output`` shows them as text and as JSON."""

from __future__ import annotations

from typing import Literal, NamedTuple


class ReadingScore(NamedTuple):
    """What a file would score if all its numbers were read in another way. This is advice, never the score."""

    name: str
    """The reading in words, for example ``grid1000, y before x``."""
    hits: int
    """Hits under this reading, of the ``n`` examples of the diagnosis."""
    gained: int
    """Examples that hit under this reading and not as declared."""
    lost: int
    """Examples that hit as declared and not under this reading."""
    p: float
    """The exact McNemar test of ``gained`` against ``lost``, two-sided, before any correction."""
    leaning: int
    """Of ``moved``, the coordinates whose declared error has the direction that this reading would correct."""
    moved: int
    """The coordinates (x and y apart) near their targets that this reading changes."""
    lean_p: float
    """The exact sign test of ``leaning`` in ``moved``, two-sided; 1 where most errors have the other direction."""
    better: bool
    """Whether one of the two tests is significant after the correction for all readings tried."""
    option: str
    """What declares this reading, for example ``--space grid1000``; "" where no option does."""
    fix: str
    """Where no option declares the reading: what to change in the file."""


class Fit(NamedTuple):
    """A linear fit of answers to the centres of their targets, in pixels: ``answer = scale * target + offset``."""

    scale: tuple[float, float]
    """The slope for x and for y; 1 for answers of the right size."""
    offset: tuple[float, float]
    """The intercept for x and for y, in pixels; 0 for answers that are not shifted."""


class Misses(NamedTuple):
    """The size and the direction of misses: medians of the errors from the centre of the target."""

    label: str
    """``all``, or the quarter of the screenshot that the targets lie in, for example ``top left``."""
    n: int
    """The number of misses."""
    dx: float
    """The median error to the right, in pixels."""
    dy: float
    """The median error downwards, in pixels."""
    dx_targets: float
    """The median error to the right, in widths of the target."""
    dy_targets: float
    """The median error downwards, in heights of the target."""
    near: int
    """How many misses end within one target size of their target."""


SignName = Literal[
    "off-screen",
    "too-coarse",
    "zero-answers",
    "one-answer",
    "repeated-answer",
    "other-shape",
    "refusal-in-words",
    "failure-marker",
    "mixed-readings",
]
"""The kinds of signs. Each is explained at the function of ``signs`` or ``mixed`` that finds it."""


class Sign(NamedTuple):
    """A sign that something is wrong with a file, other than the space of its numbers."""

    name: SignName
    """The kind of the sign."""
    rows: int
    """The number of rows that show the sign."""
    message: str
    """What was found, with its numbers, in one sentence."""
    ids: tuple[str, ...] = ()
    """The ids of the examples concerned, in ground-truth order."""


class Diagnosis(NamedTuple):
    """What may be wrong with the answers of one benchmark. It never changes the score."""

    benchmark: str
    """The id of the benchmark."""
    declared: str
    """The reading that was scored: the space of the file, or ``as the rows say``."""
    n: int
    """The examples of the score or, where ``sampled``, the answers that were looked at."""
    hits: int
    """Of ``n``, the hits as declared."""
    sampled: bool
    """Whether the file is so large that only evenly spaced examples were looked at."""
    readings: tuple[ReadingScore, ...]
    """The other readings that were tried and that give other pixels: first the better ones, of which the first is the
    likely one, then the others by falling hits."""
    fit: Fit | None
    """Where a scale and an offset explain the answers: what was fitted."""
    misses: tuple[Misses, ...]
    """All misses, then those of each quarter of the screenshot; empty where there is no miss."""
    signs: tuple[Sign, ...]
    """The signs of other errors."""

    @property
    def named(self) -> tuple[ReadingScore, ...]:
        """The readings that are significantly better, the likely one first."""
        return tuple(reading for reading in self.readings if reading.better)
