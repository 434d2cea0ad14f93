"""Screenshots: where they are, whether they are the right ones, and the bytes that are sent."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable
from functools import lru_cache

from scorer.core.errors import GroundTruthError, needs
from scorer.core.records import Example, Size
from scorer.ground_truth.screenshots import FOLDER, NotFound, find_beside

CACHED = 16
"""Upper bound on the encoded screenshots in memory. Examples that share a screenshot follow each other."""


def locate(annotations: str, examples: Iterable[Example]) -> dict[str, str]:
    """Image name -> file, for every screenshot that the examples refer to.

    Raises GroundTruthError naming all that are missing, that cannot be read, or whose size is not the annotated one.
    """
    with needs("pillow"):
        from PIL import Image, UnidentifiedImageError

    frames = {example.image: example.image_size for example in examples}
    folder = os.path.dirname(annotations) or "."
    found: dict[str, str] = {}
    faults: list[str] = []
    for image, image_size in frames.items():
        file = find_beside(annotations, image)
        if isinstance(file, NotFound):
            why = f"its name leads out of {folder}" if file.reason == "leads-out" else "missing"
            faults.append(f"{image or 'an example without an image name'}: {why}")
            continue
        found[image] = file
        try:
            with Image.open(file) as picture:
                size = picture.size
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
            faults.append(f"{image}: cannot be read ({error})")
            continue
        if size != image_size:
            faults.append(f"{image}: is {size[0]}x{size[1]}, the annotation says {image_size[0]}x{image_size[1]}")
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise GroundTruthError(
            f"{len(faults)} of {len(frames)} screenshots cannot be used:\n{listed}\n"
            f'put them beside {annotations} or into {os.path.join(folder, FOLDER)}, or get them with "score fetch"'
        )
    return found


def png_bytes(file: str, size: Size) -> bytes:
    """The screenshot as an RGB PNG of that size: the unchanged bytes of the file where it is one already.

    The proportions are not kept, because a space of another image size scales each axis separately.
    """
    from PIL import Image

    with Image.open(file) as picture:
        if picture.format == "PNG" and picture.mode == "RGB" and picture.size == size:
            with open(file, "rb") as stream:
                return stream.read()
        flat: Image.Image = picture
        if picture.mode != "RGB":
            opaque = picture.convert("RGBA")
            flat = Image.new("RGB", picture.size, "white")
            flat.paste(opaque, mask=opaque.getchannel("A"))
        if flat.size != size:
            flat = flat.resize(size, Image.Resampling.LANCZOS)
        out = io.BytesIO()
        flat.save(out, "PNG", compress_level=3)
        return out.getvalue()


def is_sent_as_it_is(file: str, size: Size) -> bool:
    """Whether ``png_bytes`` gives the unchanged bytes of the file."""
    from PIL import Image

    with Image.open(file) as picture:
        return bool(picture.format == "PNG" and picture.mode == "RGB" and picture.size == size)


@lru_cache(maxsize=CACHED)
def data_url(file: str, size: Size) -> str:
    """The screenshot as a data URL."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(file, size)).decode("ascii")
