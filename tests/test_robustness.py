"""No input ends in a traceback: arbitrary bytes, arbitrary JSON and mutated good files, through the whole command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scorer.cli import main as cli
from tests.conftest import FIXTURES, ROOT, Score, scaled, write_rows
from tests.strategies import json_values, rows

GOOD = (FIXTURES / "predictions/text.jsonl").read_bytes()
IDS = [json.loads(line)["id"] for line in GOOD.splitlines() if line.strip()]
ANNOTATIONS = (FIXTURES / "osworld_g/benchmark/OSWorld-G.json").read_bytes()

many_runs = settings(
    max_examples=scaled(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@st.composite
def mutated(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with some bytes cut out, doubled or replaced."""
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 40)))
        replacement = draw(
            st.sampled_from([b"", bytes(data[start:stop]) * 2, b"\x00", b"\xff\xfe", b"[", b"}", b"NaN"])
        )
        data[start:stop] = replacement
    return bytes(data)


predictions_files = st.one_of(
    st.binary(max_size=300),
    st.lists(json_values, max_size=5).map(lambda values: "\n".join(map(json.dumps, values)).encode()),
    st.lists(rows(IDS), max_size=5).map(lambda values: "\n".join(map(json.dumps, values)).encode()),
    st.lists(rows(IDS), max_size=5).map(lambda values: json.dumps(values).encode()),
    mutated(GOOD),
)


def _is_decent(run: Any) -> bool:
    assert "Traceback" not in run.err
    assert "bug in score" not in run.err, run.err
    assert "\x1b" not in run.out + run.err
    return True


@many_runs
@given(predictions_files, st.sampled_from([(), ("-b", "pointerbench-text"), ("--space", "grid1000"), ("--json", "-")]))
def test_no_predictions_file_ends_in_a_traceback(run_score: Score, data: bytes, options: tuple[str, ...]) -> None:
    Path("p.jsonl").write_bytes(data)
    run = run_score("p.jsonl", "--data", FIXTURES, "--details", "details.jsonl", *options)
    assert _is_decent(run)
    assert run.status in (0, 1)
    assert run.err or run.status == 0


@many_runs
@given(st.binary(max_size=200) | json_values.map(lambda v: json.dumps(v).encode()) | mutated(ANNOTATIONS))
def test_no_ground_truth_ends_in_a_traceback(run_score: Score, data: bytes) -> None:
    Path("p.jsonl").write_bytes((FIXTURES / "predictions/osworld_g.jsonl").read_bytes())
    Path("OSWorld-G.json").write_bytes(data)
    Path("classification_result.json").write_bytes(data[:100])
    Path("buckets.json").write_bytes(data[50:])
    assert _is_decent(run_score("p.jsonl", "--gt", "OSWorld-G.json", "-b", "osworld-g", "--details", "d.jsonl"))
    assert _is_decent(run_score("p.jsonl", "--gt", "OSWorld-G.json"))


@many_runs
@given(st.data())
def test_no_well_formed_ground_truth_of_absurd_numbers_ends_in_a_traceback(
    run_score: Score, data: st.DataObject
) -> None:
    number = st.floats(-1.1e7, 1.1e7) | st.integers(-(10**200), 10**200) | st.integers(0, 50)
    records = json.loads(ANNOTATIONS)
    for record in records:
        record["box_coordinates"] = data.draw(st.lists(number, min_size=4, max_size=10))
    Path("OSWorld-G.json").write_text(json.dumps(records))
    Path("p.jsonl").write_bytes((FIXTURES / "predictions/osworld_g.jsonl").read_bytes())
    run = run_score("p.jsonl", "--gt", "OSWorld-G.json", "--details", "d.jsonl", "--json", "r.json")
    assert _is_decent(run)
    assert run.status in (0, 3)


@many_runs
@given(st.text(max_size=20))
def test_no_option_value_ends_in_a_traceback(run_score: Score, text: str) -> None:
    write_rows(Path("p.jsonl"), [{"id": IDS[0], "point": [1, 1]}])
    argument = text.replace("\0", "")
    for option in ("--space", "--benchmark-params", "--category", "--sample-ids", "--by", "--table-format"):
        assert _is_decent(run_score("p.jsonl", "--data", FIXTURES, option, argument))


def test_a_bug_exits_70_with_a_line_that_says_so(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh\x1b[31m no")

    monkeypatch.setattr("scorer.cli.scoring.score_streams", broken)
    run = run_score(FIXTURES / "predictions/text.jsonl", "--data", FIXTURES)
    assert run.status == 70
    assert "internal error: ZeroDivisionError" in run.err
    assert "this is a bug in score, not in your files" in run.err
    assert "test_robustness.py:" in run.err
    assert "Traceback" not in run.err
    assert "\x1b" not in run.err


def _start(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "scorer", *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment, **options},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["profiles"], ["--details", "-"], []])
def test_a_full_disk_is_said_and_no_bug(arguments: list[str]) -> None:
    files = [] if arguments in (["--help"], ["profiles"]) else [FIXTURES / "predictions/text.jsonl", "--data", FIXTURES]
    with open("/dev/full", "wb") as full:
        process = _start(*arguments, *files, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"the output cannot be written (No space left on device)" in err


def test_closed_and_full_standard_streams_do_not_change_a_status() -> None:
    command = f"{sys.executable} -m scorer {FIXTURES}/predictions/text.jsonl --data {FIXTURES}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for redirection in (">&-", "2>&-", ">&- 2>&-", "2>/dev/full"):
        run = subprocess.run(f"{command} {redirection}", shell=True, env=environment, capture_output=True, check=False)
        assert run.returncode == 0, (redirection, run.stderr)


def test_a_closed_pipe_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "scorer", FIXTURES / "predictions/text.jsonl", "--data", FIXTURES, "--details", "-"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    os.close(writing)
    assert run.returncode == cli.PIPE_CLOSED
    assert b"Error" not in run.stderr
    assert b"Traceback" not in run.stderr


def _unread(pipe: IO[bytes]) -> int:
    """The bytes that are in a pipe."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_with_one_word() -> None:
    process = _start("-", "--data", FIXTURES, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()
    end = time.monotonic() + 60
    while _unread(process.stdin) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)  # it has read the first line, and waits for rows that never come
    _, err = process.communicate(timeout=20)
    assert process.returncode == cli.INTERRUPTED
    assert err.strip() == b"interrupted"


def test_an_output_that_cannot_show_a_character_gets_its_escape() -> None:
    script = (
        "import io, sys\n"
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='latin-1')\n"
        "from scorer.cli.main import main\n"
        f"main([{str(FIXTURES / 'predictions/text.jsonl')!r}, '--data', {str(FIXTURES)!r}])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert run.returncode == 0, run.stderr
    assert b"95% CI 33.7 \\u2013 75.4" in run.stdout
    assert b"hit 10 \xb7 miss 4" in run.stdout
