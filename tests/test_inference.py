"""The inference scripts against a scripted endpoint: replies, faults, going on, refusing to mix."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FIXTURES, ROOT, Ask, Score
from tests.endpoint import Act, Endpoint, Script, as_json, completion, failure, instruction

KEY = "sk-secret-1234567890"
NOBODY = "http://127.0.0.1:9/v1"
ONE = ("--benchmark", "osworld-g", "--sample-ids", "FIXSHOT001-0")


def answering(*acts: Act) -> Script:
    """The acts one after the other, the last one again and again."""
    return lambda _, count: acts[min(count, len(acts) - 1)]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def call(name: str, **arguments: Any) -> Act:
    """A native tool call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return completion(None, tool_calls=[{"id": "c", "type": "function", "function": function}])


# FIXSHOT001-0 is the box [240, 135.5, 360.25, 176.25] on 1920x1080; each reply names its middle, (300, 155.875).
REPLIES: dict[str, Act] = {
    "base": completion("pyautogui.click(x=300, y=155.875)"),
    "claude": completion('{"point": [200, 103.917]}'),
    "gpt": completion("It is top left.\n(156.25, 144.329)"),
    "internvl3.5": completion("<action>\nclick(x=0.15625, y=0.144329)\n</action>"),
    "qwen3vl": call("computer_use", action="left_click", coordinate=[156.25, 144.329]),
    "glm": completion("Press. <|begin_of_box|>left_click(start_box='[156.25,144.329]')<|end_of_box|>\nMemory:\n[]"),
    "gemini3": completion("<thought>(1, 1)</thought>(156.25, 144.329)"),
    "scalecua": completion("<action>\nclick(x=301.875, y=157.607)\n</action>"),
    "kimik25": completion("## Action:\nSave.\n## Code:\n```python\npyautogui.click(x=0.15625, y=0.144329)\n```"),
}  # fmt: skip


@pytest.mark.parametrize("profile", REPLIES)
def test_each_profile_asks_writes_a_row_and_scores(ask: Ask, run_score: Score, tmp_path: Path, profile: str) -> None:
    out = tmp_path / "preds.jsonl"
    with Endpoint(answering(REPLIES[profile])) as endpoint:
        run = ask(profile, *ONE, "--out", out, "--model-base-url", endpoint.url, "--model-api-key", KEY)
    assert run.status == 0
    assert "1 of 1 rows in" in run.err
    (row,) = rows_of(out)
    assert (row["profile"], row["model"], row["attempt"]) == (profile, "a-model", 1)
    assert row["image_size"] == [1920, 1080]
    assert row["sent_size"] == ([1280, 720] if profile == "claude" else [1920, 1080])
    assert row["usage"] == {"prompt_tokens": 9, "completion_tokens": 5}
    assert row["finish_reason"] == "stop"
    assert row["latency_s"] > 0
    assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in out.read_text() + run.out + run.err

    scored = run_score(out, "--data", FIXTURES, "--sample-ids", "FIXSHOT001-0", "--json", "-")
    assert (scored.json["hits"], scored.json["n"]) == (1, 1)
    (detail,) = [run_score(out, "--data", FIXTURES, "--sample-ids", "FIXSHOT001-0", "--details", "-").json]
    assert detail["points"][0] == pytest.approx([300, 155.875], abs=0.01)
    assert run_score("reparse", out, "--profile", profile, "--out", "-").json == row


