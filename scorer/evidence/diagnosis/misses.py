"""The direction and the size of misses, and the part of the screenshot in which they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_high, median_low

from scorer.evidence.diagnosis.evidence import Answer, error
from scorer.evidence.diagnosis.records import Misses
from scorer.evidence.target import bounds, size

NEAR = 1.5
"""Largest error of a near miss, in target sizes from the centre: the target's own half and one size beyond it."""


def is_near(across: float, down: float) -> bool:
    """Whether an error (right, down), in target sizes, ends within one target size of the target's edge."""
    return abs(across) <= NEAR and abs(down) <= NEAR


def miss_statistics(answers: Sequence[Answer]) -> Iterator[Misses]:
    """The statistics of all misses, then of those in each quarter of the screenshot; nothing where there is no miss.

    The quarter is the one that the centre of the target lies in; a quarter without misses is left out.
    """
    misses = [(answer, *error(answer.example, answer.declared)) for answer in answers if not answer.hit]
    if misses:
        yield _statistics("all", misses)
        for label in ("top left", "top right", "bottom left", "bottom right"):
            chosen = [miss for miss in misses if _quarter(miss[0]) == label]
            if chosen:
                yield _statistics(label, chosen)


def _statistics(label: str, misses: Sequence[tuple[Answer, float, float]]) -> Misses:
    widths, heights = zip(*(size(answer.example.target) for answer, _, _ in misses), strict=True)
    across, down = [x for _, x, _ in misses], [y for _, _, y in misses]
    return Misses(
        label=label,
        n=len(misses),
        dx=_median([x * width for x, width in zip(across, widths, strict=True)]),
        dy=_median([y * height for y, height in zip(down, heights, strict=True)]),
        dx_targets=_median(across),
        dy_targets=_median(down),
        near=sum(is_near(x, y) for x, y in zip(across, down, strict=True)),
    )


def _median(values: Sequence[float]) -> float:
    """The median. The two middle values are halved before they are added: the sum of two huge values is infinite."""
    return median_low(values) / 2 + median_high(values) / 2


def _quarter(answer: Answer) -> str:
    x0, y0, x1, y1 = bounds(answer.example.target)
    width, height = answer.example.image_size
    return f"{'bottom' if y0 + y1 > height else 'top'} {'right' if x0 + x1 > width else 'left'}"
