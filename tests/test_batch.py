"""Batch files: the same requests as lines, limits, and rows from an engine's output in any order."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from PIL import Image

from tests.conftest import FIXTURES, Ask, Score
from tests.endpoint import Endpoint, completion
from tests.test_inference import rows_of

WHOLE = ("--benchmark", "osworld-g")


def _written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _output(request: dict[str, Any], content: str) -> dict[str, Any]:
    body = json.loads(completion(content).body)
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


@pytest.mark.parametrize("profile", ["base", "qwen3vl", "glm", "claude"])
def test_the_lines_hold_the_requests_that_would_be_sent(ask: Ask, tmp_path: Path, profile: str) -> None:
    file = tmp_path / "requests.jsonl"
    run = ask(profile, *WHOLE, "--write-requests", file)
    assert (run.status, f"21 requests in {file}" in run.err) == (0, True)
    with Endpoint(lambda *_: completion("(1, 2)")) as endpoint:
        ask(profile, *WHOLE, "--out", tmp_path / "p.jsonl", "--model-base-url", endpoint.url)
    lines = _written(file)
    assert all((line["method"], line["url"]) == ("POST", "/v1/chat/completions") for line in lines)
    by_text = {json.dumps(line["body"], sort_keys=True) for line in lines}
    assert by_text == {json.dumps(asked.body, sort_keys=True) for asked in endpoint.asked}


def test_limits_split_the_file_and_no_half_part_is_left(ask: Ask, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    ask("base", *WHOLE, "--attempts", 2, "--write-requests", whole)
    by_lines = tmp_path / "lines.jsonl"
    ask("base", *WHOLE, "--attempts", 2, "--write-requests", by_lines, "--batch-lines", 20)
    longest = max(map(len, whole.read_bytes().splitlines(keepends=True)))
    by_bytes = tmp_path / "bytes.jsonl"
    ask("base", *WHOLE, "--attempts", 2, "--write-requests", by_bytes, "--batch-bytes", 3 * longest)
    for stem, check in (("lines", lambda part: len(_written(part)) <= 20),
                        ("bytes", lambda part: part.stat().st_size <= 3 * longest)):  # fmt: skip
        parts = sorted(tmp_path.glob(f"{stem}-*.jsonl"))
        assert len(parts) > 2
        assert all(map(check, parts))
        assert b"".join(part.read_bytes() for part in parts) == whole.read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(("profile", "size"), [("base", (1920, 1080)), ("claude", (1280, 720))])
def test_file_urls_lead_to_the_image_that_would_be_sent(
    ask: Ask, tmp_path: Path, profile: str, size: tuple[int, int]
) -> None:
    file = tmp_path / "requests.jsonl"
    ask(profile, *WHOLE, "--sample-ids", "FIXSHOT001-0", "--write-requests", file, "--image-urls", "file")
    (line,) = _written(file)
    url = urlparse(line["body"]["messages"][1]["content"][0]["image_url"]["url"])
    path = Path(unquote(url.path))
    assert url.scheme == "file"
    with Image.open(path) as picture:
        assert picture.size == size
    own = FIXTURES / "osworld_g/benchmark/images/FIXSHOT001.png"
    assert (path == own.resolve()) == (profile == "base")
    assert (path.parent == tmp_path / "requests.images") == (profile == "claude")


def test_responses_in_any_order_become_rows(ask: Ask, run_score: Score, tmp_path: Path) -> None:
    file, out = tmp_path / "requests.jsonl", tmp_path / "preds.jsonl"
    ask("qwen3vl", *WHOLE, "--attempts", 2, "--write-requests", file)
    requests = _written(file)
    lines = [_output(request, '{"coordinate": [156.25, 144.329]}') for request in requests]
    lines[3] = {
        "custom_id": requests[3]["custom_id"],
        "response": None,
        "error": {"code": "expired", "message": "late"},
    }
    lines[4]["response"] = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    lines[5]["custom_id"] = "FIXSHOT999-0#1"
    random.Random(1).shuffle(lines)
    for number, part in enumerate((lines[:10], lines[10:])):
        (tmp_path / f"part{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in part) + "\n")

    parts = ["--read-responses", tmp_path / "part0.jsonl", tmp_path / "part1.jsonl"]
    run = ask("qwen3vl", *WHOLE, "--attempts", 2, "--out", out, *parts)
    again = ask("qwen3vl", *WHOLE, "--attempts", 2, "--out", out, *parts)

    assert (run.status, again.status) == (0, 0)
    assert "1 lines answer requests that this command does not make" in run.err
    assert "41 of 42 rows" in run.err
    assert "39 with an answer, request-failed 2" in again.err
    rows = {(row["id"], row["attempt"]): row for row in rows_of(out)}
    assert len(rows) == len(rows_of(out)) == 41
    messages = {row["error"]["message"] for row in rows.values() if "error" in row}
    assert any("late" in message for message in messages)
    assert any("HTTP 400" in message and "too long" in message for message in messages)
    assert rows["FIXSHOT001-0", 1]["point"] == [156.25, 144.329]
    report = run_score(out, "--data", FIXTURES, "--sample-ids", "FIXSHOT001-0", "--json", "-")
    assert report.json["hits"] == 1


@pytest.mark.parametrize("line", ["{", "[]", '{"response": {}}'])
def test_what_is_no_batch_output_is_named(ask: Ask, tmp_path: Path, line: str) -> None:
    (tmp_path / "out.jsonl").write_text(line + "\n")
    run = ask("base", *WHOLE, "--out", tmp_path / "p.jsonl", "--read-responses", tmp_path / "out.jsonl")
    assert (run.status, "out.jsonl:1: no line of a batch output" in run.err) == (2, True)


def test_an_unwritable_place_is_said(ask: Ask, tmp_path: Path) -> None:
    run = ask("base", *WHOLE, "--write-requests", tmp_path / "nowhere/requests.jsonl")
    assert (run.status, "cannot be written" in run.err) == (2, True)
