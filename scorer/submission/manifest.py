"""The manifest of a submission: the questions about a run, and reading and checking the answers.

The questions are those that Pointerbench asks authors to report beside a result. An empty answer is a fault; where a
question does not apply, the answer is ``none``.
"""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from scorer.core.errors import UsageError
from scorer.core.findings import shorten, type_name

NONE = "none"
"""The answer to a question that does not apply, in any case of letters."""

LONGEST = 100_000
"""Characters in one answer. Prompts are the longest answers; the limit keeps a manifest fit for publication."""

LONGEST_FILE = 4 * 2**20
"""Bytes of a manifest file, which is read as a whole."""


class Question(NamedTuple):
    """One question of the manifest."""

    text: str
    """What is asked, as the example manifest and the messages show it."""

    none_is_an_answer: bool = True
    """Whether ``none`` is accepted."""


QUESTIONS: dict[str, Question] = {
    "model": Question("the model's name and version", none_is_an_answer=False),
    "organisation": Question("who ran it"),
    "date": Question("when the predictions were made, YYYY-MM-DD", none_is_an_answer=False),
    "prompt": Question("the text of the prompt, word for word"),
    "image_resizing": Question("what was done to the screenshot before the model saw it"),
    "zoom": Question("the strategy of zooming in or cropping in several steps"),
    "links": Question("addresses of the model, the paper, the code: a list"),
}
"""Key in the manifest -> its question, in the order in which they are asked and published."""


def example_manifest() -> str:
    """A manifest in TOML to fill in. All its answers are empty, so it is rejected until they are filled in."""
    lines = ['# About the run. Every answer is required; "none" is one, except for the model and the date.']
    for name, question in QUESTIONS.items():
        lines += ["", f"# {question.text}"]
        blank = {"prompt": '"""\n"""', "links": "[]"}.get(name, '""')
        lines.append(f"{name} = {blank}")
    return "\n".join(lines)


def read_manifest(data: bytes, source: str) -> dict[str, Any]:
    """The checked answers of a manifest file, key -> answer, in the order of ``QUESTIONS``.

    ``data`` is the content of the file: JSON where the name ``source`` ends in .json, else TOML.

    Raises UsageError, which lists all faults of the answers at once.
    """
    if len(data) > LONGEST_FILE:
        raise UsageError(f"{source}: longer than any manifest ({LONGEST_FILE} bytes)")
    try:
        text = data.decode("utf-8-sig")
        given = json.loads(text) if source.endswith(".json") else tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{source}: not UTF-8 (byte offset {error.start})") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if source.endswith(".json") else "TOML"
        raise UsageError(f"{source}: not {kind}: {error}") from None
    if not isinstance(given, dict):
        raise UsageError(f"{source}: a manifest is an object, found {type_name(given)}")
    if isinstance(given.get("date"), datetime.date):
        given["date"] = given["date"].isoformat()
    faults = manifest_faults(given)
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise UsageError(f"{source}: the manifest is not complete\n{listed}")
    return {name: _trimmed(given[name]) for name in QUESTIONS}


def manifest_faults(given: Mapping[str, Any]) -> list[str]:
    """A message for each fault of the answers; empty where they can be published."""
    faults = [_fault(name, question, given.get(name)) for name, question in QUESTIONS.items()]
    known = ", ".join(QUESTIONS)
    faults += [f'"{shorten(str(name))}" is not asked for; known: {known}' for name in given if name not in QUESTIONS]
    return [fault for fault in faults if fault]


def _fault(name: str, question: Question, answer: object) -> str:
    what = f"{name} ({question.text})"
    if answer in (None, "", []) or (isinstance(answer, str) and not answer.strip()):
        hint = '; "none" is an answer' if question.none_is_an_answer else ""
        return f"{what} is left out{hint}"
    if name == "links" and isinstance(answer, list):
        bad = next((link for link in answer if not _is_link(link)), None)
        return "" if bad is None else f"{what}: not an http(s) address: {shorten(str(bad))}"
    if not isinstance(answer, str):
        return f"{what} must be a string, found {type_name(answer)}"
    if len(answer) > LONGEST:
        return f"{what} is longer than {LONGEST} characters"
    if answer.strip().lower() == NONE:
        return "" if question.none_is_an_answer else f"{what} needs an answer other than none"
    if name == "date" and not _is_date(answer):
        return f"{what} is no date: {shorten(answer)}"
    if name == "links":
        return f'{what} must be a list, or "none"'
    return ""


def _is_link(link: object) -> bool:
    if not isinstance(link, str):
        return False
    address = link.strip().partition("://")
    return address[0] in ("http", "https") and bool(address[2]) and not set(link.strip()) & set(" \t\r\n<>\"'")


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text.strip()).isoformat() == text.strip()
    except ValueError:
        return False


def _trimmed(answer: Any) -> Any:
    return [entry.strip() for entry in answer] if isinstance(answer, list) else answer.strip()
