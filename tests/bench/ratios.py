"""Measure whole runs of ``score`` against something anyone can run, pair by pair, and print a table of ratios.

    python tests/bench/ratios.py [--only NAME]... [--runs N] [--rows N] [--versus SCRIPT] [--json FILE] [--strict]

Inputs are made with a fixed seed in a temporary folder and deleted when the last work that reads them is done. Machines
are noisy: the runs of a pair follow each other, and the median of the ratios is what counts. ``--versus`` also measures
another scorer that takes --predictions and --gt. The status is 0 whatever the figures are, but for ``--strict``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench import measure  # noqa: E402
from tests.bench.inputs import EXAMPLES, WRITERS  # noqa: E402
from tests.bench.works import LARGE, ROWS, SCORE, WORKS, Sizes, Target, Work  # noqa: E402

INPUTS, JUDGING = ROOT / "tests/bench/inputs.py", ROOT / "tests/bench/judging.py"
LIMITS = "import json; from scorer.core.limits import DEFAULT_LIMITS as all; print(json.dumps(all._asdict()))"
HEADERS = ("work", "ratio (median)", "range", "seconds", "MiB", "target", "met")


class Result(NamedTuple):
    """One row of the table: the figures whose median counts, and what the work took. None where it was skipped."""

    name: str
    title: str
    target: Target
    figures: Sequence[float] = ()
    unit: str = "x"
    spread: str = ""
    seconds: float | None = None
    mebibytes: float | None = None
    skipped: str = ""

    @property
    def figure(self) -> float | None:
        return statistics.median(self.figures) if self.figures else None

    @property
    def met(self) -> bool | None:
        """Whether all that is asked holds; None where nothing is asked or nothing was measured."""
        if self.figure is None or self.target[:2] == (None, None):
            return None
        figure, mebibytes, least = self.target
        small = mebibytes is None or (self.mebibytes is not None and self.mebibytes <= mebibytes)
        return small and (figure is None or (self.figure >= figure if least else self.figure <= figure))

    def cells(self) -> list[str]:
        """The row as the table prints it."""
        if self.figure is None:
            return [f"{self.name}: {self.title}", "-", self.skipped, "-", "-", _target(self), "-"]
        return [
            f"{self.name}: {self.title}",
            f"{self.figure:.2f} {self.unit}",
            self.spread or f"{min(self.figures):.2f} – {max(self.figures):.2f}",
            "-" if self.seconds is None else f"{self.seconds:.3f}",
            "-" if self.mebibytes is None else f"{self.mebibytes:.1f}",
            _target(self),
            {None: "-", True: "yes", False: "no"}[self.met],
        ]

    def json(self) -> dict[str, Any]:
        """The row as data."""
        fields = {key: value for key, value in self._asdict().items() if key != "spread"}
        return {**fields, "target": self.target._asdict(), "figure": self.figure, "met": self.met}


def _target(result: Result) -> str:
    figure, mebibytes, least = result.target
    sign, unit = ">=" if least else "<=", " µs" if result.unit == "µs" else ""
    asked = [] if figure is None else [f"{sign} {figure:g}{unit}"]
    return ", ".join(asked + ([] if mebibytes is None else [f"<= {mebibytes:g} MiB"])) or "-"


def measured(work: Work, folder: Path, sizes: Sizes, runs: int | None, versus: str | None) -> Iterator[Result]:
    """The rows of one work: its own, and that of another scorer where one is named and the work has files for it."""
    if work.command is None or work.bare is None:
        count = runs or work.runs
        yield judged(work, count) if work.name == "judge" else in_polygons(work, count, sizes.rows // 10)
        return
    contestants = [work.bare(folder, sizes), work.command(folder, sizes)]
    names = [(work.name, work.title, work.target)]
    if versus and work.versus:
        contestants.append([[sys.executable, versus, *each] for each in work.versus(folder, sizes)])
        names.append((f"{work.name} by {Path(versus).name}", "the same files / the same bare thing", Target()))
    # The first run compiles and reads from the disk; in a long one that does not show, and memory does not vary.
    count = 1 if work.quantity == "mebibytes" else runs or work.runs
    costs = measure.rounds(contestants, count, warm_up=work.inputs in ("suite", "large"))
    for place, (name, title, target) in enumerate(names, start=1):
        pairs = [(each[place], each[0]) for each in costs]
        result = Result(name, title, target, [getattr(a, work.quantity) / getattr(b, work.quantity) for a, b in pairs])
        if work.quantity == "mebibytes":
            ((mine, its),) = pairs
            difference = mine.mebibytes - its.mebibytes
            result = result._replace(spread=f"{its.mebibytes:.1f} → {mine.mebibytes:.1f} MiB ({difference:+.1f})")
        yield result._replace(
            seconds=statistics.median(mine.seconds for mine, _ in pairs),
            mebibytes=max(mine.mebibytes for mine, _ in pairs),
        )


def judged(work: Work, runs: int) -> Result:
    """Microseconds of one call, of the slower outcome."""
    best = printed(str(JUDGING), str(runs))
    spread = " · ".join(f"{outcome} {value:.2f}" for outcome, value in best.items())
    return Result(work.name, work.title, work.target, [max(best.values())], "µs", spread)


def in_polygons(work: Work, runs: int, points: int) -> Result:
    """What ``polygons.py`` measures: its ``ratios(runs, points)`` gives the ratios, the seconds and the peak in MiB."""
    place = "tests/bench/polygons.py"
    polygons = importlib.import_module("tests.bench.polygons") if (ROOT / place).exists() else None
    if polygons is None or not hasattr(polygons, "ratios"):
        return Result(work.name, work.title, work.target, skipped=f"skipped: no ratios() in {place}")
    figures, seconds, mebibytes = polygons.ratios(runs, points)
    return Result(work.name, work.title, work.target, figures, seconds=seconds, mebibytes=mebibytes)


def printed(*arguments: str) -> Any:
    """The JSON that a Python of its own prints: this process has to be small, and so does not load the package."""
    return json.loads(subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, check=True).stdout)


def results(works: Sequence[Work], sizes: Sizes, runs: int | None, versus: str | None) -> Iterator[Result]:
    """All rows, in the order of the works, each when it is done; works that read the same files stand together."""
    for inputs, group in groupby(works, key=lambda work: work.inputs):
        with tempfile.TemporaryDirectory(prefix="score-bench-") as name:
            if inputs:
                size = sizes.of(inputs) * WRITERS[inputs][1] / 1e6
                say(f"{inputs}: writing about {max(1, size):,.0f} MB below {name}")
                measure.run([sys.executable, str(INPUTS), inputs, name, str(sizes.of(inputs))])
            for work in group:
                yield from measured(work, Path(name), sizes, runs, versus)


def duration(works: Sequence[Work], sizes: Sizes, runs: int | None) -> float:
    """About how many seconds the works take where their targets are met."""
    shares = {"suite": 1.0, "": 1.0, "large": sizes.examples / LARGE}
    return sum(
        (1 if work.quantity == "mebibytes" else runs or work.runs)
        * work.seconds
        * shares.get(work.inputs, sizes.rows / ROWS)
        for work in works
    )


def say(line: str) -> None:
    """Tell whoever waits."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    options = _options()
    works = [_aimed(work, options.target) for work in WORKS if not options.only or work.name in options.only]
    sizes = Sizes(options.rows, options.examples, printed("-c", LIMITS))
    most = max((sizes.of(work.inputs) * WRITERS[work.inputs][1] / 1e6 for work in works if work.inputs), default=0)
    minutes = duration(works, sizes, options.runs) / 60
    counted = f"{len(works)} work{'s' if len(works) != 1 else ''}"
    say(f"{counted}: about {minutes:.1f} min where targets are met, at most {most:,.0f} MB of files at a time")
    rows: list[Result] = []
    for row in results(works, sizes, options.runs, options.versus):
        rows.append(row)
        say("  ".join(row.cells()))
    from tabulate import tabulate

    print(tabulate([row.cells() for row in rows], HEADERS, tablefmt="github", disable_numparse=True))
    if options.json:
        data = {
            "python": sys.version.split()[0],
            "rows": sizes.rows,
            "examples": sizes.examples,
            "works": [row.json() for row in rows],
        }
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.strict and any(row.met is False for row in rows):
        raise SystemExit(1)


