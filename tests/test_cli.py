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
from scorer.signature import parse_signature
from tests.conftest import Score, write_rows

SYSTEM_PROMPT = (
    "You are evaluating Pointerbench, a GUI grounding benchmark. You will receive one 1024x768 screenshot and one "
    "task instruction. Use absolute pixel coordinates with origin at the top-left of the image. Do not return "
    "normalized coordinates. Do not crop or resize the coordinate frame. For point tasks, return JSON like "
    '{"point": [x, y]}. For bounding-box tasks, return JSON like {"bbox": [x0, y0, x1, y1]}.'
)


def _row(prefix: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"{prefix}_{number:04d}",
        "instruction": "Press it.",
        "bbox": [100, 200, 200, 300],
        "answer_type": "point",
        "image_size": [1024, 768],
        **fields,
    }


@pytest.fixture(autouse=True)
def data(run_score: Score) -> Path:
    """A folder with four examples of each Pointerbench subset, in the official layout."""
    del run_score  # it has moved this test to an empty folder
    for subset, prefix in (("sheets", "pbs"), ("text", "pbt"), ("pro", "pbp")):
        folder = Path(f"pointerbench-{subset}/data/test")
        folder.mkdir(parents=True)
        axes = {"category": "cell", "ui_style": "bare", "data_type": "cell", "language": "en", "difficulty": "easy"}
        more = {"element_type": "icon", "app_category": "code", "platform": "Linux"} if subset == "pro" else axes
        rows = [_row(prefix, n, **more, surface=f"s{n}", app=f"App {n}") for n in range(1, 5)]
        write_rows(folder / "metadata.jsonl", rows)
    return Path()


def answers(*ids: str, point: tuple[float, float] = (150, 250)) -> Path:
    return write_rows(Path("preds.jsonl"), [{"id": name, "point": list(point)} for name in ids])


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


def test_with_a_named_benchmark_rows_of_another_one_are_unknown_ids(run_score: Score) -> None:
    run = run_score(answers("pbs_0001", "pbt_0001"), "--benchmark", "pointerbench-sheets")
    assert run.status == 0
    assert "pointerbench-text" not in run.out
    assert "unknown id pbt_0001 (it looks like an id of pointerbench-text)" in run.err


def test_ids_of_no_known_benchmark_are_refused_and_named(run_score: Score) -> None:
    run = run_score(answers("frog", "toad"))
    assert run.status == 1
    assert run.out == ""
    assert "none of 2 ids looks like one of a known benchmark" in run.err
    assert "--benchmark NAME says which it is" in run.err
    assert run.err.rstrip().endswith("error: not scored: 1 error, 2 warnings")


def test_a_file_without_any_id_is_told_what_rows_look_like(run_score: Score) -> None:
    run = run_score(write_rows(Path("preds.jsonl"), [{"id": 7, "point": [1, 1]}, {"point": [1, 1]}]))
    assert run.status == 1
    assert 'no row has an id; rows look like {"id": "pbs_0001", "point": [612, 388]}' in run.err
    assert "--benchmark" not in run.err


def test_findings_are_in_file_order_and_those_about_a_whole_file_last(run_score: Score) -> None:
    one = write_rows(Path("one.jsonl"), [{"id": "frog"}, {"id": "pbs_0001", "point": ["1", 1]}, {"id": "toad"}])
    two = write_rows(Path("two.jsonl"), [{"id": "newt"}, {"id": "pbs_0002", "point": [9999, 1]}])
    err = run_score(one, two).err
    places = re.findall(r"^(\S.*\S) +warning", err, re.MULTILINE)
    assert places == [
        "one.jsonl:1",
        "one.jsonl:2",
        "one.jsonl:3",
        "two.jsonl:1",
        "two.jsonl:2",
        "one.jsonl, two.jsonl",
    ]


@pytest.mark.parametrize(
    ("row_id", "said"),
    [
        ("pbs_1", "unknown id pbs_1 (ids are zero-padded: pbs_0001)"),
        ("PBS_0001", "unknown id PBS_0001 (did you mean pbs_0001?)"),
        ("pbs-0001", "unknown id pbs-0001 (did you mean pbs_0001?)"),
        ("pbs_0001 ", 'unknown id "pbs_0001 " (did you mean pbs_0001?)'),
    ],
)
def test_where_every_id_is_misspelt_each_is_still_told_what_it_should_be(
    row_id: str, said: str, run_score: Score
) -> None:
    run = run_score(answers(row_id))
    assert run.status == 1
    assert said in run.err
    assert "none of 1 ids belongs to pointerbench-sheets; its ids look like pbs_0001" in run.err


