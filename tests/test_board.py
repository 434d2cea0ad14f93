"""The board: ranks, ties by the exact test, what stands below the line, and nothing mixed."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from scorer.core.report import Cell
from scorer.submission.board import Column
from tests.conftest import FIXTURES, SUBSETS, Score, subset_row, write_rows
from tests.test_manifest import ANSWERS

PREFIXES = dict(zip(SUBSETS, ("pbs", "pbt", "pbp"), strict=True))
N = 40


@pytest.fixture
def bench(run_score: Score) -> Score:
    """Three subsets of 40 examples each, in the folder that the test runs in."""
    axes = {"category": "c", "ui_style": "u", "data_type": "d", "language": "l", "difficulty": "e"}
    more = {"element_type": "e", "app_category": "a", "platform": "p", "surface": "s", "app": "a"}
    for subset, prefix in PREFIXES.items():
        folder = Path(f"pointerbench-{subset}/data/test")
        folder.mkdir(parents=True)
        rows = [subset_row(prefix, number, **axes, **more) for number in range(1, N + 1)]
        write_rows(folder / "metadata.jsonl", rows)
    return run_score


def bundle(run_score: Score, model: str, right: dict[str, range], **answers: Any) -> str:
    """A bundle of a model that is right on the examples of these numbers, per subset."""
    rows = [
        {"id": f"{PREFIXES[subset]}_{number:04d}", "point": [150, 250] if number in numbers else [1, 1]}
        for subset, numbers in right.items()
        for number in range(1, N + 1)
    ]
    Path("m.json").write_text(json.dumps({**ANSWERS, "model": model, **answers}), encoding="utf-8")
    name = f"{len(list(Path().glob('*.zip')))}.zip"
    run = run_score(
        "bundle", "-p", write_rows(Path("p.jsonl"), rows), "--manifest", "m.json", "--data", ".", "--out", name
    )
    assert run.status == 0, run.err
    return name


def every(numbers: range) -> dict[str, range]:
    return dict.fromkeys(SUBSETS, numbers)


def test_neighbours_share_a_rank_where_the_exact_test_on_the_same_examples_cannot_tell_them_apart(bench: Score) -> None:
    best = bundle(bench, "best", every(range(1, 36)))
    near = bundle(bench, "near", every(range(1, 35)))  # three examples fewer: p = 0.25
    far = bundle(bench, "far", every(range(1, 10)))
    data = bench("leaderboard", far, best, near, "--data", ".", "--json", "-").json
    (board,) = data["boards"]
    found = [(entry["manifest"]["model"], entry["rank"], entry["shared"]) for entry in board["entries"]]
    assert found == [("best", 1, True), ("near", 1, True), ("far", 3, False)]
    first, second, third = (entry["p_above"] for entry in board["entries"])
    assert first is None
    assert second == pytest.approx(binomtest(0, 3).pvalue) == 0.25
    assert third == pytest.approx(binomtest(0, 75).pvalue)
    run = bench("leaderboard", far, best, near, "--data", ".")
    assert run.status == 0
    ranks = [line.split()[:2] for line in run.out.splitlines() if line[:1].isdecimal()]
    assert ranks == [["1=", "best"], ["1=", "near"], ["3", "far"]]
    assert "exact McNemar on the same examples, p >= 0.05" in run.out


def test_equal_sums_on_different_examples_are_compared_example_by_example(bench: Score) -> None:
    low = bundle(bench, "low", every(range(1, 21)))
    high = bundle(bench, "high", every(range(21, 41)))
    entries = bench("leaderboard", low, high, "--data", ".", "--json", "-").json["boards"][0]["entries"]
    assert [entry["manifest"]["model"] for entry in entries] == ["high", "low"]
    assert entries[1]["p_above"] == 1
    assert [entry["rank"] for entry in entries] == [1, 1]


def test_the_average_is_the_plain_mean_and_each_figure_has_its_interval(bench: Score) -> None:
    name = bundle(bench, "m", {"sheets": range(1, 41), "text": range(1, 31), "pro": range(1, 11)})
    (entry,) = bench("leaderboard", name, "--data", ".", "--json", "-").json["boards"][0]["entries"]
    columns = entry["columns"]
    assert {column: columns[column]["accuracy"] for column in columns} == {
        "Sheets": 1,
        "Text": 0.75,
        "Pro": 0.25,
        "average": 0.6667,
    }
    expected = binomtest(30, 40).proportion_ci(0.95, method="wilson")
    assert columns["Text"]["ci95"] == pytest.approx([expected.low, expected.high], abs=5e-5)
    low, high = columns["average"]["ci95"]
    assert low < 2 / 3 < high
    assert (high - low) < min(columns[part]["ci95"][1] - columns[part]["ci95"][0] for part in ("Text", "Pro"))


def test_an_incomplete_run_and_one_that_does_not_hold_stand_below_the_line(bench: Score) -> None:
    whole = bundle(bench, "whole", every(range(1, 21)))
    part = bundle(bench, "part", {"sheets": range(1, 41), "pro": range(1, 41)})
    lie = Path(bundle(bench, "lie", every(range(1, 30))))
    lie.write_bytes(lie.read_bytes() + b"x")
    broken = Path("broken")
    bench("bundle", "-p", "p.jsonl", "--manifest", "m.json", "--data", ".", "--out", broken)
    sheets = broken / "predictions/pointerbench-sheets.jsonl"
    sheets.write_bytes(sheets.read_bytes().replace(b"[1, 1]", b"[2, 2]", 1))
    run = bench("leaderboard", lie, part, whole, broken, "--data", ".")
    assert run.status == 1
    ranked, _, rest = run.out.partition("not ranked:")
    assert "whole" in ranked
    assert "part" not in ranked
    assert "incomplete: no Text" in rest
    assert "does not verify" in rest
    assert "fails  2.zip" in run.err
    assert "fails  broken" in run.err
    data = bench("leaderboard", lie, part, whole, broken, "--data", ".", "--json", "-").json
    assert data["do_not_hold"] == ["2.zip", "broken"]
    by_model = {entry["manifest"]["model"]: entry for entry in data["boards"][0]["entries"]}
    assert by_model["part"]["columns"]["average"] is None
    assert by_model["part"]["columns"]["Sheets"]["accuracy"] == 1
    assert all(figure is None for figure in by_model["lie"]["columns"].values())


def test_a_bundle_that_is_given_twice_stands_on_the_board_once(bench: Score) -> None:
    one, other = bundle(bench, "one", every(range(1, 31))), bundle(bench, "other", every(range(1, 31)))
    run = bench("leaderboard", one, other, f"./{one}", "--data", ".", "--json", "-")
    assert "counts once" in run.err
    assert [entry["source"] for entry in run.json["boards"][0]["entries"]] == [one, other]


def test_only_bundles_that_do_not_hold_leave_a_line_for_each_and_no_traceback(bench: Score) -> None:
    Path("x.zip").write_bytes(b"x")
    run = bench("leaderboard", "x.zip", "--data", ".")
    assert run.status == 1
    assert "fails  x.zip" in run.err
    assert "internal error" not in run.err


def test_the_variants_of_osworld_g_are_never_on_one_board(run_score: Score) -> None:
    predictions = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    Path("m.json").write_text(json.dumps(ANSWERS), encoding="utf-8")
    for variant in ("original", "refined"):
        options = [
            "--instruction-variant",
            variant,
            "--manifest",
            "m.json",
            "--data",
            FIXTURES,
            "--out",
            f"{variant}.zip",
        ]
        assert run_score("bundle", "-p", predictions, *options).status == 0
    run = run_score("leaderboard", "original.zip", "refined.zip", "--data", FIXTURES, "--json", "-")
    boards = run.json["boards"]
    assert [(board["title"], len(board["entries"])) for board in boards] == [
        ("osworld-g (original)", 1),
        ("osworld-g (refined)", 1),
    ]
    columns = boards[0]["entries"][0]["columns"]
    assert columns["overall"]["n"] == 21
    assert columns["actionable"]["n"] == 14
    assert {"text_matching", "refusal"} < set(columns)


def test_csv_and_tables_hold_hostile_names_as_text(bench: Score) -> None:
    formula, markup = '=cmd|"/c calc"!A1', "<b>\x1b[31m|x"
    names = [bundle(bench, formula, every(range(1, 30))), bundle(bench, markup, every(range(1, 20)))]
    rows = list(csv.DictReader(io.StringIO(bench("leaderboard", *names, "--data", ".", "--csv", "-").out)))
    assert {row["model"] for row in rows} == {"'" + formula, "<b>\\x1b[31m|x"}
    assert [row["accuracy"] for row in rows if row["figure"] == "average"] == ["0.725", "0.475"]
    html = bench("leaderboard", *names, "--data", ".", "--table-format", "html").out
    assert "<b>" not in html
    assert "\x1b" not in html
    github = bench("leaderboard", *names, "--data", ".", "--table-format", "github").out
    assert all(line.count(" | ") <= 6 for line in github.splitlines())
    assert bench("leaderboard", *names, "--data", ".", "--csv", "-", "--json", "-").status == 2
    assert bench("leaderboard", *names, "--data", ".", "--csv", "no/x.csv").status == 2
    assert bench("leaderboard", *names, "--data", ".", "--csv", "x.csv").status == 0
    assert Path("x.csv").read_text(encoding="utf-8").startswith("board,rank,shared,model")


def test_a_mean_is_exact_and_there_is_none_without_all_its_parts() -> None:
    assert Column("average", (Cell("", 1, 3), Cell("", 1, 6))).ratio == Fraction(1, 4)
    assert Column("average", ()).ratio is None
    assert Column("average", (Cell("", 0, 0),)).ratio is None
