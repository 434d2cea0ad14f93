"""A free scale and offset per axis, fitted to the answers so that misses far from their targets do not count.

The fit is Siegel's repeated median: up to half of the answers may be anywhere. Whether it would have scored better is
asked of answers that it was not fitted to: each half of a file is read with the fit of the other half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TypeVar

from scorer.core.records import PIXEL, Point, Prediction, Size, Space
from scorer.evidence.diagnosis.evidence import Answer, Trial, bounds, centre, under
from scorer.evidence.diagnosis.readings import Reading
from scorer.evidence.diagnosis.records import Fit

Entry = TypeVar("Entry")

MAX_FITTED = 100
"""So many answers, evenly spaced, are fitted to: the repeated median takes the square of it."""
FEWEST = 3
LARGEST_FACTOR = 4
"""Answers farther out of scale are in another unit, which a factor does not describe."""
SMALLEST_SLOPE = 1e-9
NO_OFFSET = 0.005
"""An offset of less than this part of a side is none."""


def free_readings(frames: set[Size], answers: Sequence[Answer]) -> Iterator[Trial]:
    """The answers under a free scale and offset of their numbers: to pixels, which is the same factor everywhere, and
    to parts of the sides, which is the same sent size everywhere. With one size of screenshot both are one."""
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
    """Where answers lie, in pixels as declared, against their targets; None where nothing telling can be fitted."""
    axes = _fit(answers, (answer.declared for answer in answers), in_sides=False)
    if axes is None:
        return None
    (kx, dx), (ky, dy) = axes
    is_telling = all(1 / LARGEST_FACTOR <= scale <= LARGEST_FACTOR for scale in (kx, ky))
    return Fit((kx, ky), (dx, dy)) if is_telling else None


def repeated_median(pairs: Sequence[Point]) -> tuple[float, float] | None:
    """Slope and intercept of y over x; None for fewer than three places, or where they do not differ in x.

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
    """The numbers as they are written, scaled and moved onto the targets."""
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
        # Tried as what the option declares, which is whole pixels, and not as what was fitted.
        space = Space("frame", (round(sides[0]), round(sides[1])))
        size = f"{space.parameters[0]}x{space.parameters[1]}"
        return Reading(f"fitted size, {size}", space, option=f"--space {space}")
    unit = "the width and the height" if in_sides else "pixels"
    fix = f"to get {unit}: x * {kx:.5g} {dx:+.4g}, y * {ky:.5g} {dy:+.4g}"
    return reading._replace(fix=fix)


def _fit(
    answers: Sequence[Answer], places: Iterable[Prediction], *, in_sides: bool
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Slope and intercept of each axis from targets to answers; None where one cannot be fitted or turns it round.

    In this direction, because it is the answers that are noisy: the slope of targets over them would come out too flat.
    """
    step = max(1, len(answers) // MAX_FITTED)
    xs: list[Point] = []
    ys: list[Point] = []
    for answer, prediction in list(zip(answers, places, strict=True))[::step]:
        place = centre(prediction)
        x0, y0, x1, y1 = bounds(answer.example)
        width, height = answer.example.image_size if in_sides else (1, 1)
        xs.append(((x0 + x1) / 2 / width, place[0]))
        ys.append(((y0 + y1) / 2 / height, place[1]))
    x, y = repeated_median(xs), repeated_median(ys)
    return (x, y) if x is not None and y is not None and min(x[0], y[0]) > SMALLEST_SLOPE else None


def _alternating(even: Sequence[Entry], odd: Sequence[Entry]) -> tuple[Entry, ...]:
    """Two halves put together again: the first of the one, the first of the other, and so on."""
    pairs = [entry for pair in zip(even, odd, strict=False) for entry in pair]
    return (*pairs, *even[len(odd) :])
