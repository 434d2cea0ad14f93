"""The run folder: details that say what the score says, aggregates made of nothing else, nothing half written."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scorer.output.run_folder.details import SHARD_ABOVE, file_name
from scorer.output.run_folder.folder import RUN_KEYS
from tests.conftest import DATA, FIXTURES, Score, needs_data, write_rows

OSWORLD = FIXTURES / "predictions/osworld_g.jsonl"
EXPECTED = json.loads((FIXTURES / "expected/osworld_g.json").read_text(encoding="utf-8"))


def details(folder: Path) -> dict[str, Any]:
    paths = [path for path in (folder / "details").rglob("*.json") if path.name != "run.json"]
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return {record["task_id"]: record for record in records}


def lines_of(folder: str) -> list[str]:
    """The lines of a summary, its tables without their padding."""
    text = Path(folder, "summary.md").read_text(encoding="utf-8")
    return [re.sub(" +", " ", line) for line in text.splitlines()]


@pytest.fixture
def folder(run_score: Score) -> Path:
    """The folder of a run over OSWorld-G's fixtures."""
    assert run_score(OSWORLD, "--data", FIXTURES, "--output-dir", "run").status == 0
    return Path("run")


def test_each_task_has_its_verdict_as_the_fixtures_expect_it(folder: Path) -> None:
    found = details(folder)
    assert len(found) == 21
    for record in found.values():
        (attempt,) = record["attempts"].values()
        outcome = attempt["scoring"]["outcome"]
        assert attempt["metrics"] == {"correct": outcome == "hit"}
        assert attempt["status"] == ("completed" if outcome in ("hit", "miss") else "run_error")
        assert bool(attempt["issues"]) == (attempt["status"] == "run_error")
        assert record["dataset"] == {"benchmark": "osworld-g", "variant": "original"}
    outcomes = [record["attempts"]["1"]["scoring"]["outcome"] for record in found.values()]
    assert {name: outcomes.count(name) for name in set(outcomes)} == {
        "hit": 9,
        "miss": 7,
        "no_answer": 2,
        "run_error": 2,
        "absent": 1,
    }


def test_the_metrics_are_the_score_and_their_counts_add_up(folder: Path) -> None:
    found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    (series,) = found["series"]
    assert (found["k"], series["series_id"], series["value"]) == (1, "correct.native@1", 9 / 21)
    # Two run errors, two rows without an answer, one example without a row.
    assert series["counts"] == {"total": 21, "evaluated": 21, "error": 5, "unavailable": 0, "invalidated": 0}
    for key in series["counts"]:
        assert sum(category["counts"][key] for category in series["categories"].values()) == series["counts"][key]
    assert {name: category["value"] for name, category in series["categories"].items()} == {
        "bbox": 5 / 9,
        "polygon": 2 / 5,
        "refusal": 2 / 7,
    }
    lines = lines_of("run")
    assert "- Evaluated: 21/21" in lines
    assert "| correct.native@1 | 0.4286 |" in lines
    assert "| polygon | 0.4000 | 5 | 5 | 1 |" in lines


