"""What one run asks: the bodies of requests, and the rows that replies become. No I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from scorer.chat.request import IMAGE, Request, Task
from scorer.core.errors import UsageError
from scorer.core.records import Example, GroundTruth, Size, Space
from scorer.pipeline.reread import error_fields, reply_fields
from scorer.profiles import get_profile, profile_module

RESERVED = (
    *("model", "messages", "tools", "tool_choice", "functions", "function_call"),
    *("n", "stream", "stream_options", "timeout"),
)
"""Parameters that the profile or the run decides. They are ignored among the user's parameters, and rows say so."""

TRANSPORT = ("extra_headers", "extra_query")
"""Parameters of the client that are no part of the body."""


class Reply(NamedTuple):
    """What came back from an endpoint."""

    body: Mapping[str, Any] | None
    """The parsed body of a completion; None where there is none."""
    error: str = ""
    """Why there is no completion."""
    refused: bool = False
    """Whether the provider refused to answer for reasons of content."""
    latency: float | None = None
    """Seconds from the request to the reply."""
    retries: int = 0
    """How many attempts failed before the last one."""


class Plan:
    """How a profile asks a model about a benchmark.

    ``params`` are the user's; those in RESERVED are ignored and listed in ``ignored``. ``space`` replaces the space of
    the profile, for an endpoint whose numbers mean something else. A space ``frame:WxH`` is also the size of the image
    that is sent.
    """

    def __init__(
        self,
        profile: str,
        model: str,
        ground_truth: GroundTruth,
        params: Mapping[str, Any] | None = None,
        space: Space | None = None,
    ) -> None:
        self.profile = get_profile(profile)
        self.module = profile_module(profile)
        self.model = model
        self.space = space or self.profile.space
        self.truth = ground_truth
        given = dict(params or {})
        extra = given.pop("extra_body", None) or {}
        if not isinstance(extra, Mapping):
            raise UsageError("extra_body in --model-params must be an object")
        self.ignored = [key for key in given if key in RESERVED]
        self.ignored += [f"extra_body.{key}" for key in extra if key in RESERVED]
        self.transport = {key: given.pop(key) for key in TRANSPORT if key in given}
        self.params = {key: value for key, value in (given | dict(extra)).items() if key not in RESERVED}

    def sent_size(self, example: Example) -> Size:
        """The size of the image that is sent: the original size, or that of a space ``frame:WxH``."""
        if self.space.kind == "frame":
            width, height = self.space.parameters
            return width, height
        return example.image_size

    def request(self, example: Example) -> Request:
        """What the profile asks about an example."""
        box = example.rule == "coverage_precision"
        task = Task(example.instruction, self.sent_size(example), box, self.truth.benchmark.prompt)
        request: Request = self.module.build_request(task)
        return request

    def body(self, example: Example, image_url: str) -> dict[str, Any]:
        """The body of the request. A parameter that the user sets to null is left out, a default as well."""
        request = self.request(example)
        defaults = dict(request.params)
        params = defaults | defaults.pop("extra_body", {}) | self.params
        params.pop("extra_body", None)
        body: dict[str, Any] = {"model": self.model, "messages": _with_image(request.messages, image_url)}
        if request.tools:
            body |= {"tools": list(request.tools), "tool_choice": request.tool_choice}
        return body | {key: value for key, value in params.items() if value is not None}

    def prompt_digest(self, example: Example) -> str:
        """Twelve hex digits of what is asked about an example, the image and the parameters left out."""
        request = self.request(example)
        asked = [request.messages, request.tools, request.tool_choice, str(self.space)]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]

    def fields(self, example: Example, reply: Reply) -> dict[str, Any]:
        """What a row says of a reply; a failed call and a reply without an answer are rows too."""
        choice, message, fault = _first_choice(reply)
        finish_reason = choice.get("finish_reason")
        row = fault or reply_fields(message, finish_reason, self.module.GRAMMAR)
        row |= {"space": str(self.space), "raw": _raw(message) if choice else None, "finish_reason": finish_reason}
        row |= {"usage": (reply.body or {}).get("usage"), "latency_s": reply.latency, "retries": reply.retries or None}
        row |= {"profile": self.profile.id, "model": self.model, "prompt": self.prompt_digest(example)}
        row |= {"benchmark": self.truth.benchmark.id, "instruction_variant": self.truth.variant or None}
        row |= {"image_size": list(example.image_size), "sent_size": list(self.sent_size(example))}
        row |= {"ignored_params": self.ignored or None}
        return {key: value for key, value in row.items() if value is not None}


class Job(NamedTuple):
    """One call to the model."""

    plan: Plan
    """How it is asked."""
    example: Example
    """What it is asked about."""
    attempt: int
    """Which attempt at the example this is, from 1."""
    file: str = ""
    """The path of the screenshot; "" where it is not needed."""

    @property
    def key(self) -> tuple[str, int]:
        """What a row is known by."""
        return self.example.id, self.attempt

    def body(self, image_url: str) -> dict[str, Any]:
        """The body of the request."""
        return self.plan.body(self.example, image_url)

    def row(self, reply: Reply) -> dict[str, Any]:
        """The prediction row of a reply."""
        return {"id": self.example.id, "attempt": self.attempt, **self.plan.fields(self.example, reply)}


def _first_choice(reply: Reply) -> tuple[Mapping[str, Any], Mapping[str, Any], dict[str, Any] | None]:
    """The first choice of a completion and its message; and the error of a body that has none."""
    if reply.body is None:
        return {}, {}, error_fields("refused-by-provider" if reply.refused else "request-failed", reply.error)
    choices = reply.body.get("choices")
    if not isinstance(choices, list):
        return {}, {}, error_fields("request-failed", f"the answer is no chat completion: {json.dumps(reply.body)}")
    if not choices or not isinstance(choices[0], dict):
        return {}, {}, error_fields("empty", "the completion has no choices")
    message = choices[0].get("message")
    return choices[0], message if isinstance(message, dict) else {}, None


def _raw(message: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a message, enough to read it again."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    kept = {"tool_calls": message.get("tool_calls"), "reasoning": reasoning, "refusal": message.get("refusal")}
    return {"content": message.get("content")} | {key: value for key, value in kept.items() if value}


def _with_image(messages: list[dict[str, Any]], url: str) -> list[dict[str, Any]]:
    """The messages with the URL in place of the image's placeholder."""
    filled: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            content = [
                {**part, "image_url": {**part["image_url"], "url": url}}
                if part["type"] == "image_url" and part["image_url"]["url"] == IMAGE
                else part
                for part in content
            ]
        filled.append({**message, "content": content})
    return filled
