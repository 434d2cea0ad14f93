"""The house: no stage knows another, the command alone prints, and a run loads no more than it needs."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, write_rows

PACKAGE = ROOT / "scorer"
STAGES = ("read", "validate", "convert", "judge", "aggregate", "render")
SHARED = {"atomic", "model", "errors", "limits", "problems", "_version"}
# Leaves that hold data or arithmetic and know no stage.
LEAVES = {"answers", "extras", "geometry", "figures", "stats", "resampling", "spaces", "ids", "signature", "tables"}
# What each module may import, beyond the shared records. Anything else is an arrow that points the wrong way.
MAY_IMPORT = {
    **dict.fromkeys((*SHARED, *LEAVES), LEAVES),
    "read": LEAVES,
    "validate": LEAVES,
    "convert": LEAVES,
    "judge": LEAVES,
    "aggregate": LEAVES,
    "hierarchy": set(),
    "render_aggregation": LEAVES,
    "render_attempts": LEAVES,
    "render_paper": LEAVES,
    # The distance of a miss is measured when details are written.
    "render": LEAVES | {"judge", "profiles", "render_aggregation", "render_attempts"},
    "benchmarks": {"benchmarks"},
    "profiles": LEAVES | {"replies"},
    "replies": LEAVES,
    "reparse": {"profiles", "replies", "convert", *LEAVES},
    "load": {"benchmarks", "read", "ids"},
    "locate": {"benchmarks", "ids", "load"},
    "params": {"load"},
    "fetch": {"benchmarks", "load", *LEAVES},
    "unpack": set(),
    "route": {"benchmarks", "read", "unpack", "validate", "ids"},
    "diagnosis": LEAVES | {"convert", "judge"},
    "render_diagnosis": LEAVES | {"diagnosis"},
    "attempts": LEAVES,
    "assemble": {"attempts", "route", *LEAVES, *STAGES} - {"read", "render"},
    "batch": {"assemble", "benchmarks", "route", "validate", *LEAVES},
    "api": {"assemble", "batch", "reparse", "benchmarks", "diagnosis", "judge", "profiles", "load", "route", *LEAVES},
    "options": {"benchmarks", "locate", "profiles", "tables"},
    "compare": LEAVES,
    "render_compare": {"compare", "render", *LEAVES},
    "submission": {"api", "benchmarks", "render", *LEAVES},
    "schemas": set(),
    "runs": {"hierarchy", "render", "render_aggregation", *LEAVES},
    "progress": set(),
    "console": {"benchmarks", "load", "locate", "progress", "render"},
    "inference": {
        *("reparse", "profiles", "benchmarks", "params", "spaces", "tables", "extras"),
        *("cli", "console", "options"),  # its command, which is one like those of score
    },
    "cli": {"commands", "console", "options", "tables"},
    "report": LEAVES | {"read", "unpack", "judge", "render"},  # it shows the records that the JSON is made of
    "commands": {
        *("api", "benchmarks", "console", "fetch", "load", "locate", "options", "params", "profiles", "read", "tables"),
        "diagnosis",  # the type of what it prints
        *("compare", "hierarchy", "reparse", "report", "runs", "schemas", "submission"),
        *("render", "render_compare", "render_diagnosis", "render_paper"),
    },
    "__init__": {"reparse", "api", "spaces"},
    "__main__": {"cli"},
}


def _modules() -> dict[Path, str]:
    """Each source file and the room it belongs to: a module or a folder of the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {file: file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in files}


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    # What a module runs as a script is no dependency of the module.
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test))]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {[*name.split("."), "__init__"][1] for name in names if name.split(".")[0] == "scorer"}
    return found


@pytest.mark.parametrize("file", _modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_arrow_points_left(file: Path) -> None:
    room = _modules()[file]
    assert _imports(file) - SHARED - {room} <= MAY_IMPORT[room]


@pytest.mark.parametrize(
    "file",
    [
        file
        for file, room in _modules().items()
        if room not in ("cli", "commands", "console", "options")
        and file.relative_to(PACKAGE).as_posix() != "inference/command.py"
    ],
    ids=lambda file: str(file.relative_to(PACKAGE)),
)
def test_only_the_command_prints_exits_or_reads_the_environment(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not names & {"print", "exit", "quit", "input"}
    assert not attributes & {"environ", "getenv", "stdout", "stderr", "stdin", "_exit", "exit"}
    assert not modules & {"click", "sys", "builtins", "logging", "warnings"}


@pytest.mark.parametrize("file", _modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_modules_are_of_readable_size(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 400


def test_a_score_loads_neither_shapely_nor_tabulate_nor_anything_of_inference(
    tmp_path: Path, in_fresh_process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    row = {"id": "pbs_0001", "bbox": [0, 0, 9, 9], "answer_type": "point", "instruction": "x"}
    truth = write_rows(tmp_path / "gt.jsonl", [row])
    predictions = write_rows(tmp_path / "p.jsonl", [{"id": "pbs_0001", "point": [1, 1]}])
    code = (
        "import json, sys\n"
        "from scorer.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)))\n"
    )
    run = in_fresh_process("-c", code, "--predictions", str(predictions), "--gt", str(truth))
    assert run.returncode == 0, run.stderr
    loaded = set(json.loads(run.stdout.splitlines()[-1]))
    tops = {name.split(".")[0] for name in loaded}
    assert not tops & {"shapely", "numpy", "tabulate", "jsonlines", "attr", "orjson", "dataclasses"}
    assert not tops & {"openai", "PIL", "jinja2"}
    assert not any(name.startswith(("scorer.inference", "scorer.report", "scorer.submission")) for name in loaded)
    assert sorted(name for name in loaded if name.startswith("scorer.")) == [
        "scorer._version",
        "scorer.aggregate",
        "scorer.answers",
        "scorer.api",
        "scorer.assemble",
        "scorer.benchmarks",
        "scorer.benchmarks.osworld_g",
        "scorer.benchmarks.pointerbench",
        "scorer.benchmarks.pointerbench_pro",
        "scorer.benchmarks.pointerbench_sheets",
        "scorer.benchmarks.pointerbench_text",
        "scorer.benchmarks.rows",
        "scorer.cli",
        "scorer.commands",
        "scorer.commands.score",
        "scorer.console",
        "scorer.convert",
        "scorer.errors",
        "scorer.figures",
        "scorer.geometry",
        "scorer.ids",
        "scorer.judge",
        "scorer.limits",
        "scorer.load",
        "scorer.locate",
        "scorer.model",
        "scorer.options",
        "scorer.params",
        "scorer.problems",
        "scorer.profiles",
        "scorer.read",
        "scorer.read.faults",
        "scorer.render",
        "scorer.render_aggregation",
        "scorer.render_attempts",
        "scorer.route",
        "scorer.signature",
        "scorer.spaces",
        "scorer.stats",
        "scorer.tables",
        "scorer.unpack",
        "scorer.validate",
        "scorer.validate.row",
    ]
