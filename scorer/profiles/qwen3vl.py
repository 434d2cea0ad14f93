"""``qwen3vl``: one forced call of the tool ``computer_use`` with a coordinate on the grid of 1000.

Boxes are asked for in the model's own grounding form, JSON with ``bbox_2d``, because the tool has no box. Qwen2.5-VL
answers in pixels of the resized image: it is another profile.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, function, image_then, system

GRAMMAR = Grammar()

_TOOL = function(
    "computer_use",
    "Click on a computer's screen with the mouse. Coordinates do not depend on the size of the screenshot: both axes "
    "run from 0 to 999.",
    {
        "action": {"type": "string", "enum": ["left_click"], "description": "Click the left mouse button."},
        "coordinate": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "[x, y] in 0-999, x from the left edge and y from the top edge; [-1, -1] if the target is "
            "not on the screenshot.",
        },
    },
)

_POINT = """\
You ground instructions in screenshots. Find the place to click for the user's instruction and answer with exactly one \
call of the tool computer_use: left_click at the middle of the target.
If the target is not on the screenshot, call it with the coordinate [-1, -1]."""

_BOX = """\
You ground descriptions in screenshots. Find the area that the user describes and answer with JSON and nothing else:
[{"bbox_2d": [x0, y0, x1, y1], "label": "what it is"}]
Both axes run from 0 to 999 over the screenshot, x from the left edge and y from the top edge.
If the area is not on the screenshot, answer: [{"bbox_2d": [-1, -1, -1, -1], "label": "absent"}]"""


def build_request(task: Task) -> Request:
    """A system message; then the image and the instruction; for points the tool, and the choice of it."""
    if task.box:
        return Request([system(_BOX), image_then(task.instruction)], params=GREEDY)
    choice = {"type": "function", "function": {"name": "computer_use"}}
    return Request([system(_POINT), image_then(task.instruction)], (_TOOL,), choice, GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("qwen3vl")