def test_an_id_that_only_looks_right_brings_no_benchmark_in(run_score: Score) -> None:
    run = run_score(answers("pbs_0001", "pbt_9999", "frog"))
    assert run.status == 0
    assert "pointerbench-text  " not in run.out
    assert "unknown id pbt_9999" in run.err
    assert "unknown id frog" in run.err
    run = run_score(answers("pbt_9999"))
    assert run.status == 1
    assert "none of 1 ids belongs to pointerbench-text; its ids look like pbt_0001" in run.err


def test_predictions_are_read_from_stdin(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = answers("pbs_0001", "pbs_0002").read_bytes()
    monkeypatch.setattr("scorer.cli._open", lambda name: io.BytesIO(rows) if name == "-" else None)
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--json", "-", "--details", "-"), "would mix on stdout"),
        (("--score-only", "--json", "-"), "would mix on stdout"),
        (("--instruction-variant", "refined"), "--instruction-variant is for osworld-g"),
        (("--json", "preds.jsonl"), "preds.jsonl would overwrite what is read"),
        (("--details", "./preds.jsonl"), "would overwrite what is read"),
        (("--json", "new.json", "--details", "./new.json"), "would both write new.json"),
        (
            ("--json", "pointerbench-sheets/data/test/metadata.jsonl"),
            "would overwrite a file with the name of a ground truth",
        ),
        (("--json", "no/such/folder/x.json"), "cannot be written"),
        (("--by", "colour"), 'no axis "colour"; known here: category, ui_style, data_type'),
        (("--table-format", "markdown"), "unknown table format"),
        (("--space", "norm1000"), "here it is called grid1000"),
        (("--category", "refusal"), "pointerbench-sheets cannot be filtered by category"),
        (("--sample-ids", "pbs_9999"), "no example with the sample id: pbs_9999"),
        (("--benchmark-params", '{"x": 1}'), "unknown in --benchmark-params: x"),
        (("--gt", "pointerbench-sheets", "--data", "."), "give one of them"),
        (("--profile", "gpt5"), "Invalid value for '--profile'"),
        (("--benchmark", "screenspot"), "Invalid value for '--benchmark'"),
    ],
)
def test_a_mistake_in_the_options_is_status_2_and_says_what_to_do(
    arguments: tuple[str, ...], said: str, run_score: Score
) -> None:
    before = answers("pbs_0001").read_text()
    truth = Path("pointerbench-sheets/data/test/metadata.jsonl").read_text()
    run = run_score("preds.jsonl", *arguments)
    assert run.status == 2
    assert said in run.err
    assert run.out == ""
    assert Path("preds.jsonl").read_text() == before
    assert Path("pointerbench-sheets/data/test/metadata.jsonl").read_text() == truth


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


def test_an_old_report_does_not_outlive_a_run_that_made_none(run_score: Score) -> None:
    run_score(answers("pbs_0001"), "--json", "report.json")
    assert run_score("preds.jsonl", "--data", "nowhere", "--json", "report.json").status == 3
    report = json.loads(Path("report.json").read_text())
    assert report["accepted"] is False
    assert "was not found" in report["error"]


def test_no_file_a_missing_file_and_options_before_a_command_are_status_2(run_score: Score) -> None:
    assert run_score().status == 2
    assert "no predictions" in run_score().err
    assert "chek: no such file, and no such command (known: check, benchmarks, profiles)" in run_score("chek").err
    assert run_score("-p", "absent").err.endswith("Error: absent: no such file\n")
    for arguments in ((".",), ("-p", ".")):
        run = run_score(*arguments)
        assert run.status == 2
        assert ". is a folder; name the files in it" in run.err
    run = run_score("--space", "pixel", "profiles")
    assert run.status == 2
    assert 'options go behind the command: "score profiles ..."' in run.err


def test_a_missing_ground_truth_is_status_3_and_names_the_next_step(run_score: Score) -> None:
    run = run_score(write_rows(Path("o.jsonl"), [{"id": "FIXTURE001-0", "point": [1, 1]}]))
    assert run.status == 3
    assert run.out == ""
    assert "osworld_g/benchmark/OSWorld-G.json" in run.err
    assert "$SCORER_DATA" in run.err
    assert "--data DIR" in run.err


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
        write_rows(file, [_row("pbt", n, surface=f"s{n}") for n in range(count)])
        assert ("surface " in run_score(answers("pbt_0001")).out) == shown
        assert len(run_score("preds.jsonl", "--json", "-").json["by_surface"]) == count


