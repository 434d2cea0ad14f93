"""The other ways to read the numbers of a file, and the conversion of an answer under one of them.

A reading applies to the whole file, with one exception: where some rows name a space and others leave it to the
default, only the others are read in another way, because the default is what an option can change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scorer.core.records import PIXEL, Prediction, Size, Space
from scorer.core.spaces import to_pixels

FRAMES = (
    (1280, 720),
    (1036, 756),  # what smart-resize makes of 1024x768
    (1280, 800),
    (1024, 768),
    (1366, 768),
    (1920, 1080),
    (100, 100),  # percent
)
"""Sizes (width, height) in pixels that screenshots are often resized to before they are sent to a model.

1000x1000 is missing because it is the space ``grid1000``.
"""

SMART_RESIZES = (
    (28, 3136, 2109744),
    (28, 3136, 12845056),
    (28, 3136, 2007040),
    (28, 3136, 1003520),
    (32, 4096, 16777216),
    (32, 3136, 13107200),
    (32, 1024, 99999999),
)
"""Parameters of ``smart-resize``: the factor, and the smallest and largest number of pixels of the resized image.

These are the values in the published code of ScaleCUA, Qwen2.5-VL, UI-TARS and Qwen3-VL.
"""

RELATIVE = (Space("fraction"), Space("grid1000"))
"""The spaces that divide by a side of the screenshot, so that the wrong side can be used by mistake."""


class Reading(NamedTuple):
    """One way to read every row of a file.

    ``swapped`` and ``sizes`` change the numbers as written, then ``space`` converts them to pixels with the sides that
    ``frame`` names, then ``scale`` and ``offset`` change the pixels.
    """

    name: str
    """The reading in words, as it is printed."""
    space: Space
    """The space of the numbers."""
    swapped: bool = False
    """Whether the numbers are y before x."""
    sizes: bool = False
    """Whether a box is x, y, width, height and not two corners."""
    frame: str = "wh"
    """Which sides the space converts x and y with: "wh" width and height, "ww" the width for both, "hw" swapped."""
    scale: tuple[float, float] = (1.0, 1.0)
    """Factors for x and y in pixels."""
    offset: tuple[float, float] = (0.0, 0.0)
    """What is added to x and y after the factors, in pixels."""
    in_sides: bool = False
    """Whether ``scale`` and ``offset`` are multiplied by the width (x) and the height (y) of the screenshot first."""
    option: str = ""
    """What declares the reading on the command line; "" where no option does."""
    fix: str = ""
    """Where no option declares the reading: what to change in the file."""


def common_readings(declared: Space, frames: set[Size], *, boxes: bool) -> Iterator[Reading]:
    """The readings that explain most files with a wrong space, the most frequent ones first.

    ``declared`` is the space of the file, ``frames`` are the sizes of the screenshots that were answered, and ``boxes``
    says whether any answer is a box.
    """
    for space in (*RELATIVE, PIXEL):
        yield _in_space(space)
    for space in dict.fromkeys((declared, *RELATIVE, PIXEL)):
        fix = f"write x before y{_and_declare(space, declared)}"
        yield Reading(f"{space}, y before x", space, swapped=True, fix=fix)
    for space in dict.fromkeys((declared, *RELATIVE, PIXEL)) if boxes else ():
        fix = f"write boxes as corners, x0, y0, x1, y1{_and_declare(space, declared)}"
        yield Reading(f"{space}, boxes as x, y, width, height", space, sizes=True, fix=fix)
    for width, height in FRAMES[:2]:
        yield _in_space(Space("frame", (width, height)))
    for factor, word, change in ((2.0, "half", "double"), (0.5, "double", "halve")):
        if len(frames) == 1 and (size := _shrunk(next(iter(frames)), factor)):
            yield _in_space(Space("frame", size), f"{word} size, {size[0]}x{size[1]}")
        else:
            yield Reading(f"{word} size", PIXEL, scale=(factor, factor), fix=f"{change} every coordinate")


def rarer_readings(declared: Space, frames: set[Size]) -> Iterator[Reading]:
    """The other spaces, the other sizes of resized screenshots, and coordinates divided by the wrong side.

    ``declared`` and ``frames`` are as for ``common_readings``.
    """
    only = next(iter(frames)) if len(frames) == 1 else None
    for numbers in SMART_RESIZES:
        space = Space("smart-resize", numbers)
        if only is None:
            yield _in_space(space)
            continue
        # With one size of screenshot the rule gives one resized size, and its name says more than the parameters do.
        corner = to_pixels(Prediction("", ((1.0, 1.0),), space=space), only).points
        if corner:
            yield _in_space(Space("frame", (round(only[0] / corner[0][0]), round(only[1] / corner[0][1]))))
    for size in FRAMES[2:]:
        yield _in_space(Space("frame", size))
    for kind in ("grid999", "fraction-or-pixel", "grid1000-or-pixel"):
        yield _in_space(Space(kind))
    for space in RELATIVE:
        for frame, word, fix in (
            ("ww", "y divided by the width", "divide y by the height, not by the width"),
            ("hh", "x divided by the height", "divide x by the width, not by the height"),
            ("hw", "each axis divided by the other's size", "divide x by the width and y by the height"),
        ):
            yield Reading(f"{space}, {word}", space, frame=frame, fix=fix + _and_declare(space, declared))


def reread(prediction: Prediction, reading: Reading, image_size: Size) -> Prediction:
    """A prediction as it was written -> the same in pixels under ``reading``.

    ``image_size`` is that of the screenshot. A refusal stays a refusal, and the corners of a box are sorted.
    """
    points, bbox = prediction.points, prediction.bbox
    if reading.swapped:
        points = tuple((y, x) for x, y in points)
        bbox = None if bbox is None else (bbox[1], bbox[0], bbox[3], bbox[2])
    if reading.sizes and bbox is not None:
        x, y, width, height = bbox
        bbox = (x, y, x + width, y + height)
    sides = {"w": image_size[0], "h": image_size[1]}
    size = sides[reading.frame[0]], sides[reading.frame[1]]
    pixels = to_pixels(prediction._replace(points=points, bbox=bbox, space=reading.space), size)
    (kx, ky), (dx, dy) = reading.scale, reading.offset
    if reading.in_sides:
        kx, ky, dx, dy = kx * image_size[0], ky * image_size[1], dx * image_size[0], dy * image_size[1]
    if (kx, ky, dx, dy) != (1.0, 1.0, 0.0, 0.0):
        moved = tuple((x, y) if x < 0 and y < 0 else (x * kx + dx, y * ky + dy) for x, y in pixels.points)
        pixels = pixels._replace(points=moved)
    if pixels.bbox is not None:
        x0, y0, x1, y1 = pixels.bbox
        left, right = sorted((x0 * kx + dx, x1 * kx + dx))
        top, bottom = sorted((y0 * ky + dy, y1 * ky + dy))
        pixels = pixels._replace(bbox=(left, top, right, bottom))
    return pixels


def _in_space(space: Space, name: str = "") -> Reading:
    return Reading(name or str(space), space, option=f"--space {space}")


def _and_declare(space: Space, declared: Space) -> str:
    return "" if space == declared else f", and declare --space {space}"


def _shrunk(image_size: Size, factor: float) -> Size | None:
    """The size of a screenshot divided by ``factor``; None where that is not a whole number of pixels."""
    width, height = image_size[0] / factor, image_size[1] / factor
    return (int(width), int(height)) if width == int(width) and height == int(height) else None
