"""What the command refuses, warns of and says when it is misused, on files of their own making."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from scorer.cli.main import COMMANDS
from tests.conftest import Score, answers, subset_row, write_rows

pytestmark = pytest.mark.usefixtures("three_subsets")

SYSTEM_PROMPT = (
    "You are evaluating Pointerbench, a GUI grounding benchmark. You will receive one 1024x768 screenshot and one "
    "task instruction. Use absolute pixel coordinates with origin at the top-left of the image. Do not return "
    "normalized coordinates. Do not crop or resize the coordinate frame. For point tasks, return JSON like "
    '{"point": [x, y]}. For bounding-box tasks, return JSON like {"bbox": [x0, y0, x1, y1]}.'
)


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


def test_an_old_report_does_not_outlive_a_run_that_made_none(run_score: Score) -> None:
    run_score(answers("pbs_0001"), "--json", "report.json")
    assert run_score("preds.jsonl", "--data", "nowhere", "--json", "report.json").status == 3
    report = json.loads(Path("report.json").read_text())
    assert report["accepted"] is False
    assert "was not found" in report["error"]


def test_no_file_a_missing_file_and_options_before_a_command_are_status_2(run_score: Score) -> None:
    assert run_score().status == 2
    assert "no predictions" in run_score().err
    known = ", ".join(COMMANDS)
    assert f"chek: no such file, and no such command (known: {known})" in run_score("chek").err
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
    assert run.json["findings"][0] == {
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

    monkeypatch.setattr("scorer.cli.console.open_input", opened)
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
    row = subset_row("pbs", 1, category="\x1b[31mred\u202e|<b>", ui_style="\ud800")
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


def test_a_space_that_cannot_express_an_answer_is_said_and_the_row_counts_as_no_answer(run_score: Score) -> None:
    path = write_rows(Path("preds.jsonl"), [{"id": "pbs_0001", "point": [1e307, 1], "space": "fraction"}])
    data = run_score(path, "--json", "-").json
    assert data["no_answer_reasons"] == {"bad-number": 1}
    assert "fraction cannot express this answer on a 1024x768 screenshot" in run_score(path).err


def test_an_output_that_cannot_be_written_is_no_bug(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scorer.cli.commands.score.report_text", full)
    run = run_score(answers("pbs_0001"))
    assert (run.status, run.err.splitlines()[-1]) == (
        2,
        "error: the output cannot be written (No space left on device)",
    )
