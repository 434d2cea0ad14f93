"""A model's reply -> the answer in it, in the coordinates that the model wrote. Pure text work that never raises.

The order of evidence in one reply: native tool calls and structured forms in its text (XML and JSON calls, JSON
objects, ``click(...)``, point and box tags), then markers of a refusal, then loose forms in prose. Of structured forms
the first one that has a target counts, a click before a move; of loose ones the last, because reasoning in front of an
answer is full of decoys. Reading is linear in the length of the reply: patterns never go back over what they took, and
of an answer of book length only the end is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from scorer.chat.calls import MAX_TEXT, Call, calls_in_text, native_calls
from scorer.chat.loose import last_group, tagged, why_not
from scorer.chat.refusals import called_marker, written_marker
from scorer.chat.targets import Shape, UnreadableError, centre, shapes_of
from scorer.chat.text import answer_part, content_text, message_of, without_reasoning
from scorer.core.findings import type_name
from scorer.core.records import Box, Point

__all__ = ["Answer", "Grammar", "read_reply"]

MAX_CANDIDATES = 100
"""Upper bound on the candidate points kept from one reply. A longer list is a search pattern, not an answer."""

REFUSAL: Point = (-1.0, -1.0)
"""The point that stands for a refusal by a marker."""


class Grammar(NamedTuple):
    """What is particular to the replies of one model family. Everything else is read in the same way for all."""

    y_first: frozenset[str] = frozenset()
    """The keys whose numbers are in the order y, x, y, x."""
    last_code_block: bool = False
    """Whether the last fenced code block, where there is one, is the answer."""
    tail: str = ""
    """A word with its colon that starts a closing section, which is not part of the answer; "" for none."""


class Answer(NamedTuple):
    """What a reply says, in the space of the model."""

    points: tuple[Point, ...] = ()
    """The candidate points, the answer first; empty where there is no answer."""
    bbox: Box | None = None
    """The box whose centre the first point is, where the reply gave a box."""
    refusal: str = ""
    """The marker by which the reply says that there is no target, "" for none. The point is then (-1, -1)."""
    structured: bool = True
    """Whether the answer was a call, an object or a tag, rather than a pair of numbers in prose."""
    fault: str = ""
    """Why there is no answer."""


def read_reply(reply: object, grammar: Grammar) -> Answer:
    """The answer in a reply. Never raises.

    ``reply`` is a text, a message with ``content`` and ``tool_calls``, a list of messages, of which the last one of
    the assistant counts, or a list of content blocks.
    """
    message = message_of(reply)
    if message is None:
        return Answer(fault=f"a {type_name(reply)} is no reply; pass the text or the message")
    content = content_text(message.get("content"))
    spoken = without_reasoning(content)
    # Answers are at the end of a reply, so that only the last MAX_TEXT characters are searched.
    text = answer_part(spoken, last_code_block=grammar.last_code_block, tail=grammar.tail)[-MAX_TEXT:]
    calls = [*native_calls(message), *calls_in_text(text)]
    fault = ""
    try:
        shapes = _first_target(calls, grammar) or tagged(text)
    except UnreadableError as unreadable:
        shapes, fault = [], str(unreadable)
    if shapes:
        return _answer(shapes, structured=True)
    called = called_marker(calls)
    marker = called or written_marker(spoken[-MAX_TEXT:])
    if marker:
        return Answer((REFUSAL,), refusal=marker, structured=bool(called))
    group = None if fault else last_group(text)
    if group is not None:
        return _answer([group], structured=False)
    if not fault and content.strip() and not spoken.strip():
        fault = "nothing but reasoning; the answer after it is missing"
    return Answer(fault=fault or why_not(text))


def _first_target(calls: list[Call], grammar: Grammar) -> list[Shape]:
    """The shapes of the first call with a target, clicks before moves. Raises UnreadableError if none can be read."""
    second: list[Shape] = []
    fault: UnreadableError | None = None
    for call in calls:
        try:
            shapes = [shape for arguments in call.arguments for shape in shapes_of(arguments, grammar.y_first)]
        except UnreadableError as unreadable:
            fault = fault or unreadable
            continue
        if shapes and call.is_click:
            return shapes
        second = second or shapes
    if not second and fault is not None:
        raise fault
    return second


def _answer(shapes: list[Shape], *, structured: bool) -> Answer:
    kept = shapes[:MAX_CANDIDATES]
    points = tuple(dict.fromkeys(centre(shape) for shape in kept))
    bbox = next((shape for shape in kept[:1] if len(shape) == 4), None)
    return Answer(points, bbox, structured=structured)
