"""Rows to predictions: the public scorer's spellings in its order, the right reading where its own is an accident."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.benchmarks import get_benchmark
from scorer.benchmarks.ids import MAX_NEAREST
from scorer.core.errors import PredictionsError
from scorer.core.findings import Findings
from scorer.core.records import Example, GroundTruth, Prediction, Space, Verdict
from scorer.files.python_rows import PythonRows
from scorer.pipeline.judge import is_off_screenshot
from scorer.pipeline.ledger import Ledger
from scorer.pipeline.routing import Routing
from scorer.pipeline.scoring import score
from scorer.pipeline.settings import Settings
from tests.strategies import coordinates, rows

POINT = Example("pbt_0001", "point_in_bbox", (100, 200, 180, 220), (1024, 768), image="7.png")
BOX = Example("pbt_0002", "coverage_precision", (200, 500, 500, 520), (1024, 768))
EXAMPLES = {example.id: example for example in (POINT, BOX)}


def collect(*given_rows: dict[str, Any], any_candidate: bool = False) -> tuple[Ledger, list[str]]:
    findings = Findings()
    benchmark = get_benchmark("pointerbench-text")._replace(any_candidate=any_candidate)
    truth = GroundTruth(benchmark, "", tuple(EXAMPLES.values()), frozenset(), "", "", official=False)
    routing = Routing(lambda _: truth, Settings(), findings, truth)
    with suppress(PredictionsError):
        score([PythonRows("file", given_rows)], routing)
    said = [f"{finding.line} {finding.code}: {finding.message}" for finding in findings if finding.line]
    return routing.ledgers[benchmark.id], said


def point_of(any_candidate: bool = False, **fields: Any) -> tuple[Prediction, list[str]]:
    collector, said = collect({"id": POINT.id, **fields}, any_candidate=any_candidate)
    (prediction, _) = collector.predictions
    assert prediction is not None
    return prediction, said


def box_of(**fields: Any) -> tuple[Prediction, list[str]]:
    collector, said = collect({"id": BOX.id, **fields})
    (_, prediction) = collector.predictions
    assert prediction is not None
    return prediction, said


@pytest.mark.parametrize(
    "fields",
    [
        {"point": [1, 2]},
        {"pred": [1, 2]},
        {"coordinate": [1, 2]},
        {"prediction": [1, 2]},
        {"x": 1, "y": 2},
        {"point": None, "coordinate": [1, 2]},
        {"point": "1,2", "x": 1, "y": 2},
    ],
)
def test_the_spellings_of_a_point_are_read_in_the_public_scorers_order(fields: dict[str, Any]) -> None:
    assert point_of(**fields) == (Prediction(POINT.id, ((1, 2),), line=1, source="file"), [])


@pytest.mark.parametrize(
    ("fields", "expected", "said"),
    [
        ({"point": ["140", " 210.5 "]}, (140, 210.5), "x is a string"),
        ({"point": [1, 2, 3]}, (1, 2), "3 numbers in point (decimal comma?)"),
        ({"pred": [1, 2, 3, 4]}, (1, 2), "4 numbers in pred (a box?)"),
        ({"point": [1, 2], "pred": [3, 4]}, (1, 2), "point and pred differ; point was used"),
        ({"point": "junk", "pred": [1, 2]}, (1, 2), "pred and point differ; pred was used"),
        ({"point": [1, 2], "prediction": "junk"}, (1, 2), "point and prediction differ; point was used"),
        ({"point": [1, 2], "points": [[3, 4]]}, (1, 2), "point and points differ; point was used"),
        ({"point": [1, 2], "x": 3, "y": 4}, (1, 2), "point and x, y differ; point was used"),
    ],
)
def test_what_is_tolerated_in_a_point_is_said(fields: dict[str, Any], expected: object, said: str) -> None:
    prediction, findings = point_of(**fields)
    assert prediction.points == (expected,)
    assert said in findings[0]


@pytest.mark.parametrize(
    ("fields", "fault", "said"),
    [
        ({}, "empty-answer", 'no "point"'),
        ({"point": None, "raw": ""}, "empty-answer", 'no "point"'),
        ({"bbox": [1, 2, 3, 4]}, "wrong-shape", 'wants "point"; the row has "bbox"'),
        ({"point": "[1, 2]"}, "wrong-shape", "point is a string"),
        ({"point": {"x": 1, "y": 2}}, "wrong-shape", "point is an object"),
        ({"point": [1]}, "wrong-shape", "point holds 1 of 2 numbers"),
        ({"point": [[1, 2]]}, "wrong-shape", "point is nested one level too deep; write [x, y]"),
        ({"click": [1, 2]}, "empty-answer", 'no "point" (it has: id, click)'),
        ({"point": [[1, 2], [3, 4]]}, "candidate-count", "2 points in point, expected one"),
        ({"points": [[1, 2]]}, "candidate-count", 'asks for one "point"'),
        ({"point": [None, 2]}, "bad-number", "x is null"),
        ({"point": [1, True]}, "bad-number", "y is a boolean"),
        ({"point": [float("nan"), 2]}, "bad-number", "x is NaN, which is not JSON"),
        ({"point": [float("inf"), 2]}, "bad-number", "x is not finite"),
        ({"point": [10**400, 2]}, "bad-number", "x is not finite"),
        ({"point": ["nan", 2]}, "bad-number", "x is not a decimal number: nan"),
        ({"point": ["1_40", 2]}, "bad-number", "x is not a decimal number: 1_40"),
        ({"point": ["1e999", 2]}, "bad-number", "x is a string"),
        ({"point": [{}, 2]}, "bad-number", "x is a object"),
        ({"x": None, "y": 2}, "bad-number", "x is null"),
    ],
)
def test_a_point_that_cannot_be_read_is_no_answer_with_its_reason(
    fields: dict[str, Any], fault: str, said: str
) -> None:
    prediction, findings = point_of(**fields)
    assert (prediction.points, prediction.fault) == ((), fault)
    assert any(said in finding for finding in findings), findings


@pytest.mark.parametrize(
    "fields",
    [
        {"bbox": [200, 500, 500, 520]},
        {"box": [200, 500, 500, 520]},
        {"pred": [200, 500, 500, 520]},
        {"prediction": [200, 500, 500, 520]},
        {"x0": 200, "y0": 500, "x1": 500, "y1": 520},
        {"bbox": None, "point": [1, 2], "box": [200, 500, 500, 520]},
    ],
)
def test_the_spellings_of_a_box_are_read_in_the_public_scorers_order(fields: dict[str, Any]) -> None:
    assert box_of(**fields) == (Prediction(BOX.id, (), (200, 500, 500, 520), line=1, source="file"), [])


@pytest.mark.parametrize(
    ("fields", "expected", "code"),
    [
        ({"bbox": [500, 520, 200, 500]}, (200, 500, 500, 520), "inverted-box"),
        ({"bbox": [200, 500, 500, 520, 9]}, (200, 500, 500, 520), "extra-numbers"),
        ({"bbox": [1, 2, 3], "box": [200, 500, 500, 520]}, (200, 500, 500, 520), "key-conflict"),
        ({"bbox": [200, 500, 500, 520], "x0": 1, "y0": 2, "x1": 3, "y1": 4}, (200, 500, 500, 520), "key-conflict"),
        ({"bbox": [1, 2, 1, 9]}, (1, 2, 1, 9), "zero-area"),
        ({"bbox": "[200, 500, 500, 520]"}, (200, 500, 500, 520), "number-in-text"),
        ({"text": "(200, 500) to (500, 520.5)"}, (200, 500, 500, 520.5), "number-in-text"),
        ({"raw": '{"bbox_2d": [200, 500, 500, 520]}'}, (200, 500, 500, 520), "number-in-text"),
        ({"raw": "", "answer": "200 500 500 520"}, (200, 500, 500, 520), "number-in-text"),
        ({"raw": [200, 500, 500, 520]}, (200, 500, 500, 520), "number-in-text"),
        ({"bbox": [200, "x"], "raw": "200 500 500 520"}, (200, 500, 500, 520), "bad-number"),
    ],
)
def test_what_is_tolerated_in_a_box_is_said(fields: dict[str, Any], expected: object, code: str) -> None:
    prediction, findings = box_of(**fields)
    assert prediction.bbox == expected
    assert f"1 {code}" in findings[0]


@pytest.mark.parametrize(
    ("fields", "fault", "said"),
    [
        ({"point": [1, 2]}, "wrong-shape", 'wants "bbox"; the row has "point"'),
        ({"bbox": [1, 2, 3]}, "wrong-shape", 'wants "bbox"; the row has "bbox"'),
        ({}, "empty-answer", 'no "bbox"'),
        ({"bbox": [200, None, 500, 500, 520]}, "bad-number", "bbox has 5 entries, entry 2 is null"),
        ({"bbox": [200, "500", 500, 520]}, "bad-number", 'entry 2 is a string, "500"'),
        ({"bbox": [200, True, 500, 520]}, "bad-number", "entry 2 is a boolean"),
        ({"x0": 1, "y0": 2, "x1": "3", "y1": 4}, "bad-number", "x1 is a string"),
        ({"raw": "bbox_2d 1 2 3"}, "wrong-shape", "no box in the text"),
        ({"raw": "1 2 3"}, "empty-answer", 'no "bbox"'),
        ({"raw": "9" * 500 + " 1 2 3"}, "empty-answer", 'no "bbox"'),
    ],
)
def test_a_box_that_cannot_be_read_is_no_answer_with_its_reason(fields: dict[str, Any], fault: str, said: str) -> None:
    prediction, findings = box_of(**fields)
    assert (prediction.bbox, prediction.fault) == (None, fault)
    assert any(said in finding for finding in findings), findings


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # What Python's float() and the pattern -?\d+(?:\.\d+)? make of them, as the public scorer uses both.
        ({"bbox": [200, None, 500, 500, 520]}, (200, 500, 500, 520)),
        ({"bbox": [200, True, 500, 520]}, (1, 200, 500, 520)),
        ({"raw": '{"bbox_2d": [200, 500, 500, 520]}'}, (2, 200, 500, 500)),
        ({"raw": "bbox_2d 1 2 3"}, (1, 2, 2, 3)),
    ],
)
def test_the_public_scorers_accident_is_kept_beside_the_right_reading(
    fields: dict[str, Any], expected: tuple[float, ...]
) -> None:
    collector, _ = collect({"id": BOX.id, **fields})
    box = collector.public[BOX.id].bbox
    assert box is not None
    assert sorted(box) == sorted(expected)
    fixed, _ = collect({"id": BOX.id, **fields}, {"id": BOX.id, "bbox": [1, 2, 3, 4]})
    assert fixed.public == {}


def test_candidates_are_read_for_a_benchmark_that_takes_any_and_malformed_ones_do_not_count() -> None:
    assert point_of(True, points=[[1, 2], [3, 4]])[0].points == ((1, 2), (3, 4))
    assert point_of(True, points=[[3, 4]], point=[1, 2])[0].points == ((1, 2), (3, 4))
    assert point_of(True, points=[[True, 4]], point=[1, 4])[0].points == ((1, 4),)
    prediction, said = point_of(True, points=[[1, 2], "x", [None, 4]])
    assert said[1].endswith("x is null; it does not count")
    assert list(prediction.points) == [(1, 2)]
    assert len(said) == 2
    assert point_of(True, points=["x"])[0].fault == "wrong-shape"
    assert point_of(True, points=[[None, 4]])[0].fault == "bad-number"
    assert [finding.split(":")[0] for finding in point_of(True, points=[[1, 2], [-1, -1]])[1]] == [
        "1 several-candidates",
        "1 refusal-and-point",
    ]
    assert point_of(True, points=[[-2, -2], [-1, -1]])[1] == [
        "1 several-candidates: 2 candidate points; any of them may hit"
    ]
    assert point_of(True, points=[])[0].fault == "empty-answer"
    assert point_of(True, point=[1, 2])[0].points == ((1, 2),)


def test_an_error_makes_a_run_error_whatever_else_the_row_carries() -> None:
    assert point_of(error="HTTP 429") == (
        Prediction(POINT.id, error="HTTP 429", line=1, source="file"),
        [],
    )
    prediction, said = point_of(error={"code": "empty"}, point=[1, 2])
    assert prediction.error == '{"code": "empty"}'
    assert said == ["1 error-with-answer: the row records an error and also gives an answer; it counts as run_error"]
    for answer in ({"point": ["a", "b"]}, {"bbox": [1, 2, 3, 4]}, {"x": 1, "y": 2}, {"points": [[1, 2]]}):
        assert [finding.split(":")[0] for finding in point_of(error="x", **answer)[1]] == ["1 error-with-answer"]
    assert box_of(error="unparsed", raw="[1, 2, 3, 4]", text="1 2 3 4")[1] == []
    no_errors: tuple[object, ...] = (None, "", False, 0, {})
    for no_error in no_errors:
        assert point_of(error=no_error, point=[1, 2])[0].error is None


def test_a_rows_own_space_goes_before_the_default_and_an_unknown_one_leaves_no_answer() -> None:
    assert point_of(space="grid1000", point=[1, 2])[0].space == Space("grid1000")
    assert point_of(space=None, point=[1, 2])[0].space == Space("pixel")
    for unknown in ("norm1000", 7):
        prediction, said = point_of(space=unknown, point=[1, 2])
        assert (prediction.points, prediction.fault) == ((), "bad-space")
        assert said[0].startswith("1 bad-space: ")


def test_an_error_goes_before_a_space_that_is_unknown() -> None:
    prediction, _ = point_of(error="timeout", space="norm1000", point=[1, 2])
    assert (prediction.error, prediction.points) == ("timeout", ())


def test_a_row_that_is_not_scored_changes_nothing_of_one_that_is() -> None:
    rows: list[dict[str, Any]] = [
        {"id": BOX.id, "raw": '{"bbox_2d": [200, 500, 500, 520]}'},
        {"id": BOX.id, "attempt": 2, "bbox": [1, 2, 3, 4]},
    ]
    assert collect(*rows)[0].public.keys() == collect(*reversed(rows))[0].public.keys() == {BOX.id}


def test_what_is_quoted_from_a_file_is_of_bounded_length() -> None:
    long = "x" * 5_000_000
    for row in ({"id": long}, {"id": POINT.id, "space": long, "point": [1, 2]}, {long: 1}):
        assert all(len(finding) < 1200 for finding in collect(row)[1])
    assert len(point_of(error=long)[0].error or "") == 500


def test_a_coordinate_in_a_text_may_be_written_with_any_number_of_digits() -> None:
    assert box_of(raw="200." + "0" * 1000 + " 500 500 520")[0].bbox == (200, 500, 500, 520)


def test_only_the_first_attempt_is_scored_and_a_malformed_number_is_read_as_it() -> None:
    collector, said = collect({"id": POINT.id, "point": [1, 2], "attempt": 2})
    assert collector.predictions == [None, None]
    assert said[0].startswith("1 other-attempt")
    assert point_of(attempt=1, point=[1, 2])[1] == point_of(attempt=None, point=[1, 2])[1] == []
    for later in (2.0, 10**30, 1e30, float("inf")):
        assert collect({"id": POINT.id, "point": [1, 2], "attempt": later})[0].predictions == [None, None]
    for malformed in (0, "1", True, 1.5, float("nan"), -float("inf")):
        prediction, said = point_of(attempt=malformed, point=[1, 2])
        assert list(prediction.points) == [(1, 2)]
        assert said[0].startswith("1 bad-attempt")


def test_the_last_row_of_an_id_wins_and_the_first_one_is_kept_beside_it() -> None:
    collector, said = collect(
        {"id": POINT.id, "point": [1, 1]},
        {"id": POINT.id, "point": [2, 2]},
        {"id": POINT.id, "error": "x"},
        {"id": POINT.id, "error": "x"},
    )
    assert collector.predictions[0] is not None
    assert collector.predictions[0].error == "x"
    assert collector.first[POINT.id].points == ((1, 1),)
    assert "was already given on line 1 with another answer ([1, 1] then, [2, 2] here)" in said[0]
    assert "([2, 2] then, an error here)" in said[1]
    assert "was already given on line 3 with the same answer" in said[2]


@pytest.mark.parametrize(
    ("row_id", "said"),
    [
        ("pbt_1", "ids are zero-padded: pbt_0001"),
        ("pbt-0001", "did you mean pbt_0001?"),
        ("PBT_0001", "did you mean pbt_0001?"),
        ("pbt_00001", "ids are zero-padded: pbt_0001"),
        ("pbt_0001.png", "a file name? did you mean pbt_0001?"),
        ("images/pbt_1.png", "a file name? did you mean pbt_0001?"),
        ("7.png", "a file name? did you mean pbt_0001?"),  # its screenshot
        ("8.png", "a file name? ids look like pbt_0001"),
        ("0001", "ids are strings like pbt_0001"),
        ("pbs_0001", "it looks like an id of pointerbench-sheets"),
        ("pbt_0009", "did you mean pbt_000"),
        ("", "ids look like pbt_0001"),
        ("\x1b[31m" * 100, "ids look like pbt_0001"),
    ],
)
def test_an_unknown_id_is_told_its_likely_cause(row_id: str, said: str) -> None:
    _, findings = collect({"id": row_id, "point": [1, 2]})
    assert findings[0].startswith("1 unknown-id")
    assert said in findings[0]


def test_after_some_unknown_ids_no_more_are_compared_with_every_known_one() -> None:
    _, findings = collect(*({"id": f"pbt_000{i}x", "point": [1, 2]} for i in range(MAX_NEAREST + 2)))
    assert "did you mean" in findings[0]
    assert "did you mean" not in findings[-1]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"point": [1, 2]}, "no-id: the row has no id (it has: point); rows are never matched by position"),
        ({"id": None}, "id-type: id must be a string, found null"),
        ({"id": 7}, "found number 7 (ids are strings like pbt_0001)"),
        ({"model": "m", "rows": [{}, {}]}, 'found a list under "rows" with 2 entries'),
        ({"pbt_0001": [1, 2]}, "maps ids to points"),
        ({}, "no-id"),
    ],
)
def test_a_row_without_a_usable_id_is_told_why(row: dict[str, Any], said: str) -> None:
    assert said in collect(row)[1][0]


@pytest.mark.parametrize(
    ("prediction", "outside"),
    [
        (Prediction("a", ((0, 0), (1024, 768))), False),
        (Prediction("a", ((-1, -1),)), False),  # a refusal
        (Prediction("a", ((-1, 5),)), True),
        (Prediction("a", ((5, -1),)), True),
        (Prediction("a", ((1025, 5),)), True),
        (Prediction("a", ((5, 769),)), True),
        (Prediction("a", bbox=(0, 0, 1024, 768)), False),
        (Prediction("a", bbox=(-1, -1, 5, 5)), True),
        (Prediction("a", bbox=(0, 0, 5, 769)), True),
    ],
)
def test_an_answer_off_the_screenshot_is_seen_but_an_edge_and_a_refusal_are_not(
    prediction: Prediction, outside: bool
) -> None:
    assert is_off_screenshot(Verdict(POINT, prediction, "miss")) == outside


@given(coordinates, coordinates)
def test_the_quick_way_of_reading_a_plain_row_and_the_long_way_agree(x: float, y: float) -> None:
    quick, long = point_of(point=[x, y]), point_of(point=[x, y], note=None)
    assert quick == long


@given(st.lists(rows([POINT.id, BOX.id, "pbt_1", "pbs_0001"]), max_size=6), st.booleans())
def test_no_row_raises_and_every_kept_prediction_is_finite(
    given_rows: list[dict[str, Any]], any_candidate: bool
) -> None:
    collector, _ = collect(*given_rows, any_candidate=any_candidate)
    for prediction in (*filter(None, collector.predictions), *collector.first.values(), *collector.public.values()):
        for value in (*sum(prediction.points, ()), *(prediction.bbox or ())):
            assert abs(float(value)) < float("inf")
        if not prediction.points and prediction.bbox is None:
            assert prediction.fault or prediction.error is not None