def test_warnings_of_one_kind_are_cut_unless_all_are_asked_for(run_score: Score) -> None:
    rows = [{"id": f"pbs_000{n}", "point": ["150", 250]} for n in range(1, 5)] + [{"id": "pbs_0009"}] * 3
    path = write_rows(Path("preds.jsonl"), rows)
    err = run_score(path).err
    assert err.count("warning  bad-number") == 3
    assert "… and 1 more bad-number (--all lists them)" in err
    assert run_score(path, "--all").err.count("bad-number") == 4


def test_a_refused_file_is_data_too_and_has_no_accuracy(run_score: Score) -> None:
    Path("broken.jsonl").write_text('{"id": "pbs_0001", "point": [1, 1]}\n{"id"')
    run = run_score("broken.jsonl", "--json", "-")
    assert run.status == 1
    assert run.json["accepted"] is False
    assert run.json["problems"][0] == {
        "code": "bad-json",
        "severity": "error",
        "message": "incomplete JSON, no newline at the end of the file (interrupted run?)",
        "source": "broken.jsonl",
        "line": 2,
        "column": 6,
    }
    assert "accuracy" not in run.out
    run_score("broken.jsonl", "--json", "refused.json")
    assert json.loads(Path("refused.json").read_text()) == run.json


def test_a_file_that_cannot_be_opened_is_refused_and_the_other_ones_faults_are_listed_too(
    run_score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("broken.jsonl").write_text("nope\n")

    def opened(name: str) -> io.BytesIO:
        if name == "broken.jsonl":
            return io.BytesIO(b"nope\n")
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("scorer.cli._open", opened)
    run = run_score("--predictions", "broken.jsonl", answers("pbs_0001"))
    assert run.status == 1
    assert "broken.jsonl:1  error  bad-json" in run.err
    assert "preds.jsonl     error  unreadable  cannot be read (Permission denied)" in run.err


def test_an_empty_file_among_others_is_refused(run_score: Score) -> None:
    Path("empty.jsonl").write_text("")
    run = run_score(answers("pbs_0001"), "empty.jsonl")
    assert run.status == 1
    assert "empty.jsonl" in run.err
    assert "no prediction rows" in run.err


def test_hostile_ids_and_labels_reach_no_terminal_unescaped(run_score: Score) -> None:
    row = _row("pbs", 1, category="\x1b[31mred\u202e|<b>", ui_style="\ud800")
    write_rows(Path("pointerbench-sheets/data/test/metadata.jsonl"), [row])
    rows: list[dict[str, Any]] = [{"id": "pbs_0001", "point": [1, 1]}, {"id": "\x1b]0;title\x07"}]
    run = run_score(write_rows(Path("\x1bname.jsonl"), rows))
    assert run.status == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(run.out + run.err)
    assert "\\x1b[31mred\\u202e" in run.out
    assert "\\ud800" in run.out
    for usage in (("\x1b[31mfoo",), ("benchmarks", "\x1b[31mfoo")):
        run = run_score(*usage)
        assert run.status == 2
        assert "\\x1b[31mfoo" in run.err
    assert "&lt;b&gt;" in run_score("\x1bname.jsonl", "--table-format", "html").out
    assert run_score("\x1bname.jsonl", "--json", "-").json["by_category"]["\x1b[31mred\u202e|<b>"]["n"] == 1


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


def test_a_space_that_cannot_express_an_answer_is_said_and_the_row_counts_as_no_answer(run_score: Score) -> None:
    path = write_rows(Path("preds.jsonl"), [{"id": "pbs_0001", "point": [1e307, 1], "space": "fraction"}])
    data = run_score(path, "--json", "-").json
    assert data["no_answer_reasons"] == {"bad-number": 1}
    assert "fraction cannot express this answer on a 1024x768 screenshot" in run_score(path).err


def test_samples_shrink_n_and_the_header_and_the_signature_say_so(run_score: Score) -> None:
    run = run_score(answers("pbs_0001", "pbs_0002", "pbs_0003"), "--sample-ids", "pbs_0001,pbs_0004")
    assert "   1/2   " in run.out
    assert "filtered: sample_ids=2@" in run.out
    assert "2 of 4 examples" in run.out
    assert "|n:2|" in run.out
    assert "|filter:sample_ids=2@" in run.out
    assert re.search(r"not-selected +2 rows belong to examples that the filter leaves out", run.err)
    assert run_score(answers("pbs_0002"), "--sample-ids", "pbs_0001", "--score-only").out == "0.00\n"


def test_an_output_that_cannot_be_written_is_no_bug(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scorer.cli.render.report_text", full)
    run = run_score(answers("pbs_0001"))
    assert (run.status, run.err.splitlines()[-1]) == (
        2,
        "error: the output cannot be written (No space left on device)",
    )


def test_completion_offers_options_commands_and_files() -> None:
    import click

    from scorer.cli import cli

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
