"""The records of a diagnosis: plain data, made here and shown by scorer.output.text.diagnosis."""

from __future__ import annotations

from typing import Literal, NamedTuple


class ReadingScore(NamedTuple):
    """What a file would score had all its numbers been read in another way. Advice, never the score.

    ``hits`` are of the diagnosis's n. ``gained`` and ``lost`` are the examples that hit only so and only as declared,
    ``p`` is the exact McNemar test of the two. ``leaning`` of ``moved`` coordinates err to the side that this reading
    explains, with the exact sign test ``lean_p``. ``better`` says whether one of the tests is significant after
    correction for all readings tried. ``option`` declares the reading; where no option does, ``fix`` says what to
    change in the file.
    """

    name: str
    hits: int
    gained: int
    lost: int
    p: float
    leaning: int
    moved: int
    lean_p: float
    better: bool
    option: str
    fix: str


class Fit(NamedTuple):
    """Where answers lie as declared, against their targets: ``answer = scale * target + offset``, in pixels."""

    scale: tuple[float, float]
    offset: tuple[float, float]


class Misses(NamedTuple):
    """How misses miss: the median error right (dx) and down (dy), in pixels and in widths and heights of the target.

    ``near`` misses end within one target size of their target. ``label`` is the quarter of the screenshot that the
    targets lie in, or all of it.
    """

    label: str
    n: int
    dx: float
    dy: float
    dx_targets: float
    dy_targets: float
    near: int


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


class Sign(NamedTuple):
    """A sign of trouble: in how many rows, what, and in which examples."""

    name: SignName
    rows: int
    message: str
    ids: tuple[str, ...] = ()


class Diagnosis(NamedTuple):
    """What may be wrong with a file, beside a score that it never changes.

    ``readings`` are those tried whose pixels differ from the declared ones, the likely one first and then by hits.
    ``hits`` of ``n`` hit as declared; n is that of the score or, where ``sampled``, the answers looked at, evenly
    spaced in a very large file. ``fit`` is there where a scale and an offset explain the answers.
    """

    benchmark: str
    declared: str
    n: int
    hits: int
    sampled: bool
    readings: tuple[ReadingScore, ...]
    fit: Fit | None
    misses: tuple[Misses, ...]
    signs: tuple[Sign, ...]

    @property
    def named(self) -> tuple[ReadingScore, ...]:
        """The readings that are significantly better, the likely one first."""
        return tuple(reading for reading in self.readings if reading.better)
