"""Plane geometry in pixels: boxes are xyxy corner pairs, rings flat ``x0, y0, x1, y1, ...``. Pure functions.

shapely is imported when the first polygon is met and nowhere else: it brings numpy along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

SMALLEST, LARGEST = 2.0**-20, 2.0**20
"""Pixels: sizes of a coordinate, apart from 0, at which shapely's arithmetic is trusted."""
ROUNDING = (3 + 16 * 2.0**-53) * 2.0**-53
"""Rounding of a difference of two products, over the sum of their sizes (Shewchuk 1997, the bound of orient2d)."""
UNDERFLOW = 2.0**-1022
"""Far more than what products below the smallest double lose, which that bound leaves out."""


def in_box(x: float, y: float, box: tuple[float, ...]) -> bool:
    """Whether the point lies in the box, all four edges included."""
    x0, y0, x1, y1 = box
    return x0 <= x <= x1 and y0 <= y <= y1


def coverage_and_precision(prediction: tuple[float, ...], target: tuple[float, ...]) -> tuple[float, float]:
    """Overlap over the target's area, and overlap over the prediction's area; 0.0 where that area is zero.

    Neither is IoU, although Pointerbench's data calls the rule ``iou``.
    """
    px0, py0, px1, py1 = prediction
    tx0, ty0, tx1, ty1 = target
    overlap = max(0.0, min(px1, tx1) - max(px0, tx0)) * max(0.0, min(py1, ty1) - max(py0, ty0))
    target_area = (tx1 - tx0) * (ty1 - ty0)
    predicted_area = (px1 - px0) * (py1 - py0)
    return (
        overlap / target_area if target_area > 0 else 0.0,
        overlap / predicted_area if predicted_area > 0 else 0.0,
    )


def in_polygon(x: float, y: float, ring: tuple[float, ...]) -> bool:
    """Whether the point lies strictly inside the ring; its boundary is out, even-odd where it crosses itself.

    Coordinates are taken as doubles, of any finite size. For a simple ring of screen size the answer is shapely's,
    whose arithmetic has 106 bits; every other answer is exact.
    """
    x, y = float(x), float(y)
    if _is_for_shapely(ring) and _is_ordinary(x) and _is_ordinary(y):
        import shapely

        return bool(shapely.contains_xy(_region(ring), x, y))
    inside, is_sure = _by_parity(x, y, ring)
    return inside if is_sure else _is_inside_by_parity(x, y, ring)


def points_in_polygon(xs: Sequence[float], ys: Sequence[float], ring: tuple[float, ...]) -> list[bool]:
    """``in_polygon`` of many points at once: one answer per point, in their order. ``xs`` and ``ys`` are aligned."""
    import numpy
    import shapely

    x, y = numpy.asarray(xs, dtype=float), numpy.asarray(ys, dtype=float)
    with numpy.errstate(all="ignore"):  # what overflows is not sure
        if _is_for_shapely(ring):
            inside, is_sure = shapely.contains_xy(_region(ring), x, y), _is_ordinary(x) & _is_ordinary(y)
        else:
            inside, is_sure = _by_parity(x, y, ring)
    for index in numpy.flatnonzero(~is_sure).tolist():
        inside[index] = in_polygon(x[index], y[index], ring)
    answers: list[bool] = inside.tolist()
    return answers


