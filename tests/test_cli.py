"""The command: what people type and what they see, on files of their own making."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scorer
from scorer.core.signature import parse_signature
from tests.conftest import Score, answers, subset_row, write_rows

pytestmark = pytest.mark.usefixtures("three_subsets")

SYSTEM_PROMPT = (
    "You are evaluating Pointerbench, a GUI grounding benchmark. You will receive one 1024x768 screenshot and one "
    "task instruction. Use absolute pixel coordinates with origin at the top-left of the image. Do not return "
    "normalized coordinates. Do not crop or resize the coordinate frame. For point tasks, return JSON like "
    '{"point": [x, y]}. For bounding-box tasks, return JSON like {"bbox": [x0, y0, x1, y1]}.'
)


def test_the_prompt_is_one_line_and_nothing_else(run_score: Score) -> None:
    assert run_score("--show-system-prompt") == (0, SYSTEM_PROMPT + "\n", "")


def test_a_score_shows_headline_outcomes_tables_and_signature(run_score: Score) -> None:
    run = run_score("--predictions", answers("pbs_0001", "pbs_0002"))
    assert run.status == 0
    assert run.out.startswith("pointerbench-sheets    50.00 %   2/4   95% CI 15.0 – 85.0\n")
    assert "hit 2 · miss 0 · no_answer 0 · run_error 0 · absent 2\n" in run.out
    assert "coordinates: pixel (pixels of the original screenshot)\n" in run.out
    assert re.search(r"^category +hits +n +acc % +95% CI$", run.out, re.MULTILINE)
    assert re.search(r"^cell +2 +4 +50\.00 +15\.0 – 85\.0$", run.out, re.MULTILINE)
    signature = run.out.rstrip().splitlines()[-1].removeprefix("signature: ")
    fields = parse_signature(signature)
    assert list(fields) == ["head", "n", "data", "rule", "space", "version"]
    assert (fields["n"], fields["version"]) == ("4", scorer.__version__)
    assert "warning  absent-id" in run.err
    assert "pbs_0003, pbs_0004" in run.err


def test_one_file_of_three_subsets_gives_three_reports_and_the_suite(run_score: Score) -> None:
    run = run_score(answers("pbp_0001", "pbs_0001", "pbt_0001", "pbs_0002"))
    heads = re.findall(r"^pointerbench-\w+(?=  )", run.out, re.MULTILINE)
    assert heads == ["pointerbench-sheets", "pointerbench-text", "pointerbench-pro"]
    assert re.search(r"^acc % +50\.00 +25\.00 +25\.00 +33\.33$", run.out, re.MULTILINE)
    data = run_score("preds.jsonl", "--json", "-").json
    assert data["suites"]["pointerbench"]["accuracy"] == {"Sheets": 0.5, "Text": 0.25, "Pro": 0.25}
    assert data["suites"]["pointerbench"]["average"] == 0.3333
    assert data["benchmarks"]["pointerbench-sheets"]["hits"] == 2
    assert run_score("preds.jsonl", "--score-only").out == (
        "pointerbench-sheets 50.00\npointerbench-text 25.00\npointerbench-pro 25.00\npointerbench 33.33\n"
    )


def test_two_subsets_have_no_average_and_the_table_says_why(run_score: Score) -> None:
    run = run_score(answers("pbp_0001", "pbs_0001"))
    assert re.search(r"^acc % +25\.00 +- +25\.00 +-$", run.out, re.MULTILINE)
    assert "no average: Text not in the predictions" in run.out
    assert run_score("preds.jsonl", "--json", "-").json["suites"]["pointerbench"]["average"] is None


def test_several_files_are_one_set_of_predictions_however_they_are_named(run_score: Score) -> None:
    one = write_rows(Path("one.jsonl"), [{"id": "pbs_0001", "point": [150, 250]}])
    two = write_rows(Path("two.jsonl"), [{"id": "pbs_0002", "point": [150, 250]}, {"id": "pbs_0001", "point": [0, 0]}])
    runs = [
        run_score("--predictions", one, "--predictions", two),
        run_score("--predictions", one, two),
        run_score(one, two),
        run_score(one, "--score-only", two),
    ]
    assert [run.status for run in runs] == [0, 0, 0, 0]
    assert runs[0].out == runs[1].out == runs[2].out
    assert runs[3].out == "25.00\n"
    assert "two.jsonl:2" in runs[0].err
    assert "was already given on line 1 of one.jsonl with another answer" in runs[0].err


def test_predictions_are_read_from_stdin(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = answers("pbs_0001", "pbs_0002").read_bytes()
    monkeypatch.setattr("scorer.cli.console.open_input", lambda name: io.BytesIO(rows) if name == "-" else None)
    assert run_score("-", "--score-only").out == "50.00\n"


def test_json_and_details_go_to_files_or_alone_to_stdout(run_score: Score) -> None:
    run = run_score(answers("pbs_0001"), "--json", "report.json", "--details", "details.jsonl")
    assert run.out.startswith("pointerbench-sheets")
    report = json.loads(Path("report.json").read_text())
    assert report["hits"] == 1
    assert report["accepted"] is True
    assert run_score("preds.jsonl", "--json", "-").json == report
    rows = [json.loads(line) for line in Path("details.jsonl").read_text().splitlines()]
    assert [(row["id"], row["outcome"]) for row in rows] == [
        ("pbs_0001", "hit"),
        ("pbs_0002", "absent"),
        ("pbs_0003", "absent"),
        ("pbs_0004", "absent"),
    ]
    assert rows[0]["points"] == [[150, 250]]
    assert (rows[0]["rule"], rows[0]["target"], rows[0]["line"]) == ("point_in_bbox", [100, 200, 200, 300], 1)
    assert run_score("preds.jsonl", "--details", "-").out == Path("details.jsonl").read_text()


def test_a_miss_in_the_details_has_its_distance_and_its_point_in_pixels(run_score: Score) -> None:
    path = answers("pbs_0001", point=(100 / 1024 * 1000 - 1000 / 1024 * 3, 196 / 768 * 1000))
    first = run_score(path, "--space", "grid1000", "--details", "-").out.splitlines()[0]
    row = json.loads(first)
    assert row["distance"] == pytest.approx(5)
    assert row["points"][0] == pytest.approx([97, 196])


def test_equal_signatures_mean_that_rows_without_a_space_were_read_alike(run_score: Score) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "pbs_0001", "point": [150, 250]},
        {"id": "pbs_0002", "point": [1, 1], "space": "pixel"},
        {"id": "pbs_0003", "point": [1, 1], "space": "grid1000"},
    ]
    path = write_rows(Path("preds.jsonl"), rows)
    runs = [run_score(path, "--space", space, "--json", "-").json for space in ("pixel", "grid1000")]
    assert [run["hits"] for run in runs] == [1, 0]
    assert [run["signature_fields"]["space"] for run in runs] == [
        "pixel;rows=grid1000+pixel",
        "grid1000;rows=grid1000+pixel",
    ]
    path = write_rows(path, [*rows[1:], {"id": "pbs_0004", "error": "timeout"}])
    signatures = {run_score(path, "--space", space, "--json", "-").json["signature"] for space in ("pixel", "grid1000")}
    assert len(signatures) == 1, "a default that no row was read in cannot change the number"


def test_the_environment_names_the_data_and_a_flag_goes_before_it(
    run_score: Score, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = answers("pbs_0001").absolute()
    monkeypatch.setenv("SCORER_DATA", str(Path().absolute()))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run_score(path).status == 0
    assert run_score(path, "--data", elsewhere).status == 3


def test_a_ground_truth_file_tells_the_benchmark(run_score: Score) -> None:
    run = run_score(answers("pbt_0001"), "--gt", "pointerbench-sheets/data/test/metadata.jsonl")
    assert run.status == 1
    assert "none of 1 ids belongs to pointerbench-sheets; they look like pointerbench-text ids" in run.err


def test_an_unofficial_file_is_scored_with_a_note_and_its_own_digest(run_score: Score) -> None:
    run = run_score(answers("pbs_0001"))
    assert "note" in run.err
    assert "gt-not-official" in run.err
    data = run_score("preds.jsonl", "--json", "-").json
    assert data["ground_truth"]["official"] is False
    assert data["signature_fields"]["data"] == data["ground_truth"]["sha256"][:12]


def test_by_chooses_the_tables_also_those_that_are_not_printed_unasked(run_score: Score) -> None:
    out = run_score(answers("pbp_0001"), "--by", "app", "--by", "platform").out
    assert re.findall(r"^(\w+) +hits", out, re.MULTILINE) == ["platform", "app"]
    assert "App 4" in out
    assert "App 4" not in run_score("preds.jsonl").out
    assert run_score("preds.jsonl", "--json", "-").json["by_app"]["App 1"] == {"acc": 1.0, "n": 1}


def test_a_table_of_many_surfaces_is_in_the_json_only(run_score: Score) -> None:
    file = Path("pointerbench-text/data/test/metadata.jsonl")
    for count, shown in ((20, True), (21, False)):
        write_rows(file, [subset_row("pbt", n, surface=f"s{n}") for n in range(count)])
        assert ("surface " in run_score(answers("pbt_0001")).out) == shown
        assert len(run_score("preds.jsonl", "--json", "-").json["by_surface"]) == count


def test_a_profile_is_a_name_for_its_space_and_a_rows_own_space_goes_first(run_score: Score) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "pbs_0001", "point": [146.484375, 325.520833]},
        {"id": "pbs_0002", "point": [150, 250], "space": "pixel"},
    ]
    path = write_rows(Path("preds.jsonl"), rows)
    run = run_score(path, "--profile", "qwen3vl")
    assert "2/4" in run.out
    assert "by profile qwen3vl" in run.out
    assert "space:grid1000;rows=pixel|profile:qwen3vl|" in run.out
    assert "by profile qwen3vl; as the rows say: pixel (pixels of the original screenshot)" in run.out
    assert "1/4" in run_score(path).out
    assert (
        "space:frame=9x9|profile:base|"
        in run_score(answers("pbs_0001"), "--profile", "base", "--space", "frame:9x9").out
    )


def test_samples_of_a_suite_belong_to_the_benchmarks_that_they_look_like(run_score: Score) -> None:
    ids = [f"{prefix}_000{number}" for prefix in ("pbs", "pbt", "pbp") for number in (1, 2, 3)]
    file = answers(*ids)
    run = run_score(file, "--sample-ids", "pbs_0001,pbt_0002,pbt_0003", "--json", "-")
    assert run.status == 0
    assert {name: report["n"] for name, report in run.json["benchmarks"].items()} == {
        "pointerbench-sheets": 1,
        "pointerbench-text": 2,
    }
    assert run_score(file, "--sample-ids", "pbt_0002", "--score-only").out == "100.00\n"
    run = run_score(answers("pbs_0001"), "--sample-ids", "pbt_0002")
    assert run.status == 1
    assert "no row belongs to an example that the filter keeps" in run.err
    file = answers(*ids)
    run = run_score(file, "--sample-ids", "pbt_0002,pbt_9999")
    assert (run.status, "pointerbench-text has no example with the sample id: pbt_9999" in run.err) == (2, True)
    run = run_score(file, "--sample-ids", "pbt_0002", "--benchmark", "pointerbench-sheets")
    assert (run.status, "pointerbench-sheets has no example with the sample id: pbt_0002" in run.err) == (2, True)


def test_samples_shrink_n_and_the_header_and_the_signature_say_so(run_score: Score) -> None:
    run = run_score(answers("pbs_0001", "pbs_0002", "pbs_0003"), "--sample-ids", "pbs_0001,pbs_0004")
    assert "   1/2   " in run.out
    assert "filtered: sample_ids=2@" in run.out
    assert "2 of 4 examples" in run.out
    assert "|n:2|" in run.out
    assert "|filter:sample_ids=2@" in run.out
    assert re.search(r"not-selected +2 rows belong to examples that the filter leaves out", run.err)
    assert run_score(answers("pbs_0002"), "--sample-ids", "pbs_0001", "--score-only").out == "0.00\n"


def test_completion_offers_options_commands_and_files() -> None:
    import click

    from scorer.cli.main import cli

    context = click.Context(cli)
    names = [(item.value, item.type) for item in cli.shell_complete(context, "")]
    assert ("benchmarks", "plain") in names
    assert ("", "file") in names
    assert "--space" in [item.value for item in cli.shell_complete(context, "--sp")]


def test_what_is_known_is_listed(run_score: Score) -> None:
    run = run_score("benchmarks")
    assert [line.split()[0] for line in run.out.splitlines()[1:]] == [
        "pointerbench-sheets",
        "pointerbench-text",
        "pointerbench-pro",
        "osworld-g",
    ]
    assert "scalecua     smart-resize:28:3136:2109744" in run_score("profiles").out
    assert run_score("--version").out == f"score {scorer.__version__}\n"
    assert "Exit status: 0 scored" in run_score("--help").out


def test_the_module_runs_as_the_command_and_its_output_arrives_whole(
    in_fresh_process: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert in_fresh_process("-m", "scorer", "--version").stdout == f"score {scorer.__version__}\n"
    run = in_fresh_process("-m", "scorer", str(answers("pbs_0001").absolute()), "--data", str(Path().absolute()))
    assert run.returncode == 0
    assert run.stdout.rstrip().splitlines()[-1].startswith("signature: ")
    assert in_fresh_process("-m", "scorer", "absent").returncode == 2
