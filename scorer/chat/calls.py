"""Calls in a reply: native tool calls, XML and JSON calls in text, bare JSON objects, ``click(x=1, y=2)``.

Nothing is evaluated. Only known action names are read as calls, because prose is full of ``word (remark)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from scorer.chat.targets import SEPARATOR, TARGET_KEYS

MAX_CALLS = 200
"""Upper bound on the calls of each form that are read, from the start of the text."""
MAX_DEPTH = 12
"""Upper bound on the nesting that is searched for calls. Answers are nested a few levels deep."""
MAX_TEXT = 20_000
"""The longest text that is searched for calls, in characters."""
MAX_WASTE = 2 * MAX_TEXT
"""Upper bound on the characters that are parsed in vain, because a text of opening braces would be parsed again for
each of them."""

_DECODER = json.JSONDecoder(parse_int=float)
_JSON_START = re.compile(r"\{\s*+[\"'}]|\[\s*+\{")
_XML_CALL = re.compile(r"<(?:function=|invoke name=\")([\w.-]{1,60})\"?>")
_XML_PARAMETER = re.compile(r"<parameter(?:=| name=\")([\w.-]{1,60})\"?>([^<]{0,500}+)")
_KEYED = re.compile(
    rf"""["']({"|".join(TARGET_KEYS)})["']\s*+:\s*+["']?(\[[\[\s]*+[-+.0-9eE]++(?:{SEPARATOR}[-+.0-9eE]++){{1,3}}\s*+\])"""
)

CLICKS = (
    "click",
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "left_single",
    "right_single",
    "left_double",
    "left_double_click",
    "click_at",
    "point_at",
    "tap",
    "double_tap",
    "long_press",
    "left_click_drag",
    "left_drag",
    "drag",
    "drag_to",
    "swipe",
)
MOVES = ("hover", "move_to", "mouse_move", "move")
OTHERS = ("do", "scroll", "terminate", "call_user", "fail", "report_infeasible", "infeasible")


def _plain(name: str) -> str:
    """An action's name in one spelling: ``pyautogui.doubleClick`` and ``double_click`` are the same."""
    return name.rpartition(".")[2].replace("_", "").replace(" ", "").lower()


_CLICKS = frozenset(map(_plain, CLICKS))
_POINTERS = _CLICKS | frozenset(map(_plain, MOVES))
_KNOWN = _POINTERS | frozenset(map(_plain, OTHERS))
_CALL_START = re.compile(r"(?<![A-Za-z_])([A-Za-z_]{2,20}+)\(")
# Arguments up to the bracket that closes them: quotes first, then, where a quote is not closed, plain text.
_ARGUMENTS = (
    re.compile(r"((?:[^()'\"]++|'[^'\n]*+'|\"[^\"\n]*+\"|\([^()\n]*+\))*+)\)"),
    re.compile(r"([^()\n]{0,1000}+)\)"),
)
_ARGUMENT = re.compile(r"\s*+(?:(\w+)\s*+=\s*+)?('[^'\n]*+'|\"[^\"\n]*+\"|\[[^\]]*+\]|\([^)]*+\)|[^,]++)")


class Call(NamedTuple):
    """An action with its arguments."""

    name: str
    """The action without underscores, in lower case; "" for an object that names none."""
    arguments: tuple[Mapping[str, Any], ...]
    """One set of arguments, or several where a list of objects without actions gives candidates."""

    @property
    def is_click(self) -> bool:
        """Whether this is a click or an answer without an action, rather than a move of the pointer or a scroll."""
        return not self.name or self.name in _CLICKS


def native_calls(message: Mapping[str, Any]) -> list[Call]:
    """The tool calls of a message. Arguments come as an object, as JSON in a string, or broken."""
    calls: list[Call] = []
    listed = message.get("tool_calls")
    for entry in listed if isinstance(listed, list) else ():
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(function, Mapping):
            calls += _json_calls(function)
    return calls


def calls_in_text(text: str) -> list[Call]:
    """The calls that a text of at most MAX_TEXT characters spells out, XML before JSON before ``name(...)``."""
    calls = list(_xml_calls(text))
    for value in _json_values(text):
        calls += _json_calls(value)
    return [*(calls or _keyed_numbers("", text)), *_written_calls(text)]


def _xml_calls(text: str) -> Iterator[Call]:
    """``<function=name><parameter=key>value``, and the same with ``invoke name="..."``."""
    starts = list(islice(_XML_CALL.finditer(text), MAX_CALLS))
    for start, following in zip_longest(starts, starts[1:]):
        end = len(text) if following is None else following.start()
        parameters = islice(_XML_PARAMETER.finditer(text, start.end(), end), MAX_CALLS)
        yield _action(start[1], {match[1]: match[2].strip() for match in parameters})


def _json_values(text: str) -> Iterator[Any]:
    """The JSON objects, and lists of objects, that stand in a text."""
    position = wasted = 0
    for _ in range(MAX_CALLS):
        start = _JSON_START.search(text, position)
        if start is None or wasted > MAX_WASTE:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            wasted += error.pos - start.start()
            position = start.start() + 1
        except RecursionError:
            return
        else:
            yield value


def _keyed_numbers(name: str, text: str) -> list[Call]:
    """The first key of a target with its list of numbers, for JSON that is cut off or quoted in another way."""
    match = _KEYED.search(text)
    return [Call(name, ({match[1]: match[2]},))] if match else []


def _json_calls(root: Any) -> list[Call]:
    """The calls in a JSON value, outermost first; an object without an action is a call without a name."""
    calls: list[Call] = []
    waiting: list[tuple[Any, int]] = [(root, 0)]
    while waiting and len(calls) < MAX_CALLS:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            continue
        if isinstance(value, list):
            bare = [entry for entry in value if isinstance(entry, Mapping) and not _names_action(entry)]
            if len(bare) == len(value) > 1 and not any(
                _is_container(inner) for entry in bare for inner in entry.values()
            ):
                calls.append(Call("", tuple(bare)))
            else:
                waiting += [(entry, depth + 1) for entry in reversed(value[:MAX_CALLS])]
        elif isinstance(value, Mapping):
            arguments = value.get("arguments")
            if isinstance(arguments, str) and "name" in value:
                calls += _string_arguments(str(value["name"]), arguments[:MAX_TEXT])
            elif isinstance(arguments, Mapping):
                calls.append(_action(str(value.get("name", "")), arguments))
                waiting += [(inner, depth + 2) for inner in reversed([*arguments.values()]) if _is_container(inner)]
            else:
                calls.append(_action("", value))
                waiting += [(inner, depth + 1) for inner in reversed([*value.values()]) if _is_container(inner)]
    return calls


def _string_arguments(name: str, text: str) -> list[Call]:
    """The calls of a tool call whose arguments are a string: JSON, possibly cut off."""
    calls: list[Call] = []
    for value in _json_values(text):
        calls += _json_calls({"name": name, "arguments": value} if isinstance(value, Mapping) else value)
    return calls or _keyed_numbers(_plain(name), text)


def _names_action(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in ("action", "action_type", "name", "arguments"))


def _is_container(value: object) -> bool:
    """Whether a value may hold calls: objects do, lists of objects do, lists of numbers do not."""
    if isinstance(value, Mapping):
        return "x" not in value or _names_action(value)
    return isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value[:MAX_CALLS])


