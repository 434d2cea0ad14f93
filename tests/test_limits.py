"""Limits: every one settable, and hostile files refused in bounded time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scorer.cli.options import parse_limits
from scorer.core.errors import UsageError
from scorer.core.limits import DEFAULT_LIMITS, LIMITS, Limits, named
from tests.conftest import FIXTURES, Score, answers, in_memory_of, write_rows

SECONDS, MEBIBYTES = 10, 300
BARE_LOOP = 'import json\nfor _ in range(200_000): json.loads(\'{"id": "pbs_9001", "point": [3, 5]}\')'
BARE_SECONDS = 0.8
"""What a slow machine takes for the bare loop. One that is slower still, or busy, has as much more time."""


def test_every_limit_has_a_name_and_can_be_set() -> None:
    assert named(DEFAULT_LIMITS).keys() == LIMITS.keys()
    given = [f"{name}={number}" for number, name in enumerate(LIMITS, 1)]
    assert parse_limits(given) == Limits(*range(1, len(LIMITS) + 1))
    assert parse_limits([]) == DEFAULT_LIMITS
    assert all(value <= LIMITS[name][0] for name, value in named(DEFAULT_LIMITS).items())


@pytest.mark.parametrize(
    "text", ["rows", "rows=", "rows=0", "rows=-1", "rows=1e9", "row=5", "depth=401", "rows=" + "9" * 5000]
)
def test_a_limit_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--max"):
        parse_limits([text])


@pytest.mark.usefixtures("three_subsets")
def test_the_limits_of_the_command_reach_the_reader(run_score: Score) -> None:
    file = answers("pbs_0001", "pbs_0002", "pbs_0003", "pbs_0004")
    assert run_score("check", file).status == 0
    for limit in ("line-bytes=20", "rows=3", "depth=1"):
        run = run_score("check", file, "--max", limit)
        assert run.status == 1
        assert f"(--max {limit.split('=')[0]}=N sets another)" in run.out
    huge = answers("pbs_0001", point=(10.0**20, 5))
    assert "bad-number" not in run_score("check", huge).out
    assert "the limit of 20 (--max digits=N" in run_score("check", huge, "--max", "digits=20").out
    assert "the limit of 2 (--max digits=N" in run_score(answers("pbs_0001"), "--max", "digits=2").err


@pytest.mark.usefixtures("three_subsets")
def test_findings_over_the_limit_are_counted_and_not_kept(run_score: Score) -> None:
    file = answers(*(f"nobody_{number}" for number in range(9)))
    run = run_score("check", file, "--benchmark", "pointerbench-sheets", "--json", "-", "--max", "findings=4")
    assert run.json["finding_counts"]["unknown-id"] == 9
    assert sum(finding["code"] == "unknown-id" for finding in run.json["findings"]) == 4


def _write(path: Path, chunks: Iterator[bytes]) -> Path:
    with path.open("wb") as stream:
        stream.writelines(chunks)
    return path


def _one_line(start: bytes, size: int) -> Iterator[bytes]:
    yield start
    block = b" " * 2**20
    for _ in range(size // len(block)):
        yield block


def _duplicates(different: bool) -> Iterator[bytes]:
    for number in range(1_000_000):
        yield b'{"id": "pbs_9001", "point": [%d, 5]}\n' % (number if different else 3)


HOSTILE = {
    "a gigabyte in one line": (_one_line(b'{"id": "', 2**30), "line-too-long"),
    "a gigabyte in one array": (_one_line(b"[", 2**30), "array-too-long"),
    "a gigabyte of blanks": (_one_line(b"", 2**30), "line-too-long"),
    "a million duplicates": (_duplicates(different=False), "duplicate-id"),
    "a million duplicates that differ": (_duplicates(different=True), "duplicate-id"),
    "a text without an end": (iter([b'{"a":"' + b"[" * 401 + b'\\"' * 2**20 + b"\n"]), "bad-json"),
    "an array of lines that are none": (iter([b"[\n", b"x\n" * 2**17, b'{"a" x\n' * 2**15, b"]"]), "bad-json"),
    "10,000 levels": (iter([b'{"id": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"]), "bad-json"),
    "an array of 10,000 levels": (iter([b"[" * 10_000 + b"]" * 10_000]), "bad-json"),
    "millions of rows without anything": (iter([b"{}\n" * 2**20] * 3), "no-id"),
    "an array of entries without anything": (iter([b"[", b"{}," * 2**18, b"{}]"]), "no-id"),
    "millions of blank lines": (iter([b"\n" * 2**24] * 2), "too-many-rows"),
}


def _run(command: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    """A run of a command, and the seconds of the processor: those on the wall depend on what else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return run, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
@pytest.mark.xdist_group("files of a gigabyte")  # one after another, to bound the disk space
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_within_10_seconds_and_300_mebibytes(name: str, tmp_path: Path) -> None:
    chunks, code = HOSTILE[name]
    file = _write(tmp_path / "hostile.jsonl", chunks)
    command = [sys.executable, "-m", "scorer", "check", str(file), "--data", str(FIXTURES), "--json", "-"]
    bare, bare_seconds = _run([sys.executable, "-c", BARE_LOOP])
    run, seconds = _run(in_memory_of(MEBIBYTES, command))
    file.unlink()
    assert bare.returncode == 0, bare.stderr
    assert run.returncode == 1, run.stderr
    assert code in json.loads(run.stdout)["finding_counts"]
    assert seconds < SECONDS * max(1.0, bare_seconds / BARE_SECONDS)


def test_spaces_beyond_the_limit_are_no_answer_and_those_named_before_are(run_score: Score, tmp_path: Path) -> None:
    rows = [{"id": "pbs_9001", "point": [1, 1], "space": f"frame:{width}x9"} for width in (10, 11, 12, 10)]
    file = write_rows(tmp_path / "p.jsonl", rows)
    run = run_score("check", file, "--data", str(FIXTURES), "--max", "spaces=2")
    assert run.out.count("more different spaces than the limit of 2 (--max spaces=N sets another)") == 1
    assert "p.jsonl:3 " in next(line for line in run.out.splitlines() if "more different spaces" in line)
    assert "more different spaces" not in run_score("check", file, "--data", str(FIXTURES)).out
