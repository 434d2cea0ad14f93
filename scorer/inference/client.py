"""One call to an OpenAI-chat endpoint. Retries, backoff with jitter and Retry-After are the openai client's own."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from scorer.core.errors import UsageError, needs
from scorer.core.findings import shorten
from scorer.inference.plan import Reply

NO_KEY = "none"
"""Sent where no key is given: local servers need none, but the client library does."""


class Client:
    """An endpoint. ``attempts`` is the number of attempts for one call in all, ``timeout`` the seconds for each."""

    def __init__(self, base_url: str | None, api_key: str | None, *, attempts: int, timeout: float) -> None:
        with needs("openai"):
            import openai
        self._api_error = openai.APIError
        self._status_error = openai.APIStatusError
        self._key = api_key or NO_KEY
        try:
            client = openai.OpenAI(api_key=self._key, base_url=base_url, max_retries=attempts - 1, timeout=timeout)
        except (ValueError, openai.OpenAIError) as error:
            raise UsageError(f"--model-base-url: {self._safe(error)}") from None
        self._create = client.chat.completions.with_raw_response.create

    def ask(self, body: Mapping[str, Any], transport: Mapping[str, Any]) -> Reply:
        """Send one request. Never raises for what a network or a server does."""
        start = time.perf_counter()
        try:
            # The complete body is passed as an extra body, which replaces the client's. The client would otherwise
            # validate each part of it, which takes a quarter of the time of a call.
            response = self._create(model=body["model"], messages=[], extra_body=body, **transport)
            data = json.loads(response.http_response.content)
        except self._status_error as error:
            refused = "content_filter" in str(error.body) or "content_policy" in str(error.body)
            return Reply(None, f"HTTP {error.status_code}: {self._safe(error)}", refused, _since(start))
        except self._api_error as error:
            cause = f" ({error.__cause__})" if error.__cause__ is not None else ""
            return Reply(None, self._safe(f"{error}{cause}"), latency=_since(start))
        except (ValueError, RecursionError) as error:
            return Reply(None, self._safe(f"the answer is not JSON: {error}"), latency=_since(start))
        if not isinstance(data, dict):
            return Reply(None, "the answer is not a JSON object", latency=_since(start))
        return Reply(data, latency=_since(start), retries=response.retries_taken)

    def _safe(self, error: object) -> str:
        """The text of an error without the key, which some servers quote."""
        text = shorten(str(error), 500)
        return text if self._key == NO_KEY else text.replace(self._key, "***")


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 4)