def test_the_aggregates_are_made_again_from_the_details_alone_byte_for_byte(folder: Path, run_score: Score) -> None:
    before = {name: (folder / name).read_bytes() for name in ("metrics.json", "summary.md")}
    for name in before:
        (folder / name).unlink()
    run = run_score("summarize", folder)
    assert run.status == 0
    assert run.out.splitlines() == ["run/metrics.json", "run/summary.md"]
    assert {name: (folder / name).read_bytes() for name in before} == before
    path = next(path for path in (folder / "details").iterdir() if b'"correct": true' in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"correct": true', b'"correct": false'))
    assert run_score("summarize", folder).status == 0
    assert json.loads((folder / "metrics.json").read_bytes())["series"][0]["value"] == 8 / 21


@pytest.mark.parametrize(
    ("options", "value"),
    [
        (["--aggregation-mode", "category_mean"], "category_mean: 0.4994"),
        (["--category-hierarchy", "tree.json"], "category_hierarchy: 0.6000"),
    ],
)
def test_an_aggregation_is_made_again_too(options: list[str], value: str, run_score: Score) -> None:
    node = {"aggregation": "weighted", "children": {"text_matching": {"weight": 0.1}, "none": {"weight": 1}}}
    Path("tree.json").write_text(json.dumps({"overall": node}), encoding="utf-8")
    assert run_score(OSWORLD, "--data", FIXTURES, "--output-dir", "run", *options).status == 0
    before = Path("run/summary.md").read_bytes(), Path("run/metrics.json").read_bytes()
    # The mean of 5/8, 1/5, 2/7, 2/7, 3/5 and 1/1; and 3/5 alone.
    assert value in before[0].decode()
    assert run_score("summarize", "run").status == 0
    assert (Path("run/summary.md").read_bytes(), Path("run/metrics.json").read_bytes()) == before


def test_several_attempts_have_agentcompasss_series(run_score: Score) -> None:
    lines = (FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl").read_text(encoding="utf-8").splitlines()
    first = [json.loads(line) for line in lines]
    later = [{**row, "attempt": 2} for row in first[:8]] + [{"id": first[8]["id"], "attempt": 2, "error": "HTTP 500"}]
    write_rows(Path("p.jsonl"), [*first, *later])
    assert run_score("p.jsonl", "--data", FIXTURES, "--attempts", "2", "--output-dir", "run").status == 0
    found = json.loads(Path("run/metrics.json").read_text(encoding="utf-8"))
    average, any_right = found["series"]
    # Of the first nine, six are right twice, two never, one once and then it failed.
    assert (average["series_id"], average["value"], average["counts"]["evaluated"]) == ("correct.avg@2", 6.5 / 9, 9)
    assert average["counts"]["error"] == 1
    # Right at least once: 16. Both attempts there and neither right: 2. The other three are not known.
    assert (any_right["series_id"], any_right["value"]) == ("correct.pass@2", 16 / 18)
    assert any_right["counts"] == {"total": 21, "evaluated": 18, "error": 1, "unavailable": 3, "invalidated": 0}
    formula = "mean of k attempts, all observed"
    assert f"| correct.avg@2 | headline | avg | {formula} | 0.7222 | 9 | 1 | 12 | 21 |" in lines_of("run")
    before = Path("run/metrics.json").read_bytes()
    assert run_score("summarize", "run").status == 0
    assert Path("run/metrics.json").read_bytes() == before


def test_what_the_rows_say_of_the_call_is_kept_as_a_trajectory(run_score: Score) -> None:
    row = {
        "id": "FIXSHOT001-0",
        "point": [1, 1],
        "raw": {"content": "click(1, 1)", "reasoning": "hm", "tool_calls": None},
        "latency_s": 1.5,
        "usage": {"prompt_tokens": 900, "completion_tokens": 12},
        "finish_reason": "stop",
        "model": "m-1",
        "odd": 1,
    }
    write_rows(Path("p.jsonl"), [row])
    Path("p.jsonl").write_text(
        Path("p.jsonl").read_text(encoding="utf-8")
        + '{"id": "FIXSHOT001-2", "latency_s": NaN, "usage": 5, "raw": "x"}\n',
        encoding="utf-8",
    )
    assert run_score("p.jsonl", "--data", FIXTURES, "--output-dir", "run").status == 0
    records = details(Path("run"))
    attempt = records["FIXSHOT001-0"]["attempts"]["1"]
    (step,) = attempt["trajectory"]["steps"]
    assert attempt["trajectory"]["schema_version"] == "ACTF_v1.0"
    assert step["user_content"][0] == {"type": "image", "path": "FIXSHOT001.png"}
    assert step["assistant_content"] == {"content": "click(1, 1)", "reasoning_content": "hm", "tool_calls": []}
    assert step["metric"] == {
        "prompt_tokens_len": 900,
        "completion_tokens_len": 12,
        "llm_infer_ms": 1500.0,
        "env_action_ms": None,
        "stop_reason": "stop",
    }
    assert records["FIXSHOT001-2"]["attempts"]["1"]["timing"] == {"latency_s": None}
    assert "- Model: m-1\n" in Path("run/summary.md").read_text(encoding="utf-8")
    assert run_score("summarize", "run").status == 0


def test_several_benchmarks_have_a_folder_each(run_score: Score) -> None:
    file = FIXTURES / "predictions/suite.jsonl"
    assert run_score(file, "--data", FIXTURES, "--output-dir", "run").status == 0
    assert sorted(os.listdir("run")) == ["pointerbench-pro", "pointerbench-sheets", "pointerbench-text"]
    assert len(run_score("summarize", "run").out.splitlines()) == 6
    assert run_score(file, "--data", FIXTURES, "--output-dir", "runs/of/today").status == 0
    assert sorted(os.listdir("runs/of/today")) == sorted(os.listdir("run"))
    assert any(line.startswith("| amount_box |") for line in lines_of("run/pointerbench-text"))


def test_a_folder_that_is_there_is_left_alone_and_nothing_is_half_written(run_score: Score) -> None:
    Path("run").mkdir()
    Path("run/mine").write_text("x", encoding="utf-8")
    run = run_score(OSWORLD, "--data", FIXTURES, "--output-dir", "run")
    assert run.status == 2
    assert "run exists already" in run.err
    assert os.listdir("run") == ["mine"]
    assert run_score(OSWORLD, "--data", FIXTURES, "--output-dir", "run/mine/below").status == 2
    Path("empty").mkdir()
    assert run_score(OSWORLD, "--data", FIXTURES, "--output-dir", "empty").status == 0
    assert (
        run_score(FIXTURES / "predictions/bad.truncated.jsonl", "--data", FIXTURES, "--output-dir", "bad").status == 1
    )
    assert sorted(os.listdir()) == ["empty", "run"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", b"{", "not JSON"),
        ("x.json", b"[]", "expected an object, found list"),
        ("x.json", b"{}", "lacks attempt_plan, attempts"),
        ("run.json", b"{}", "lacks aggregation_mode, benchmark"),
        ("run.json", None, "no regular file"),
        ("run.json", json.dumps(dict.fromkeys(RUN_KEYS)).encode(), "a value of it is not what"),
    ],
)
def test_a_detail_that_is_none_is_named(
    name: str, content: bytes | None, said: str, folder: Path, run_score: Score
) -> None:
    before = (folder / "metrics.json").read_bytes()
    path = folder / "details" / name
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    run = run_score("summarize", folder)
    assert run.status == 1
    found = [" ".join(line.split()) for line in run.err.splitlines()]
    assert any(line.startswith(f"{path} error run-detail {said}") for line in found), run.err
    assert (folder / "metrics.json").read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("attempts", []),
        ("attempts", {"1": {"status": "done", "metrics": {"correct": True}}}),
        ("attempts", {"1": {"status": "completed", "metrics": {"correct": 1}}}),
        ("attempts", {"1": {"status": "completed"}}),
        ("labels", {}),
        ("labels", {"category": "text"}),
        ("labels", []),
        ("task_id", 5),
        ("category", 5),
    ],
)
def test_a_detail_that_was_spoilt_is_named(key: str, value: object, folder: Path, run_score: Score) -> None:
    path = next(path for path in (folder / "details").iterdir() if path.name != "run.json")
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8")
    run = run_score("summarize", folder)
    assert run.status == 1
    assert path.name in run.err


