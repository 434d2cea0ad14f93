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
    import shapely

    return bool(shapely.contains_xy(_region(ring), x, y))


def distance_to_box(x: float, y: float, box: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the nearest point of the box, 0.0 inside."""
    x0, y0, x1, y1 = box
    return math.hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))


def distance_to_polygon(x: float, y: float, ring: tuple[float, ...]) -> float:
    """Distance in pixels from the point to the region that the ring encloses, 0.0 inside and on the boundary."""
    import shapely

    return float(shapely.distance(_region(ring), shapely.Point(x, y)))


@lru_cache(maxsize=4096)
def _region(ring: tuple[float, ...]) -> Any:
    """The area of a ring as shapely sees it, prepared; even-odd repaired if the ring crosses itself."""
    import shapely

    region = shapely.Polygon(list(zip(ring[0::2], ring[1::2], strict=True)))
    if not region.is_valid:
        repaired = shapely.make_valid(region)
        # A ring that folds back on itself also leaves lines, and nothing is inside a line.
        areas = [part for part in shapely.get_parts(repaired).tolist() if shapely.area(part) > 0]
        region = shapely.union_all(areas) if areas else shapely.Polygon()
    shapely.prepare(region)
    return region
