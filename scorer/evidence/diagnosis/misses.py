"""How misses miss: which way, how far, where on the screenshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_high, median_low

from scorer.evidence.diagnosis.evidence import Answer, bounds, error
from scorer.evidence.diagnosis.records import Misses

NEAR = 1.5
"""From its centre a target reaches half its size; one target size beyond that is still near."""


def is_near(across: float, down: float) -> bool:
    """Whether an error, in target sizes from the centre, ends within one target size of the target."""
    return abs(across) <= NEAR and abs(down) <= NEAR


def miss_statistics(answers: Sequence[Answer]) -> Iterator[Misses]:
    """All misses, then those of each quarter of the screenshot that targets lie in. Nothing where there are none."""
    misses = [(answer, *error(answer.example, answer.declared)) for answer in answers if not answer.hit]
    if misses:
        yield _statistics("all", misses)
        for label in ("top left", "top right", "bottom left", "bottom right"):
            chosen = [miss for miss in misses if _quarter(miss[0]) == label]
            if chosen:
                yield _statistics(label, chosen)


def _statistics(label: str, misses: Sequence[tuple[Answer, float, float]]) -> Misses:
    widths, heights = zip(*(_size(answer) for answer, _, _ in misses), strict=True)
    across, down = [x for _, x, _ in misses], [y for _, _, y in misses]
    return Misses(
        label,
        len(misses),
        _median([x * width for x, width in zip(across, widths, strict=True)]),
        _median([y * height for y, height in zip(down, heights, strict=True)]),
        _median(across),
        _median(down),
        sum(is_near(x, y) for x, y in zip(across, down, strict=True)),
    )


def _median(values: Sequence[float]) -> float:
    return median_low(values) / 2 + median_high(values) / 2  # the sum of two huge ones would not be finite


def _size(answer: Answer) -> tuple[float, float]:
    x0, y0, x1, y1 = bounds(answer.example)
    return max(x1 - x0, 1.0), max(y1 - y0, 1.0)


def _quarter(answer: Answer) -> str:
    """The quarter of the screenshot that holds the centre of the target."""
    x0, y0, x1, y1 = bounds(answer.example)
    width, height = answer.example.image_size
    return f"{'bottom' if y0 + y1 > height else 'top'} {'right' if x0 + x1 > width else 'left'}"
