"""A free scale and offset for each axis, fitted from the answers to the centres of their targets.

The fit is Siegel's repeated median, which stays right while up to half of the answers lie anywhere else. Its score is
taken from answers that it was not fitted to: each half of the file is read with the fit of the other half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TypeVar

from scorer.core.records import PIXEL, Point, Prediction, Size, Space
from scorer.evidence.diagnosis.evidence import Answer, Trial, places, under
from scorer.evidence.diagnosis.readings import Reading
from scorer.evidence.diagnosis.records import Fit
from scorer.evidence.target import bounds, centre

Entry = TypeVar("Entry")

MAX_FITTED = 100
"""About how many answers, evenly spaced, a fit uses (below twice as many): its time grows with the square of that."""
FEWEST = 3
"""Fewest answers that a slope is fitted to: a line through two of them would always be exact."""
LARGEST_FACTOR = 4
"""Largest scale, and the inverse of the smallest one, that is shown: beyond it the answers are in another unit."""
SMALLEST_SLOPE = 1e-9
"""Smallest slope of answers over targets that a scale is computed from: the scale is its inverse."""
NO_OFFSET = 0.005
"""Largest offset, as a part of the side of the screenshot, that is taken for no offset at all."""


def free_readings(frames: set[Size], answers: Sequence[Answer]) -> Iterator[Trial]:
    """The answers under a free scale and offset of their numbers, as up to two trials.

    The first scales the numbers to pixels, with one factor for all screenshots. The second scales them to fractions of
    the sides, as if all screenshots had been sent in one size; it is left out where ``frames``, the sizes of the
    screenshots, are all one size, because then the two are the same.
    """
    for in_sides in (False, True) if len(frames) > 1 else (False,):
        halves = answers[0::2], answers[1::2]
        fits = [_fitted(half, frames, in_sides=in_sides) for half in (*halves, answers)]
        even_fit, odd_fit, whole = fits
        if even_fit is None or odd_fit is None or whole is None:
            continue
        even, odd = under(odd_fit, halves[0]), under(even_fit, halves[1])
        yield Trial(
            whole,
            _alternating(even.pixels, odd.pixels),
            _alternating(even.hits, odd.hits),
            _alternating(even.errors, odd.errors),
        )


def fit_as_declared(answers: Sequence[Answer]) -> Fit | None:
    """The fit of the answers, in pixels as declared, to their targets; None where its scale would say nothing."""
    axes = _fit(answers, (answer.declared for answer in answers), in_sides=False)
    if axes is None:
        return None
    (kx, dx), (ky, dy) = axes
    is_telling = all(1 / LARGEST_FACTOR <= scale <= LARGEST_FACTOR for scale in (kx, ky))
    return Fit((kx, ky), (dx, dy)) if is_telling else None


def repeated_median(pairs: Sequence[Point]) -> tuple[float, float] | None:
    """Slope and intercept of y over x, for pairs (x, y); None where they cannot be fitted.

    It needs at least FEWEST pairs that have another pair with another x to draw a line to, and finite results.

    Source: A. F. Siegel (1982), "Robust regression using repeated medians".
    """
    slopes: list[float] = []
    for x, y in pairs:
        through = [(other_y - y) / (other_x - x) for other_x, other_y in pairs if other_x != x]
        if through:
            slopes.append(median(through))
    if len(slopes) < FEWEST:
        return None
    slope = median(slopes)
    intercept = median([y - slope * x for x, y in pairs])
    return (slope, intercept) if math.isfinite(slope) and math.isfinite(intercept) else None


def _fitted(answers: Sequence[Answer], frames: set[Size], *, in_sides: bool) -> Reading | None:
    """The reading that scales and shifts the numbers as written onto the targets; None where none can be fitted.

    Where it has no offset, it is the space ``frame:WxH`` in whole pixels, because an option can declare that.
    """
    changing = [answer for answer in answers if answer.may_change]
    axes = _fit(changing, (answer.written for answer in changing), in_sides=in_sides)
    if axes is None:
        return None
    kx, ky = 1 / axes[0][0], 1 / axes[1][0]
    dx, dy = -kx * axes[0][1], -ky * axes[1][1]
    reading = Reading("free scale and offset", PIXEL, scale=(kx, ky), offset=(dx, dy), in_sides=in_sides)
    width, height = (1, 1) if in_sides else next(iter(frames)) if len(frames) == 1 else (0, 0)
    sides = width / kx, height / ky
    if abs(dx) <= NO_OFFSET * width and abs(dy) <= NO_OFFSET * height and min(sides) >= 1 and max(sides) < 10**6:
        # What is tried is the space in whole pixels, because that is what the option would declare.
        space = Space("frame", (round(sides[0]), round(sides[1])))
        size = f"{space.parameters[0]}x{space.parameters[1]}"
        return Reading(f"fitted size, {size}", space, option=f"--space {space}")
    unit = "the width and the height" if in_sides else "pixels"
    fix = f"to get {unit}: x * {kx:.5g} {dx:+.4g}, y * {ky:.5g} {dy:+.4g}"
    return reading._replace(fix=fix)


def _fit(
    answers: Sequence[Answer], predictions: Iterable[Prediction], *, in_sides: bool
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Slope and intercept for x and for y, from targets to ``predictions``, which are aligned with ``answers``.

    With ``in_sides`` targets are fractions of the sides of the screenshot, otherwise pixels. The slope is that of
    answers over targets, not the other way round: the answers have the noise, and noise in the x of a regression makes
    its slope too flat. None where a slope cannot be fitted or is at most SMALLEST_SLOPE.
    """
    step = max(1, len(answers) // MAX_FITTED)
    xs: list[Point] = []
    ys: list[Point] = []
    for answer, prediction in list(zip(answers, predictions, strict=True))[::step]:
        x, y = places(prediction)[0]
        target_x, target_y = centre(bounds(answer.example.target))
        width, height = answer.example.image_size if in_sides else (1, 1)
        xs.append((target_x / width, x))
        ys.append((target_y / height, y))
    for_x, for_y = repeated_median(xs), repeated_median(ys)
    if for_x is None or for_y is None or min(for_x[0], for_y[0]) <= SMALLEST_SLOPE:
        return None
    return for_x, for_y


def _alternating(even: Sequence[Entry], odd: Sequence[Entry]) -> tuple[Entry, ...]:
    """Two halves in their common order again: first of ``even``, first of ``odd``, second of ``even``, ..."""
    pairs = [entry for pair in zip(even, odd, strict=False) for entry in pair]
    return (*pairs, *even[len(odd) :])
