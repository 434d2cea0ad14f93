"""Laws that hold whatever the file: over generated predictions for a small ground truth of every rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer import GroundTruth, PredictionsError, Report, load_benchmark, score, score_streams, suites
from scorer.output.data import details, dump, report_json
from scorer.output.text.figures import percent
from scorer.output.text.report import report_text, suite_percent
from tests.conftest import FIXTURES
from tests.strategies import coordinates, rows

TEXT = load_benchmark("pointerbench-text", FIXTURES)
OSWORLD = load_benchmark("osworld-g", FIXTURES)
TRUTHS = [TEXT, OSWORLD]


def _answers(truth: GroundTruth) -> st.SearchStrategy[list[dict[str, Any]]]:
    """One well-formed row for some of the examples, in some order."""
    ids = [example.id for example in truth.examples]
    point = st.lists(coordinates, min_size=2, max_size=2)
    box = st.lists(coordinates, min_size=4, max_size=4)
    row = st.fixed_dictionaries({"point": point}) | st.fixed_dictionaries({"point": point, "bbox": box})
    return st.lists(st.sampled_from(ids), unique=True, min_size=1).flatmap(
        lambda chosen: st.tuples(*(row for _ in chosen)).map(
            lambda drawn: [{"id": name, **fields} for name, fields in zip(chosen, drawn, strict=True)]
        )
    )


def _gold(truth: GroundTruth) -> list[dict[str, Any]]:
    """Answers made from the targets: the box, its centre, a point inside the ring, a refusal."""
    import shapely

    gold: list[dict[str, Any]] = []
    for example in truth.examples:
        target = example.target
        match example.rule:
            case "refusal":
                answer: dict[str, Any] = {"point": [-1, -1]}
            case "point_in_polygon":
                ring = shapely.Polygon(list(zip(target[0::2], target[1::2], strict=True)))
                inside = ring.representative_point()
                answer = {"point": [inside.x, inside.y]}
            case "coverage_precision":
                answer = {"bbox": list(target)}
            case _:
                answer = {"point": [(target[0] + target[2]) / 2, (target[1] + target[3]) / 2]}
        gold.append({"id": example.id, **answer})
    return gold


def _summary(report: Report) -> dict[str, Any]:
    data = report_json(report)
    del data["findings"], data["finding_counts"]
    return data


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.benchmark.id)
def test_gold_always_scores_a_hundred(truth: GroundTruth) -> None:
    report = score(truth, _gold(truth))
    assert (report.total.hits, report.findings) == (len(truth.examples), ())


@given(st.sampled_from(TRUTHS).flatmap(lambda t: st.tuples(st.just(t), _answers(t), st.randoms())))
def test_the_order_of_rows_and_extra_keys_never_matter(drawn: tuple[GroundTruth, list[dict[str, Any]], Any]) -> None:
    truth, answers, random = drawn
    shuffled = [row | {"note": "x", "latency_s": 1.5, "model": None} for row in answers]
    random.shuffle(shuffled)
    assert _summary(score(truth, answers)) == _summary(score(truth, shuffled))


@given(st.sampled_from(TRUTHS).flatmap(lambda t: st.tuples(st.just(t), _answers(t), st.integers(0, 50))))
def test_removing_a_row_never_adds_a_hit_nor_changes_n(drawn: tuple[GroundTruth, list[dict[str, Any]], int]) -> None:
    truth, answers, index = drawn
    removed = answers[: index % len(answers)] + answers[index % len(answers) + 1 :]
    before = score(truth, answers)
    if not removed:
        return
    after = score(truth, removed)
    assert after.total.hits <= before.total.hits
    assert after.total.n == before.total.n == len(truth.examples)


@given(st.sampled_from(TRUTHS).flatmap(lambda t: st.tuples(st.just(t), st.lists(rows([e.id for e in t.examples])))))
def test_outcomes_and_the_cells_of_a_single_label_axis_add_up_whatever_the_rows(
    drawn: tuple[GroundTruth, list[dict[str, Any]]],
) -> None:
    truth, anything = drawn
    try:
        report = score(truth, anything)
    except PredictionsError:
        return
    assert sum(report.outcomes.values()) == report.total.n == len(truth.examples)
    assert sum(report.no_answer_reasons.values()) == report.outcomes["no_answer"]
    for table in report.tables:
        if not table.axis.overlapping:
            assert sum(cell.n for cell in table.cells) == report.total.n
            assert sum(cell.hits for cell in table.cells) == report.total.hits
    # Whatever was read, it can be shown and written, and what is written is JSON without NaN.
    assert report_text(report, table_format="simple")
    written = [dump(report_json(report)), *(dump(row) for row in details(report))]
    assert all(json.loads(line, parse_constant=pytest.fail) for line in written)


@given(st.integers(0, 600), st.integers(1, 600))
def test_percentages_are_rounded_half_up_from_the_exact_ratio(hits: int, n: int) -> None:
    from decimal import ROUND_HALF_UP, Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        exact = Decimal(100 * hits) / Decimal(n)
        assert percent(hits, n) == str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))
        assert percent(hits, n, 0) == str(exact.quantize(Decimal(1), ROUND_HALF_UP))


def test_an_empty_ratio_is_zero() -> None:
    assert percent(0, 0) == "0.00"


def test_a_suites_average_is_the_plain_mean_of_its_three_accuracies_and_missing_while_one_is(tmp_path: Path) -> None:
    truths = {f"pointerbench-{s}": load_benchmark(f"pointerbench-{s}", FIXTURES) for s in ("sheets", "text", "pro")}
    # One hit in each: the mean of 1/n, which differs from the pooled ratio where the sets differ in size.
    lines = []
    for truth in truths.values():
        lines += [json.dumps(_gold(truth)[0])]
    file = tmp_path / "suite.jsonl"
    file.write_text("\n".join(lines))
    reports = score_streams([("suite", lambda: file.open("rb"))], truths.__getitem__)
    (suite,) = suites(reports)
    sizes = [len(truth.examples) for truth in truths.values()]
    mean = sum(1 / n for n in sizes) / 3
    assert suite.average == pytest.approx(mean, abs=1e-15)
    assert float(suite_percent(suite)) == pytest.approx(100 * mean, abs=0.00501)
    (partial,) = suites(reports[:2])
    assert (partial.average, suite_percent(partial)) == (None, "")
    assert suites(reports[:1]) == []
