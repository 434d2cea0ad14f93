"""The house: each folder imports only those below it, only the command line prints, and a score loads what it needs."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import PACKAGE, write_rows

FLOORS = (
    "core",
    "files",
    "benchmarks",
    "ground_truth",
    "chat",
    "profiles",
    "pipeline",
    "evidence",
    "api",
    "output",
    "inference",
    "submission",
    "cli",
)
"""The entries of the package from the ground up. CONTRIBUTING.md says what each is for."""

FACES = ("__init__", "__main__", "_version")
MOST_ENTRIES = {"": 14, "profiles": 20, "cli/commands": 20}
MOST_ENTRIES_OF_A_FOLDER = 12
LONGEST_MODULE = 400

FILES = sorted(PACKAGE.rglob("*.py"))


def _name(file: Path) -> str:
    return ".".join(("scorer", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {_name(file): file for file in FILES}


def _floor(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def _imports(file: Path) -> Iterator[str]:
    """The modules of the package that a file imports, also inside functions and for types alone."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    # The one exception: a profile that is run as a script loads the command line, which a profile as data never does.
    if file.parent.name == "profiles":
        tree.body = [each for each in tree.body if not (isinstance(each, ast.If) and "__main__" in ast.unparse(each))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "scorer")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            if node.module is not None and node.module.split(".")[0] == "scorer":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in MODULES else node.module


def test_every_entry_of_the_package_has_its_floor() -> None:
    entries = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py")))
    }
    assert entries - set(FACES) == set(FLOORS)
    assert len(FLOORS) <= MOST_ENTRIES[""]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_import_points_upwards(file: Path) -> None:
    own = _floor(_name(file))
    if own in FACES:
        return
    for imported in _imports(file):
        if imported not in ("scorer._version", "scorer"):
            assert FLOORS.index(_floor(imported)) <= FLOORS.index(own), imported


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter({name: set(_imports(file)) - {name} for name, file in MODULES.items()}).prepare()


@pytest.mark.parametrize(
    "folder",
    [folder for folder in sorted(PACKAGE.rglob("*")) if folder.is_dir() and (folder / "__init__.py").exists()],
    ids=lambda folder: str(folder.relative_to(PACKAGE)),
)
def test_a_folder_is_seen_at_a_glance(folder: Path) -> None:
    entries = [path for path in folder.iterdir() if path.name != "__pycache__"]
    most = MOST_ENTRIES.get(folder.relative_to(PACKAGE).as_posix(), MOST_ENTRIES_OF_A_FOLDER)
    assert len(entries) <= most, sorted(path.name for path in entries)


@pytest.mark.parametrize(
    "file", [file for file in FILES if _floor(_name(file)) != "cli"], ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_only_the_command_line_prints_exits_or_reads_the_environment(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not names & {"print", "exit", "quit", "input"}
    assert not attributes & {"environ", "getenv", "stdout", "stderr", "stdin", "_exit", "exit"}
    assert not modules & {"click", "sys", "builtins", "logging", "warnings"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_modules_are_of_readable_size(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


NEVER_LOADED = (
    *("shapely", "numpy", "tabulate", "jsonlines", "attr", "orjson", "dataclasses", "fractions"),
    *("openai", "PIL", "jinja2", "tqdm", "huggingface_hub"),
)
"""Libraries that a plain score of boxes does without: each would cost as much as the score itself."""

NEVER_ENTERED = (
    *("scorer.inference", "scorer.submission", "scorer.chat", "scorer.evidence.diagnosis", "scorer.pipeline.batch"),
    *(
        "scorer.pipeline.aggregate.attempts",
        "scorer.pipeline.reread",
        "scorer.files.python_rows",
        "scorer.ground_truth.download",
    ),
    *("scorer.output.html", "scorer.output.run_folder", "scorer.output.schemas", "scorer.output.data"),
    *("scorer.output.text.aggregation", "scorer.output.text.attempts"),
)
"""Rooms that a plain score does not enter."""


def test_a_plain_score_loads_no_library_and_enters_no_room_that_it_does_without(
    tmp_path: Path, in_fresh_process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    row = {"id": "pbs_0001", "bbox": [0, 0, 9, 9], "answer_type": "point", "instruction": "x"}
    truth = write_rows(tmp_path / "gt.jsonl", [row])
    predictions = write_rows(tmp_path / "p.jsonl", [{"id": "pbs_0001", "point": [1, 1]}])
    code = (
        "import json, sys\n"
        "from scorer.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)))\n"
    )
    run = in_fresh_process("-c", code, "--predictions", str(predictions), "--gt", str(truth))
    assert run.returncode == 0, run.stderr
    loaded = set(json.loads(run.stdout.splitlines()[-1]))
    assert not {name.split(".")[0] for name in loaded} & set(NEVER_LOADED)
    assert not [name for name in loaded if name.startswith(NEVER_ENTERED)]
    commands = {name for name in loaded if name.startswith("scorer.cli.commands.")}
    assert commands == {"scorer.cli.commands.score"}
    profiles = {name for name in loaded if name.startswith("scorer.profiles.")}
    assert not profiles
