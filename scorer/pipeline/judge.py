"""The rules: one prediction in pixels against one example.

The rules and where they come from:

* ``point_in_bbox``: the public Pointerbench scorer and OSWorld-G's evaluation; all four edges count.
* ``coverage_precision``: the public Pointerbench-Text scorer; both thresholds are reached by equality.
* ``point_in_polygon``: OSWorld-G. Its text says "inside" here and "inside or on the boundary" for boxes, so that the
  boundary of a polygon is out.
* ``refusal``: OSWorld-G; the point is negative in both coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from scorer.core.geometry import coverage_and_precision, in_box, in_polygon
from scorer.core.records import Example, Point, Prediction, RuleName, Size, Verdict


def judge(example: Example, prediction: Prediction | None) -> Verdict:
    """Judge one example by its rule. ``prediction`` is in pixels; None means that the example has no row.

    Never raises: a failed call is a run_error, a row without the geometry that the rule reads is no_answer.
    """
    if prediction is None:
        return Verdict(example, None, "absent")
    if prediction.error is not None:
        return Verdict(example, prediction, "run_error")
    if example.rule == "coverage_precision":
        return _judge_box(example, prediction)
    is_right, target = POINT_RULES[example.rule], example.target
    for x, y in prediction.points:
        if is_right(x, y, target):
            return Verdict(example, prediction, "hit")
    return Verdict(example, prediction, "miss" if prediction.points else "no_answer")


def is_refusal(points: Iterable[Point]) -> bool:
    """Whether a candidate point says that the target is not there: negative in both coordinates."""
    for x, y in points:  # noqa: SIM110 (a generator costs more than the test)
        if x < 0 and y < 0:
            return True
    return False


def is_false_refusal(verdict: Verdict) -> bool:
    """Whether a miss says that a target which exists is not there."""
    return (
        verdict.outcome == "miss"
        and verdict.example.rule != "refusal"
        and verdict.prediction is not None
        and is_refusal(verdict.prediction.points)
    )


def is_off(x: float, y: float, image_size: Size) -> bool:
    """Whether a point, in pixels, lies off the screenshot. The point of a refusal does not count as off."""
    return (x < 0) != (y < 0) or x > image_size[0] or y > image_size[1]


def is_off_screenshot(verdict: Verdict) -> bool:
    """Whether a candidate point or a corner of the box lies off the screenshot."""
    prediction, size = verdict.prediction, verdict.example.image_size
    if prediction is None:
        return False
    if any(is_off(x, y, size) for x, y in prediction.points):
        return True
    if prediction.bbox is None:
        return False
    x0, y0, x1, y1 = prediction.bbox
    return x0 < 0 or y0 < 0 or x1 > size[0] or y1 > size[1]


def _judge_box(example: Example, prediction: Prediction) -> Verdict:
    if prediction.bbox is None:
        return Verdict(example, prediction, "no_answer")
    coverage, precision = coverage_and_precision(prediction.bbox, example.target)
    hit = coverage >= example.min_coverage and precision >= example.min_precision
    return Verdict(example, prediction, "hit" if hit else "miss", coverage, precision)


def _is_negative(x: float, y: float, _: tuple[float, ...]) -> bool:
    return x < 0 and y < 0


POINT_RULES: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], bool]] = {
    "point_in_bbox": in_box,
    "point_in_polygon": in_polygon,
    "refusal": _is_negative,
}
"""Whether a point (x, y) is right for a target."""
