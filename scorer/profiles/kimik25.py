"""``kimik25``: sections ``## Action:`` and ``## Code:`` with pyautogui code in fractions of the image.

The last code block counts. No sampling parameters are sent, because the vendor's endpoint accepts only its defaults.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import Request, Task, image_then, system

GRAMMAR = Grammar(last_code_block=True)

_PROMPT = """\
You are a GUI agent. You get a screenshot and a task, and you answer with the next move, in two sections:

## Action:
one sentence that says what you do

## Code:
```python
{code}
```

{meaning} Write plain numbers with four decimals, from 0 to 1: x is the part of the image's width from the left edge, \
y the part of its height from the top edge. No pixels, no variables, no arithmetic.
If the screenshot does not show what the task names, the code is instead:
```code
computer.terminate(status="failure")
```"""

_POINT = {"code": "pyautogui.click(x=X, y=Y)", "meaning": "X and Y are the middle of the target."}
_BOX = {
    "code": 'bbox = {"bbox": [X0, Y0, X1, Y1]}',
    "meaning": "The numbers are the top-left and the bottom-right corner of the tightest box around the target.",
}


def build_request(task: Task) -> Request:
    """A system message; then the image and the task under its heading."""
    text = f"# Task Instruction:\n{task.instruction}\n\nGive the next move for this screenshot."
    return Request([system(_PROMPT.format(**(_BOX if task.box else _POINT))), image_then(text)])


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("kimik25")
