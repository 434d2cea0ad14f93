"""``claude``: the image is resized to exactly 1280x720, and answers are pixels of that image.

At this size the vendor's own resizing, which would move absolute pixels, does not set in. Proportions are not kept.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, image_then, system

GRAMMAR = Grammar()

_PROMPT = """\
You find elements on screenshots. The screenshot you get is exactly {width} pixels wide and {height} pixels high. \
{wanted}

Answer with JSON on the last line: {form}
Use absolute pixels of this {width}x{height} image, x to the right and y downwards from its top-left corner.
If the screenshot does not show what the user names, answer: {absent}"""

_POINT = {
    "wanted": "Find the one point to click for what the user names: the middle of the visible element.",
    "form": '{"point": [x, y]}',
    "absent": '{"point": [-1, -1]}',
}
_BOX = {
    "wanted": "Find the area that the user names and draw the tightest box around it.",
    "form": '{"bbox": [x0, y0, x1, y1]}, its top-left and its bottom-right corner',
    "absent": '{"bbox": [-1, -1, -1, -1]}',
}


def build_request(task: Task) -> Request:
    """A system message with the size of the image sent; then the image and the instruction."""
    width, height = task.sent
    prompt = _PROMPT.format(width=width, height=height, **(_BOX if task.box else _POINT))
    return Request([system(prompt), image_then(task.instruction)], params=GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("claude")
