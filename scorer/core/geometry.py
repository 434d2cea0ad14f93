"""Plane geometry in pixels: boxes are xyxy corner pairs, rings flat ``x0, y0, x1, y1, ...``. Pure functions.

shapely, and numpy with it, is imported when the first polygon is met, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple


class _Shape(NamedTuple):
    """What is computed once for each ring."""

    bounds: tuple[float, float, float, float]
    """Its bounding box, xyxy in pixels."""
    line: Any
    """Its edges: a shapely.LinearRing."""
    area: Any
    """What it encloses: a prepared shapely.Polygon; None where the ring crosses or touches itself."""


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
    """Whether the point lies strictly inside the ring: the boundary is out, even-odd where the ring crosses itself.

    The point may be any pair of numbers; NaN and infinity are out. The ring's coordinates must be below the bound of
    ground truth (``LARGEST`` in ``scorer.benchmarks.fields``), as far beyond it shapely's products overflow.
    """
    shape = _shape(ring)
    x0, y0, x1, y1 = shape.bounds
    if not (x0 < x < x1 and y0 < y < y1):  # this way round for NaN
        return False
    if shape.area is None:
        return _is_inside_by_parity(x, y, ring)
    import shapely

    return bool(shapely.contains_xy(shape.area, x, y))


def points_in_polygon(xs: Sequence[float], ys: Sequence[float], ring: tuple[float, ...]) -> list[bool]:
    """``in_polygon`` of many points at once: one answer per point, in their order. ``xs`` and ``ys`` are aligned."""
    import numpy
    import shapely

    x, y = numpy.asarray(xs, dtype=float), numpy.asarray(ys, dtype=float)
    shape = _shape(ring)
    x0, y0, x1, y1 = shape.bounds
    inside = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
    x, y = x[inside], y[inside]
    if shape.area is None:
        inside[inside] = [_is_inside_by_parity(*point, ring) for point in zip(x.tolist(), y.tolist(), strict=True)]
    else:
        inside[inside] = shapely.contains_xy(shape.area, x, y)
    answers: list[bool] = inside.tolist()
    return answers


def distance_to_box(x: float, y: float, box: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the nearest point of the box, 0.0 inside."""
    x0, y0, x1, y1 = box
    return math.hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))


def distance_to_polygon(x: float, y: float, ring: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the nearest edge of the ring; 0.0 inside and on the boundary.

    Where shapely's squares overflow or vanish, more than 1e150 pixels away or in a ring of less than 1e-150 pixels, it
    is the distance to the bounding box.
    """
    import numpy
    import shapely

    if in_polygon(x, y, ring):
        return 0.0
    shape = _shape(ring)
    with numpy.errstate(all="ignore"):
        distance = float(shapely.distance(shape.line, shapely.Point(x, y)))
    return distance if math.isfinite(distance) else distance_to_box(x, y, shape.bounds)


@lru_cache(maxsize=4096)
def _shape(ring: tuple[float, ...]) -> _Shape:
    import shapely

    xs, ys = ring[0::2], ring[1::2]
    line = shapely.LinearRing(_corners(ring))
    area = shapely.Polygon(line)
    is_simple = shapely.is_valid(area)
    if is_simple:
        shapely.prepare(area)
    return _Shape((min(xs), min(ys), max(xs), max(ys)), line, area if is_simple else None)


def _corners(ring: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(ring[0::2], ring[1::2], strict=True))


def _is_inside_by_parity(x: float, y: float, ring: tuple[float, ...]) -> bool:
    """Even-odd in exact arithmetic: whether an odd number of edges crosses the ray from the point to the right.

    shapely promises nothing for a ring that crosses itself, and its repair moves the crossings to the nearest doubles.
    """
    from fractions import Fraction

    inside = False
    corners = _corners(ring)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if not min(y0, y1) <= y <= max(y0, y1) or x > max(x0, x1):
            continue
        if x >= min(x0, x1):
            to_right, down = Fraction(x1) - Fraction(x0), Fraction(y1) - Fraction(y0)
            side = to_right * (Fraction(y) - Fraction(y0)) - down * (Fraction(x) - Fraction(x0))
            if side == 0:
                return False  # on the edge
            if (side > 0) != (y1 > y0):
                continue  # the edge passes the point on its left
        # An edge counts with its end of smaller y and without the other, so that no corner on the ray counts twice.
        inside ^= (y0 > y) != (y1 > y)
    return inside
