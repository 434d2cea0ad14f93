"""The diagnosis on real targets: answers written in another convention are found out, honest ones are left alone.

The answers are made here from the official annotations, so which reading is right is known from outside.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import scorer.evidence.diagnosis
from scorer import GroundTruth, load_benchmark, score
from scorer.api import diagnose, hints
from scorer.core.records import Example
from scorer.core.report import Report
from scorer.evidence.diagnosis import hints as strict_hints
from scorer.output.text.diagnosis import diagnosis_text
from tests.conftest import DATA, needs_data

pytestmark = needs_data

BENCHMARKS = ("pointerbench-sheets", "pointerbench-text", "pointerbench-pro", "osworld-g")
Write = Callable[[list[float], tuple[int, int]], list[float]]


def resized(width: float, height: float) -> Write:
    return lambda numbers, frame: [n / frame[i % 2] * (width, height)[i % 2] for i, n in enumerate(numbers)]


def y_first(numbers: list[float], _frame: tuple[int, int]) -> list[float]:
    return [numbers[i + 1 - 2 * (i % 2)] for i in range(len(numbers))]


WRITTEN: dict[str, tuple[Write, str, str]] = {
    # how the answers are written, the reading that is right, what fixes it ("" where the screenshots' sizes decide)
    "1036x756": (resized(1036, 756), "frame:1036x756", "--space frame:1036x756"),
    "1280x720": (resized(1280, 720), "frame:1280x720", "--space frame:1280x720"),
    "0..1": (resized(1, 1), "fraction", "--space fraction"),
    "0..1000": (resized(1000, 1000), "grid1000", "--space grid1000"),
    "y-x": (y_first, "pixel, y before x", "write x before y"),
    "half": (lambda numbers, _: [n / 2 for n in numbers], "half size", ""),
}


@cache
def truth(name: str) -> GroundTruth:
    assert DATA is not None
    return load_benchmark(name, DATA)


def rectangle(example: Example) -> tuple[float, float, float, float]:
    xs, ys = example.target[0::2], example.target[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def gold(name: str, write: Write, *, noise: float = 0, seed: int = 0) -> Iterator[dict[str, Any]]:
    """The centre of every target, or its box, moved by normal noise of so many target sizes, then written."""
    rng = random.Random(seed)
    for example in truth(name).examples:
        if example.rule == "refusal":
            yield {"id": example.id, "point": [-1, -1]}
            continue
        x0, y0, x1, y1 = rectangle(example)
        dx, dy = rng.gauss(0, noise) * max(x1 - x0, 1), rng.gauss(0, noise) * max(y1 - y0, 1)
        if example.rule == "coverage_precision":
            yield {"id": example.id, "bbox": write([x0 + dx, y0 + dy, x1 + dx, y1 + dy], example.image_size)}
        else:
            yield {"id": example.id, "point": write([(x0 + x1) / 2 + dx, (y0 + y1) / 2 + dy], example.image_size)}


def as_written(name: str, how: str, **noise: Any) -> Report:
    return score(truth(name), gold(name, WRITTEN[how][0], **noise))


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_gold_in_another_convention_is_named_first_with_what_fixes_it(name: str, how: str) -> None:
    report = as_written(name, how)
    write, reading, fix = WRITTEN[how]
    found = diagnose(report)
    likely = found.named[0]
    assert likely.name.startswith(reading)
    assert likely.hits == report.total.n == found.n
    assert likely.gained == report.total.n - report.total.hits
    assert likely.lost == 0
    if how == "half":
        # The screenshots of OSWorld-G differ in size, so no frame is half of them all.
        fix = "double every coordinate" if name == "osworld-g" else "--space frame:512x384"
    assert (likely.option or likely.fix) == fix
    if likely.option:
        declared = score(truth(name), gold(name, write), space=likely.option.removeprefix("--space "))
        assert declared.total.hits == declared.total.n


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_noise_of_one_target_size_hides_none_of_them(name: str, how: str) -> None:
    report = as_written(name, how, noise=1, seed=len(name))
    assert report.total.accuracy < 0.3
    assert diagnose(report).named[0].name.startswith(WRITTEN[how][1])


def test_a_diagnosis_leaves_the_score_as_it_is() -> None:
    report = as_written("pointerbench-text", "0..1000")
    before = report.total, report.outcomes, report.verdicts, report.signature
    diagnose(report)
    hints([report])
    assert (report.total, report.outcomes, report.verdicts, report.signature) == before


def honest(name: str, rng: random.Random) -> tuple[float, list[dict[str, Any]]]:
    """Answers in pixels of which a share hits, and the others miss in one of the ways that models do."""
    share = rng.uniform(0.05, 0.95)
    styles = ["anywhere", "near", "another target", "to one side", "around the middle"]
    style = rng.choice([*styles, "all of these"])
    whole = rng.random() < 0.5
    targets = [example for example in truth(name).examples if example.target]
    rows: list[dict[str, Any]] = []
    for example in truth(name).examples:
        width, height = example.image_size
        hit = rng.random() < share
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        if not example.target:
            rows.append({"id": example.id, "point": [-1, -1] if hit else [x, y]})
            continue
        x0, y0, x1, y1 = rectangle(example)
        w, h = x1 - x0, y1 - y0
        way = rng.choice(styles) if style == "all of these" else style
        if hit:
            x, y = rng.uniform(x0, x1), rng.uniform(y0, y1)
        elif way == "near":
            x, y = rng.gauss((x0 + x1) / 2, 1.5 * w), rng.gauss((y0 + y1) / 2, 1.5 * h)
        elif way == "another target":
            other = rectangle(rng.choice(targets))
            x, y = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
        elif way == "to one side":
            x, y = rng.gauss(x0 + 0.8 * w, w), rng.gauss(y0 - 0.2 * h, h)
        elif way == "around the middle":
            x, y = rng.gauss(width / 2, width / 5), rng.gauss(height / 2, height / 5)
        if whole:
            x, y = round(x), round(y)
        if example.rule == "coverage_precision":
            rows.append({"id": example.id, "bbox": [x0, y0, x1, y1] if hit else [x, y, x + w, y + h]})
        else:
            rows.append({"id": example.id, "point": [x, y]})
    return share, rows


@pytest.mark.slow
def test_a_hint_appears_in_at_most_one_of_200_honest_files() -> None:
    rng = random.Random(20261130)
    hinted = 0
    for number in range(200):
        name = BENCHMARKS[number % 4]
        report = score(truth(name), honest(name, rng)[1])
        # Without the quick look at a few misses that spares most files the rest: it only ever says no.
        hinted += bool(strict_hints([report]))
    assert hinted <= 1


@pytest.mark.slow
def test_no_reading_is_named_and_no_file_called_mixed_for_honest_answers() -> None:
    rng = random.Random(7)
    for number in range(16):
        name = BENCHMARKS[number % 4]
        found = diagnose(score(truth(name), honest(name, rng)[1]))
        assert not found.named
        assert not [sign for sign in found.signs if sign.name != "off-screen"]


def test_gross_mistakes_are_hinted_at_in_one_line_unasked() -> None:
    reports = [as_written("pointerbench-sheets", "0..1000"), as_written("pointerbench-pro", "0..1000")]
    (line,) = hints(reports)
    assert line.startswith("hint: read as grid1000, ")
    assert "pointerbench-sheets" in line
    assert "pointerbench-pro" in line
    assert "--space grid1000" in line
    assert "--diagnose" in line
    assert "frame:1036x756" in hints([as_written("pointerbench-text", "1036x756")])[0]
    assert hints([score(truth("pointerbench-text"), gold("pointerbench-text", resized(1024, 768)))]) == []


def test_the_public_run_of_a_real_model_is_no_case_for_another_reading() -> None:
    assert DATA is not None
    file = DATA / "predictions/mai_ui_8b.osworld_g_original.jsonl"
    report = score(truth("osworld-g"), file)
    found = diagnose(report)
    assert report.total.hits == found.hits == 359
    assert found.named == ()
    assert hints([report]) == []


def test_of_a_very_large_file_evenly_spaced_answers_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer.evidence.diagnosis, "MOST_LOOKED_AT", 100)
    found = diagnose(as_written("pointerbench-sheets", "0..1000"))
    assert (found.sampled, found.n) == (True, 100)
    assert found.named[0].name == "grid1000"
    assert found.named[0].hits == 100
    assert "tried on 100 answers, evenly spaced" in diagnosis_text(found, table_format="simple")


def test_two_conventions_in_one_file_are_told_apart_by_id() -> None:
    name = "pointerbench-sheets"
    pixels, grid = list(gold(name, resized(1024, 768))), list(gold(name, resized(1000, 1000)))
    found = diagnose(score(truth(name), pixels[:300] + grid[300:]))
    ours, others = [sign for sign in found.signs if sign.name == "mixed-readings"]
    assert "pixel" in ours.message
    assert "grid1000" in others.message
    assert len(ours.ids) > 150
    assert len(others.ids) > 150
    assert set(ours.ids) <= {row["id"] for row in pixels[:300]}
    assert set(others.ids) <= {row["id"] for row in grid[300:]}


def test_a_free_scale_and_offset_is_found_where_no_space_explains_the_answers() -> None:
    name = "pointerbench-pro"
    rows = [
        {"id": row["id"], "point": [1.37 * row["point"][0] + 20, 1.2 * row["point"][1] - 12]}
        for row in gold(name, resized(1024, 768))
    ]
    rng = random.Random(1)
    for row in rows[::3]:  # a third of them anywhere: the fit has to be robust
        row["point"] = [rng.uniform(0, 1024), rng.uniform(0, 768)]
    found = diagnose(score(truth(name), rows))
    assert found.named[0].name == "free scale and offset"
    assert found.named[0].hits > 300
    assert found.fit is not None
    assert found.fit.scale == pytest.approx((1.37, 1.2), rel=1e-3)
    assert found.fit.offset == pytest.approx((20, -12), abs=1)


def test_a_size_that_no_list_holds_is_fitted_and_declared_by_an_option() -> None:
    found = diagnose(score(truth("osworld-g"), gold("osworld-g", resized(1371, 913))))
    assert found.named[0].option == "--space frame:1371x913"
    assert found.named[0].hits == 564


def test_rows_that_name_their_own_space_are_read_otherwise_only_where_all_of_them_do() -> None:
    name = "pointerbench-sheets"
    rows = list(gold(name, resized(1000, 1000)))
    some = [{**row, "space": "grid1000"} if number % 2 else row for number, row in enumerate(rows)]
    found = diagnose(score(truth(name), some))
    assert found.hits < 300
    assert found.named[0].option == "--space grid1000"
    assert (found.named[0].hits, found.named[0].lost) == (500, 0)
    wrong = [{**row, "space": "grid999"} for row in gold(name, resized(1024, 768))]
    assert diagnose(score(truth(name), wrong)).named[0].option == '"space": "pixel" in the rows'


def test_boxes_of_sizes_and_boxes_with_y_first_are_known() -> None:
    name = "pointerbench-text"
    rows = list(gold(name, resized(1024, 768)))
    sized = [
        {
            **row,
            "bbox": [row["bbox"][0], row["bbox"][1], row["bbox"][2] - row["bbox"][0], row["bbox"][3] - row["bbox"][1]],
        }
        if "bbox" in row
        else row
        for row in rows
    ]
    found = diagnose(score(truth(name), sized))
    assert found.named[0].name == "pixel, boxes as x, y, width, height"
    assert (found.named[0].hits, found.named[0].gained) == (500, 134)
    assert "corners" in found.named[0].fix


def test_miss_statistics_measure_from_the_middle_of_the_target() -> None:
    name = "pointerbench-pro"
    rows = list(gold(name, resized(1024, 768)))
    sizes = {example.id: rectangle(example) for example in truth(name).examples}
    for row in rows[:100]:
        x0, y0, x1, y1 = sizes[row["id"]]
        row["point"] = [row["point"][0] + x1 - x0, row["point"][1] - 0.25 * (y1 - y0)]
    for row in rows[100:150]:
        row["point"][1] += 10 * (sizes[row["id"]][3] - sizes[row["id"]][1])
    found = diagnose(score(truth(name), rows))
    everywhere, *quarters = found.misses
    assert (everywhere.n, everywhere.near) == (150, 100)
    assert everywhere.dx_targets == pytest.approx(1)
    assert everywhere.dy_targets == pytest.approx(-0.25)
    widths = sorted([sizes[row["id"]][2] - sizes[row["id"]][0] for row in rows[:100]] + [0] * 50)
    assert everywhere.dx == pytest.approx((widths[74] + widths[75]) / 2)
    assert sum(quarter.n for quarter in quarters) == 150
    middles = [
        (sizes[row["id"]][0] + sizes[row["id"]][2], sizes[row["id"]][1] + sizes[row["id"]][3]) for row in rows[:150]
    ]
    top_left = next(quarter for quarter in quarters if quarter.label == "top left")
    assert top_left.n == sum(x <= 1024 and y <= 768 for x, y in middles)


@needs_data
@pytest.mark.parametrize("decimals", [3, 4, 17])
def test_a_real_models_answers_as_fractions_are_named_so_although_a_fit_comes_nearer(decimals: int) -> None:
    assert DATA is not None
    truth = load_benchmark("osworld-g", DATA)
    frames = {example.id: example.image_size for example in truth.examples}
    path = DATA / "predictions/mai_ui_8b.osworld_g_original.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    fractions = [
        {"id": r["id"], "point": [round(v / s, decimals) for v, s in zip(r["point"], frames[r["id"]], strict=True)]}
        for r in rows
    ]
    found = diagnose(score(truth, fractions))
    assert (found.readings[0].name, found.readings[0].option) == ("fraction", "--space fraction")
    assert found.readings[0].hits == score(truth, fractions, space="fraction").total.hits
