"""Attacks by a bundle, a run folder or an output path: each was found by trying it, and has its fix."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scorer import UsageError, load_benchmark, score
from scorer.core.limits import Limits
from scorer.evidence.category_tree import read_hierarchy
from tests.conftest import FIXTURES, Score, answers, in_memory_of, write_rows
from tests.test_submission import BUNDLES, MANIFEST, _edited, _sha, fault, verified

COMPLETE = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
OSWORLD = load_benchmark("osworld-g", FIXTURES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUNDLES[0], tmp_path / "bundle"))


def test_nothing_behind_a_link_to_a_folder_is_listed_or_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    shutil.move(folder / "predictions/pointerbench-pro.jsonl", tmp_path / "outside")
    (tmp_path / "outside/pointerbench-sheets.jsonl").write_text('{"id": "SECRET", "point": [1, 1]}\n', encoding="utf-8")
    shutil.rmtree(folder / "predictions")
    (folder / "predictions").symlink_to(tmp_path / "outside")
    bundle = verified(folder)
    assert not bundle.holds
    assert "SECRET" not in repr(bundle.findings)
    assert bundle.reports == ()


def test_a_folder_of_too_many_files_says_so(folder: Path) -> None:
    for number in range(100):
        (folder / f"x{number}").touch()
    assert "it holds more than 64 files" in fault(folder)[2]


def test_files_that_belong_to_no_bundle_are_named_and_not_read(folder: Path) -> None:
    with (folder / "x").open("wb") as stream:
        stream.truncate(2**36)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert fault(folder)[:2] == ("bundle-file", "x")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5


@pytest.mark.parametrize("path", ["fifo", "/dev/zero"])
def test_what_is_no_file_is_not_waited_for(path: str, run_score: Score) -> None:
    os.mkfifo("fifo")
    run = run_score("verify", path, "--data", FIXTURES)
    assert run.status == 1
    assert "neither a folder nor a regular file" in run.err


@pytest.mark.parametrize(
    "row",
    [
        '{"id": "pbs_9001", "points": [' + "[1,1]," * 600_000 + "[1,1]]}",
        '{"id": "pbs_9001", "a": [' + "{}," * 1_300_000 + "{}]}",
        '{"id": "pbs_9001", "point": [1, 1], "gt": [' + "[]," * 1_300_000 + "[]]}",
        "{}\n" * 1_300_000,
    ],
    ids=["candidates", "objects", "a field", "rows"],
)
def test_rows_of_a_bundle_are_bounded_in_time_and_memory(row: str, folder: Path, tmp_path: Path) -> None:
    path = folder / "predictions/pointerbench-sheets.jsonl"
    path.write_text(row + "\n", encoding="utf-8")
    _edited(folder, lambda s: s["benchmarks"]["pointerbench-sheets"].update(sha256=_sha(path)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        in_memory_of(400, [sys.executable, "-m", "scorer", "verify", str(folder), "--data", str(FIXTURES)]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("fails  ")
    assert after.ru_utime - before.ru_utime < 10


def test_what_check_accepts_and_pixels_cannot_say_is_not_bundled(run_score: Score) -> None:
    rows = [json.loads(line) for line in COMPLETE.read_text(encoding="utf-8").splitlines()]
    rows[0] = {"id": rows[0]["id"], "point": [9e304, 0.5], "space": "fraction"}
    write_rows(Path("p.jsonl"), rows)
    run = run_score("bundle", "-p", "p.jsonl", "--manifest", MANIFEST, "--data", FIXTURES, "--out", "x")
    assert run.status == 1
    assert "once they are pixels of the original screenshot" in run.err
    assert not Path("x").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "b", "--json", "b/submission.json"],
        ["verify", "b", "--json", "b/new.json"],
        ["leaderboard", "b", "--csv", "b/predictions/pointerbench-pro.jsonl"],
        ["leaderboard", "b", "--csv", "f", "--json", "./f"],
        ["preds.jsonl", "--json", "hard.json"],
    ],
)
@pytest.mark.usefixtures("three_subsets")
def test_no_output_overwrites_what_is_read_or_another_output(command: list[str], run_score: Score) -> None:
    shutil.copytree(BUNDLES[0], "b")
    answers("pbs_0001")
    os.link("preds.jsonl", "hard.json")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    run = run_score(*command, "--data", ".")
    assert run.status == 2
    assert "overwrite" in run.err or "both write" in run.err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_stdin_is_not_overwritten_either(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    shutil.copy(COMPLETE, file)
    command = [sys.executable, "-m", "scorer", "-", "--data", str(FIXTURES), "--json", str(file)]
    with file.open("rb") as stdin:
        run = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "would overwrite what is read" in run.stderr
    assert file.read_bytes() == COMPLETE.read_bytes()


def test_a_manifest_of_nested_lists_is_named_and_not_passed_on(folder: Path, run_score: Score) -> None:
    nested: Any = "x"
    for _ in range(900):
        nested = [nested]
    _edited(folder, lambda submission: submission["manifest"].update(model=nested))
    run = run_score("verify", folder, "--data", FIXTURES, "--json", "-")
    assert run.status == 1
    assert run.json["bundles"][0]["manifest"] == {}
    assert run_score("leaderboard", folder, "--data", FIXTURES, "--json", "-").status == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"overall": {"aggregation": "weighted", "children": {"a": {"weight": 1e400}}}}', "for a double"),
        (
            '{"overall": {"aggregation": "weighted", "children": {"a": {"weight": 1e999999999}}}}',
            "for a double",
        ),
        (
            '{"overall": {"aggregation": "weighted", "children": {"a": {"weight": 1e-999999999}}}}',
            "for a double",
        ),
        ('{"overall": {"aggregation": "unweighted", "children": {"a": {}, "a": {}}}}', '"a" appears twice'),
        (
            '{"overall": ' + '{"aggregation": "unweighted", "children": {"a": ' * 60 + "{}" + "}}" * 60 + "}",
            "nested deeper than 50 nodes",
        ),
    ],
)
def test_a_tree_that_would_hang_or_crash_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_hierarchy(text.encode(), "tree.json")


def test_a_weight_of_zero_in_any_writing_is_one() -> None:
    children = '{"a": {"weight": 0.0e5}, "b": {"weight": -0.0}, "c": {"weight": 2}}'
    tree = f'{{"overall": {{"aggregation": "weighted", "children": {children}}}}}'
    assert [node.weight for node in read_hierarchy(tree.encode(), "t").children] == [0, 0, 2]


def test_more_attempts_than_the_limit_are_refused_with_it() -> None:
    with pytest.raises(UsageError, match=r"20001 attempts are more than the limit of 20000 \(--max attempts=N"):
        score(OSWORLD, [], attempts=20_001)


def test_too_many_candidates_are_no_answer() -> None:
    rows = [{"id": OSWORLD.examples[0].id, "points": [[1, 1]] * 6}]
    report = score(OSWORLD, rows, limits=Limits(candidates=5))
    (found,) = [finding for finding in report.findings if finding.line]
    assert (found.code, "the limit of 5 (--max candidates=N" in found.message) == ("candidate-count", True)
    assert report.outcomes["no_answer"] == 1


def test_an_array_on_one_line_keeps_each_tasks_own_row(run_score: Score) -> None:
    rows = [json.loads(line) for line in COMPLETE.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "raw": f"RAW {row['id']}", "model": ["no text"]} for row in rows]
    Path("p.json").write_text(json.dumps(rows), encoding="utf-8")
    assert run_score("p.json", "--data", FIXTURES, "--output-dir", "run").status == 0
    records = [json.loads(path.read_bytes()) for path in Path("run/details").iterdir() if path.name != "run.json"]
    assert len(records) == 21
    assert all(record["attempts"]["1"]["raw"] == f"RAW {record['task_id']}" for record in records)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("benchmark", 5),
        ("variant", 5),
        ("model", ["a"]),
        ("signature", 5),
        ("overlapping", "x"),
        ("k", 10**9),
        ("tasks", 5),
        ("aggregation_mode", "foo"),
        ("category_hierarchy", 5),
        ("category_hierarchy", {"overall": {"aggregation": "none"}}),
    ],
)
def test_a_run_json_that_was_edited_is_named(key: str, value: object, run_score: Score) -> None:
    assert run_score(COMPLETE, "--data", FIXTURES, "--output-dir", "run").status == 0
    path = Path("run/details/run.json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), key: value}), encoding="utf-8")
    run = run_score("summarize", "run")
    assert run.status == 1
    assert "run-detail" in run.err


def test_details_that_are_copied_renamed_or_taken_away_are_noticed(run_score: Score) -> None:
    assert run_score(COMPLETE, "--data", FIXTURES, "--output-dir", "run").status == 0
    path = next(path for path in Path("run/details").iterdir() if path.name != "run.json")
    shutil.copy(path, path.with_name("copy.json"))
    run = run_score("summarize", "run")
    assert (run.status, "the name of the file is not that of its task" in run.err) == (1, True)
    path.with_name("copy.json").unlink()
    path.unlink()
    run = run_score("summarize", "run")
    assert (run.status, "there are 20 details of 21 tasks" in run.err) == (1, True)
    os.mkfifo(path)
    assert run_score("summarize", "run").status == 1


def test_attempts_without_a_row_are_an_error_of_the_check(run_score: Score) -> None:
    run = run_score("check", COMPLETE, "--data", FIXTURES, "--attempts", "2")
    assert run.status == 1
    assert "21 of 42 attempts at examples of osworld-g have no row" in run.out


def test_names_of_a_tree_are_inert_beside_a_table(run_score: Score) -> None:
    tree = {"overall": {"aggregation": "unweighted", "children": {"<img src=x>|[l](u)": {}, "refusal": {}}}}
    Path("tree.json").write_text(json.dumps(tree), encoding="utf-8")
    for name in ("github", "mediawiki", "html"):
        run = run_score(COMPLETE, "--data", FIXTURES, "--category-hierarchy", "tree.json", "--table-format", name)
        assert "<img" not in run.out.replace("\\<img", ""), name
