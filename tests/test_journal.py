"""The file of rows: repaired, never asked twice, whole whenever the process is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scorer.core.errors import UsageError
from scorer.inference.journal import Journal
from scorer.inference.runner import run
from tests.conftest import FIXTURES, ROOT
from tests.endpoint import Act, Endpoint, completion


def _row(name: str, attempt: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "attempt": attempt, "profile": "base", **more}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (b"", 1),
        (b'{"id": "b", "attempt": 1, "prof', 1),
        (b'{"id": "b", "attempt": 1, "profile": "base"}', 2),
        (b'{"id": "b", "attempt": 1, "profile": "base"}\n', 2),
        (b"{", 1),
        (b'{"id": "\xff\xfe', 1),
        (b"   ", 1),
    ],
)
def test_the_end_of_the_file_is_repaired(tmp_path: Path, tail: bytes, kept: int) -> None:
    file = tmp_path / "out.jsonl"
    file.write_bytes(json.dumps(_row("a", raw="x\u2028y" * 50_000)).encode() + b"\n" + tail)
    journal = Journal(str(file))
    journal.append(_row("c"))
    journal.close()
    assert [row["id"] for row in _lines(file)] == (["a", "c"] if kept == 1 else ["a", "b", "c"])


@pytest.mark.parametrize("content", [b"notes without an end", b"a\n{", b"7", b"\xff\xfe"])
def test_a_file_of_something_else_keeps_every_byte(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"notes:1: this line is no row of such a run"):
        Journal(str(file))
    assert file.read_bytes() == content


def test_half_of_the_first_row_is_cut_off_too(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_bytes(json.dumps(_row("a")).encode()[:-3])
    Journal(str(file)).close()
    assert file.read_bytes() == b""


def test_of_several_rows_the_one_that_says_most_stays(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    failed: dict[str, Any] = {"error": {"code": "request-failed", "message": "x"}}
    unread: dict[str, Any] = {"error": {"code": "unparsed", "message": "x"}}
    journal = Journal(str(file))
    for row in (
        *(_row("a", **failed), _row("a", **unread), _row("a", point=[1, 2]), _row("a", **failed)),
        *(_row("b", **unread), _row("b", **failed)),
        *(_row("c", point=[1, 1]), _row("c", point=[2, 2])),
    ):
        journal.append(row)
    assert len(_lines(file)) == 8
    journal.close()
    assert {row["id"]: row.get("point") or row["error"]["code"] for row in _lines(file)} == {
        "a": [1, 2],
        "b": "unparsed",
        "c": [2, 2],
    }
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_whatever_a_server_sends_the_file_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    journal = Journal(str(file))
    journal.append(_row("a", raw={"content": "\ud800 ü"}, usage={"cost": [float("nan"), 1e400, 2]}))
    journal.append(_row("b", raw={"content": "ü\u2028"}))
    journal.close()
    first, second = file.read_bytes().decode().split("\n")[:2]
    assert json.loads(first)["usage"] == {"cost": [None, None, 2]}
    assert json.loads(first)["raw"]["content"] == "\ud800 ü"
    assert "ü\u2028" in second


def test_a_folder_and_a_broken_middle_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        Journal(str(tmp_path))
    file = tmp_path / "out.jsonl"
    file.write_bytes(b'{"id": "a", "pro\n' + json.dumps(_row("b")).encode() + b"\n")
    with pytest.raises(UsageError, match=r"out\.jsonl:1: "):
        Journal(str(file))


def _count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _script(url: str, out: Path, *more: str) -> list[str]:
    options = ["--benchmark", "pointerbench", "--data", str(FIXTURES), "--model", "m", "--model-base-url", url]
    return [sys.executable, "-m", "scorer.profiles.base", *options, "--out", str(out), *more]


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("SCORER_", "OPENAI_"))}


@pytest.mark.slow
def test_killed_at_ten_moments_and_started_again_each_row_is_there_once(tmp_path: Path) -> None:
    """SIGKILL while rows are written; 3 x 42 calls, so that ten lives do not suffice to finish before the last."""
    out, rng = tmp_path / "preds.jsonl", random.Random(5)
    counted: dict[tuple[str, int], int] = {}

    def script(*_: object) -> Act:
        return completion(f"(1, 2) {'x' * 20_000}")._replace(delay=0.03)

    with Endpoint(script) as endpoint:
        command = _script(endpoint.url, out, "--attempts", "3", "--concurrency", "4")
        for life in range(10):
            rows_before = _count(out)
            process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            # Wait for the first rows of this life, then for a random moment.
            while time.monotonic() < deadline and process.poll() is None and _count(out) <= rows_before:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.06))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if life == 4:
                with out.open("ab") as stream:  # a kill in the middle of a write, whatever the system makes of it
                    stream.write(b'{"id": "pbs_90')
        before = [line for line in out.read_bytes().split(b"\n")[:-1] if line.endswith(b"}")]
        done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    after = out.read_bytes().splitlines()
    assert set(before) <= set(after)
    for row in map(json.loads, after):
        key = row["id"], row["attempt"]
        counted[key] = counted.get(key, 0) + 1
    assert len(counted) == 126
    assert set(counted.values()) == {1}
    # Asked twice were only calls whose answers a kill cut off: at most four in each of ten lives.
    assert 126 <= len(endpoint.asked) <= 126 + 40


@pytest.mark.slow
def test_ctrl_c_waits_for_the_calls_under_way_and_the_run_goes_on_later(tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"
    with Endpoint(lambda *_: completion("(1, 2)")._replace(delay=0.2)) as endpoint:
        command = _script(endpoint.url, out, "--concurrency", "3")
        process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stderr=subprocess.PIPE, text=True)
        while len(endpoint.asked) < 5 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        asked = len(endpoint.asked)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert "waiting for the calls under way" in err
        assert "interrupted; the same command goes on from here" in err
        assert len(_lines(out)) == asked < 42
        done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, timeout=120, check=False)
        assert done.returncode == 0
        assert len(endpoint.asked) == len(_lines(out)) == 42


def test_a_bug_in_a_worker_ends_the_run() -> None:
    def ask(number: int) -> int:
        if number == 3:
            raise ZeroDivisionError
        return number

    written: list[int] = []
    with pytest.raises(ZeroDivisionError):
        run(range(1, 100), ask, written.append, concurrency=2)
    assert 3 not in written


@pytest.mark.parametrize("concurrency", [1, 7])
def test_every_job_is_asked_once_whatever_the_concurrency(concurrency: int) -> None:
    written: list[int] = []
    assert run(range(1, 200), lambda number: number, written.append, concurrency=concurrency)
    assert sorted(written) == list(range(1, 200))