FAULTS: list[tuple[str, Script, int, str, str]] = [
    # name, script, calls that are made with --max-retries 2, error code ("" for an answer), words of the message
    ("429 with Retry-After", answering(failure(429, headers={"Retry-After": "0.3"}), completion("(1, 2)")), 2, "", ""),
    ("429 for ever", answering(failure(429, headers={"Retry-After": "0.01"})), 2, "request-failed", "HTTP 429"),
    ("500 once", answering(failure(500), completion("(1, 2)")), 2, "", ""),
    ("500 for ever", answering(failure(500)), 2, "request-failed", "HTTP 500"),
    ("dropped once", answering(Act(b"", drop=True), completion("(1, 2)")), 2, "", ""),
    ("dropped for ever", answering(Act(b"", drop=True)), 2, "request-failed", "onnection"),
    ("timeout", answering(completion("(1, 2)")._replace(delay=1.5)), 2, "request-failed", "timed out"),
    ("slow", answering(completion("(1, 2)")._replace(delay=0.4)), 1, "", ""),
    ("bad request", answering(failure(400, "no such parameter")), 1, "request-failed", "no such parameter"),
    ("key quoted", answering(failure(401, f"Incorrect API key {KEY}")), 1, "request-failed", "Incorrect API key ***"),
    ("invalid JSON", answering(Act(b'{"choices": [')), 1, "request-failed", "not JSON"),
    ("a page", answering(Act(b"<html>", headers={"Content-Type": "text/html"})), 1, "request-failed", "not JSON"),
    ("a list", answering(as_json([1])), 1, "request-failed", "not a JSON object"),
    ("no completion", answering(as_json({"detail": "Not Found"})), 1, "request-failed", "no chat completion"),
    ("null content", answering(completion(None)), 1, "empty", "neither content nor tool calls"),
    ("empty choices", answering(as_json({"choices": []})), 1, "empty", "no choices"),
    ("null message", answering(as_json({"choices": [{"message": None}]})), 1, "empty", "neither"),
    ("length cut", answering(completion("first (1, 2), then", "length")), 1, "truncated", "cut off"),
    ("content filter", answering(completion("(1, 2)", "content_filter")), 1, "refused-by-provider", "content_filter"),
    ("provider refuses", answering(completion(None, refusal="I cannot")), 1, "refused-by-provider", "I cannot"),
    ("filter by status", answering(failure(400, "no", code="content_filter")), 1, "refused-by-provider", "HTTP 400"),
    ("prose", answering(completion("No idea.")), 1, "unparsed", "no coordinates"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "calls", "code", "words"), [pytest.param(*case[1:], id=case[0]) for case in FAULTS])
def test_faults(ask: Ask, run_score: Score, tmp_path: Path, script: Script, calls: int, code: str, words: str) -> None:
    out = tmp_path / "preds.jsonl"
    with Endpoint(script) as endpoint:
        options = ["--model-base-url", endpoint.url, "--model-api-key", KEY, "--max-retries", 2, "--timeout", 1]
        run = ask("base", *ONE, "--out", out, *options)
    (row,) = rows_of(out)
    assert len(endpoint.asked) == calls
    assert row.get("error", {}).get("code", "") == code
    assert words in row.get("error", {}).get("message", "")
    assert ("point" in row) == (not code)
    assert KEY not in out.read_text() + run.err
    assert run.status == (1 if code == "request-failed" else 0)
    if not code and calls == 2:
        assert row["retries"] == 1

    scored = run_score(out, "--data", FIXTURES, "--sample-ids", "FIXSHOT001-0", "--json", "-").json
    assert scored["outcomes"]["run_error" if code else "miss"] == 1


def test_retry_after_is_kept_to(ask: Ask, tmp_path: Path) -> None:
    with Endpoint(answering(failure(429, headers={"Retry-After": "1"}), completion("(1, 2)"))) as endpoint:
        ask("base", *ONE, "--out", tmp_path / "p.jsonl", "--model-base-url", endpoint.url)
    first, second = endpoint.asked
    assert 1 <= second.at - first.at < 5


