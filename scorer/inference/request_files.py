"""Requests and responses as OpenAI Batch lines, for engines and vendors that take whole files.

vLLM's ``run-batch`` and the vendors' batch endpoints read such files and write one line per request, in any order.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from scorer.core.errors import UsageError
from scorer.inference.images import data_url, is_sent_as_it_is, png_bytes
from scorer.inference.plan import Job, Reply

URL = "/v1/chat/completions"
MAX_LINES = 50_000
MAX_BYTES = 200 * 2**20
"""The usual limits of one file at vendors, in requests and in bytes."""

ImageUrls = Literal["data", "file"]


class Written(NamedTuple):
    """A file of requests that was written."""

    path: str
    lines: int
    """The number of requests in it."""


def custom_id(job: Job) -> str:
    """The name of a request, from which its row is found again."""
    return f"{job.example.id}#{job.attempt}"


def write_requests(
    path: str,
    jobs: Iterable[Job],
    *,
    image_urls: ImageUrls = "data",
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
) -> list[Written]:
    """Write one line per job, into as many files as the limits ask for; several are numbered.

    Each file appears under its name only when it is whole. With ``image_urls`` "file" the engine reads the screenshots
    itself; one that is not sent as it is, is written into a folder beside the requests.
    """
    lines = (_line(job, path, image_urls) for job in jobs)
    parts: list[tuple[str, int]] = []
    try:
        parts = [_write_part(path, part) for part in _parts(lines, max_lines, max_bytes)]
        stem, suffix = os.path.splitext(path)
        names = [path] if len(parts) == 1 else [f"{stem}-{number:04d}{suffix}" for number in range(1, len(parts) + 1)]
        for (temporary, _), name in zip(parts, names, strict=True):
            os.replace(temporary, name)
    except OSError as error:
        for temporary, _ in parts:
            Path(temporary).unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from None
    return [Written(name, count) for name, (_, count) in zip(names, parts, strict=True)]


def read_responses(
    streams: Iterable[tuple[str, Callable[[], Any]]], jobs: Mapping[str, Job]
) -> Iterator[dict[str, Any] | None]:
    """Yield the row of each line of the engine's output, None for an answer to a request that this run does not make.

    ``jobs`` are known by their custom_id. Raises UsageError, naming file and line, for what is no line of such a file.
    """
    for name, opener in streams:
        with opener() as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                known, reply = _response(name, number, line)
                job = jobs.get(known)
                yield None if job is None else job.row(reply)


def _line(job: Job, path: str, image_urls: ImageUrls) -> bytes:
    size = job.plan.sent_size(job.example)
    url = data_url(job.file, size) if image_urls == "data" else _file_url(job, size, path)
    request = {"custom_id": custom_id(job), "method": "POST", "url": URL, "body": job.body(url)}
    return json.dumps(request).encode() + b"\n"


def _file_url(job: Job, size: tuple[int, int], path: str) -> str:
    """The screenshot's own file, or a prepared copy of it beside the requests."""
    if is_sent_as_it_is(job.file, size):
        return Path(job.file).resolve().as_uri()
    folder = Path(os.path.splitext(path)[0] + ".images")
    copy = folder / f"{Path(job.file).stem}.{size[0]}x{size[1]}.png"
    if not copy.exists():
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(png_bytes(job.file, size))
        os.replace(temporary, copy)
    return copy.resolve().as_uri()


def _parts(lines: Iterable[bytes], max_lines: int, max_bytes: int) -> Iterator[Iterator[bytes]]:
    """Consecutive runs of lines within the limits; each is used up before the next is asked for."""
    waiting = iter(lines)
    held = next(waiting, None)

    def part() -> Iterator[bytes]:
        nonlocal held
        count = size = 0
        while held is not None and count < max_lines and (not count or size + len(held) <= max_bytes):
            count, size = count + 1, size + len(held)
            yield held
            held = next(waiting, None)

    while held is not None:
        yield part()


def _write_part(path: str, lines: Iterable[bytes]) -> tuple[str, int]:
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    count = 0
    with os.fdopen(handle, "wb") as stream:
        for line in lines:
            stream.write(line)
            count += 1
    return temporary, count


def _response(name: str, number: int, line: bytes) -> tuple[str, Reply]:
    """The custom id of a line and its reply: a completion, or the error of that request."""
    try:
        data = json.loads(line)
    except ValueError:
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("custom_id"), str):
        raise UsageError(f'{name}:{number}: no line of a batch output; it has a "custom_id" and a "response"')
    response, error = data.get("response"), data.get("error")
    body = response.get("body") if isinstance(response, dict) else None
    status = response.get("status_code", 200) if isinstance(response, dict) else 0
    if error or status != 200 or not isinstance(body, dict):
        message = json.dumps(error or body or data)
        return data["custom_id"], Reply(
            None, f"HTTP {status}: {message}" if status else message, "content_filter" in message
        )
    return data["custom_id"], Reply(body)
