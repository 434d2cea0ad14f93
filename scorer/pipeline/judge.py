"""Rule name -> function: one verdict at a time, or the hits among many points.

Every rule reads a prediction in pixels. The rules and where they come from:

* ``point_in_bbox``: the public Pointerbench scorer and OSWorld-G's evaluation; all four edges count.
* ``coverage_precision``: the public Pointerbench-Text scorer; both thresholds are reached by equality.
* ``point_in_polygon``: OSWorld-G. "Inside" there, "inside or on the boundary" for boxes: so the boundary is out.
* ``refusal``: OSWorld-G; the point is negative in both coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from scorer.core.geometry import (
    coverage_and_precision,
    distance_to_box,
    distance_to_polygon,
    in_box,
    in_boxes,
    in_polygon,
    points_in_polygon,
)
from scorer.core.records import Example, Point, Prediction, RuleName, Verdict

_rule_of, _target_of = attrgetter("rule"), attrgetter("target")

GOOD_ACCURACY = 0.9
LOOKED_AT = 300
"""Where misses point is not asked from this accuracy on, and of so many verdicts, evenly spaced, at most."""


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


def judge_points(examples: Sequence[Example], points: Sequence[Sequence[float]]) -> list[bool]:
    """Which of many points, in pixels, are right by the rules of their examples.

    ``points`` is aligned with ``examples``, which may come again and again. All points at one polygon are asked for at
    once, which takes a fiftieth of the time.
    """
    if set(map(_rule_of, examples)) == {"point_in_bbox"}:
        return in_boxes(points, map(_target_of, examples))
    rules = _RULES_OF_MANY
    found = [rules[each.rule](x, y, each.target) for each, (x, y) in zip(examples, points, strict=True)]
    if None not in found:
        return found  # type: ignore[return-value]
    at_polygons: dict[str, list[int]] = {}
    for position, right in enumerate(found):
        if right is None:
            at_polygons.setdefault(examples[position].id, []).append(position)
    for positions in at_polygons.values():
        ring = examples[positions[0]].target
        xs, ys = [points[position][0] for position in positions], [points[position][1] for position in positions]
        for position, right in zip(positions, points_in_polygon(xs, ys, ring), strict=True):
            found[position] = right
    return [right is True for right in found]


def distance(verdict: Verdict) -> float | None:
    """Pixels from the nearest candidate point of a miss to its target; None where there is no such distance."""
    if verdict.outcome != "miss" or verdict.prediction is None:
        return None
    measure = _DISTANCES.get(verdict.example.rule)
    if measure is None:
        return None
    return min(measure(x, y, verdict.example.target) for x, y in verdict.prediction.points)


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


def misses_point_somewhere(verdicts: Sequence[Verdict], accuracy: float) -> bool:
    """Whether misses end far from their targets, or nearly all to the same side, by an even look at a few verdicts.

    Far is more than a target size beyond the target. Where ``accuracy`` is good nothing is looked at.
    """
    looked_at = far = right = down = 0
    for verdict in verdicts[:: len(verdicts) // LOOKED_AT + 1] if accuracy < GOOD_ACCURACY else ():
        prediction, target = verdict.prediction, verdict.example.target
        if verdict.outcome != "miss" or prediction is None or not (prediction.points and target):
            continue
        x, y = prediction.points[0]
        xs, ys = target[0::2], target[1::2]
        dx, dy = 2 * x - min(xs) - max(xs), 2 * y - min(ys) - max(ys)
        looked_at += 1
        far += abs(dx) > 3 * (max(xs) - min(xs)) or abs(dy) > 3 * (max(ys) - min(ys))
        right += (dx > 0) - (dx < 0)
        down += (dy > 0) - (dy < 0)
    return 2 * max(far, abs(right), abs(down)) > looked_at


def _judge_box(example: Example, prediction: Prediction) -> Verdict:
    if prediction.bbox is None:
        return Verdict(example, prediction, "no_answer")
    coverage, precision = coverage_and_precision(prediction.bbox, example.target)
    hit = coverage >= example.min_coverage and precision >= example.min_precision
    return Verdict(example, prediction, "hit" if hit else "miss", coverage, precision)


def _is_negative(x: float, y: float, _: tuple[float, ...]) -> bool:
    return x < 0 and y < 0


def _is_asked_later(*_: object) -> None:
    """In place of a rule that is asked for many points at once."""


def _is_no_box(*_: object) -> bool:
    """In place of the rule that reads no point."""
    return False


POINT_RULES: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], bool]] = {
    "point_in_bbox": in_box,
    "point_in_polygon": in_polygon,
    "refusal": _is_negative,
}
"""Whether a point (x, y) is right for a target."""

_RULES_OF_MANY: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], bool | None]] = {
    **POINT_RULES,
    "point_in_polygon": _is_asked_later,
    "coverage_precision": _is_no_box,
}

_DISTANCES: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], float]] = {
    "point_in_bbox": distance_to_box,
    "point_in_polygon": distance_to_polygon,
}
