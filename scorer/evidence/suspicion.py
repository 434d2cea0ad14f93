"""A quick look at a few misses: whether other readings of the coordinates are worth trying."""

from __future__ import annotations

from collections.abc import Sequence

from scorer.core.records import Verdict

GOOD_ACCURACY = 0.9
"""Accuracy from which no miss is looked at: a wrong reading would not leave so many hits."""
LOOKED_AT = 300
"""Upper bound on the verdicts that are looked at, evenly spaced, so that the look costs the same for every file."""


def misses_point_somewhere(verdicts: Sequence[Verdict], accuracy: float) -> bool:
    """Whether most misses end far from their targets, or on the same side of them, by a look at a few verdicts.

    Far is more than one target size beyond the target.
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
