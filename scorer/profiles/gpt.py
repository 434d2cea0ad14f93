"""``gpt``: a locator prompt that asks for 0..999 on both axes. An answer with a value above 1000 is taken as pixels.

No vendor says that these models answer on such a grid, so the prompt fixes it. Reasoning models refuse a temperature,
so none is sent.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import Request, Task, image_then, system

GRAMMAR = Grammar()

_LOCATOR = """\
You are an expert in locating elements of user interfaces. You get a screenshot and the description of an element or \
of a task. {wanted}

Coordinates are whole numbers from 0 to 999: x is the horizontal position, 0 at the left edge and 999 at the right \
edge; y is the vertical position, 0 at the top edge and 999 at the bottom edge. x always comes first. Never give pixels.

You may think first. Write the answer, and nothing else, on the last line: {form}
If the screenshot does not show what is described, the last line is: {absent}"""

_POINT = {
    "wanted": "Find the centre of the element to click.",
    "form": "(x, y)",
    "absent": "(-1, -1)",
}
_BOX = {
    "wanted": "Find the area that is described and the tightest box around it.",
    "form": '{"bbox": [x0, y0, x1, y1]}, its top-left and its bottom-right corner',
    "absent": '{"bbox": [-1, -1, -1, -1]}',
}


def locator_prompt(task: Task) -> str:
    """The prompt that the profiles on a grid of 0..999 share."""
    return _LOCATOR.format(**(_BOX if task.box else _POINT))


def build_request(task: Task) -> Request:
    """A system message; then the image in full detail and the instruction."""
    return Request([system(locator_prompt(task)), image_then(task.instruction, detail="high")])


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("gpt")
