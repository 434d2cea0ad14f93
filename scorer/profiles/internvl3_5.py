"""``internvl3.5``: the same action calls as ``scalecua``, in fractions of the image.

An endpoint that answers with InternVL's own boxes on a grid of 1000 needs another profile; nothing is guessed here.
"""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, image_then, system
from scorer.profiles.scalecua import action_prompt

GRAMMAR = Grammar()

_MEANING = (
    "Coordinates are fractions of the image from 0 to 1 with four decimals: x of its width from the left edge, "
    "y of its height from the top edge."
)
_WRAPPER = """\
Give the next action for this screenshot, the task and the operations done so far.

Task: {instruction}

Previous operations:
None"""


def build_request(task: Task) -> Request:
    """A system message; then the image and the instruction in the wrapper of an agent's first step."""
    text = _WRAPPER.format(instruction=task.instruction)
    return Request([system(action_prompt(task, _MEANING)), image_then(text)], params=GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("internvl3.5")