def _aimed(work: Work, targets: Sequence[tuple[str, float]]) -> Work:
    """The work with the target that was given for it, if one was."""
    figure = dict(targets).get(work.name, work.target.figure)
    return work._replace(target=work.target._replace(figure=figure))


def _given(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    if name not in {work.name for work in WORKS}:
        raise ValueError(text)
    return name, float(value)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [work.name for work in WORKS]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="this work; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the works and end")
    parser.add_argument("--runs", type=int, help="pairs of runs (default 7, over many attempts 3)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of the file of many attempts (default {ROWS:,})")
    parser.add_argument("--examples", type=int, default=LARGE, help=f"examples of the large file (default {LARGE:,})")
    parser.add_argument("--versus", metavar="SCRIPT", help="another scorer that takes --predictions and --gt")
    parser.add_argument(
        "--target", action="append", default=[], type=_given, metavar="NAME=N", help="another target; may be repeated"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument("--strict", action="store_true", help="end with status 1 where a target is missed")
    options = parser.parse_args()
    if options.list:
        for work in WORKS:
            print(f"{work.name:12}{work.title}")
        raise SystemExit
    if options.rows < 10 * EXAMPLES or options.rows % EXAMPLES:
        parser.error(f"--rows must be a multiple of {EXAMPLES}, at least {10 * EXAMPLES}")
    if options.examples < 1 or (options.runs is not None and options.runs < 1):
        parser.error("--examples and --runs must be 1 or more")
    if not os.path.exists(SCORE) or importlib.util.find_spec("orjson") is None:
        parser.error("score and orjson must be installed beside this Python: python -m pip install '.[fast]'")
    return options


if __name__ == "__main__":
    main()
