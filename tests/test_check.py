"""The strict check: every fault an error, all in one run, and no quarrel with the score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer import GroundTruth, PredictionsError, check, load_benchmark, score
from scorer.core.findings import Code
from tests.conftest import FIXTURES, Score, write_rows
from tests.strategies import rows

TEXT = load_benchmark("pointerbench-text", FIXTURES)
OSWORLD = load_benchmark("osworld-g", FIXTURES)


def _complete(truth: GroundTruth) -> list[dict[str, Any]]:
    """A row for each example, with the geometry that it asks for, not always right."""
    return [
        {"id": e.id, **({"bbox": [10, 10, 60, 40]} if e.rule == "coverage_precision" else {"point": [300, 200]})}
        for e in truth.examples
    ]


@pytest.mark.parametrize("truth", [TEXT, OSWORLD], ids=lambda truth: truth.benchmark.id)
def test_a_complete_and_clean_file_is_accepted_and_score_warns_of_nothing(truth: GroundTruth) -> None:
    answers = _complete(truth)
    answers[0] = {"id": answers[0]["id"], "error": "HTTP 500"}
    checked = check(truth, answers)
    assert (checked.accepted, checked.findings, checked.rows) == (True, (), len(answers))
    report = score(truth, answers)
    assert report.findings == ()
    assert report.outcomes["hit"] + report.outcomes["miss"] + report.outcomes["run_error"] == report.total.n


@given(
    st.sampled_from([TEXT, OSWORLD]).flatmap(
        lambda truth: st.tuples(
            st.just(truth), st.lists(rows([e.id for e in truth.examples]), max_size=3), st.booleans()
        )
    )
)
def test_check_finds_what_score_finds_and_accepts_nothing_that_score_would_warn_of(
    drawn: tuple[GroundTruth, list[dict[str, Any]], bool],
) -> None:
    truth, odd, complete = drawn
    given_rows = [*(_complete(truth) if complete else []), *odd]
    checked = check(truth, given_rows)
    assert checked.accepted == all(finding.severity != "error" for finding in checked.findings)
    for finding in checked.findings:
        assert 0 <= finding.line <= len(given_rows)
        assert finding.severity == finding.code.strict
    try:
        report = score(truth, given_rows)
    except PredictionsError as refused:
        assert not checked.accepted
        assert refused.counts == checked.finding_counts  # noqa: PT017 (both paths are checked)
        return
    assert checked.finding_counts == report.finding_counts
    if not checked.findings:
        assert sum(report.outcomes[outcome] for outcome in ("hit", "miss", "run_error")) == report.total.n
    if report.outcomes["no_answer"] or report.outcomes["absent"]:
        assert not checked.accepted


def test_every_code_that_score_refuses_is_an_error_of_the_check_too() -> None:
    order = ["note", "warning", "error"]
    for code in Code:
        assert order.index(code.strict) >= order.index(code.tolerant), code


def test_absent_examples_are_counted_and_listed_when_all_are_asked_for(run_score: Score) -> None:
    path = write_rows(Path("p.jsonl"), _complete(TEXT)[:-7])
    run = run_score("check", path, "--data", FIXTURES)
    missing = [example.id for example in TEXT.examples[-7:]]
    assert run.status == 1
    assert f"7 of {len(TEXT.examples)} examples of pointerbench-text have no row" in run.out
    assert missing[-1] not in run.out
    assert (
        f"without a row in pointerbench-text: {', '.join(missing)}"
        in run_score("check", path, "--data", FIXTURES, "--all").out
    )
    data = run_score("check", path, "--data", FIXTURES, "--json", "-").json
    assert data["absent_ids"] == {"pointerbench-text": missing}
    assert data["benchmarks"] == ["pointerbench-text"]
    assert run_score("check", path, "--data", FIXTURES, "--json", "report.json").out == run.out
    assert json.loads(Path("report.json").read_text()) == data


def test_more_than_twenty_errors_of_a_kind_are_all_listed(run_score: Score) -> None:
    path = write_rows(Path("p.jsonl"), [{"id": f"pbt_{n:05d}", "point": [1, 1]} for n in range(30)] + _complete(TEXT))
    assert run_score("check", path, "--data", FIXTURES).out.count("unknown-id") == 30


def test_a_verdict_or_a_target_in_a_row_is_named_as_ignored(run_score: Score) -> None:
    answers = _complete(OSWORLD)
    answers[0] |= {"bbox": "[1, 2, 3, 4]", "correctness": "correct"}
    path = write_rows(Path("p.jsonl"), answers)
    run = run_score("check", path, "--data", FIXTURES)
    assert run.status == 0
    assert run.out.count("warning  ignored-field") == 2
    assert "accepted: 0 errors, 2 warnings in" in run.out
    assert "note" in run_score(path, "--data", FIXTURES).err


def test_answers_in_several_spaces_are_a_warning(run_score: Score) -> None:
    answers = _complete(OSWORLD)
    answers[0] |= {"space": "grid1000"}
    path = write_rows(Path("p.jsonl"), answers)
    run = run_score("check", path, "--data", FIXTURES)
    assert run.status == 0
    assert "answers of osworld-g are in several spaces: grid1000, pixel" in run.out
    assert "mixed-space" not in run_score("check", path, "--data", FIXTURES, "--space", "grid1000").out


def test_candidates_that_hedge_are_seen(run_score: Score) -> None:
    """Rows that answer and refuse at once would win every refusal and lose no target."""
    answers = _complete(OSWORLD)
    for row in answers:
        row["points"] = [row.pop("point"), [-1, -1]]
    run = run_score("check", write_rows(Path("p.jsonl"), answers), "--data", FIXTURES)
    assert run.status == 1
    assert run.out.count("error    refusal-and-point") == len(answers)
    assert run.out.count("warning  several-candidates") == len(answers)
    assert "refusal-and-point" in run_score("p.jsonl", "--data", FIXTURES).err


def test_the_data_says_what_the_file_was_held_against(run_score: Score) -> None:
    path = write_rows(Path("p.jsonl"), _complete(OSWORLD))
    data = run_score("check", path, "--data", FIXTURES, "--instruction-variant", "refined", "--json", "-").json
    truth = data["ground_truth"]["osworld-g"]
    assert (truth["examples"], truth["variant"], truth["official"]) == (data["rows"], "refined", False)
    assert [finding["code"] for finding in truth["findings"]] == ["gt-empty-instruction"]
    run = run_score("check", path, "--data", "nowhere", "--json", "-")
    assert (run.status, run.json["accepted"]) == (3, False)


def test_an_answer_off_the_screenshot_is_a_warning(run_score: Score) -> None:
    answers = _complete(OSWORLD)
    answers[0] |= {"point": [99999, 1]}
    run = run_score("check", write_rows(Path("p.jsonl"), answers), "--data", FIXTURES)
    assert run.status == 0
    assert "warning  out-of-frame  " in run.out
    assert "[99999, 1]" in run.out


def test_a_file_of_three_subsets_must_be_complete_in_each(run_score: Score) -> None:
    run = run_score("check", FIXTURES / "predictions/suite.jsonl", "--data", FIXTURES)
    assert run.status == 1
    assert run.out.rstrip().endswith("rows of pointerbench-sheets, pointerbench-text, pointerbench-pro")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("absent.jsonl",), 2), ((), 2), (("p.jsonl", "--data", "nowhere"), 3), (("p.jsonl", "--json", "p.jsonl"), 2)],
)
def test_mistakes_have_the_same_statuses_as_for_a_score(
    arguments: tuple[str, ...], status: int, run_score: Score
) -> None:
    write_rows(Path("p.jsonl"), _complete(TEXT))
    assert run_score("check", *arguments).status == status


def test_the_ground_truths_own_findings_are_shown(run_score: Score) -> None:
    run = run_score("check", write_rows(Path("p.jsonl"), _complete(TEXT)), "--data", FIXTURES)
    assert run.status == 0
    assert "gt-not-official" in run.err
