"""The part of a reply in which the answer stands: content parts joined, reasoning, wrappers and tails taken off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_REASONING = re.compile(r"<(/?)(?:think|thought|thinking|grounding_think)>|◁(/?)think▷")
_SECTION = re.compile(r"<(/?)(answer|action)>")
_COMMENT = re.compile(r"(?m)^[ \t]*#(?!#).*$")
_FENCE = "```"

# Full-width letters, digits and signs as their ASCII twins, other commas as commas, true minus signs as hyphens.
_TWINS = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_TWINS |= {0x3000: " ", 0x3001: ",", 0x3010: "[", 0x3011: "]", 0x2212: "-"}


def message_of(reply: object) -> Mapping[str, Any] | None:
    """The message in what a program hands over as a reply; None where there is none in it.

    Training libraries hand over a text, a list of messages, of which the last one of the assistant is the reply, or
    the content blocks of one message.
    """
    if reply is None or isinstance(reply, str):
        return {"content": reply}
    if isinstance(reply, Mapping):
        return reply
    if not isinstance(reply, list | tuple):
        return None
    messages = [entry for entry in reply if isinstance(entry, Mapping) and "role" in entry]
    if messages:
        return next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    is_content = all(isinstance(entry, str) or (isinstance(entry, Mapping) and "type" in entry) for entry in reply)
    return {"content": list(reply)} if reply and is_content else None


def content_text(content: object) -> str:
    """The content of a message as one text; parts flagged as thought are left out."""
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else _part_text(part) for part in content]
        content = "\n".join(filter(None, texts))
    if not isinstance(content, str):
        return ""
    return content if content.isascii() else content.translate(_TWINS)


def _part_text(part: object) -> str:
    if not isinstance(part, dict) or part.get("thought") is True:
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def without_reasoning(text: str) -> str:
    """The text outside reasoning tags.

    A closing tag without an opening one ends reasoning that the chat template opened: all before it goes. An opening
    tag that is never closed means that the reply broke off while thinking: nothing is left.
    """
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING.finditer(text):
        if tag[1] or tag[2]:
            if not inside:
                kept.clear()
            inside, start = False, tag.end()
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    return "" if inside else "".join([*kept, text[start:]])


def answer_part(text: str, *, last_code_block: bool, tail: str) -> str:
    """The section, the code block or the text in front of a tail that holds the answer; all of it where none does."""
    text = _last_section(text)
    if tail:
        text = _without_tail(text, tail)
    if last_code_block:
        blocks = text.split(_FENCE)[1::2]
        if blocks:
            return _COMMENT.sub("", blocks[-1])
    return text


def _last_section(text: str) -> str:
    """The content of the last ``<answer>`` or ``<action>``, which may lack its closing tag."""
    start = end = None
    for tag in _SECTION.finditer(text):
        if not tag[1]:
            start, end = tag.end(), None
        elif start is not None and end is None:
            end = tag.start()
    section = "" if start is None else text[start:end]
    return section if section.strip() else text


def _without_tail(text: str, tail: str) -> str:
    at = text.rfind("\n" + tail)
    return text[:at] if at >= 0 and text[:at].strip() else text
