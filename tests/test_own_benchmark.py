"""A benchmark is data: one that is made in Python works everywhere, and adding one is a module and a line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import scorer
from scorer import Axis, Benchmark, Example, GroundTruth, PredictionsError
from scorer.benchmarks.fields import record_id, text
from scorer.core.records import Notes, ReadLabels, Record
from scorer.core.report import Cell
from tests.conftest import PACKAGE, write_rows


def read_record(record: Record, read_labels: ReadLabels, notes: Notes) -> Example:
    del notes
    x, y, width, height = record["box"]
    box = (x, y, x + width, y + height)
    return Example(record_id(record), "point_in_bbox", box, (800, 600), read_labels(record), text(record, "task"))


SHOP = Benchmark(
    id="shop",
    title="Shop",
    read_record=read_record,
    id_pattern=r"shop-[0-9]+",
    id_example="shop-1",
    files={"": ("shop.jsonl",)},
    axes=(Axis("page"),),
    rules=("point_in_bbox",),
)
EXAMPLES = (
    Example("shop-1", "point_in_bbox", (10, 10, 50, 30), (800, 600), (("cart",),)),
    Example("shop-2", "point_in_bbox", (100, 100, 150, 130), (800, 600), (("cart",),)),
    Example("shop-3", "point_in_bbox", (200, 10, 250, 30), (800, 600), (("search",),)),
)
ROWS = [{"id": "shop-1", "point": [20, 20]}, {"id": "shop-2", "point": [0, 0]}, {"id": "shop-3", "point": [250, 30]}]


def _truth(benchmark: Benchmark = SHOP, examples: tuple[Example, ...] = EXAMPLES) -> GroundTruth:
    return GroundTruth(benchmark, "", examples, frozenset(), "made here", "0" * 64, official=False)


def test_a_ground_truth_that_is_made_in_python_is_scored_checked_and_judged_in_batches() -> None:
    truth = _truth()
    report = scorer.score(truth, ROWS)
    assert report.total == Cell("shop", 2, 3)
    assert report.tables[0].cells == (Cell("cart", 1, 2), Cell("search", 1, 1))
    checked = scorer.check(truth, ROWS)
    assert (checked.accepted, checked.benchmarks, checked.findings) == (True, ("shop",), ())
    assert scorer.score_batch(truth, ROWS)["outcome"] == ["hit", "miss", "hit"]


def test_the_check_of_such_a_ground_truth_sees_what_is_wrong() -> None:
    checked = scorer.check(_truth(), [ROWS[0], {"id": "shop-9", "point": [1, 1]}])
    assert not checked.accepted
    assert checked.absent == {"shop": ("shop-2", "shop-3")}
    assert {finding.code for finding in checked.findings} == {"unknown-id", "absent-id"}
    with pytest.raises(PredictionsError, match="none of 1 ids belongs to shop; its ids look like shop-1"):
        scorer.score(_truth(), [{"id": "shop-9", "point": [1, 1]}])


def test_a_benchmark_may_do_without_axes() -> None:
    truth = _truth(SHOP._replace(axes=()), tuple(example._replace(labels=()) for example in EXAMPLES))
    report = scorer.score(truth, ROWS)
    assert report.total == Cell("shop", 2, 3)
    assert report.tables == ()


MODULE = '''"""Shop: pages of a shop in a house of its own."""

from scorer.benchmarks.fields import coordinate_list, record_id, text
from scorer.core.records import Axis, Benchmark, Example


def read_record(record, read_labels, notes):
    x, y, width, height = coordinate_list("box", record.get("box"))
    box = (x, y, x + width, y + height)
    return Example(record_id(record), "point_in_bbox", box, (800, 600), read_labels(record), text(record, "task"))


BENCHMARK = Benchmark(
    id="shop",
    title="Shop",
    read_record=read_record,
    id_pattern=r"shop-[0-9]+",
    id_example="shop-1",
    files={"": ("shop.jsonl",)},
    axes=(Axis("page"),),
    rules=("point_in_bbox",),
    column="Shop",
    size=3,
)
'''
LINE = '    "osworld_g",\n'
MANIFEST = """
model = "M 1"
organisation = "none"
date = "2026-01-02"
prompt = "none"
image_resizing = "none"
zoom = "none"
links = "none"
"""


def test_adding_a_benchmark_is_a_module_and_a_line(
    tmp_path: Path, in_fresh_process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    package = tmp_path / "scorer"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "benchmarks/shop.py").write_text(MODULE, encoding="utf-8")
    table = package / "benchmarks/__init__.py"
    before = table.read_text(encoding="utf-8")
    assert before.count(LINE) == 1
    table.write_text(before.replace(LINE, LINE + '    "shop",\n'), encoding="utf-8")
    boxes = {"shop-1": [10, 10, 40, 20], "shop-2": [100, 100, 50, 30], "shop-3": [200, 10, 50, 20]}
    pages = {"shop-1": "cart", "shop-2": "cart", "shop-3": "search"}
    data = tmp_path / "data"
    data.mkdir()
    write_rows(data / "shop.jsonl", [{"id": i, "box": boxes[i], "task": "Press it.", "page": pages[i]} for i in boxes])
    predictions = write_rows(tmp_path / "p.jsonl", ROWS)
    (tmp_path / "manifest.toml").write_text(MANIFEST, encoding="utf-8")

    def run(*arguments: object) -> str:
        done = in_fresh_process("-m", "scorer", *map(str, arguments))
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "shop" in run("benchmarks")
    report = json.loads(run(predictions, "--data", data, "--json", "-"))
    assert (report["benchmark"], report["hits"], report["n"]) == ("shop", 2, 3)
    assert report["by_page"] == {"cart": {"acc": 0.5, "n": 2}, "search": {"acc": 1.0, "n": 1}}
    assert run("check", predictions, "--data", data).startswith("accepted: 0 errors, 0 warnings in 3 rows of shop")
    assert "66.7" in run(predictions, "--data", data, "--paper", "M 1")
    run("bundle", "-p", predictions, "--data", data, "--manifest", "manifest.toml", "--out", "bundle.zip")
    assert "holds" in run("verify", "bundle.zip", "--data", data)
    assert "66.67" in run("leaderboard", "bundle.zip", "--data", data)
    assert "difference" in run("compare", predictions, predictions, "--data", data)
    run(predictions, "--data", data, "--output-dir", "run")
    assert json.loads((tmp_path / "run/metrics.json").read_text(encoding="utf-8"))["series"][0]["counts"]["total"] == 3
    assert '"shop"' in run("schema", "submission")


def test_no_other_module_names_a_benchmark() -> None:
    """Sources of rules may be named where the rule stands, in prose; code knows benchmarks as data alone."""
    import ast

    names = ("osworld", "pointerbench")
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent.name == "benchmarks":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""  # a docstring
        for node in ast.walk(tree):
            words = [getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "module", None) or ""]
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.append(node.value)
            assert not [w for w in words if any(name in w.lower() for name in names)], f"{file}: {words}"
