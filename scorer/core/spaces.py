"""Coordinate spaces: their names, what each means, and how its coordinates become pixels.

A file says which space it is in. Nothing is guessed from the size of numbers: on 1024x768 screens nearly every
Pointerbench target also fits inside 0..1000. Conversion is in floats, without rounding or clamping: a clamp would turn
a refusal's (-1, -1) into the corner (0, 0), and rounding would move points across inclusive edges.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from scorer.core.errors import UsageError
from scorer.core.findings import Code
from scorer.core.records import PIXEL, Point, Prediction, Size, Space

MEANINGS: dict[str, str] = {
    "pixel": "pixels of the original screenshot",
    "fraction": "x*width, y*height",
    "grid1000": "x/1000*width, y/1000*height",
    "grid999": "x/999*width, y/999*height",
    "frame:WxH": "x/W*width, y/H*height: pixels of a resized image",
    "smart-resize:FACTOR:MIN:MAX": "pixels of the image that Qwen's resize rule makes",
    "fraction-or-pixel": "all values <= 1: fraction, otherwise pixels",
    "grid1000-or-pixel": "any value > 1000: pixels, otherwise grid1000",
}
"""How each space is written -> how its coordinates become pixels. ``_source_size`` does it."""

_SIMPLE = {name: Space(name) for name in MEANINGS if ":" not in name} | {"pixel": PIXEL}
FRAME_PATTERN = r"frame:([1-9][0-9]{0,5})x([1-9][0-9]{0,5})"
SMART_RESIZE_PATTERN = r"smart-resize:([1-9][0-9]{0,3}):([1-9][0-9]{0,9}):([1-9][0-9]{0,9})"
"""The spaces with parameters, as regular expressions that JSON Schema understands too."""

_OTHER_NAMES = {
    "norm1000": "grid1000",
    "norm999": "grid999",
    "norm01": "fraction",
    "norm": "fraction",
    "normalized": "fraction",
    "pixels": "pixel",
    "absolute": "pixel",
}
"""Names that other tools use. They are suggested, not accepted: one name each keeps signatures comparable."""

MAX_RATIO = 200
"""Qwen's resize rule rejects images whose longer side is more than this many times the shorter one."""


def parse_space(text: str) -> Space:
    """Read a space's name, for example ``grid1000`` or ``frame:1280x720``.

    Raises UsageError with the list of names, or with the name that was probably meant.
    """
    space = _SIMPLE.get(text)
    if space is not None:
        return space
    if match := re.fullmatch(FRAME_PATTERN, text):
        return Space("frame", (int(match[1]), int(match[2])))
    if match := re.fullmatch(SMART_RESIZE_PATTERN, text):
        factor, low, high = int(match[1]), int(match[2]), int(match[3])
        if low > high or factor * factor > high:
            raise UsageError(f"{text}: MAX must be at least MIN and at least FACTOR*FACTOR pixels")
        return Space("smart-resize", (factor, low, high))
    if text in _OTHER_NAMES:
        raise UsageError(f'unknown space "{text}"; here it is called {_OTHER_NAMES[text]}')
    raise UsageError(f'unknown space "{text}"; known: {", ".join(MEANINGS)}')


def meaning(space: Space) -> str:
    """One phrase that says how a coordinate of this space becomes a pixel."""
    if space.kind == "frame":
        width, height = space.parameters
        return f"x/{width}*width, y/{height}*height"
    if space.kind == "smart-resize":
        return MEANINGS["smart-resize:FACTOR:MIN:MAX"]
    return MEANINGS[space.kind]


def to_pixels(prediction: Prediction, image_size: Size) -> Prediction:
    """Return the prediction in pixels of a screenshot of ``image_size`` = (width, height).

    A point or box is converted as a whole: the two ``...-or-pixel`` spaces look at all its values at once. What does
    not stay finite is dropped, with the fault ``bad-number``. Where the space has no meaning for this size, everything
    is dropped, with the fault ``bad-space``.
    """
    space = prediction.space
    if space == PIXEL:
        return prediction
    try:
        points = [_scale(point, space, image_size) for point in prediction.points]
        bbox = None if prediction.bbox is None else _scale(prediction.bbox, space, image_size)
    except ValueError:
        return prediction._replace(points=(), bbox=None, space=PIXEL, fault=Code.BAD_SPACE)
    finite = tuple(point for point in points if all(map(math.isfinite, point)))
    if bbox is not None and not all(map(math.isfinite, bbox)):
        bbox = None
    lost = len(finite) < len(points) or (bbox is None) != (prediction.bbox is None)
    fault = Code.BAD_NUMBER if lost else prediction.fault
    return prediction._replace(points=finite, bbox=bbox, space=PIXEL, fault=fault)  # type: ignore[arg-type]


def point_to_pixels(x: float, y: float, space: Space, image_size: Size) -> Point:
    """One point in pixels; (NaN, NaN) where ``to_pixels`` would find a fault."""
    try:
        x, y = _scale((x, y), space, image_size)
    except ValueError:
        return math.nan, math.nan
    return (x, y) if math.isfinite(x) and math.isfinite(y) else (math.nan, math.nan)


def _scale(values: tuple[float, ...], space: Space, image_size: Size) -> tuple[float, ...]:
    """Convert x, y, x, y, ...; ValueError where the space has no meaning for such a screenshot."""
    kind = space.kind
    if kind == "fraction-or-pixel":
        source = (1, 1) if max(values) <= 1 else image_size
    elif kind == "grid1000-or-pixel":
        source = image_size if max(values) > 1000 else (1000, 1000)
    else:
        source = _source_size(space, image_size)
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
def _source_size(space: Space, image_size: Size) -> Size:
    """The size of the image in which values are pixels, for spaces where that does not depend on the values."""
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