def distance_to_box(x: float, y: float, box: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the nearest point of the box, 0.0 inside."""
    x0, y0, x1, y1 = box
    return math.hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))


def distance_to_polygon(x: float, y: float, ring: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the region that the ring encloses, 0.0 inside and on the boundary."""
    import numpy
    import shapely

    with numpy.errstate(all="ignore"):  # beyond 1e154 the squares overflow, which numpy would warn of
        distance = float(shapely.distance(_region(ring), shapely.Point(x, y)))
    return distance if math.isfinite(distance) else math.inf


def _is_ordinary(coordinate: Any) -> Any:
    """Whether coordinates are zero or of a size that screens know; a float or an array of floats."""
    size = abs(coordinate)
    return (size == 0) | ((size >= SMALLEST) & (size <= LARGEST))


@lru_cache(maxsize=4096)
def _is_for_shapely(ring: tuple[float, ...]) -> bool:
    """Whether shapely can be asked: its products overflow or vanish for sizes that no screen knows."""
    return all(map(_is_ordinary, ring)) and _is_simple(ring)


@lru_cache(maxsize=4096)
def _is_simple(ring: tuple[float, ...]) -> bool:
    """Whether shapely takes the ring for a polygon: it neither crosses nor touches itself."""
    import shapely

    return bool(shapely.is_valid(shapely.Polygon(_corners(ring))))


@lru_cache(maxsize=4096)
def _region(ring: tuple[float, ...]) -> Any:
    """The area of a ring, prepared. Where it crosses itself shapely moves the crossings to the nearest doubles."""
    import shapely

    region = shapely.Polygon(_corners(ring))
    if not _is_simple(ring):
        repaired = shapely.make_valid(region)
        # A ring that folds back on itself also leaves lines, and nothing is inside a line.
        areas = [part for part in shapely.get_parts(repaired).tolist() if shapely.area(part) > 0]
        region = shapely.union_all(areas) if areas else shapely.LineString(_corners(ring))
    shapely.prepare(region)
    return region


def _corners(ring: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(ring[0::2], ring[1::2], strict=True))


@lru_cache(maxsize=4096)
def _edges(ring: tuple[float, ...]) -> list[tuple[float, float, float, float]]:
    corners = [(float(x), float(y)) for x, y in _corners(ring)]
    return [(*start, *end) for start, end in zip(corners, corners[1:] + corners[:1], strict=True)]


def _by_parity(x: Any, y: Any, ring: tuple[float, ...]) -> tuple[Any, Any]:
    """Even-odd in doubles, of a point or of arrays of points: whether it is inside, and whether that is sure.

    It is sure where no edge is so near that rounding could change the side on which the point lies.
    """
    inside: Any = False
    is_sure: Any = True
    for x0, y0, x1, y1 in _edges(ring):
        rise, run = (x1 - x0) * (y - y0), (y1 - y0) * (x - x0)
        side = rise - run
        is_clear = abs(side) > ROUNDING * (abs(rise) + abs(run)) + UNDERFLOW  # never of an infinity or nan
        low, high = min(y0, y1), max(y0, y1)
        is_away = (y < low) | (y > high) | ((y == high) & ((x < min(x0, x1)) | (x > max(x0, x1))))
        is_sure = is_sure & (is_clear | is_away)
        inside = inside ^ (((y0 > y) != (y1 > y)) & ((side > 0) == (y1 > y0)))
    return inside, is_sure


def _is_inside_by_parity(x: float, y: float, ring: tuple[float, ...]) -> bool:
    """Even-odd in exact arithmetic: no edge moves by a last bit. A point that is not finite is in no ring."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return False
    from fractions import Fraction

    px, py = Fraction(x), Fraction(y)
    inside = False
    for (x0, y0), (x1, y1) in _exact_edges(ring):
        side = (x1 - x0) * (py - y0) - (y1 - y0) * (px - x0)
        if side == 0 and min(x0, x1) <= px <= max(x0, x1) and min(y0, y1) <= py <= max(y0, y1):
            return False
        if (y0 > py) != (y1 > py) and (side > 0) == (y1 > y0):
            inside = not inside
    return inside


@lru_cache(maxsize=64)
def _exact_edges(ring: tuple[float, ...]) -> list[Any]:
    from fractions import Fraction

    return [((Fraction(x0), Fraction(y0)), (Fraction(x1), Fraction(y1))) for x0, y0, x1, y1 in _edges(ring)]
