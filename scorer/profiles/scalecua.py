"""``scalecua``: one action call in pixels of the image that the server's processor makes of the original.

Its limits (``smart-resize:28:3136:2109744``) must be the server's; an endpoint with others is told with ``--space``.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, image_then, system

GRAMMAR = Grammar()

_ACTIONS = """\
You are an autonomous agent that operates a graphical user interface with the mouse. You get a screenshot and an \
instruction, and you answer with the one action that carries it out.

# Action space
def click(x: float, y: float, clicks: int = 1, button: str = "left"): press and release a mouse button at a place
def doubleClick(x: float, y: float): click twice
def rightClick(x: float, y: float): click with the right button
def moveTo(x: float, y: float): put the pointer on a place
def terminate(status: str, info: str = ""): end; status "failure" says that the task cannot be done

# Output
Exactly one action in this form, and nothing else:
<action>
click(x=X, y=Y)
</action>
{meaning}
If the screenshot does not show what the instruction names, answer:
<action>
terminate(status='failure')
</action>"""

_BOX = """\
You look at a graphical user interface. You get a screenshot and the description of an area, and you answer with the \
tightest box around it, in this form and nothing else:
<box>[[X0, Y0, X1, Y1]]</box>
{meaning}
If the screenshot does not show what is described, answer: <box>[[-1, -1, -1, -1]]</box>"""

_MEANING = "Coordinates are pixels of the image you see, x to the right and y downwards from its top-left corner."


def action_prompt(task: Task, meaning: str) -> str:
    """The prompt of the agents of this line; ``meaning`` says what their coordinates are."""
    return (_BOX if task.box else _ACTIONS).format(meaning=meaning)


def build_request(task: Task) -> Request:
    """A system message; then the image and the bare instruction."""
    return Request([system(action_prompt(task, _MEANING)), image_then(task.instruction)], params=GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("scalecua")
