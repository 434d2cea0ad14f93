"""Comparing files: gained and lost add up, the statistics are scipy's and statsmodels', unlike things are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipys_bootstrap
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from scorer import UsageError, load_benchmark, score
from scorer.evidence.compare import compare
from tests.conftest import DATA, FIXTURES, Score, answers, needs_data, write_rows

OSWORLD = load_benchmark("osworld-g", FIXTURES)
SHEETS = load_benchmark("pointerbench-sheets", FIXTURES)
GOLD = {
    json.loads(line)["id"]: json.loads(line)
    for line in (FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl").read_text(encoding="utf-8").splitlines()
}
WRONG = {"point": [0.1, 0.1], "space": "grid1000"}
RIGHT = [name for number, name in enumerate(GOLD, 1) if number % 4]  # every fourth answer of the file is wrong


def rows(right: set[str]) -> list[dict[str, object]]:
    """Answers of which exactly these are right."""
    return [GOLD[name] if name in right else {"id": name, **WRONG} for name in GOLD]


@given(st.sets(st.sampled_from(RIGHT)), st.sets(st.sampled_from(RIGHT)))
def test_what_is_gained_and_lost_is_what_differs_and_adds_up(one: set[str], other: set[str]) -> None:
    first, second = score(OSWORLD, rows(one)), score(OSWORLD, rows(other))
    found = compare(first, second)
    assert set(found.gained) == other - one
    assert set(found.lost) == one - other
    assert found.counts.n == 21
    assert found.counts.other - found.counts.first == len(found.gained) - len(found.lost)
    assert found.counts.both == len(one & other)
    back = compare(second, first)
    assert (back.gained, back.lost) == (found.lost, found.gained)
    assert back.counts.p_value == found.counts.p_value


@needs_data
def test_two_runs_of_a_real_model_differ_by_what_their_scores_say(run_score: Score) -> None:
    assert DATA is not None
    files = [DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl" for variant in ("original", "refined")]
    run = run_score("compare", *files, "--data", DATA, "--json", "-")
    assert run.status == 0
    (found,) = run.json["comparisons"]
    assert found["both"] + found["lost"] == 359
    assert found["both"] + found["gained"] == 404
    assert found["both"] + found["gained"] + found["lost"] + found["neither"] == 564
    assert len(found["gained_ids"]) == found["gained"]
    assert found["p_mcnemar"] == pytest.approx(
        mcnemar([[found["both"], found["gained"]], [found["lost"], found["neither"]]], exact=True).pvalue
    )
    sample = numpy.repeat([1, -1, 0], [found["gained"], found["lost"], found["both"] + found["neither"]])
    expected = scipys_bootstrap((sample,), numpy.mean, method="percentile", rng=numpy.random.default_rng(1))
    assert found["ci95"] == pytest.approx(list(expected.confidence_interval), abs=0.004)
    for axis in found["axes"].values():
        adjusted = multipletests([cell["p_mcnemar"] for cell in axis["cells"]], method="holm")[1]
        assert [cell["p_holm"] for cell in axis["cells"]] == pytest.approx(list(adjusted))
    boxes = {cell["label"]: cell for cell in found["axes"]["box_type"]["cells"]}
    # What the two files score by type is known from outside: 323 and 365 of 470, 36 and 39 of 40, 0 and 0 of 54.
    assert {label: cell["gained"] - cell["lost"] for label, cell in boxes.items()} == {
        "bbox": 365 - 323,
        "polygon": 39 - 36,
        "refusal": 0,
    }


@needs_data
def test_variants_are_compared_only_when_told_and_then_it_is_said(run_score: Score) -> None:
    assert DATA is not None
    files = [DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl" for variant in ("original", "refined")]
    options = ["--data", DATA, "--instruction-variant", "original", "--instruction-variant", "refined"]
    run = run_score("compare", *files, *options)
    assert run.status == 2
    assert "variant: original and refined" in run.err
    assert "--across" in run.err
    run = run_score("compare", *files, *options, "--across")
    assert run.status == 0
    assert "compared although the two were not scored alike: they differ in variant, data" in run.out
    assert "359/564" in run.out
    assert "404/564" in run.out


def test_other_examples_and_other_benchmarks_are_refused() -> None:
    fewer = OSWORLD._replace(examples=OSWORLD.examples[1:])
    first = score(OSWORLD, rows(set()))
    with pytest.raises(UsageError, match=r"not scored alike \(n: 21 and 20\)"):
        compare(first, score(fewer, rows(set())))
    with pytest.raises(UsageError, match="not about the same examples"):
        compare(first, score(fewer, rows(set())), across=True)
    with pytest.raises(UsageError, match="no example in common"):
        compare(first, score(SHEETS, [{"id": "pbs_9001", "point": [1, 1]}]))


def test_files_in_two_spaces_are_compared_as_each_declares_it(three_subsets: Path, run_score: Score) -> None:
    assert three_subsets.is_dir()
    write_rows(Path("pixels.jsonl"), [{"id": f"pbs_000{number}", "point": [150, 250]} for number in (1, 2, 3, 4)])
    grid = [150 / 1.024, 250 / 0.768]
    write_rows(Path("grid.jsonl"), [{"id": f"pbs_000{number}", "point": grid} for number in (1, 2)])
    run = run_score(
        "compare", "pixels.jsonl", "grid.jsonl", "--data", ".", "--space", "pixel", "--space", "grid1000", "--list"
    )
    assert run.status == 0, run.err
    assert "both right 2 · gained 0 · lost 2 · both wrong 0" in run.out
    assert "gained: none\n\nlost: pbs_0003, pbs_0004" in run.out
    assert "absent-id" in run.err


def test_more_than_two_files_are_each_compared_with_the_first(three_subsets: Path, run_score: Score) -> None:
    assert three_subsets.is_dir()
    names = []
    for number in (1, 2, 3):
        file = answers(*(f"pbs_000{n}" for n in range(1, number + 1)), "pbt_0001")
        names.append(file.rename(f"{number}.jsonl"))
    found = run_score("compare", *names, "--data", ".", "--json", "-").json["comparisons"]
    assert [(each["benchmark"], each["other"]["source"], each["gained"]) for each in found] == [
        ("pointerbench-sheets", "2.jsonl", 1),
        ("pointerbench-text", "2.jsonl", 0),
        ("pointerbench-sheets", "3.jsonl", 2),
        ("pointerbench-text", "3.jsonl", 0),
    ]
    answers("pbs_0001").rename("sheets.jsonl")
    run = run_score("compare", *names, "sheets.jsonl", "--data", ".")
    assert run.status == 2
    assert "sheets.jsonl has no row of pointerbench-text" in run.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["a.jsonl"], "one file alone cannot be compared"),
        (["a.jsonl", "b.jsonl"], "b.jsonl: no such file"),
        (["a.jsonl", "a.jsonl", "--by", "colour"], 'no axis "colour"'),
        (
            ["a.jsonl", "a.jsonl", "a.jsonl", "--space", "pixel", "--space", "pixel"],
            "--space is given 2 times for 3 files",
        ),
        (["a.jsonl", "a.jsonl", "--table-format", "x"], "unknown table format"),
    ],
)
@pytest.mark.usefixtures("three_subsets")
def test_what_cannot_be_compared_says_why(options: list[str], said: str, run_score: Score) -> None:
    answers("pbs_0001").rename("a.jsonl")
    run = run_score("compare", *options, "--data", ".")
    assert run.status == 2
    assert said in run.err


@pytest.mark.usefixtures("three_subsets")
def test_a_comparison_repeats_itself_and_names_its_seed(run_score: Score) -> None:
    answers("pbs_0001", "pbs_0002").rename("a.jsonl")
    answers("pbs_0002", "pbs_0003").rename("b.jsonl")
    one = run_score("compare", "a.jsonl", "b.jsonl", "--data", ".", "--seed", "5", "--by", "ui_style").out
    assert run_score("compare", "a.jsonl", "b.jsonl", "--data", ".", "--seed", "5", "--by", "ui_style").out == one
    assert "|test:mcnemar+bootstrap[10000]|seed:5|" in one
    assert "ui_style" in one
    assert "data_type" not in one
    assert "p = 1.00" in one
