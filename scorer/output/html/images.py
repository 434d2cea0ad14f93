"""Screenshots -> small WebP pictures. Names come from files and pictures are untrusted: both are kept within bounds."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from PIL import Image

from scorer.core.records import Benchmark, Size
from scorer.core.report import Report
from scorer.ground_truth.screenshots import find_below
from scorer.output.html.examples import nearness

MAX_PIXELS = 64_000_000
"""No screen has more; a picture that claims to is not decoded."""
FORMATS = ("PNG", "JPEG", "WEBP")
BYTES = 50_000
"""What a screenshot of 1024 pixels' width may take, so that a page of 500 stays below 40 MB; others in proportion."""
GOOD, FAIR = 80, 50
"""Qualities of WebP: the one wanted, and the one for pictures that take too much in it."""
SHARP = 320
"""A part of a screenshot that is at least so many pixels wide needs no picture of its own."""

Cut = tuple[int, int, int, int]
"""Left, top, width, height."""


class ScreenshotError(Exception):
    """A screenshot that cannot be shown; the message says why."""


class Wanted(NamedTuple):
    """A screenshot that examples are asked on, and the cut-outs of it that they need."""

    benchmark: Benchmark
    variant: str
    name: str
    image_size: Size
    cuts: tuple[Cut, ...]


class Pictures(NamedTuple):
    """WebP pictures: the screenshot and, where it was made smaller, the cut-outs wanted, from the original.

    A cut-out is empty where the screenshot serves as well.
    """

    screenshot: bytes
    cuts: tuple[bytes, ...]


def needed(examples: Iterable[dict[str, Any]], reports: Iterable[Report]) -> list[tuple[Wanted, list[dict[str, Any]]]]:
    """The screenshots of the page's examples, each once, with the examples that are asked on it.

    Those that the page shows first come first: it is usable before its end is read.
    """
    known = {report.benchmark.id: report for report in reports}
    asked: dict[tuple[str, str, Size], list[dict[str, Any]]] = {}
    for data in sorted(examples, key=nearness):
        asked.setdefault((data["benchmark"], data["image"], tuple(data["image_size"])), []).append(data)
    return [
        (Wanted(known[name].benchmark, known[name].variant, image, image_size, _cuts(these)), these)
        for (name, image, image_size), these in asked.items()
    ]


def _cuts(examples: Iterable[dict[str, Any]]) -> tuple[Cut, ...]:
    return tuple(data["cut"] for data in examples if "cut" in data)


def place(made: Pictures, examples: Sequence[dict[str, Any]], pictures: list[bytes]) -> None:
    """Add a screenshot and its cut-outs to the page's pictures, and tell the examples on it where theirs are."""
    for data in examples:
        data["shot"] = len(pictures)
    pictures.append(made.screenshot)
    with_cut = [data for data in examples if "cut" in data]
    for data, cut in zip(with_cut, made.cuts, strict=False):
        if cut:
            data["crop"] = len(pictures)
            pictures.append(cut)


def find(folder: str, wanted: Wanted, *, alone: bool) -> str:
    """The file of a screenshot in a folder laid out as its benchmark is, or as that benchmark's own folder.

    ``alone`` says that all examples are of one benchmark; otherwise files outside a benchmark's own folder could be
    another one's of the same name. Raises ScreenshotError where it is absent, or outside the folder.
    """
    found = find_below(folder, wanted.benchmark, wanted.variant, wanted.name, alone=alone)
    if isinstance(found, str):
        return found
    if found.reason == "no-name":
        raise ScreenshotError("the ground truth names no screenshot")
    if found.reason == "leads-out":
        raise ScreenshotError(f"it leads out of {folder}, and nothing is read there; copy the screenshot into it")
    others = f" and in {len(found.looked) - 3} other places" if len(found.looked) > 3 else ""
    raise ScreenshotError(f"not found in {folder}; looked for {', '.join(found.looked[:3])}{others}")


def convert_all(
    folder: str, wanted: Iterable[Wanted], width: int, *, alone: bool
) -> Iterator[Pictures | ScreenshotError]:
    """The pictures of each screenshot, or why there are none, in order; several are worked on at a time."""
    with _no_limit_but_ours(), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(partial(_try_convert, folder, width=width, alone=alone), wanted)


def _try_convert(folder: str, wanted: Wanted, *, width: int, alone: bool) -> Pictures | ScreenshotError:
    try:
        return convert(find(folder, wanted, alone=alone), wanted, width)
    except ScreenshotError as fault:
        return fault
    except Exception as error:  # whatever a decoder makes of a broken file, the others are still shown
        return ScreenshotError(f"cannot be read ({error})")


def convert(file: str, wanted: Wanted, width: int) -> Pictures:
    """Read a screenshot and make it at most ``width`` pixels wide.

    Raises ScreenshotError where it has another size than its examples say, and what Pillow raises.
    """
    with Image.open(file, formats=FORMATS) as image:
        if image.width * image.height > MAX_PIXELS:
            raise ScreenshotError(f"{image.width}x{image.height} is more than {MAX_PIXELS // 10**6} million pixels")
        if image.size != wanted.image_size:
            size = f"{wanted.image_size[0]}x{wanted.image_size[1]}"
            raise ScreenshotError(f"it is {image.width}x{image.height}, but its examples are of {size}")
        picture = image.convert("RGB")
    if picture.width <= width:
        return Pictures(_bounded(picture, width), ())
    # A cut-out that is wide in the smaller screenshot too is shown from there.
    small = SHARP * picture.width / width
    cuts = tuple(_webp(picture.crop((x, y, x + w, y + h)), GOOD) if w < small else b"" for x, y, w, h in wanted.cuts)
    return Pictures(_bounded(_narrowed(picture, width), width), cuts)


@contextmanager
def _no_limit_but_ours() -> Iterator[None]:
    """Pillow warns on stderr of pictures that it finds large; here their size is checked before they are decoded."""
    before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = before


def _bounded(picture: Image.Image, width: int) -> bytes:
    """The picture at the best quality, and if need be in a smaller size, in which it fits what this width may take."""
    limit = BYTES * (width / 1024) ** 2
    data = b""
    for quality in (GOOD, FAIR):
        data = _webp(picture, quality)
        if len(data) <= limit:
            return data
    while len(data) > limit:
        picture = _narrowed(picture, int(picture.width * min(0.9, math.sqrt(limit / len(data)))))
        data = _webp(picture, FAIR)
    return data


def _narrowed(picture: Image.Image, width: int) -> Image.Image:
    height = max(1, round(picture.height * width / picture.width))
    return picture.resize((max(1, width), height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def _webp(picture: Image.Image, quality: int) -> bytes:
    out = BytesIO()
    picture.save(out, "WEBP", quality=quality, method=2)
    return out.getvalue()
