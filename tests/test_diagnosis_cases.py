"""The DIAGNOSIS parts of the cases (SCORER_CASES/cases.jsonl) as the command gives them, and signs on made-up files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorer import PredictionsError, load_benchmark, score
from scorer.api import diagnose, hints
from scorer.evidence.diagnosis.evidence import bonferroni_divisor
from scorer.evidence.diagnosis.fit import repeated_median
from scorer.evidence.diagnosis.records import SignName
from scorer.output.data import diagnosis_json, dump
from scorer.output.text.diagnosis import diagnosis_text
from tests.conftest import FIXTURES, ROOT, Run, Score, answers, case_rows, needs_cases, scaled, write_rows
from tests.strategies import rows


class Diagnosed(NamedTuple):
    """The reading named first ("" for none) with its hits and what declares it, and what must be printed."""

    reading: str
    hits: int
    fix: str
    says: tuple[str, ...] = ()


DIAGNOSED: dict[int, Diagnosed] = {
    0: Diagnosed("grid1000", 8, "--space grid1000"),
    3: Diagnosed("", 0, "", ("at most 2 decimals", "10.24 x 7.68", "8 of 8 targets")),
    6: Diagnosed("pixel, y before x", 8, "write x before y", ("y reaches 860", "768 high")),
    7: Diagnosed("frame:1036x756", 8, "--space frame:1036x756", ("(+1.2 %)", "(-1.6 %)")),
    9: Diagnosed("half size, 512x384", 8, "--space frame:512x384", ("x is 0.5000 times", "y is 0.5000 times")),
    10: Diagnosed(
        "fraction, y divided by the width",
        8,
        "divide y by the height, not by the width",
        ("x is 1.0000 times that of the target (0.0 %)", "y is 0.7499 times that of the target (-25.0 %)"),
    ),
    54: Diagnosed("", 0, "", ("(0, 0)", "1 on examples without a target", "negative in both coordinates")),
    91: Diagnosed("", 0, "", ("swapped corners", "as x, y, width, height 1 would hit")),
    94: Diagnosed("", 0, "", ("a box where a point is asked for", "with its centre 1 would hit")),
    95: Diagnosed("", 0, "", ("a box where a point is asked for", "with its centre 1 would hit")),
    152: Diagnosed("", 0, "", ("is a text", "read as numbers 1 would hit")),
    153: Diagnosed("", 0, "", ("is an object", "1 would hit")),
}


def _cases() -> list[dict[str, Any]]:
    return [row for row in case_rows() if "DIAGNOSIS" in row["expected"]]


@needs_cases
def test_every_case_with_a_diagnosis_is_in_the_table() -> None:
    assert {case["n"] for case in _cases()} == set(DIAGNOSED)


@needs_cases
@pytest.mark.parametrize("case", _cases(), ids=lambda case: f"{case['n']}-{case['case'].replace(' ', '-')}")
def test_case(case: dict[str, Any], run_score: Score, tmp_path: Path) -> None:
    rows, text = case["gt"]["rows"], case["input"]
    if case["kind"] == "raw-response":
        text = json.dumps({"id": rows[0]["id"], "point": json.loads(text)})
    predictions, truth = tmp_path / "preds.jsonl", tmp_path / "metadata.jsonl"
    predictions.write_text(text)
    write_rows(truth, rows)
    if case["benchmark"] == "osworld-g":
        truth = tmp_path / "OSWorld-G.json"
        truth.write_text(json.dumps(rows))
    arguments: list[object] = [predictions, "--gt", truth, "--benchmark", case["benchmark"]]
    if case["gt"].get("declared"):
        arguments += ["--space", "fraction"]
    expected = DIAGNOSED[case["n"]]

    plain = run_score(*arguments, "--json", "-").json
    asked = run_score(*arguments, "--json", "-", "--diagnose").json
    printed = run_score(*arguments, "--diagnose").out

    diagnosis = asked.pop("diagnosis")
    assert asked == plain, "a diagnosis changes nothing else"
    assert diagnosis["named"][:1] == ([expected.reading] if expected.reading else [])
    if expected.reading:
        first = diagnosis["readings"][0]
        assert (first["name"], first["hits"]) == (expected.reading, expected.hits)
        assert (first["option"] or first["fix"]) == expected.fix
        assert f"likely: {expected.reading} " in printed
        assert expected.fix in printed
    else:
        assert "likely: " not in printed
    for words in expected.says:
        assert words in printed


def diagnose_rows(rows: list[dict[str, Any]], name: str = "pointerbench-pro") -> dict[str, Any]:
    """The signs, by name, that rows for the fixtures show."""
    return {sign.name: sign for sign in diagnose(score(load_benchmark(name, FIXTURES), rows)).signs}


def middles(name: str = "pointerbench-pro") -> list[dict[str, Any]]:
    examples = load_benchmark(name, FIXTURES).examples
    return [
        {"id": e.id, "point": [(e.target[0] + e.target[2]) / 2, (e.target[1] + e.target[3]) / 2]}
        if e.target
        else {"id": e.id, "point": [-1, -1]}
        for e in examples
    ]


def test_right_answers_show_no_sign_of_trouble() -> None:
    assert diagnose_rows(middles()) == {}
    assert diagnose_rows(middles("osworld-g"), "osworld-g") == {}


def test_one_answer_for_every_example_is_said_to_be_one() -> None:
    found = diagnose_rows([{**row, "point": [512, 384]} for row in middles()])
    assert found["one-answer"].message == "all 12 answers are [512, 384]"
    assert list(found) == ["one-answer"]


def test_a_default_that_some_rows_repeat_is_named_with_its_ids() -> None:
    rows = [{**row, "point": [5, 5]} if n < 5 else row for n, row in enumerate(middles())]
    sign = diagnose_rows(rows)["repeated-answer"]
    assert sign.ids == tuple(row["id"] for row in rows[:5])
    assert "5 of 12 answers are [5, 5]" in sign.message


def test_refusals_in_words_and_errors_that_are_none() -> None:
    rows = middles("osworld-g")
    refusals = [row["id"] for row in rows if row["point"] == [-1, -1]]
    said: list[dict[str, Any]] = [
        {"id": row["id"], "text": "There is no such button."} if row["id"] in refusals else row for row in rows
    ]
    said[0] = {"id": rows[0]["id"], "error": "cannot connect to the server"}
    sign = diagnose_rows(said, "osworld-g")["refusal-in-words"]
    assert sign.ids == tuple(refusals)
    assert f"{len(refusals)} on examples without a target" in sign.message


def test_failure_markers_that_count_as_refusals_are_told_from_refusals() -> None:
    rows: list[dict[str, Any]] = middles("osworld-g")
    refusals = [row for row in rows if row["point"] == [-1, -1]]
    refusals[0]["raw"] = "<think>The user asks me to click on the"
    refusals[1]["raw"] = '{"coordinate": [-1, -1]}'
    refusals[2]["raw"] = "The target is not visible."
    sign = diagnose_rows(rows, "osworld-g")["failure-marker"]
    assert sign.ids == (refusals[0]["id"],)
    assert "1 of them counts as a right refusal" in sign.message


def test_negative_answers_that_have_nothing_to_do_with_absent_targets_look_like_markers() -> None:
    rows: list[dict[str, Any]] = middles("osworld-g")
    for row in rows:
        row["point"] = [9, 9] if row["point"] == [-1, -1] else [-1, -1]
    sign = diagnose_rows(rows, "osworld-g")["failure-marker"]
    assert sign.rows == sum(row["point"] == [-1, -1] for row in rows)
    assert "0 of them count as a right refusal" in sign.message


def test_a_point_nested_too_deep_would_hit() -> None:
    rows = [{**row, "point": [row["point"]]} if n == 3 else row for n, row in enumerate(middles())]
    assert "with the first point 1 would hit" in diagnose_rows(rows)["other-shape"].message


def test_the_readme_file_is_diagnosed_as_text_as_json_and_in_every_format(run_score: Score) -> None:
    arguments = [FIXTURES / "predictions/pro.grid1000.jsonl", "--data", FIXTURES, "--diagnose"]
    run = run_score(*arguments)
    assert "\nlikely: grid1000 (" in run.out
    assert "\nto declare it: --space grid1000\n" in run.out
    assert run.out.startswith("pointerbench-pro    16.67 %   2/12 ")
    data = run_score(*arguments, "--json", "-").json["diagnosis"]
    assert data["declared"] == "pixel"
    assert data["readings"][0]["option"] == "--space grid1000"
    assert (data["hits"], data["n"], data["readings"][0]["hits"]) == (2, 12, 10)
    assert data["misses"][0]["n"] == 10
    for table_format in ("github", "latex", "tsv", "html"):
        assert "grid1000" in run_score(*arguments, "--table-format", table_format).out


def test_every_sign_is_explained_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in get_args(SignName))


def test_each_benchmark_of_a_suite_has_its_own_diagnosis(run_score: Score) -> None:
    arguments = [FIXTURES / "predictions/suite.jsonl", "--data", FIXTURES, "--diagnose"]
    data: Run = run_score(*arguments, "--json", "-")
    assert all("diagnosis" in report for report in data.json["benchmarks"].values())
    assert run_score(*arguments).out.count("advice only, the score is not changed") == 3


@settings(max_examples=scaled(150))
@given(st.data())
def test_nothing_in_a_row_stops_a_diagnosis(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["pointerbench-text", "osworld-g"]))
    truth = load_benchmark(name, FIXTURES)
    given_rows = data.draw(st.lists(rows([example.id for example in truth.examples]), min_size=1, max_size=30))
    space = data.draw(st.sampled_from(["pixel", "fraction", "smart-resize:28:3136:2109744"]))
    try:
        report = score(truth, given_rows, space=space)
    except PredictionsError:
        return
    found = diagnose(report)
    assert found.hits == report.total.hits
    assert dump(diagnosis_json(found)).isascii()
    assert diagnosis_text(found, table_format="simple").startswith("diagnosis of ")


@settings(max_examples=scaled(60))
@given(st.data())
def test_numbers_of_any_size_stop_no_diagnosis(data: st.DataObject) -> None:
    truth = load_benchmark("pointerbench-text", FIXTURES)
    number = st.sampled_from([0, -1, 0.5, 512, 1e15, 9e307, -9e307, 5e-324, 1e154])
    given_rows = [
        {"id": example.id, key: data.draw(st.lists(number, min_size=size, max_size=size))}
        for example in truth.examples
        for key, size in ([("bbox", 4)] if example.rule == "coverage_precision" else [("point", 2)])
    ]
    found = diagnose(score(truth, given_rows))
    assert dump(diagnosis_json(found)).isascii()
    assert diagnosis_text(found, table_format="simple")


def test_ids_of_a_file_cannot_act_on_the_terminal(run_score: Score, tmp_path: Path) -> None:
    truth = write_rows(
        tmp_path / "gt.jsonl", [{"id": "pbs_\x1b[2J", "bbox": [5, 5, 9, 9], "answer_type": "point", "instruction": "x"}]
    )
    predictions = answers("pbs_\x1b[2J", point=(0, 0))
    run = run_score(predictions, "--gt", truth, "--benchmark", "pointerbench-sheets", "--diagnose")
    assert "(0, 0)" in run.out
    assert "\x1b" not in run.out + run.err


@pytest.mark.usefixtures("run_score")
def test_a_file_without_answers_has_nothing_to_try(run_score: Score, three_subsets: Path) -> None:
    write_rows(Path("empty.jsonl"), [{"id": "pbs_0001", "error": "timeout"}])
    run = run_score("empty.jsonl", "--data", three_subsets, "--diagnose")
    assert run.status == 0
    assert "no answers that could be read in another way" in run.out


def test_a_hint_needs_more_than_a_handful_of_rows() -> None:
    truth = load_benchmark("pointerbench-pro", FIXTURES)
    assert hints([score(truth, FIXTURES / "predictions/pro.grid1000.jsonl")]) == []


def test_tests_that_cannot_reach_the_level_are_not_divided_by() -> None:
    # Two-sided exact McNemar of d changes is at best 2/2**d: 2**-7 for 8, 1 for 1, 0.5 for 2.
    assert bonferroni_divisor([(8, 0)], 0.05) == 1
    assert bonferroni_divisor([(8, 0), (0, 8), (4, 4), (1, 0), (2, 0)], 0.05) == 3
    assert bonferroni_divisor([(9, 1)] * 30, 0.05) == 26  # the largest k with 2**-9 <= 0.05/k is 25
    assert bonferroni_divisor([], 0.05) == 1


def test_the_repeated_median_ignores_nearly_half_of_the_points() -> None:
    line = [(float(x), 3.0 * x - 7) for x in range(20)]
    wild = [(float(x), 1e6 * (-1) ** x) for x in range(16)]
    assert repeated_median(line) == pytest.approx((3, -7))
    assert repeated_median([*line, *wild]) == pytest.approx((3, -7))
    assert repeated_median([(1.0, 2.0), (2.0, 3.0)]) is None
    assert repeated_median([(1.0, 2.0)] * 9) is None
