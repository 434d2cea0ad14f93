"""Replies read again: real predictions, ``score reparse``, ``--from-raw``, refusals by marker."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import scorer
from scorer.pipeline.reread import parse_reply
from scorer.profiles import PROFILES
from tests.conftest import DATA, Score, needs_data, write_rows

SIZE = [1000, 500]
ROWS = [
    {
        "id": f"QX41MOCKUP-{number}",
        "image_path": "a.png",
        "image_size": SIZE,
        "instruction": "x",
        "box_type": kind,
        "box_coordinates": box,
        "GUI_types": ["Button"],
    }
    for number, (kind, box) in enumerate([("bbox", [500, 250, 10, 5]), ("refusal", []), ("refusal", [])])
]


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    file = tmp_path / "OSWorld-G.json"
    file.write_text(json.dumps(ROWS))
    return file


def _rows(*raws: Any) -> list[dict[str, Any]]:
    return [{"id": f"QX41MOCKUP-{number}", "raw": raw} for number, raw in enumerate(raws)]


@needs_data
@pytest.mark.parametrize("variant", ["original", "refined"])
def test_a_real_run_read_again_gives_its_own_points(variant: str, run_score: Score, tmp_path: Path) -> None:
    assert DATA is not None
    file = DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl"
    published = {row["id"]: row["point"] for row in map(json.loads, file.read_bytes().splitlines())}
    options = ["--data", DATA, "--instruction-variant", variant]

    details = tmp_path / "details.jsonl"
    run = run_score(file, *options, "--from-raw", "--profile", "qwen3vl", "--json", "-", "--details", details)
    again = tmp_path / "again.jsonl"
    assert run_score("reparse", file, "--profile", "qwen3vl", "--out", again).status == 0
    read = [json.loads(line) for line in details.read_bytes().splitlines()]

    assert len(read) == len(published) == 564
    assert {row["id"]: row["points"] for row in read} == {key: [point] for key, point in published.items()}
    hits = {"original": 359, "refined": 404}[variant]
    assert run.json["hits"] == run_score(again, *options, "--json", "-").json["hits"] == hits
    assert run.json["signature_fields"]["profile"] == "qwen3vl"


def test_reparse_and_from_raw_say_the_same(run_score: Score, truth: Path, tmp_path: Path) -> None:
    message = {"content": None, "tool_calls": [{"function": {"name": "computer_use", "arguments": "FAIL"}}]}
    rows = [*_rows("(505, 505)", "FAIL()", message), {"id": "QX41MOCKUP-0", "raw": "cut", "attempt": 2, "note": 7}]
    file = write_rows(tmp_path / "p.jsonl", rows)
    out = tmp_path / "out.jsonl"

    direct = run_score(file, "--gt", truth, "--from-raw", "--profile", "glm", "--json", "-").json
    run = run_score("reparse", file, "--profile", "glm", "--out", out)
    again = run_score(out, "--gt", truth, "--json", "-").json

    assert "4 rows read again as glm, 2 without an answer" in run.err
    written = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert written[0] == {"id": "QX41MOCKUP-0", "profile": "glm", "point": [505.0, 505.0],
                          "raw": {"content": "(505, 505)"}, "space": "grid1000"}  # fmt: skip
    assert written[1]["refusal"] == "FAIL()"
    assert written[2]["error"]["code"] == "unparsed"
    assert (written[3]["attempt"], written[3]["note"]) == (2, 7)
    assert direct["hits"] == again["hits"] == 2
    assert direct["outcomes"] == again["outcomes"]
    assert direct["refusal_markers"] == again["refusal_markers"] == {"FAIL()": 1}


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "json"])
def test_every_form_that_score_reads_is_read_again(run_score: Score, tmp_path: Path, form: str) -> None:
    rows = _rows("(500, 250)", "(-1, -1)")
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    data = {"jsonl": lines, "jsonl.gz": gzip.compress(lines), "json": json.dumps(rows).encode()}[form]
    file = tmp_path / f"p.{form}"
    file.write_bytes(data)
    run = run_score("reparse", file, "--profile", "base", "--out", "-")
    assert run.status == 0, run.err
    assert [json.loads(line)["point"] for line in run.out.splitlines()] == [[500, 250], [-1, -1]]


def test_the_old_answer_is_not_used(run_score: Score, truth: Path, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "p.jsonl", [{"id": "QX41MOCKUP-0", "point": [505, 252], "raw": "no idea"}])
    run = run_score(file, "--gt", truth, "--from-raw", "--profile", "base", "--json", "-")
    assert run.json["outcomes"]["run_error"] == 1
    assert run_score(file, "--gt", truth, "--json", "-").json["hits"] == 1


def test_a_space_stays_where_the_same_profile_wrote_it(truth: Path) -> None:
    row = {"id": "QX41MOCKUP-0", "raw": "(505, 252)", "space": "frame:1000x500", "profile": "claude"}
    ground_truth = scorer.load_benchmark("osworld-g", truth)
    assert scorer.score(ground_truth, [row], profile="claude", from_raw=True).total.hits == 1
    assert scorer.score(ground_truth, [row], profile="base", from_raw=True).total.hits == 1
    assert scorer.score(ground_truth, [row | {"profile": "base"}], profile="claude", from_raw=True).total.hits == 0


def test_failed_calls_stay_as_they_are(run_score: Score, tmp_path: Path) -> None:
    row = {"id": "QX41MOCKUP-0", "raw": None, "error": {"code": "request-failed", "message": "429"}}
    file = write_rows(tmp_path / "p.jsonl", [row])
    assert run_score("reparse", file, "--profile", "glm", "--out", "-").json == row


@pytest.mark.parametrize("arguments", [["--from-raw"], ["--from-raw", "--profile", "base"]])
def test_nothing_to_read_is_said(run_score: Score, truth: Path, tmp_path: Path, arguments: list[str]) -> None:
    file = write_rows(tmp_path / "p.jsonl", [{"id": "QX41MOCKUP-0", "point": [1, 2]}])
    run = run_score(file, "--gt", truth, *arguments)
    assert run.status == (1 if "--profile" in arguments else 2)
    assert ('no row has a "raw" reply' in run.err) == ("--profile" in arguments)
    assert ("needs --profile ID" in run.err) == ("--profile" not in arguments)
    refused = run_score("reparse", file, "--profile", "glm", "--out", tmp_path / "out.jsonl")
    assert refused.status == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_reparse_never_overwrites_its_input(run_score: Score, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "p.jsonl", _rows("(1, 2)"))
    run = run_score("reparse", file, "--profile", "glm", "--out", file)
    assert (run.status, "would overwrite what is read" in run.err) == (2, True)


def test_the_strict_reading_takes_negative_answers_alone(run_score: Score, truth: Path, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "p.jsonl", _rows("(1, 2)", "FAIL()", "left_click(start_box='[-1,-1]')"))
    arguments = [file, "--gt", truth, "--from-raw", "--profile", "glm"]
    loose, strict = run_score(*arguments), run_score(*arguments, "--refusal", "negative-only")

    assert "hit 2 · miss 1" in loose.out
    assert "refusals by marker: FAIL() 1\n" in loose.out
    assert "|refusal:markers|" in loose.out
    assert "hit 1 · miss 1 · no_answer 1" in strict.out
    assert "refusals by marker: FAIL() 1 (not counted" in strict.out
    assert "no_answer because of: refusal-marker 1" in strict.out
    assert "|refusal:negative-only|" in strict.out
    assert "refuses by FAIL(), not by a negative answer" in strict.err


def test_a_marker_without_a_negative_answer_is_no_refusal(truth: Path) -> None:
    ground_truth = scorer.load_benchmark("osworld-g", truth)
    rows: list[dict[str, Any]] = [
        {"id": "QX41MOCKUP-0", "point": [505, 252], "refusal": "FAIL()"},
        {"id": "QX41MOCKUP-1", "refusal": "x"},
    ]
    report = scorer.score(ground_truth, rows, refusal="negative-only")
    assert report.total.hits == 1
    assert "refusal:negative-only" in report.signature
    with pytest.raises(scorer.UsageError, match="markers, negative-only"):
        scorer.score(ground_truth, rows, refusal="never")  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_prompt_is_shown_and_says_how_to_refuse(run_score: Score, profile: str) -> None:
    shown = run_score("--show-system-prompt", "--profile", profile)
    assert shown.status == 0
    refusals = [parse_reply(profile, text, (1000, 1000)) for text in _examples(shown.out)]
    assert any(read.points and max(read.points[0]) < 0 for read in refusals)


def _examples(prompt: str) -> list[str]:
    """The prompt's last part: what it tells the model to answer where there is no target."""
    at = max(prompt.rfind(word) for word in ("If the", "the action \\\nis FAIL", "the action is FAIL"))
    return [prompt[at:], prompt[at:].split(": ", 1)[-1]]


def test_base_is_asked_with_the_prompt_of_the_benchmark(run_score: Score) -> None:
    plain = run_score("--show-system-prompt")
    base = run_score("--show-system-prompt", "--profile", "base", "--benchmark", "pointerbench-text")
    assert plain.out == base.out
    assert run_score("--show-system-prompt", "--profile", "base").out != plain.out
