"""``base``: any model that answers in pixels of the image it was sent. Pointerbench is asked with its own prompt."""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, image_then, system

GRAMMAR = Grammar()

_POINT = """\
You operate a graphical user interface. You get one screenshot and one instruction. Find the place on the screenshot \
where a mouse click carries out the instruction.

Answer with exactly one line and nothing else:
pyautogui.click(x=X, y=Y)
X and Y are absolute pixels of the screenshot as you got it, X to the right and Y downwards from its top-left corner. \
Do not normalize them.
If the screenshot does not show what the instruction names, answer: pyautogui.click(x=-1, y=-1)"""

_BOX = """\
You look at a graphical user interface. You get one screenshot and one instruction. Find the area on the screenshot \
that the instruction names.

Answer with exactly one line of JSON and nothing else:
{"bbox": [X0, Y0, X1, Y1]}
These are the top-left and the bottom-right corner in absolute pixels of the screenshot as you got it, counted from \
its top-left corner. Do not normalize them.
If the screenshot does not show what the instruction names, answer: {"bbox": [-1, -1, -1, -1]}"""


def build_request(task: Task) -> Request:
    """A system message; then the image and the instruction, with the image's size unless the benchmark names it."""
    if task.prompt:
        return Request([system(task.prompt), image_then(task.instruction)], params=GREEDY)
    width, height = task.sent
    text = f"The screenshot is {width} pixels wide and {height} pixels high.\nInstruction: {task.instruction}"
    return Request([system(_BOX if task.box else _POINT), image_then(text)], params=GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("base")
