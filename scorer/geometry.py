"""Plane geometry in pixels: boxes are xyxy corner pairs, rings flat ``x0, y0, x1, y1, ...``. Pure functions.

shapely is imported when the first polygon is met and nowhere else: it brings numpy along.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any


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
    """Whether the point lies strictly inside the ring; its boundary is out, even-odd where it crosses itself."""
    import numpy
    import shapely

    if not _is_simple(ring):
        return _is_inside_by_parity(x, y, ring)
    with numpy.errstate(all="ignore"):  # of a point beyond 1e154
        return bool(shapely.contains_xy(_region(ring), x, y))


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


def _is_inside_by_parity(x: float, y: float, ring: tuple[float, ...]) -> bool:
    """Even-odd for a ring that shapely cannot take as it is, in exact arithmetic: no edge moves by a last bit."""
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

    corners = [(Fraction(x), Fraction(y)) for x, y in _corners(ring)]
    return list(zip(corners, corners[1:] + corners[:1], strict=True))
