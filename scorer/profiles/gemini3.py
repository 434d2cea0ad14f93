"""``gemini3``: the locator prompt on a grid of 0..999. Gemini's trained ``box_2d`` is y first; all else is as asked."""

from __future__ import annotations

from scorer.chat.read_reply import Grammar
from scorer.chat.request import GREEDY, Request, Task, image_then, system
from scorer.profiles.gpt import locator_prompt

GRAMMAR = Grammar(y_first=frozenset({"box_2d"}))


def build_request(task: Task) -> Request:
    """A system message; then the image and the instruction."""
    return Request([system(locator_prompt(task)), image_then(task.instruction)], params=GREEDY)


if __name__ == "__main__":
    from scorer.cli.ask import main

    main("gemini3")