def test_a_folder_without_details_is_refused(run_score: Score) -> None:
    Path("empty").mkdir()
    assert run_score("summarize", "empty").status == 2
    assert run_score("summarize", "nowhere").status == 2
    Path("empty/details").mkdir()
    assert run_score("summarize", "empty").status == 1


def test_names_of_details_are_readable_safe_and_as_many_as_there_are_ids() -> None:
    digest = sha256(b"../a b").hexdigest()
    assert file_name("../a b", 5) == f".._a_b--{digest}.json"
    assert file_name("../a b", SHARD_ABOVE + 1) == f"{digest[:2]}/.._a_b--{digest}.json"
    assert len(file_name("x" * 500, 5)) == 80 + 2 + 64 + 5
    assert file_name("\ud800", 5).startswith("_--")


@pytest.mark.slow
def test_more_than_ten_thousand_tasks_are_sharded_and_summarized(run_score: Score) -> None:
    count = SHARD_ABOVE + 1
    row = {"instruction": "x", "bbox": [1, 1, 9, 9], "answer_type": "point", "category": "c"}
    write_rows(Path("gt.jsonl"), [{"id": f"pbs_{number}", **row} for number in range(count)])
    write_rows(Path("p.jsonl"), [{"id": f"pbs_{number}", "point": [number % 10, 5]} for number in range(count)])
    options = ["--benchmark", "pointerbench-sheets", "--output-dir", "run"]
    assert run_score("p.jsonl", "--gt", "gt.jsonl", *options).status == 0
    shards = [name for name in os.listdir("run/details") if name != "run.json"]
    assert len(shards) == 256
    before = Path("run/metrics.json").read_bytes()
    assert json.loads(before)["series"][0]["value"] == sum(number % 10 > 0 for number in range(count)) / count
    assert run_score("summarize", "run").status == 0
    assert Path("run/metrics.json").read_bytes() == before


@needs_data
def test_a_real_run_has_a_detail_per_task(run_score: Score) -> None:
    assert DATA is not None
    file = DATA / "predictions/mai_ui_8b.osworld_g_refined.jsonl"
    options = ["--data", DATA, "--instruction-variant", "refined", "--output-dir", "run"]
    assert run_score(file, *options).status == 0
    records = details(Path("run"))
    assert sum(record["attempts"]["1"]["metrics"]["correct"] for record in records.values()) == 404
    assert all(record["attempts"]["1"]["raw"].startswith("<grounding_think>") for record in records.values())
