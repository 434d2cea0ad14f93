"""What the two measures for speed in ``scorer.cli.main`` give: garbage collection off, and an end without freeing.

    python tests/bench/ending.py [--runs N] [--rows N]

Runs of ``score`` over one large file, in pairs: with both measures, and without one of them. Prints the medians of the
ratios; the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench import measure  # noqa: E402
from tests.bench.inputs import truth_file  # noqa: E402

WITH_BOTH = "from scorer.cli.main import main; main()"
WITHOUT = {
    "with garbage collection": "import gc; gc.disable = lambda: None; " + WITH_BOTH,
    "with everything freed": "import os, sys; os._exit = sys.exit; " + WITH_BOTH,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs (default 7)")
    parser.add_argument("--rows", type=int, default=200_000, help="rows and examples (default 200,000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="score-bench-") as name:
        folder = Path(name)
        measure.run([sys.executable, str(ROOT / "tests/bench/inputs.py"), "large", name, str(options.rows)])
        files = ["--predictions", str(folder / "predictions.jsonl"), "--gt", str(truth_file(folder))]
        codes = [WITH_BOTH, *WITHOUT.values()]
        contestants = [[[sys.executable, "-c", code, *files]] for code in codes]
        costs = measure.rounds(contestants, options.runs, warm_up=True)
    for place, title in enumerate(WITHOUT, start=1):
        ratios = [each[place].seconds / each[0].seconds for each in costs]
        print(f"{title}: {statistics.median(ratios):.2f} x ({min(ratios):.2f} – {max(ratios):.2f})")


if __name__ == "__main__":
    main()
