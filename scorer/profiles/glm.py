"""``glm``: one user message and no system message; actions with ``start_box='[x,y]'`` in thousandths.

``skip_special_tokens`` must be false on vLLM and SGLang, or the tokens around the answer are lost on the way.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, then_image

GRAMMAR = Grammar(tail="Memory:")

_PROMPT = """\
You are a GUI agent. You carry out the task below on the screenshot that follows. All coordinates are thousandths of \
the screenshot, from 0 to 999: x from the left edge, y from the top edge.

# Task
{instruction}

# Platform
A desktop computer

# Action space
left_click(start_box='[x,y]', element_info='')
right_click(start_box='[x,y]', element_info='')
left_double_click(start_box='[x,y]', element_info='')
hover(start_box='[x,y]', element_info='')
FAIL(): {absent}

# History
None

# Memory
[]

# Output
{output}
Then a line that starts with Memory: and holds a JSON list of what is worth remembering, [] if nothing is.

# Notes
Exactly one action. start_box is the middle of the target{corners}. If the target is not on the screenshot, the action \
is FAIL().

The screenshot:"""

_ABSENT = "the target is not on the screenshot"
_POINT = "One short sentence that explains the step, with the action in it."
_BOX = "One short sentence, with the action left_click in it; start_box is the box around what the task names."
_CORNERS = ", here its box '[x0,y0,x1,y1]' by its top-left and its bottom-right corner"


def build_request(task: Task) -> Request:
    """One message: the text, then the image."""
    output, corners = (_BOX, _CORNERS) if task.box else (_POINT, "")
    text = _PROMPT.format(instruction=task.instruction, absent=_ABSENT, output=output, corners=corners)
    return Request([then_image(text)], params={**GREEDY, "extra_body": {"skip_special_tokens": False}})


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("glm")
