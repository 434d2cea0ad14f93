"""Time whole runs of ``score`` against something anyone can run, pair by pair, and print the ratios.

    python tests/bench/ratios.py [--runs 7] [--only suite|large] [--versus SCRIPT]

Inputs are generated with a fixed seed into a temporary folder. Machines are noisy: each pair runs back to back and the
median of the ratios is what counts. ``--versus`` also times another scorer that takes --predictions and --gt.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

SEED = 20260101
LARGE = 200_000
SUBSETS = {"sheets": "pbs", "text": "pbt", "pro": "pbp"}
BARE_START = "pass"
BARE_LOOP = """
import sys
from {module} import loads
for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        for line in stream:
            loads(line)
"""
WITHOUT_ORJSON = "import sys; sys.modules['orjson'] = None; from scorer.cli import main; main()"


class Cost(NamedTuple):
    """Wall seconds and peak resident MiB of one finished process."""

    seconds: float
    mebibytes: float


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end, output thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
    return Cost(seconds, _peak(usage))


def _peak(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def compare(title: str, target: str, command: Sequence[str], bare: Sequence[str], runs: int) -> None:
    """Print the median ratio of ``command`` to ``bare`` over paired runs, its range, and the peak memory."""
    run(command)
    run(bare)
    pairs = [(run(command), run(bare)) for _ in range(runs)]
    ratios = [mine.seconds / its.seconds for mine, its in pairs]
    median = statistics.median(mine.seconds for mine, _ in pairs)
    peak = max(mine.mebibytes for mine, _ in pairs)
    spread = f"{min(ratios):.2f} – {max(ratios):.2f}"
    print(
        f"{title:46} {statistics.median(ratios):6.2f} x  ({spread})  {median:7.3f} s  {peak:6.1f} MiB   target {target}"
    )


def write_suite(folder: Path, count: int, subsets: Sequence[str]) -> tuple[list[Path], Path]:
    """Ground truth of ``count`` rows for each subset in the official layout, and one predictions file for all."""
    rng = random.Random(SEED)
    files: list[Path] = []
    predictions: list[str] = []
    for subset in subsets:
        file = folder / f"pointerbench-{subset}/data/test/metadata.jsonl"
        file.parent.mkdir(parents=True)
        with file.open("w", encoding="utf-8") as stream:
            for number in range(count):
                row = _row(rng, SUBSETS[subset], number)
                x0, y0, x1, y1 = row["bbox"]
                point = [round(rng.uniform(x0 - 20, x1 + 20), 1), round(rng.uniform(y0 - 10, y1 + 10), 1)]
                stream.write(json.dumps(row) + "\n")
                predictions.append(json.dumps({"id": row["id"], "point": point}) + "\n")
        files.append(file)
    rng.shuffle(predictions)
    answers = folder / "predictions.jsonl"
    answers.write_text("".join(predictions), encoding="utf-8")
    return files, answers


def _row(rng: random.Random, prefix: str, number: int) -> dict[str, Any]:
    """A metadata row of the length and with the fields of an official one."""
    x, y = rng.randrange(20, 900), rng.randrange(20, 700)
    box = [x, y, x + rng.randrange(10, 100), y + rng.randrange(10, 40)]
    kind = rng.choice(["cell", "header", "edge", "corner", "relative", "color"])
    return {
        "file_name": f"{number:06d}.png",
        "id": f"{prefix}_{number:06d}",
        "instruction": f"Select the {kind} that is {rng.randrange(1000)} rows below number {number}.",
        "bbox": box,
        "point": [(box[0] + box[2]) // 2, (box[1] + box[3]) // 2],
        "answer_type": "point",
        "eval": {"type": "point_in_bbox", "bbox": box},
        "data_type": kind,
        "category": f"{kind}_{rng.randrange(3)}",
        "ui_style": rng.choice(["bare", "excel", "google_sheets", "libreoffice"]),
        "language": rng.choice(["en", "de", "fr"]),
        "image_size": [1024, 768],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs (default 7)")
    parser.add_argument("--only", choices=["suite", "large"], help="one of the two workloads")
    parser.add_argument("--versus", metavar="SCRIPT", help="another scorer with --predictions and --gt, timed too")
    options = parser.parse_args()
    python = sys.executable
    score = [str(Path(python).with_name("score"))]
    if options.only != "large":
        with tempfile.TemporaryDirectory() as name:
            _, answers = write_suite(Path(name), 500, list(SUBSETS))
            command = [*score, "--predictions", str(answers), "--data", name]
            compare("suite, 3 x 500 rows / bare start", "<= 10", command, [python, "-c", BARE_START], options.runs)
    if options.only != "suite":
        with tempfile.TemporaryDirectory() as name:
            (truth,), answers = write_suite(Path(name), LARGE, ["sheets"])
            arguments = ["--predictions", str(answers), "--gt", str(truth)]
            files = [str(truth), str(answers)]
            for module, command, target in (
                ("orjson", [*score, *arguments], "<= 3.8, <= 250 MiB"),
                ("json", [python, "-c", WITHOUT_ORJSON, *arguments], "<= 3"),
            ):
                bare = [python, "-c", BARE_LOOP.format(module=module), *files]
                compare(f"{LARGE} rows / bare {module} loop", target, command, bare, options.runs)
                if options.versus:
                    other = [python, options.versus, *arguments]
                    compare(f"{options.versus} / bare {module} loop", "-", other, bare, options.runs)


if __name__ == "__main__":
    main()