def test_a_run_goes_on_where_it_stopped_and_asks_errors_again_on_request(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"

    def script(body: dict[str, Any], _: int) -> Act:
        return completion("no idea") if "Mirror" in instruction(body) else completion("(1, 2)")

    with Endpoint(script) as endpoint:
        options = ["--benchmark", "osworld-g", "--out", out, "--model-base-url", endpoint.url]
        ask("base", *options, "--limit", 3)
        assert len(endpoint.asked) == 3
        ask("base", *options)
        assert len(endpoint.asked) == 21
        first = rows_of(out)
        run = ask("base", *options)
        assert len(endpoint.asked) == 21
        assert "20 with an answer, unparsed 1; --retry-errors asks these again" in run.err
        again = ask("base", *options, "--retry-errors")
        assert len(endpoint.asked) == 22
    assert again.status == 0
    assert sorted(row["id"] for row in rows_of(out)) == sorted({row["id"] for row in first})
    assert len(first) == 21


def test_attempts_are_rows_of_their_own(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"
    with Endpoint(answering(completion("(1, 2)"))) as endpoint:
        ask("base", "--benchmark", "pointerbench", "--limit", 2, "--attempts", 3, "--out", out,
            "--model-base-url", endpoint.url)  # fmt: skip
    keys = [(row["id"], row["attempt"]) for row in rows_of(out)]
    assert len(keys) == len(set(keys)) == 18
    assert {attempt for _, attempt in keys} == {1, 2, 3}


@pytest.mark.parametrize(
    ("profile", "model", "more", "named"),
    [
        ("gpt", "a-model", [], "profile base, now it would be gpt"),
        ("base", "b-model", [], "model a-model, now it would be b-model"),
        ("base", "a-model", ["--instruction-variant", "refined"], "asked with prompt"),
        ("base", "a-model", ["--space", "grid1000"], "asked with prompt"),
    ],
)
def test_another_profile_model_or_prompt_is_refused(
    ask: Ask, tmp_path: Path, profile: str, model: str, more: list[str], named: str
) -> None:
    out = tmp_path / "preds.jsonl"
    with Endpoint(answering(completion("(1, 2)"))) as endpoint:
        options = [*ONE, "--out", out, "--model-base-url", endpoint.url]
        ask("base", *options)
        before = out.read_bytes()
        run = ask(profile, *options, *more, model=model)
        assert run.status == 2
        assert named in run.err
        assert "give another --out" in run.err
        assert out.read_bytes() == before
        assert len(endpoint.asked) == 1


def test_a_file_of_something_else_is_left_alone(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    out.write_text('{"id": "a", "point": [1, 2]}\n')
    run = ask("base", *ONE, "--out", out, "--model-base-url", NOBODY)
    assert (run.status, "notes.jsonl:1: this line is no row of such a run" in run.err) == (2, True)
    assert out.read_text() == '{"id": "a", "point": [1, 2]}\n'


def test_missing_and_wrong_screenshots_are_all_named_before_the_first_call(ask: Ask, tmp_path: Path) -> None:
    import shutil

    from PIL import Image

    shutil.copytree(FIXTURES / "osworld_g", tmp_path / "osworld_g")
    folder = tmp_path / "osworld_g/benchmark/images"
    (folder / "FIXSHOT002.png").unlink()
    (folder / "FIXSHOT003.png").write_bytes(b"no picture")
    Image.new("RGB", (960, 540)).save(folder / "FIXSHOT004.png")
    with Endpoint(answering(completion("(1, 2)"))) as endpoint:
        out = tmp_path / "p.jsonl"
        run = ask("base", "--benchmark", "osworld-g", "--out", out, "--model-base-url", endpoint.url, data=tmp_path)
    assert run.status == 3
    assert "3 of 5 screenshots cannot be used" in run.err
    assert "FIXSHOT002.png: missing" in run.err
    assert "FIXSHOT003.png: cannot be read" in run.err
    assert "FIXSHOT004.png: is 960x540, the annotation says 1920x1080" in run.err
    assert not endpoint.asked
    assert not out.exists()


def test_ignored_parameters_are_recorded_and_the_others_sent(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"
    params: dict[str, Any] = {
        "temperature": None,
        "max_tokens": 64,
        "tools": [],
        "n": 3,
        "extra_body": {"top_k": 1, "messages": []},
        "extra_headers": {"X-Team": "grounding"},
    }
    with Endpoint(answering(completion("(1, 2)"))) as endpoint:
        ask("base", *ONE, "--out", out, "--model-base-url", endpoint.url, "--model-params", json.dumps(params))
    (asked,) = endpoint.asked
    assert rows_of(out)[0]["ignored_params"] == ["tools", "n", "extra_body.messages"]
    assert {key: asked.body.get(key) for key in ("max_tokens", "top_k")} == {"max_tokens": 64, "top_k": 1}
    assert not {"temperature", "tools", "n"} & set(asked.body)
    assert len(asked.body["messages"]) == 2
    assert asked.headers["x-team"] == "grounding"


def test_dry_run_shows_one_request_and_needs_no_screenshot(ask: Ask, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(FIXTURES / "osworld_g", tmp_path / "osworld_g", ignore=shutil.ignore_patterns("*.png"))
    run = ask("claude", "--benchmark", "osworld-g", "--dry-run", data=tmp_path)
    body = json.loads(run.out)
    assert body["messages"][1]["content"][0]["image_url"]["url"] == "<image>"
    assert "1280x720" in body["messages"][0]["content"]
    assert "<image> is 1280x720 pixels" in run.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--benchmark", "osworld-g"], "--out FILE is needed"),
        ([*ONE, "--out", "p", "--model-params", "[1]"], "expected an object"),
        ([*ONE, "--out", "p", "--model-params", "{"], "not JSON"),
        ([*ONE, "--out", "p", "--model-params", '{"extra_body": 1}'], "extra_body in --model-params must be an object"),
        ([*ONE, "--out", "p", "--space", "grid"], 'unknown space "grid"'),
        ([*ONE, "--out", "p", "stray"], "unexpected argument: stray"),
        (["--benchmark", "pointerbench", "--out", "p", "--instruction-variant", "refined"], "is for osworld-g"),
    ],
)
def test_usage_errors_say_what_is_wrong(ask: Ask, arguments: list[str], words: str) -> None:
    run = ask("base", *arguments)
    assert (run.status, words in run.err) == (2, True), run.err


def test_without_an_endpoint_nothing_is_sent_anywhere(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY"):  # nothing leaves, should it be sent after all
        monkeypatch.setenv(name, NOBODY)
    run = ask("base", *ONE, "--out", tmp_path / "p.jsonl")
    assert run.status == 2
    assert "say where the model is with --model-base-url URL or $OPENAI_BASE_URL" in run.err
    assert not (tmp_path / "p.jsonl").exists()


def test_without_the_extra_the_next_step_is_named(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    run = ask("base", *ONE, "--out", tmp_path / "p.jsonl", "--model-base-url", NOBODY)
    assert run.status == 2
    assert "python -m pip install 'gui-grounding-scorer[inference]'" in run.err


@pytest.mark.slow
def test_the_ten_lines_of_the_readme_work(tmp_path: Path) -> None:
    """Pasted as they are, but for the installation, the download, and the address of the endpoint."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    lines = block.splitlines()
    assert len(lines) == 10
    assert lines[0] == "python -m pip install '.[inference,fetch]'"
    assert lines[1].startswith("score fetch pointerbench ")

    def script(body: dict[str, Any], _: int) -> Act:
        return call("computer_use", action="left_click", coordinate=[500, 500]) if "tools" in body else completion("?")

    with Endpoint(script) as endpoint:
        pasted = "\n".join(lines[2:]).replace("http://localhost:8000/v1", endpoint.url)
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "SCORER_DATA": str(FIXTURES)}
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", pasted],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    boxes = sum("tools" not in asked.body for asked in endpoint.asked)
    assert len(rows_of(tmp_path / "preds.jsonl")) == 42
    assert len(endpoint.asked) == 42 + boxes // 2
    assert run.stdout.count("pointerbench-sheets") >= 2
    assert json.loads((tmp_path / "report.json").read_text())["accepted"]
