"""The rules one by one, at the places where they differ, and laws over generated examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorer
from scorer.core.outcomes import OUTCOMES, Outcome
from scorer.core.records import Example, Prediction, Space
from scorer.pipeline.judge import is_false_refusal
from tests.strategies import boxes, coordinates, examples, predictions

BUTTON = Example("button", "point_in_bbox", (100, 200, 180, 220), (1024, 768))
LINE = Example("line", "coverage_precision", (200, 500, 500, 520), (1024, 768))
ELL = Example("ell", "point_in_polygon", (0, 0, 100, 0, 100, 40, 60, 40, 60, 80, 0, 80), (1920, 1080))
NOWHERE = Example("nowhere", "refusal", (), (1920, 1080))


def at(*points: tuple[float, float]) -> Prediction:
    return Prediction("any", points)


@pytest.mark.parametrize(
    ("example", "prediction", "expected"),
    [
        (BUTTON, at((100, 200)), "hit"),
        (BUTTON, at((180, 220)), "hit"),
        (BUTTON, at((180.0001, 220)), "miss"),
        (BUTTON, Prediction("any"), "no_answer"),
        (BUTTON, Prediction("any", bbox=(100, 200, 180, 220)), "no_answer"),
        (BUTTON, Prediction("any", ((140, 210),), error="HTTP 500"), "run_error"),
        (BUTTON, None, "absent"),
        # 5600 / 8000 is 0.7 exactly: a threshold is reached by equality.
        (LINE, Prediction("any", bbox=(220, 500, 620, 520)), "hit"),
        (LINE, Prediction("any", bbox=(220, 500, 621, 520)), "miss"),
        # 270 / 300 is 0.9 exactly.
        (LINE, Prediction("any", bbox=(200, 500, 470, 520)), "hit"),
        (LINE, Prediction("any", bbox=(200, 500, 469, 520)), "miss"),
        (LINE, at((350, 510)), "no_answer"),
        (ELL, at((50, 70)), "hit"),
        (ELL, at((80, 60)), "miss"),  # in the bounding rectangle, not in the ring
        (ELL, at((100, 20)), "miss"),  # on the boundary
        (ELL, at((80, 60), (50, 70)), "hit"),  # any candidate may hit
        (ELL, at(), "no_answer"),
        (NOWHERE, at((-1, -1)), "hit"),
        (NOWHERE, at((-0.5, -1920)), "hit"),
        (NOWHERE, at((-1, 5)), "miss"),
        (NOWHERE, at((0, 0)), "miss"),
        (NOWHERE, at((5, 5), (-1, -1)), "hit"),
        (NOWHERE, Prediction("any", ((-1, -1),), error="unparsed"), "run_error"),
        (NOWHERE, at(), "no_answer"),
    ],
)
def test_outcome(example: Example, prediction: Prediction | None, expected: Outcome) -> None:
    assert scorer.judge(example, prediction).outcome == expected


def test_judge_converts_a_prediction_that_is_in_another_space() -> None:
    prediction = Prediction("any", ((137, 273),), space=Space("grid1000"))
    verdict = scorer.judge(BUTTON, prediction)
    assert verdict.outcome == "hit"
    assert verdict.prediction is not None
    assert verdict.prediction.points == ((137 / 1000 * 1024, 273 / 1000 * 768),)


def test_a_miss_knows_how_far_its_nearest_candidate_was() -> None:
    assert scorer.judge(BUTTON, at((97, 196), (400, 400))).distance == 5
    assert scorer.judge(ELL, at((103, 44))).distance == 5
    assert scorer.judge(ELL, at((100, 20))).distance == 0
    assert scorer.judge(BUTTON, at((100, 200))).distance is None
    assert scorer.judge(NOWHERE, at((1, 1))).distance is None
    assert scorer.judge(BUTTON, None).distance is None


def test_a_false_refusal_is_a_negative_point_where_there_is_a_target() -> None:
    assert is_false_refusal(scorer.judge(BUTTON, at((-1, -1))))
    assert not is_false_refusal(scorer.judge(BUTTON, at((-1, 5))))
    assert not is_false_refusal(scorer.judge(NOWHERE, at((-1, -1))))
    assert not is_false_refusal(scorer.judge(BUTTON, None))


@given(examples(), predictions() | st.none())
def test_judge_never_raises_and_knows_five_outcomes(example: Example, prediction: Prediction | None) -> None:
    verdict = scorer.judge(example, prediction)
    assert verdict.outcome in OUTCOMES
    far = verdict.distance
    assert far is None or far >= 0


@given(boxes(), st.tuples(coordinates, coordinates), st.integers(0, 9))
def test_growing_a_target_never_loses_a_hit(
    box: tuple[int, int, int, int], point: tuple[float, float], margin: int
) -> None:
    x0, y0, x1, y1 = box
    small = Example("a", "point_in_bbox", box, (100, 100))
    large = small._replace(target=(x0 - margin, y0 - margin, x1 + margin, y1 + margin))
    if scorer.judge(small, at(point)).outcome == "hit":
        assert scorer.judge(large, at(point)).outcome == "hit"


@given(examples())
def test_gold_answers_hit(example: Example) -> None:
    """A point of the target, the target itself, or a refusal."""
    match example.rule:
        case "point_in_bbox":
            gold = at(((example.target[0] + example.target[2]) / 2, (example.target[1] + example.target[3]) / 2))
        case "coverage_precision":
            x0, y0, x1, y1 = example.target
            gold = Prediction("any", bbox=(x0, y0, x1, y1))
        case "refusal":
            gold = at((-1, -1))
        case _:
            return
    assert scorer.judge(example, gold).outcome == "hit"


def test_records_are_immutable() -> None:
    with pytest.raises(AttributeError):
        BUTTON.id = "other"  # type: ignore[misc]
