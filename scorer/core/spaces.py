"""The coordinate spaces a file can declare: their names, their meaning and how a name is read.

Nothing is guessed from magnitudes: on 1024x768 screens nearly every Pointerbench target also fits inside 0..1000.
"""

from __future__ import annotations

import re

from scorer.core.errors import UsageError
from scorer.core.records import PIXEL, Space

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

_SIMPLE = {name: Space(name) for name in MEANINGS if ":" not in name} | {"pixel": PIXEL}
_FRAME = r"frame:([1-9][0-9]{0,5})x([1-9][0-9]{0,5})"
_SMART_RESIZE = r"smart-resize:([1-9][0-9]{0,3}):([1-9][0-9]{0,9}):([1-9][0-9]{0,9})"

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


def parse_space(text: str) -> Space:
    """Read a space's name, for example ``grid1000`` or ``frame:1280x720``.

    Raises UsageError with the list of names, or with the one that was probably meant.
    """
    space = _SIMPLE.get(text)
    if space is not None:
        return space
    if match := re.fullmatch(_FRAME, text):
        return Space("frame", (int(match[1]), int(match[2])))
    if match := re.fullmatch(_SMART_RESIZE, text):
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
