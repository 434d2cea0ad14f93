"""The benchmark suite itself, at tiny sizes: that it measures what it names, not how fast anything is."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench import inputs
from tests.bench.works import WORKS, Sizes
from tests.conftest import ROOT

pytest.importorskip("orjson")

OTHER_SCORER = """
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("--predictions", required=True)
parser.add_argument("--gt", required=True)
given = parser.parse_args()
known = {json.loads(line)["id"] for line in open(given.gt)}
assert known == {json.loads(line)["id"] for line in open(given.predictions)}
"""
SIZES = ("--runs", "1", "--rows", "5000", "--examples", "2000")


def _ratios(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script with its temporary files below ``folder``."""
    command = [sys.executable, str(ROOT / "tests/bench/ratios.py"), *SIZES, *map(str, arguments)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_every_work_gives_a_row_and_leaves_no_file(tmp_path: Path, temporary: Path) -> None:
    other, out = tmp_path / "other.py", tmp_path / "figures.json"
    other.write_text(OTHER_SCORER)
    names = [work.name for work in WORKS if work.name != "polygons"]
    only = [argument for name in names for argument in ("--only", name)]
    run = _ratios(temporary, *only, "--versus", other, "--json", out)
    assert run.returncode == 0, run.stderr
    assert not list(temporary.iterdir())
    works = {work["name"]: work for work in json.loads(out.read_text())["works"]}
    assert list(works) == ["suite", "suite by other.py", "large", "large by other.py", *names[2:]]
    for name, work in works.items():
        assert len(work["figures"]) == 1
        assert 0 < work["figure"] < math.inf, name
        assert name == "judge" or (work["seconds"] > 0 and work["mebibytes"] > 1), name
    lines = run.stdout.splitlines()
    assert [line[2:].partition(":")[0] for line in lines[2:]] == list(works)
    assert all(f"{work['figure']:.2f}" in line for work, line in zip(works.values(), lines[2:], strict=True))
    assert all(line.split("|")[1].strip() in run.stderr for line in lines[2:])


@pytest.mark.slow
def test_a_target_that_is_missed_shows_and_fails_only_where_that_is_asked(temporary: Path) -> None:
    missed = ("--only", "suite", "--target", "suite=0.001")
    run = _ratios(temporary, *missed)
    assert run.returncode == 0, run.stderr
    assert [cell.strip() for cell in run.stdout.splitlines()[-1].split("|")[-3:-1]] == ["<= 0.001", "no"]
    assert _ratios(temporary, *missed, "--strict").returncode == 1
    assert _ratios(temporary, "--only", "suite", "--target", "suite=1000000", "--strict").returncode == 0


def test_a_run_that_fails_ends_the_suite_with_what_it_said(tmp_path: Path, temporary: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('out of paper')")
    run = _ratios(temporary, "--only", "suite", "--versus", broken)
    assert run.returncode == 1
    assert "out of paper" in run.stderr
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("name", inputs.WRITERS)
def test_inputs_are_the_same_each_time(name: str, tmp_path: Path) -> None:
    made: list[dict[str, bytes]] = []
    for folder in (tmp_path / "once", tmp_path / "again"):
        folder.mkdir()
        script = ROOT / "tests/bench/inputs.py"
        subprocess.run([sys.executable, str(script), name, str(folder), "5000"], check=True)
        made.append({str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert made[0] == made[1]
    assert len(made[0]) >= 2


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_the_attempts_are_written_one_after_another_over_all_examples(tmp_path: Path) -> None:
    inputs.write_attempts(tmp_path, 5000)
    rows = _rows(tmp_path)
    known = [json.loads(line)["id"] for line in inputs.truth_file(tmp_path).read_text().splitlines()]
    assert [(row["attempt"], row["id"]) for row in rows] == [(k, name) for k in range(1, 11) for name in known]
    assert (tmp_path / "tenth.jsonl").read_text().splitlines() == [json.dumps(row) for row in rows[:500]]


def test_one_row_in_a_hundred_of_the_mixed_file_has_a_fault_of_each_kind(tmp_path: Path) -> None:
    inputs.write_mixed(tmp_path, 50_000)
    rows = _rows(tmp_path)
    known = {json.loads(line)["id"] for line in inputs.truth_file(tmp_path).read_text().splitlines()}
    failed = sum("error" in row for row in rows)
    unanswered = sum("point" not in row and "error" not in row for row in rows)
    unknown = sum(row["id"] not in known for row in rows)
    duplicates = len(rows) - len({(row["id"], row["attempt"]) for row in rows})
    assert min(failed, unanswered, unknown, duplicates) > 0
    assert len(rows) == 50_000
    assert failed + unanswered + unknown + duplicates == 500


@pytest.mark.parametrize("name", ["attempts", "check"])
def test_limits_are_raised_where_the_sizes_are_beyond_them(name: str, tmp_path: Path) -> None:
    inputs.write_attempts(tmp_path, 5000)
    (build,) = (work.command for work in WORKS if work.name == name)
    assert build is not None
    (within,) = build(tmp_path, Sizes(5000, 1, {"attempts": 10, "rows": 5000}))
    (beyond,) = build(tmp_path, Sizes(5000, 1, {"attempts": 9, "rows": 4999}))
    assert beyond == [*within, "--max=attempts=10", "--max=rows=5000"]
    assert subprocess.run(beyond, capture_output=True, check=False).returncode == 0