def _action(name: str, arguments: Mapping[str, Any]) -> Call:
    """A call under the action that its arguments name; a tool's own name only where they name none."""
    for key in ("action", "action_type"):
        action = arguments.get(key)
        if isinstance(action, str):
            return Call(_plain(action.strip()), (arguments,))
    plain = _plain(name)
    return Call("" if plain in ("computeruse", "mobileuse", "computer") else plain, (arguments,))


def _written_calls(text: str) -> Iterator[Call]:
    """``click(x=1, y=2)`` and the like, with positional or named arguments."""
    known = (start for start in _CALL_START.finditer(text) if _plain(start[1]) in _KNOWN)
    for start in islice(known, MAX_CALLS):
        match = next(filter(None, (pattern.match(text, start.end()) for pattern in _ARGUMENTS)), None)
        if match is None:
            continue
        name, arguments, bare = _plain(start[1]), {}, []
        for key, value in _ARGUMENT.findall(match[1][:2000]):
            value = value.strip().strip("'\"")
            if key:
                arguments[key] = value
            elif value:
                bare.append(value)
        if name in _POINTERS and len(bare) >= 2 and "x" not in arguments:
            arguments |= {"x": bare[0], "y": bare[1]}
        elif bare:
            arguments[""] = ", ".join(bare)
        yield _action("" if name == "do" else name, arguments)
