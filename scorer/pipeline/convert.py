"""Space -> pixels of the original screenshot. Floats throughout: no rounding, no clamping.

A clamp would turn a refusal's (-1, -1) into the corner (0, 0); rounding would move points across inclusive edges.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scorer.core.records import PIXEL, Point, Prediction, Size, Space

MAX_RATIO = 200
"""Qwen's resize rule refuses images whose longer side is more than so many times the shorter one."""


def to_pixels(prediction: Prediction, image_size: Size) -> Prediction:
    """Return the prediction in pixels of a screenshot of ``image_size`` = (width, height).

    A point or box is converted as a whole: the two ``...-or-pixel`` spaces look at all its values at once. What does
    not stay finite is dropped, with the fault ``bad-number``; where the space has no meaning on this image_size,
    everything is, with ``bad-space``.
    """
    space = prediction.space
    if space == PIXEL:
        return prediction
    try:
        points = [_scale(point, space, image_size) for point in prediction.points]
        bbox = None if prediction.bbox is None else _scale(prediction.bbox, space, image_size)
    except ValueError:
        return prediction._replace(points=(), bbox=None, space=PIXEL, fault="bad-space")
    finite = tuple(point for point in points if all(map(math.isfinite, point)))
    if bbox is not None and not all(map(math.isfinite, bbox)):
        bbox = None
    lost = len(finite) < len(points) or (bbox is None) != (prediction.bbox is None)
    fault = "bad-number" if lost else prediction.fault
    return prediction._replace(points=finite, bbox=bbox, space=PIXEL, fault=fault)  # type: ignore[arg-type]


def point_to_pixels(x: float, y: float, space: Space, image_size: Size) -> Point:
    """One point alone in pixels; not a number where ``to_pixels`` would find a fault."""
    try:
        x, y = _scale((x, y), space, image_size)
    except ValueError:
        return math.nan, math.nan
    return (x, y) if math.isfinite(x) and math.isfinite(y) else (math.nan, math.nan)


def _scale(values: tuple[float, ...], space: Space, image_size: Size) -> tuple[float, ...]:
    """Convert x, y, x, y, ...; ValueError where the space has no image_size for such a screenshot."""
    kind = space.kind
    if kind == "fraction-or-pixel":
        source = (1, 1) if max(values) <= 1 else image_size
    elif kind == "grid1000-or-pixel":
        source = image_size if max(values) > 1000 else (1000, 1000)
    else:
        source = _source_frame(space, image_size)
    if source == image_size:
        return values
    (width, height), (full_width, full_height) = source, image_size
    # Divide first, as the benchmarks' own converters do (x/1000*W): the last bit decides on an inclusive edge.
    return tuple(
        [
            value / height * full_height if index % 2 else value / width * full_width
            for index, value in enumerate(values)
        ]
    )


@lru_cache(maxsize=4096)
def _source_frame(space: Space, image_size: Size) -> Size:
    """The size of the picture in which values are pixels, in a space where that does not depend on them."""
    match space.kind:
        case "pixel":
            return image_size
        case "fraction":
            return 1, 1
        case "grid1000":
            return 1000, 1000
        case "grid999":
            return 999, 999
        case "frame":
            width, height = space.parameters
            if width < 1 or height < 1:
                raise ValueError(f"{space} has no size")
            return width, height
        case "smart-resize":
            factor, low, high = space.parameters
            return smart_resize(image_size, factor, low, high)
    raise ValueError(f"unknown space {space}")


@lru_cache(maxsize=4096)
def smart_resize(image_size: Size, factor: int, min_pixels: int, max_pixels: int) -> Size:
    """The size that Qwen's image processor gives an image of ``image_size`` = (width, height).

    Source of the rule: qwen-vl-utils. Both sides become multiples of ``factor``, rounded half to even as Python's
    ``round`` does (1918x1078 gives 1904x1064); the total stays within the two pixel counts, the upper one included.
    Raises ValueError where the longer side is over 200 times the shorter one, as the original does.
    """
    width, height = image_size
    if max(image_size) > MAX_RATIO * min(image_size):
        raise ValueError(f"{width}x{height}: the sides differ by more than a factor of {MAX_RATIO}")
    resized_height = max(factor, round(height / factor) * factor)
    resized_width = max(factor, round(width / factor) * factor)
    if resized_width * resized_height > max_pixels:
        beta = math.sqrt(height * width / max_pixels)
        resized_height = max(factor, math.floor(height / beta / factor) * factor)
        resized_width = max(factor, math.floor(width / beta / factor) * factor)
    elif resized_width * resized_height < min_pixels:
        beta = math.sqrt(min_pixels / (height * width))
        resized_height = math.ceil(height * beta / factor) * factor
        resized_width = math.ceil(width * beta / factor) * factor
    return resized_width, resized_height
