"""Print how many microseconds one call of ``scorer.pipeline.judge`` takes, as JSON: {"hit": ..., "miss": ...}.

    python tests/bench/judging.py [REPEATS]

The best of several repeats, the garbage collector as it is (timeit would turn it off). A script of its own, so that the
installed package is what is measured.
"""

from __future__ import annotations

import json
import sys
import timeit

import scorer

CALLS = 100_000


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    example = scorer.Example("pbs_000001", "point_in_bbox", (10, 20, 110, 60), (1024, 768))
    best: dict[str, float] = {}
    for outcome, point in (("hit", (60.5, 40.0)), ("miss", (300.0, 40.0))):
        names = {
            "judge": scorer.judge,
            "example": example,
            "prediction": scorer.Prediction(example.id, (point,)),
        }
        assert scorer.judge(example, scorer.Prediction(example.id, (point,))).outcome == outcome
        seconds = timeit.repeat(
            "judge(example, prediction)", "import gc; gc.enable()", repeat=repeats, number=CALLS, globals=names
        )
        best[outcome] = min(seconds) / CALLS * 1e6
    print(json.dumps(best))


if __name__ == "__main__":
    main()
