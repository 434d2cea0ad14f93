"""A scripted chat endpoint on loopback: replies and faults on cue, every request kept."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Act(NamedTuple):
    """What the server does with one request; ``drop`` closes the connection without an answer."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = {}
    delay: float = 0
    drop: bool = False


class Asked(NamedTuple):
    """One request as it came over the wire."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    path: str
    at: float


def completion(content: Any = None, finish_reason: str = "stop", **message: Any) -> Act:
    """A chat completion with one choice."""
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content, **message},
    }
    return as_json(
        {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}
    )


def as_json(value: Any, status: int = 200, **rest: Any) -> Act:
    """Any JSON as an answer."""
    return Act(json.dumps(value).encode(), status, **rest)


def failure(status: int, message: str = "scripted", headers: Mapping[str, str] | None = None, **error: Any) -> Act:
    """An error as OpenAI-compatible servers write it."""
    return as_json({"error": {"message": message, **error}}, status, headers=headers or {})


Script = Callable[[dict[str, Any], int], Act]
"""The body of a request, and how many requests came before it -> what to do."""


class Endpoint:
    """The server, running while the context is open. ``url`` is what --model-base-url gets."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    count = len(endpoint.asked)
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    endpoint.asked.append(Asked(body, headers, self.path, time.monotonic()))
                act = script(body, count)
                time.sleep(act.delay)
                if act.drop:
                    self.close_connection = True
                    return
                head = {"Content-Type": "application/json", "Content-Length": str(len(act.body)), **act.headers}
                lines = [f"HTTP/1.1 {act.status} Scripted", *(f"{key}: {value}" for key, value in head.items())]
                try:
                    self.wfile.write("\r\n".join([*lines, "", ""]).encode() + act.body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self) -> Endpoint:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def instruction(body: Mapping[str, Any]) -> str:
    """All text that a request holds outside its system message."""
    parts = [part for message in body["messages"] if message["role"] == "user" for part in message["content"]]
    return "\n".join(part["text"] for part in parts if part["type"] == "text")
