"""Where an answer lies relative to its target. Shared by the diagnosis and the HTML page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from scorer.core.records import Box, Point

SMALLEST_SIDE = 1.0
"""Smallest width and height of a target, in pixels, that an error is divided by: a target may have no area."""


def bounds(target: Sequence[float]) -> Box:
    """The smallest xyxy box around a target, in pixels. ``target`` is an xyxy box or a flat ring x0, y0, x1, y1, ..."""
    xs, ys = target[0::2], target[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def centre(box: Box) -> Point:
    """The centre (x, y) of an xyxy box. The sides are halved first, because the sum of two huge ones is infinite."""
    x0, y0, x1, y1 = box
    return x0 / 2 + x1 / 2, y0 / 2 + y1 / 2


def size(target: Sequence[float]) -> Point:
    """Width and height of the box around a target, in pixels; a side below SMALLEST_SIDE counts as SMALLEST_SIDE."""
    x0, y0, x1, y1 = bounds(target)
    return max(x1 - x0, SMALLEST_SIDE), max(y1 - y0, SMALLEST_SIDE)


def error_in_sizes(target: Sequence[float], places: Iterable[Point]) -> Point | None:
    """The error of an answer: its offset (right, down) from the target's centre, in target widths and heights.

    ``places`` are the candidate points of the answer, in pixels; the one with the smallest error counts. Measured in
    target sizes, errors at small and at large targets can be compared. None where there is no candidate.
    """
    x, y = centre(bounds(target))
    width, height = size(target)
    errors = [((px - x) / width, (py - y) / height) for px, py in places]
    return min(errors, key=lambda error: math.hypot(*error), default=None)
