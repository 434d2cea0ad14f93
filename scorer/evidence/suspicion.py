"""A quick look at a few misses: whether other readings of the coordinates are worth trying."""

from __future__ import annotations

from collections.abc import Sequence

from scorer.core.records import Verdict
from scorer.evidence.target import bounds

GOOD_ACCURACY = 0.9
"""Accuracy (0..1) from which on no miss is looked at: a wrong reading would not leave so many hits."""
LOOKED_AT = 300
"""Upper bound on the verdicts that are looked at, evenly spaced, so that the look costs the same for every file."""


def misses_point_somewhere(verdicts: Sequence[Verdict], accuracy: float) -> bool:
    """Whether most misses end far from their targets, or on the same side of them.

    ``verdicts`` are those of a whole report and ``accuracy`` (0..1) is its score. At most LOOKED_AT verdicts are read.
    Far means more than one target size beyond the edge of the target.
    """
    looked_at = far = right = down = 0
    for verdict in verdicts[:: len(verdicts) // LOOKED_AT + 1] if accuracy < GOOD_ACCURACY else ():
        prediction, target = verdict.prediction, verdict.example.target
        if verdict.outcome != "miss" or prediction is None or not (prediction.points and target):
            continue
        x, y = prediction.points[0]
        x0, y0, x1, y1 = bounds(target)
        # Twice the offset from the centre, in pixels: more than three sizes is one size beyond the edge.
        dx, dy = 2 * x - x0 - x1, 2 * y - y0 - y1
        looked_at += 1
        far += abs(dx) > 3 * (x1 - x0) or abs(dy) > 3 * (y1 - y0)
        right += (dx > 0) - (dx < 0)
        down += (dy > 0) - (dy < 0)
    return 2 * max(far, abs(right), abs(down)) > looked_at
