"""Aggregation: trees worked out by hand, AgentCompass's rules on weights and empty leaves, and the rows of papers."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer import Report, UsageError, load_benchmark, score
from scorer.core.records import Axis
from scorer.core.report import Cell, Table
from scorer.evidence.category_tree import aggregate, read_hierarchy
from scorer.output.text.figures import mean_percent
from tests.conftest import DATA, FIXTURES, Score, needs_data

SHEETS = score(load_benchmark("pointerbench-sheets", FIXTURES), FIXTURES / "predictions/sheets.jsonl")


def report(**cells: tuple[int, int]) -> Report:
    """A report with these cells as its categories: hits and n of each."""
    table = Table(Axis("category"), tuple(Cell(label, *counts) for label, counts in cells.items()))
    total = Cell("all", sum(hits for hits, _ in cells.values()), sum(n for _, n in cells.values()))
    return SHEETS._replace(total=total, tables=(table,))


def tree(node: Any) -> bytes:
    return json.dumps({"overall": node}).encode()


def value(found: Report, node: Any) -> Fraction | None:
    return aggregate(found, None, read_hierarchy(tree(node), "tree.json")).value


FOUR = report(a=(1, 2), b=(3, 4), c=(0, 10), d=(5, 5))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        # (1/2 + 3/4) / 2
        ({"aggregation": "unweighted", "children": {"a": {}, "b": {}}}, Fraction(5, 8)),
        # (1/2 * 1 + 3/4 * 3) / 4
        ({"aggregation": "weighted", "children": {"a": {"weight": 1}, "b": {"weight": 3}}}, Fraction(11, 16)),
        # 0.1 and 0.2 are exact: (1/2 * 1 + 3/4 * 2) / 3
        ({"aggregation": "weighted", "children": {"a": {"weight": 0.1}, "b": {"weight": 0.2}}}, Fraction(2, 3)),
        # (1 + 3 + 0) / 16
        ({"aggregation": "weighted_by_count", "children": {"a": {}, "b": {}, "c": {}}}, Fraction(1, 4)),
        # the first child has 6 examples and 4 right, the second 15 and 5: (4 + 5) / 21
        (
            {
                "aggregation": "weighted_by_count",
                "children": {
                    "x": {"aggregation": "weighted_by_count", "children": {"a": {}, "b": {}}},
                    "y": {"aggregation": "weighted_by_count", "children": {"c": {}, "d": {}}},
                },
            },
            Fraction(9, 21),
        ),
        # a node counts by its examples, however its own value was made: ((5/8) * 6 + (1/2) * 15) / 21
        (
            {
                "aggregation": "weighted_by_count",
                "children": {
                    "x": {"aggregation": "unweighted", "children": {"a": {}, "b": {}}},
                    "y": {"aggregation": "unweighted", "children": {"c": {}, "d": {}}},
                },
            },
            Fraction(15, 28),
        ),
        # an empty leaf is left out and the other weights are renormalised
        (
            {"aggregation": "weighted", "children": {"a": {"weight": 1}, "nowhere": {"weight": 9}, "d": {"weight": 1}}},
            Fraction(3, 4),
        ),
        ({"aggregation": "unweighted", "children": {"nowhere": {}, "d": {}}}, Fraction(1)),
        ({"aggregation": "unweighted", "children": {"nowhere": {}, "neither": {}}}, None),
        # a child of weight zero has a value of its own and no part in its parent's
        ({"aggregation": "weighted", "children": {"c": {"weight": 0}, "d": {"weight": 2}}}, Fraction(1)),
        ({"aggregation": "leaf"}, None),
    ],
)
def test_a_tree_gives_what_was_worked_out_by_hand(node: Any, expected: Fraction | None) -> None:
    assert value(FOUR, node) == expected


def test_the_modes_are_hits_over_examples_and_the_mean_of_the_categories() -> None:
    assert aggregate(FOUR, "micro_weighted", None).value == Fraction(9, 21)
    assert aggregate(FOUR, "category_mean", None).value == Fraction(9, 16)
    with pytest.raises(UsageError, match='unknown aggregation mode "macro"; known: micro_weighted, category_mean'):
        aggregate(FOUR, "macro", None)


def test_paths_counts_and_what_stays_outside_are_told() -> None:
    node = {
        "aggregation": "unweighted",
        "children": {"a/b~c": {"aggregation": "unweighted", "children": {"a": {}, "none": {}}}, "d": {}},
    }
    found = aggregate(FOUR, None, read_hierarchy(tree(node), "t"))
    assert [(branch.path, branch.value, branch.n) for branch in found.branches] == [
        ("overall", Fraction(3, 4), 7),
        ("overall/a~1b~0c", Fraction(1, 2), 2),
        ("overall/a~1b~0c/a", Fraction(1, 2), 2),
        ("overall/a~1b~0c/none", None, 0),
        ("overall/d", Fraction(1), 5),
    ]
    assert found.outside == ("b", "c")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "exactly one root"),
        (b"{}", "exactly one root"),
        (b'{"overall": {}, "second": {}}', "found overall, second"),
        (b'{"all": {}}', "found all"),
        (tree([]), "overall: a node is an object, found list"),
        (tree({"kids": {}}), 'overall: unknown "kids"'),
        (
            tree({"aggregation": "mean", "children": {"a": {}}}),
            'overall: unknown aggregation "mean"; known: leaf, unweighted',
        ),
        (tree({"aggregation": 5}), "overall: unknown aggregation 5"),
        (tree({"children": {"a": {}}}), "overall: a leaf has no children"),
        (tree({"aggregation": "weighted"}), "overall: weighted needs children"),
        (tree({"aggregation": "unweighted", "children": ["a"]}), "overall: children must be an object, found list"),
        (tree({"aggregation": "weighted", "children": {"a": {}}}), "overall/a: has no weight"),
        (tree({"aggregation": "weighted", "children": {"a": {"weight": 0}}}), "overall: all weights are zero"),
        (tree({"aggregation": "weighted", "children": {"a": {"weight": -1}}}), "overall/a: weight must be a number"),
        (tree({"aggregation": "weighted", "children": {"a": {"weight": True}}}), "overall/a: weight must be a number"),
        (tree({"aggregation": "weighted", "children": {"a": {"weight": "1"}}}), "overall/a: weight must be a number"),
        (b'{"overall": {"weight": NaN}}', "NaN is not a JSON number"),
        (b'{"overall": {"weight": Infinity}}', "Infinity is not a JSON number"),
        (
            tree(
                {
                    "aggregation": "unweighted",
                    "children": {"x": {"aggregation": "unweighted", "children": {"z": {}}}, "z": {}},
                }
            ),
            'overall/x/z: the category "z" appears twice in the tree',
        ),
        (b'{"overall": ' + b'{"children": {"a": ' * 5000, "not JSON"),
    ],
)
def test_a_tree_that_is_none_is_refused_with_its_node(data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_hierarchy(data, "tree.json")
    assert refused.value.message.startswith("tree.json: ")
    assert said in refused.value.message


def test_children_of_weight_zero_alone_give_no_value() -> None:
    node = {"aggregation": "weighted", "children": {"a": {"weight": 0}, "nowhere": {"weight": 1}}}
    with pytest.raises(UsageError, match="overall: only children of weight zero have examples"):
        value(FOUR, node)


cells = st.lists(st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=6)


@given(cells)
def test_a_tree_by_count_is_micro_and_an_unweighted_one_is_the_mean_of_the_categories(
    drawn: list[tuple[int, int]],
) -> None:
    found = report(**{f"c{number}": counts for number, counts in enumerate(drawn)})
    leaves: dict[str, Any] = {f"c{number}": {} for number in range(len(drawn))}
    by_count = value(found, {"aggregation": "weighted_by_count", "children": leaves})
    assert by_count == aggregate(found, "micro_weighted", None).value
    mean = value(found, {"aggregation": "unweighted", "children": leaves})
    assert mean == aggregate(found, "category_mean", None).value
    assert mean is not None
    assert abs(float(mean_percent(found.categories.cells)) - 100 * float(mean)) <= 0.005 + 1e-9


def test_the_command_prints_micro_and_macro_and_the_figure_asked_for(run_score: Score) -> None:
    file = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    Path("tree.json").write_bytes(tree({"aggregation": "unweighted", "children": {"refusal": {}, "colour": {}}}))
    run = run_score(file, "--data", FIXTURES, "--category-hierarchy", "tree.json")
    assert run.status == 0
    # Of the cells 5/5, 7/8, 5/7, 4/5, 5/7 and 0/1.
    assert "micro 76.19 % (hits/n) · macro 68.39 % (mean of 6 overlapping category cells)" in run.out
    assert "category_hierarchy 71.43 % (over category)" in run.out
    assert "an example counts in every category that it has" in run.out
    assert "without examples, so without a value: overall/colour" in run.out
    assert run_score(file, "--data", FIXTURES, "--aggregation-mode", "category_mean", "--score-only").out == "68.39\n"
    data = run_score(file, "--data", FIXTURES, "--aggregation-mode", "category_mean", "--json", "-").json
    assert (data["accuracy"], data["macro"]["value"], data["aggregation"]["value"]) == (0.7619, 0.6839, 0.6839)
    assert run_score(file, "--data", FIXTURES, "--category-hierarchy", "no.json").status == 2
    several = run_score(
        FIXTURES / "predictions/suite.jsonl", "--data", FIXTURES, "--aggregation-mode", "category_mean", "--score-only"
    )
    assert [line.split()[0] for line in several.out.splitlines()] == [
        "pointerbench-sheets",
        "pointerbench-text",
        "pointerbench-pro",
    ]


@needs_data
@pytest.mark.parametrize(
    ("variant", "row"),
    # Shares of 261, 330, 253, 149, 54 and 564, rounded half up by hand.
    [
        ("original", ["75.9", "67.6", "68.4", "55.0", "0.0", "63.7"]),
        ("refined", ["80.5", "77.3", "80.2", "57.0", "0.0", "71.6"]),
    ],
)
def test_the_row_of_a_paper(variant: str, row: list[str], run_score: Score) -> None:
    assert DATA is not None
    file = DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl"
    run = run_score(file, "--data", DATA, "--paper", "MAI-UI-8B", "--table-format", "tsv")
    names, values = (line.split("\t") for line in run.out.splitlines())
    assert names[1:] == [
        "Text Matching",
        "Element Recognition",
        "Layout Understanding",
        "Fine-grained Manipulation",
        "Refusal",
        "Overall",
    ]
    assert values == ["MAI-UI-8B", *row]


def test_the_row_of_a_suite_and_of_one_of_its_benchmarks(run_score: Score) -> None:
    options = ["--data", FIXTURES, "--paper", "M", "--table-format", "tsv"]
    frame = ["--space", "frame:1280x720"]
    suite = run_score(FIXTURES / "predictions/complete.suite.frame1280x720.jsonl", *frame, *options)
    # 9/12, 14/18, 9/12 and (3/4 + 7/9 + 3/4) / 3
    assert suite.out.splitlines()[1].split("\t") == ["M", "75.0", "77.8", "75.0", "75.9"]
    single = run_score(FIXTURES / "predictions/sheets.jsonl", *options)
    assert single.out.splitlines() == ["model\tSheets", "M\t50.0"]
