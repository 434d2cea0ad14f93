"""Replies -> answers -> rows: the one place that composes profiles, reply reading and conversion.

Scores from ``raw`` replies, files read again and the inference scripts all go through here, so that one reply means the
same in each. ``score`` loads this only when it is asked to read replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from scorer.chat.read_reply import Answer, Grammar, read_reply
from scorer.core.findings import Findings, shorten
from scorer.core.records import PIXEL, Block, Prediction, Size
from scorer.core.spaces import to_pixels
from scorer.pipeline.scoring import RowSource
from scorer.pipeline.validate.answers import BOX_KEYS, FLAT_BOX_KEYS, POINT_KEYS, TEXT_KEYS
from scorer.profiles import get_profile, profile_module

ErrorCode = Literal["request-failed", "empty", "truncated", "unparsed", "refused-by-provider"]
NO_REPLY: frozenset[ErrorCode] = frozenset({"request-failed", "refused-by-provider"})
"""Errors of rows without a reply that could be read again."""

_ANSWER_KEYS = frozenset((*POINT_KEYS, "points", *BOX_KEYS, "x", "y", *FLAT_BOX_KEYS, *TEXT_KEYS, "refusal", "error"))


def parse_reply(profile: str, reply: object, image_size: Size) -> Prediction:
    """Read a model's reply as a profile does and convert it to pixels of the original screenshot.

    ``reply`` is the text of a reply, a message with ``content`` and ``tool_calls``, a list of messages, of which the
    last one of the assistant is read, or a list of content blocks. ``image_size`` is the (width, height) of the
    original screenshot. ``points`` are the candidates, the answer first; ``bbox`` is the box it is the centre of,
    if there was one; ``refusal`` names the marker of a refusal, whose point is (-1, -1). A reply without an answer has
    an ``error``.

    Never raises on any reply; raises UsageError for an unknown profile. The time is linear in the length of the reply.
    """
    known = get_profile(profile)
    answer = read_reply(reply, profile_module(profile).GRAMMAR)
    if not answer.points:
        return Prediction("", error=f"unparsed: {answer.fault}")
    if answer.refusal:
        return Prediction("", answer.points, refusal=answer.refusal)
    pixels = to_pixels(Prediction("", answer.points, answer.bbox, known.space), image_size)
    if not pixels.points:
        return Prediction("", error=f"unparsed: {known.space} cannot express this answer", fault=pixels.fault)
    return pixels


def reply_fields(reply: Mapping[str, Any], finish_reason: object, grammar: Grammar) -> dict[str, Any]:
    """What a row says of a reply: ``point``, ``points``, ``bbox``, ``refusal`` in the model's own space, or ``error``.

    A reply that was cut off counts only where the cut left a whole call or object: a pair in prose may be a decoy
    of the reasoning in front of the answer.
    """
    if finish_reason == "content_filter" or reply.get("refusal"):
        return error_fields("refused-by-provider", str(reply.get("refusal") or "finish_reason is content_filter"))
    answer = read_reply(reply, grammar)
    if finish_reason == "length" and not (answer.points and answer.structured):
        return error_fields("truncated", "the reply was cut off at the token limit (finish_reason is length)")
    if answer.points:
        return _answer_fields(answer)
    if not reply.get("content") and not reply.get("tool_calls"):
        return error_fields("empty", "the reply has neither content nor tool calls")
    return error_fields("unparsed", answer.fault)


def error_fields(code: ErrorCode, message: str) -> dict[str, Any]:
    """The field of a row without an answer."""
    return {"error": {"code": code, "message": shorten(message, 500)}}


def _answer_fields(answer: Answer) -> dict[str, Any]:
    fields: dict[str, Any] = {"point": list(answer.points[0])}
    if len(answer.points) > 1:
        fields["points"] = [list(point) for point in answer.points]
    if answer.bbox is not None:
        fields["bbox"] = list(answer.bbox)
    if answer.refusal:
        fields["refusal"] = answer.refusal
    return fields


class Rereader:
    """Replaces the answers of rows by those in their ``raw`` replies, read with the grammar of one profile.

    The earlier answer of a row is not used. Its ``space`` stays where the same profile wrote it, because the numbers
    of an image processor may be the endpoint's own; else the profile's counts. ``rows`` and ``replies`` count what
    was met.
    """

    def __init__(self, profile: str) -> None:
        self.profile = get_profile(profile)
        self.grammar: Grammar = profile_module(profile).GRAMMAR
        self.rows = self.replies = 0

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with the answer of its reply. A row whose call failed is not changed."""
        self.rows += 1
        raw, error = row.get("raw"), row.get("error")
        if isinstance(error, dict) and error.get("code") in NO_REPLY:
            self.replies += 1
            return row
        kept = {key: value for key, value in row.items() if key not in _ANSWER_KEYS}
        if kept.get("space") is not None and row.get("profile") != self.profile.id:
            del kept["space"]
        kept["profile"] = self.profile.id
        if not isinstance(raw, str | dict):
            return kept | error_fields("unparsed", 'the row has no "raw" reply')
        self.replies += 1
        reply = raw if isinstance(raw, dict) else {"content": raw}
        return kept | reply_fields(reply, row.get("finish_reason"), self.grammar) | {"raw": reply}

    @property
    def found_nothing(self) -> bool:
        """Whether there were rows and not one kept its reply."""
        return self.rows > 0 and not self.replies


class RawSource:
    """A source whose rows are read again from their replies."""

    def __init__(self, source: RowSource, reader: Rereader) -> None:
        self.name, self.source, self.reader = source.name, source, reader

    def blocks(self, findings: Findings) -> Iterator[Block]:
        """The rows of the source in its blocks, with the answers of their replies."""
        for lines, rows in self.source.blocks(findings):
            yield lines, list(map(self.reader, rows))


def reparse(rows: Iterable[dict[str, Any]], reader: Rereader) -> Iterator[dict[str, Any]]:
    """Each row read again, with the space of its numbers written beside them."""
    for row in rows:
        again = reader(row)
        space = reader.profile.space
        if space != PIXEL and "error" not in again:
            again.setdefault("space", str(space))
        yield again
