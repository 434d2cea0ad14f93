"""The works that ``ratios.py`` measures, as data: what is run, what it is divided by, and the ratio that is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from tests.bench.inputs import EXAMPLES, SUBSETS, SUITE, truth_file
from tests.bench.measure import Commands

ROWS, LARGE = 10_000_000, 200_000
"""Rows of the file of many attempts, and examples of the large file, where nothing else is asked for."""
SCORE = str(Path(sys.executable).with_name("score"))
BARE_START = "pass"
BARE_LOOP = """
import sys
from {module} import loads
for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        for line in stream:
            loads(line)
"""
BARE_GZIP_LOOP = "import gzip\n" + BARE_LOOP.replace("open(", "gzip.open(")
WITHOUT_ORJSON = "import sys; sys.modules['orjson'] = None; from scorer.cli.main import main; main()"


class Sizes(NamedTuple):
    """Rows of the file of many attempts, examples of the large file, and the limits of score by name."""

    rows: int
    examples: int
    limits: dict[str, int]

    def of(self, inputs: str) -> int:
        """What the writer of these inputs is asked for."""
        return {"suite": SUITE, "large": self.examples}.get(inputs, self.rows)


class Target(NamedTuple):
    """The highest figure (the lowest where ``least``) and the highest peak in MiB that are well; None asks nothing."""

    figure: float | None = None
    mebibytes: float | None = None
    least: bool = False


Builder = Callable[[Path, Sizes], Commands]


class Work(NamedTuple):
    """One row of the table: ``command`` over ``bare`` in ``quantity``, or what another script says where they are None.

    ``inputs`` names the files it reads (see ``inputs.WRITERS``), ``runs`` is the number of pairs where none is asked
    for, ``seconds`` what a pair of the full size takes where the target is met; ``versus`` gives another scorer's
    arguments, one list for each of its runs.
    """

    name: str
    title: str
    target: Target
    inputs: str = ""
    command: Builder | None = None
    bare: Builder | None = None
    quantity: Literal["seconds", "mebibytes"] = "seconds"
    runs: int = 7
    seconds: float = 1
    versus: Builder | None = None


def _python(code: str, *arguments: object) -> Commands:
    return [[sys.executable, "-c", code, *map(str, arguments)]]


def _attempts(file: str, share: int = 1, command: tuple[str, ...] = ("--predictions",)) -> Builder:
    """``score --attempts K`` of a file with one in ``share`` of the rows; limits are raised where the sizes want it."""

    def build(folder: Path, sizes: Sizes) -> Commands:
        attempts = sizes.rows // EXAMPLES // share
        given = {"attempts": attempts, "rows": sizes.rows}
        raised = [f"--max={name}={n}" for name, n in given.items() if n > sizes.limits[name]]
        truth = ["--gt", str(truth_file(folder))]
        return [[SCORE, *command, str(folder / file), *truth, "--attempts", str(attempts), *raised]]

    return build


def _loop(file: str, code: str = BARE_LOOP) -> Builder:
    return lambda folder, _: _python(code.format(module="orjson"), folder / file)


def _suite(folder: Path, _: Sizes) -> Commands:
    return [[SCORE, "--predictions", str(folder / "predictions.jsonl"), "--data", str(folder)]]


def _suite_apart(folder: Path, _: Sizes) -> Commands:
    return [["--predictions", str(folder / f"{each}.jsonl"), "--gt", str(truth_file(folder, each))] for each in SUBSETS]


def _large_files(folder: Path, _: Sizes) -> Commands:
    return [["--predictions", str(folder / "predictions.jsonl"), "--gt", str(truth_file(folder))]]


def _large(folder: Path, sizes: Sizes) -> Commands:
    return [[SCORE, *arguments] for arguments in _large_files(folder, sizes)]


def _large_json(folder: Path, sizes: Sizes) -> Commands:
    return _python(WITHOUT_ORJSON, *_large_files(folder, sizes)[0])


def _large_loop(module: str) -> Builder:
    code = BARE_LOOP.format(module=module)
    return lambda folder, _: _python(code, truth_file(folder), folder / "predictions.jsonl")


WHOLE, TENTH, PACKED = "predictions.jsonl", "tenth.jsonl", "predictions.jsonl.gz"

WORKS = (
    Work(
        "suite",
        "whole suite, 3 x 500 rows / bare start",
        Target(10),
        "suite",
        _suite,
        lambda _, __: _python(BARE_START),
        versus=_suite_apart,
    ),
    Work(
        "large",
        "a row for each of many examples / orjson loop",
        Target(3.8, 250),
        "large",
        _large,
        _large_loop("orjson"),
        seconds=4,
        versus=_large_files,
    ),
    Work(
        "large-json",
        "the same without orjson / json loop",
        Target(3),
        "large",
        _large_json,
        _large_loop("json"),
        seconds=7,
    ),
    Work(
        "attempts",
        "many attempts / orjson loop",
        Target(4, 150),
        "attempts",
        _attempts(WHOLE),
        _loop(WHOLE),
        runs=3,
        seconds=35,
    ),
    Work(
        "flat",
        "peak of all attempts / of a tenth, a byte a row",
        Target(1.25, 150),
        "attempts",
        _attempts(WHOLE),
        _attempts(TENTH, 10),
        "mebibytes",
        runs=1,
        seconds=31,
    ),
    Work(
        "check",
        "check of many attempts / orjson loop",
        Target(6, 150),
        "attempts",
        _attempts(WHOLE, command=("check",)),
        _loop(WHOLE),
        runs=3,
        seconds=49,
    ),
    Work(
        "mixed",
        "attempts as scripts write them, 1 % faults / orjson loop",
        Target(),
        "mixed",
        _attempts(WHOLE),
        _loop(WHOLE),
        runs=3,
        seconds=60,
    ),
    Work("judge", "one call of scorer.pipeline.judge", Target(2)),
    Work(
        "gzip",
        "a tenth of the attempts, gzip / orjson loop over gzip",
        Target(),
        "gzip",
        _attempts(PACKED, 10),
        _loop(PACKED, BARE_GZIP_LOOP),
        runs=3,
        seconds=4,
    ),
    # The last one, since it loads much into this process; see ``measure.run``.
    Work("polygons", "loop over shapely / points_in_polygon", Target(20, least=True)),
)
