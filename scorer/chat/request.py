"""What a profile asks, as data: messages, tools and parameters, with a placeholder where the image goes.

Nothing here opens an image or imports a client. The prompts are the project's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from scorer.core.records import Size

IMAGE = "<image>"
"""Stands in a message where the URL of the image goes."""

Message = dict[str, Any]


class Task(NamedTuple):
    """One question. ``sent`` is the size in pixels of the image as the model gets it.

    ``box`` asks for a box rather than a point; ``prompt`` is the benchmark's own recommended prompt, "" where there is
    none.
    """

    instruction: str
    sent: Size
    box: bool = False
    prompt: str = ""


class Request(NamedTuple):
    """The body of a chat request but for the model's name. ``params`` are defaults that the user may replace."""

    messages: list[Message]
    tools: tuple[dict[str, Any], ...] = ()
    tool_choice: Any = None
    params: Mapping[str, Any] = MappingProxyType({})


GREEDY: Mapping[str, Any] = MappingProxyType({"temperature": 0})


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}


def image_then(text: str, **detail: str) -> Message:
    """A user message: the image, then a text. ``detail`` goes beside the image's URL."""
    return {"role": "user", "content": [_image(**detail), {"type": "text", "text": text}]}


def then_image(text: str) -> Message:
    """A user message: a text, then the image."""
    return {"role": "user", "content": [{"type": "text", "text": text}, _image()]}


def _image(**detail: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": IMAGE, **detail}}


def function(name: str, description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool; all its properties are required."""
    parameters = {"type": "object", "properties": dict(properties), "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def prompt_text(request: Request) -> str:
    """The system prompt of a request or, where it has no system message, the text of its user message."""
    content = request.messages[0]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")
