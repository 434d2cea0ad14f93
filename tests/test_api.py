"""The Python API: rows made in Python, errors that say what is wrong, nothing printed."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy
import pandas
import pytest
from statsmodels.stats.proportion import proportion_confint

import scorer
from tests.conftest import FIXTURES

TRUTH = scorer.load_benchmark("osworld-g", FIXTURES)
BOX = next(example for example in TRUTH.examples if example.rule == "point_in_bbox")
INSIDE = (BOX.target[0] + 1, BOX.target[1] + 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"point": list(INSIDE)},
        {"point": INSIDE},
        {"point": numpy.array(INSIDE)},
        {"point": (numpy.float32(INSIDE[0]), numpy.int64(int(INSIDE[1])))},
        {"points": [(1.0, 1.0), INSIDE]},
        {"points": numpy.array([[1.0, 1.0], INSIDE])},
        {"x": numpy.float64(INSIDE[0]), "y": INSIDE[1]},
    ],
)
def test_tuples_arrays_and_their_numbers_are_read_as_the_lists_a_file_would_hold(fields: dict[str, Any]) -> None:
    report = scorer.score(TRUTH, [{"id": BOX.id, **fields}])
    assert report.total.hits == 1
    assert {finding.code for finding in report.findings} <= {"absent-id", "several-candidates"}


def test_a_report_can_be_sent_and_kept() -> None:
    report = scorer.score(TRUTH, [{"id": BOX.id, "point": INSIDE}])
    assert pickle.loads(pickle.dumps(report)) == report
    assert repr(report.verdicts) == f"<{len(TRUTH.examples)} verdicts>"


def test_rows_that_are_no_mappings_are_refused_with_their_number() -> None:
    rows: Any = {BOX.id: [1, 2]}
    with pytest.raises(scorer.PredictionsError, match=r"<rows>:1: expected a mapping, found string"):
        scorer.score(TRUTH, rows)


def test_the_text_of_an_error_names_the_first_cause() -> None:
    with pytest.raises(scorer.PredictionsError, match=r"not scored: 1 error; <rows>: no prediction rows") as error:
        scorer.score(TRUTH, [])
    assert error.value.findings[0].code == "no-rows"
    assert error.value.counts == {"no-rows": 1}
    assert error.value.exit_code == 1
    with pytest.raises(scorer.PredictionsError, match=r"cannot be read \(No such file"):
        scorer.score(TRUTH, "absent.jsonl")
    assert str(scorer.UsageError("plain")) == "plain"


def test_a_space_may_be_given_by_name_or_as_a_record_and_must_be_known() -> None:
    width, height = BOX.image_size
    rows = [{"id": BOX.id, "point": [INSIDE[0] / width * 1000, INSIDE[1] / height * 1000]}]
    for space in ("grid1000", scorer.parse_space("grid1000")):
        assert scorer.score(TRUTH, rows, space=space).total.hits == 1
    assert scorer.score(TRUTH, rows, profile="qwen3vl").total.hits == 1
    assert scorer.score(TRUTH, rows).total.hits == 0
    with pytest.raises(scorer.UsageError, match="unknown space"):
        scorer.score(TRUTH, rows, space="norm1000")
    with pytest.raises(scorer.UsageError, match="unknown profile"):
        scorer.score(TRUTH, rows, profile="gpt5")


def test_what_no_file_can_hold_is_refused_or_read_but_never_an_exception_of_another_kind() -> None:
    odd: Any = [{"id": BOX.id, "point": INSIDE, "error": ValueError("x")}, {"id": 10**5000}, {"id": BOX.id}]
    report = scorer.score(TRUTH, odd)
    assert {p.code for p in report.findings} >= {"error-with-answer", "id-type", "duplicate-id"}
    with pytest.raises(scorer.UsageError, match="unknown space"):
        scorer.score(TRUTH, odd, space=scorer.Space("grid-1000"))
    with pytest.raises(scorer.PredictionsError, match="cannot be read"):
        scorer.score(TRUTH, "nul\0")


def test_keys_that_are_no_texts_and_errors_that_are_no_json_are_faults_of_their_rows() -> None:
    circular: dict[str, Any] = {}
    circular["again"] = circular
    rows: list[Any] = [{0: [{"a": 1}]}, {0: [1], 1: [2]}, {None: 1}, {"id": BOX.id, "error": {(1, 2): 3}}]
    report = scorer.score(TRUTH, [*rows, {"id": BOX.id, "error": circular}])
    assert report.finding_counts["no-id"] == 3
    assert report.outcomes["run_error"] == 1


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    scorer.score(TRUTH, FIXTURES / "predictions/osworld_g.jsonl")
    assert capfd.readouterr() == ("", "")


def test_a_score_over_no_refusals_has_no_refusal_rate() -> None:
    from scorer.output.data import report_json
    from scorer.output.text.report import report_text

    truth = scorer.load_benchmark("osworld-g", FIXTURES, categories=["refusal"])
    report = scorer.score(truth, [{"id": truth.examples[0].id, "point": [-1, -1]}])
    assert report_json(report)["actionable"] == {"hits": 0, "n": 0, "accuracy": None, "ci95": None}
    assert "actionable" not in report_text(report, table_format="simple")


def test_values_made_in_python_that_no_file_can_hold_stop_nothing() -> None:
    within_itself: list[Any] = []
    within_itself.append(within_itself)
    deep: Any = 1
    deep_object: Any = 1
    for _ in range(5000):
        deep, deep_object = [deep], {"a": deep_object}
    for value in (within_itself, deep, deep_object, 10**5000, {"a": 10**5000}):
        outcomes = [
            verdict.outcome
            for key in ("error", "point")
            for verdict in scorer.score(TRUTH, [{"id": BOX.id, key: value}]).verdicts
            if verdict.outcome != "absent"
        ]
        assert outcomes == ["run_error", "no_answer"]
        assert scorer.score_batch(TRUTH, [{"id": BOX.id, "error": value}])["outcome"] == ["run_error"]


def test_a_data_frame_is_scored_as_its_rows_are() -> None:
    rows: list[dict[str, Any]] = [
        {"id": BOX.id, "point": list(INSIDE), "error": None},
        {"id": TRUTH.examples[1].id, "point": None, "error": "timeout"},
    ]
    frame = pandas.DataFrame(rows)
    report, same = scorer.score(TRUTH, frame), scorer.score(TRUTH, rows)
    assert report.outcomes == same.outcomes
    assert (report.outcomes["hit"], report.outcomes["run_error"]) == (1, 1)
    # pandas fills a column of numbers with NaN where a row lacks it: the row then lacks the key.
    sparse = pandas.DataFrame([{"id": BOX.id, "x": INSIDE[0], "y": INSIDE[1]}, {"id": TRUTH.examples[1].id}])
    assert scorer.score(TRUTH, sparse).outcomes["hit"] == 1
    assert scorer.check(TRUTH, frame).rows == 2
    with pytest.raises(scorer.UsageError, match='no column "id"'):
        scorer.score(TRUTH, pandas.DataFrame([{"point": [1, 2]}]))


def test_a_report_is_plain_data_when_asked_for() -> None:
    report = scorer.score(TRUTH, [{"id": BOX.id, "point": INSIDE}])
    data = json.loads(json.dumps(report.to_dict()))
    assert data == json.loads(json.dumps(scorer.report_json(report)))
    assert (data["hits"], data["n"], data["benchmark"]) == (1, len(TRUTH.examples), "osworld-g")
    assert data["outcomes"] == dict(report.outcomes)
    assert data["ci95"] == [round(end, 4) for end in report.total.interval]


def test_a_cell_knows_its_interval_and_a_verdict_its_distance() -> None:
    assert scorer.Cell("x", 8, 10).interval == pytest.approx(proportion_confint(8, 10, method="wilson"))
    x1, y1 = BOX.target[2], BOX.target[3]
    assert scorer.judge(BOX, scorer.Prediction(BOX.id, ((x1 + 3, y1 + 4),))).distance == 5
    assert scorer.judge(BOX, scorer.Prediction(BOX.id, (INSIDE,))).distance is None
