"""Answers that are no calls: point and box tags, pairs in prose; and why a text holds none."""

from __future__ import annotations

import re
from itertools import islice

from scorer.chat.targets import NUMBER, SEPARATOR, Shape, UnreadableError, numbers_in, to_shape

MAX_TAGS = 100
"""Upper bound on the tags that are read, from the start of the text."""

_TAGGED = re.compile(
    r"<(?:point|box|bbox)>([^<]{1,300}+)</(?:point|box|bbox)>"
    r"|<\|(?:begin_of_box|box_start)\|>([^|]{1,300}+)\|(?:end_of_box|box_end)\|>"
)
_PART = rf"{NUMBER}(?:px)?+"
_ANY_GROUP = re.compile(rf"[\[({{<]\s*+({_PART}(?:{SEPARATOR}{_PART})*+)\s*+[\])}}>]")
_GROUP = re.compile(rf"[\[({{<]\s*+({_PART}{SEPARATOR}{_PART}(?:{SEPARATOR}{_PART}{SEPARATOR}{_PART})?+)\s*+[\])}}>]")
_LABELLED = re.compile(
    rf"""(?<!\w)["']?x["']?\s*+[:=]\s*+["']?({NUMBER})["']?\s*+[,;]?\s*+["']?y["']?\s*+[:=]\s*+["']?({NUMBER})""",
    re.IGNORECASE,
)
_NUMBERS = re.compile(NUMBER)
_OPEN = re.compile(r"<(?:point|box|bbox)>|<\|(?:begin_of_box|box_start)\|>|\b(?:click|tap)\(")


def tagged(text: str) -> list[Shape]:
    """What the first readable point or box tag holds; several shapes where it holds a list of them."""
    for match in islice(_TAGGED.finditer(text), MAX_TAGS):
        inner = match[1] or match[2].removesuffix("<")
        numbers = numbers_in(inner)
        groups = [numbers] if numbers is not None else [_numbers(found[1]) for found in _GROUP.finditer(inner)]
        if [len(found) for found in groups] == [2, 2]:  # two corners
            groups = [groups[0] + groups[1]]
        if groups:
            return [to_shape(found) for found in groups]
    return []


def last_group(text: str) -> Shape | None:
    """The last bracketed pair or four, or ``x: .. y: ..``, in prose; other counts of numbers are no answer."""
    group, labelled = _last(_GROUP, text), _last(_LABELLED, text)
    if labelled is not None and (group is None or labelled.start() > group.start()):
        numbers = [float(labelled[1]), float(labelled[2])]
    elif group is not None:
        numbers = _numbers(group[1])
    else:
        return None
    try:
        return to_shape(numbers)
    except UnreadableError:
        return None


def why_not(text: str) -> str:
    """The likely cause of a reply without an answer."""
    if not text.strip():
        return "the reply is empty"
    group = _last(_ANY_GROUP, text)
    if group is not None:
        count = sum(1 for _ in _NUMBERS.finditer(group[1]))
        return f"{count} numbers in brackets, expected 2 or 4 (ambiguous: a thousands separator, a missing number?)"
    if _OPEN.search(text):
        return "an incomplete point: a tag or a call that is not closed, or holds no coordinates"
    if len(list(islice(_NUMBERS.finditer(text), 2))) > 1:
        return "no point-shaped answer: there are numbers, but no pair in brackets and no x and y side by side"
    return "no coordinates"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007 (the last one is wanted)
        pass
    return match


def _numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBERS.findall(text)]
