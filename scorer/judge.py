"""Rule name -> function. One verdict per example, in ground-truth order.

Every rule reads a prediction in pixels. The rules and where they come from:

* ``point_in_bbox``: the public Pointerbench scorer and OSWorld-G's evaluation; all four edges count.
* ``coverage_precision``: the public Pointerbench-Text scorer; both thresholds are reached by equality.
* ``point_in_polygon``: OSWorld-G. "Inside" there, "inside or on the boundary" for boxes: so the boundary is out.
* ``refusal``: OSWorld-G; the point is negative in both coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress

from scorer.geometry import (
    coverage_and_precision,
    distance_to_box,
    distance_to_polygon,
    in_polygon,
    points_in_polygon,
)
from scorer.model import Example, Points, Prediction, RuleName, Verdict

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
    if not prediction.points:
        return Verdict(example, prediction, "no_answer")
    return Verdict(
        example, prediction, "hit" if POINT_RULES[example.rule](prediction.points, example.target) else "miss"
    )


def judge_all(examples: Iterable[Example], predictions: Iterable[Prediction | None]) -> Iterator[Verdict]:
    """Walk the ground truth, not the file: an absent answer can only count as wrong, never shrink n.

    ``predictions`` is aligned with ``examples``.
    """
    return map(judge, examples, predictions)


def judge_points(examples: Sequence[Example], points: Sequence[Points]) -> list[bool]:
    """Which of many answers are hits, by the same rules; the candidate points of each are in pixels.

    ``points`` is aligned with ``examples``, which may come again and again; an answer without points is no hit. All
    points at one polygon are asked for at once, which takes a fiftieth of the time.
    """
    hits: list[bool] = []
    add = hits.append
    at_polygons: dict[str, list[int]] = {}
    for position, (example, candidates) in enumerate(zip(examples, points, strict=True)):
        if not candidates:
            add(False)
        elif example.rule == "point_in_polygon":
            at_polygons.setdefault(example.id, []).append(position)
            add(False)
        else:
            add(POINT_RULES[example.rule](candidates, example.target))
    for positions in at_polygons.values():
        owners = [position for position in positions for _ in points[position]]
        xs, ys = zip(*[point for position in positions for point in points[position]], strict=True)
        for position in compress(owners, points_in_polygon(xs, ys, examples[positions[0]].target)):
            hits[position] = True
    return hits


def distance(verdict: Verdict) -> float | None:
    """Pixels from the nearest candidate point of a miss to its target; None where there is no such distance."""
    if verdict.outcome != "miss" or verdict.prediction is None:
        return None
    measure = _DISTANCES.get(verdict.example.rule)
    if measure is None:
        return None
    return min(measure(x, y, verdict.example.target) for x, y in verdict.prediction.points)


def is_refusal(points: Points, _: tuple[float, ...] = ()) -> bool:
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


def _is_in_bbox(points: Points, target: tuple[float, ...]) -> bool:
    x0, y0, x1, y1 = target
    for x, y in points:  # noqa: SIM110 (the same)
        if x0 <= x <= x1 and y0 <= y <= y1:
            return True
    return False


def _is_in_polygon(points: Points, target: tuple[float, ...]) -> bool:
    return any(in_polygon(x, y, target) for x, y in points)


POINT_RULES: Mapping[RuleName, Callable[[Points, tuple[float, ...]], bool]] = {
    "point_in_bbox": _is_in_bbox,
    "point_in_polygon": _is_in_polygon,
    "refusal": is_refusal,
}
"""Candidate points and target -> whether any of the points is right."""

_DISTANCES: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], float]] = {
    "point_in_bbox": distance_to_box,
    "point_in_polygon": distance_to_polygon,
}
