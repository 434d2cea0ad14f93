"""What a profile asks, as data: messages, tools and parameters, with a placeholder for the image.

Nothing here opens an image or imports a client. The prompts are written for this project.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from scorer.core.records import Size

IMAGE = "<image>"
"""The placeholder for the URL of the image in a message."""

Message = dict[str, Any]


class Task(NamedTuple):
    """One question to a model."""

    instruction: str
    """What the benchmark asks."""
    sent: Size
    """Width and height, in pixels, of the image that the model gets."""
    box: bool = False
    """Whether a box is asked for, rather than a point."""
    prompt: str = ""
    """The system prompt that the benchmark recommends, "" where it recommends none."""


class Request(NamedTuple):
    """The body of a chat request, without the name of the model."""

    messages: list[Message]
    """In the form of the OpenAI chat API, with IMAGE in place of the image's URL."""
    tools: tuple[dict[str, Any], ...] = ()
    """The tools that the model may call."""
    tool_choice: Any = None
    """Which of them it must call, in the form of the API."""
    params: Mapping[str, Any] = MappingProxyType({})
    """Default parameters, which the user may replace."""


GREEDY: Mapping[str, Any] = MappingProxyType({"temperature": 0})
"""Parameters for the most likely reply."""


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
