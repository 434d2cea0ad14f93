"""The synthetic sets in fixtures/ against the reports in fixtures/expected, which were worked out by hand."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fixtures.draw import pictures
from scorer import Report, load_benchmark, score, score_streams, suites
from scorer.output.data import report_json, reports_json
from tests.conftest import FIXTURES, SUBSETS, Score

EXPECTED = FIXTURES / "expected"
PREDICTIONS = FIXTURES / "predictions"
OSWORLD_G = FIXTURES / "osworld_g/benchmark"

RUNS: dict[str, tuple[str, str | None]] = {
    # name of the predictions -> benchmark, space of the command
    "sheets": ("pointerbench-sheets", None),
    "sheets.frame1280x720": ("pointerbench-sheets", "frame:1280x720"),
    "text": ("pointerbench-text", None),
    "pro": ("pointerbench-pro", None),
    "pro.grid1000": ("pointerbench-pro", "grid1000"),
    "osworld_g": ("osworld-g", None),
    "osworld_g.grid1000": ("osworld-g", None),
    "warn.strings-and-duplicates": ("pointerbench-text", None),
}
CELLS = ("actionable", "refusals", "alternatives")
"""Figures of which an expected file names some keys; everywhere else it names all of them."""

BAD: dict[str, tuple[str, ...]] = {
    "bad.truncated.jsonl": ("bad.truncated.jsonl:5 ", "incomplete JSON, no newline at the end of the file"),
    "bad.wrapped.json": ("bad.wrapped.json:1 ", 'a list under "predictions" with 3 entries: submit that list'),
    "bad.wrong-subset.jsonl": ("bad.wrong-subset.jsonl:1 ", "they look like pointerbench-text ids"),
    "bad.python-repr.jsonl": ("bad.python-repr.jsonl:1 ", "Python repr, not JSON"),
    "bad.not-utf8.jsonl": ("bad.not-utf8.jsonl:2 ", "byte offset 51: not valid UTF-8 (0xdc)"),
    "bad.empty.jsonl": ("bad.empty.jsonl ", "no prediction rows"),
    "bad.array-trailing-comma.json": ("bad.array-trailing-comma.json:4 ", "trailing comma before the ] on line 5"),
    "bad.file-names-as-ids.jsonl": ("bad.file-names-as-ids.jsonl:1 ", "unknown id 9001.png (a file name?"),
}


def expected_of(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    return data


def score_fixture(name: str) -> Report:
    benchmark, space = RUNS[name]
    return score(load_benchmark(benchmark, FIXTURES), PREDICTIONS / f"{name}.jsonl", space=space)


def assert_as_expected(report: Report, expected: dict[str, Any]) -> None:
    """Every key of the expected report and the outcome of every example."""
    found = report_json(report)
    for key, value in expected.items():
        if key == "verdicts":
            continue
        assert (_cut(found[key], value) if key in CELLS else found[key]) == value, key
    assert {key for key in found if key.startswith("by_")} == {key for key in expected if key.startswith("by_")}
    outcomes = {verdict.example.id: verdict.outcome for verdict in report.verdicts}
    assert outcomes == {key: verdict["outcome"] for key, verdict in expected["verdicts"].items()}


def _cut(found: Any, like: Any) -> Any:
    """The part of ``found`` that has a counterpart in ``like``."""
    return {key: _cut(found[key], value) for key, value in like.items()} if isinstance(like, dict) else found


@pytest.mark.usefixtures("json_parser")
@pytest.mark.parametrize("name", RUNS)
def test_every_verdict_and_every_figure_is_the_one_worked_out_by_hand(name: str) -> None:
    assert_as_expected(score_fixture(name), expected_of(name))


def test_every_expected_file_and_every_predictions_file_is_tested() -> None:
    assert {path.stem for path in EXPECTED.iterdir()} == {*RUNS, "suite"}
    tested = {f"{name}.jsonl" for name in [*RUNS, "suite"]}
    tested |= {"complete.suite.frame1280x720.jsonl", "complete.osworld_g.grid1000.jsonl"}  # by way of their bundles
    assert {path.name for path in PREDICTIONS.iterdir()} == {*BAD, *tested}


def test_the_sets_show_every_outcome_and_both_outcomes_of_every_rule() -> None:
    reports = {name: score_fixture(name) for name in RUNS}
    for name in ("sheets", "text", "pro", "osworld_g"):
        assert all(reports[name].outcomes.values()), name
    shown = {(verdict.example.rule, verdict.outcome) for report in reports.values() for verdict in report.verdicts}
    for rule in ("point_in_bbox", "coverage_precision", "point_in_polygon", "refusal"):
        assert {(rule, "hit"), (rule, "miss"), (rule, "no_answer")} <= shown


def test_rows_of_three_subsets_in_one_file_score_as_three_files_and_their_plain_mean() -> None:
    expected = expected_of("suite")
    stream = io.BytesIO((PREDICTIONS / "suite.jsonl").read_bytes())
    reports = score_streams([("suite", lambda: stream)], lambda name: load_benchmark(name, FIXTURES))
    assert [report.benchmark.id for report in reports] == list(expected["benchmarks"])
    for report in reports:
        assert_as_expected(report, expected_of(expected["benchmarks"][report.benchmark.id].removesuffix(".json")))
    assert reports_json(reports, suites(reports))["suites"] == expected["suites"]


def test_the_command_finds_the_suite_from_the_ids_and_prints_its_average(run_score: Score) -> None:
    run = run_score(PREDICTIONS / "suite.jsonl", "--data", FIXTURES)
    assert run.status == 0
    assert run.out.splitlines()[-1].split() == ["acc", "%", "50.00", "55.56", "58.33", "54.63"]
    data = run_score(PREDICTIONS / "suite.jsonl", "--data", FIXTURES, "--json", "-").json
    assert data["suites"] == expected_of("suite")["suites"]


def test_the_space_option_changes_what_the_numbers_mean(run_score: Score) -> None:
    arguments = [PREDICTIONS / "sheets.frame1280x720.jsonl", "--data", FIXTURES, "--score-only"]
    assert run_score(*arguments, "--space", "frame:1280x720").out == "58.33\n"
    # Read as pixels, only the row that names a space of its own still hits.
    assert run_score(*arguments).out == "8.33\n"


def test_refined_instructions_give_the_same_score_and_a_warning_for_the_empty_one(run_score: Score) -> None:
    refined = load_benchmark("osworld-g", FIXTURES, variant="refined")
    assert [(finding.code, finding.id) for finding in refined.findings] == [("gt-empty-instruction", "FIXSHOT001-10")]
    assert_as_expected(score(refined, PREDICTIONS / "osworld_g.jsonl"), expected_of("osworld_g"))

    run = run_score(
        PREDICTIONS / "osworld_g.jsonl", "--data", FIXTURES, "--instruction-variant", "refined", "--score-only"
    )
    assert (run.status, run.out) == (0, "42.86\n")
    assert "gt-empty-instruction" in run.err


def test_the_sets_load_without_a_finding_but_that_they_are_not_the_official_ones() -> None:
    for subset in SUBSETS:
        truth = load_benchmark(f"pointerbench-{subset}", FIXTURES)
        assert [finding.code for finding in truth.findings] == ["gt-not-official"]
    assert load_benchmark("osworld-g", FIXTURES).findings == ()


def test_without_the_category_lists_the_buckets_decide(tmp_path: Path) -> None:
    for name in ("OSWorld-G.json", "buckets.json"):
        shutil.copy(OSWORLD_G / name, tmp_path)
    truth = load_benchmark("osworld-g", tmp_path)
    found = report_json(score(truth, PREDICTIONS / "osworld_g.jsonl"))
    expected = expected_of("osworld_g")["by_category"]
    # FIXSHOT003-2, a hit, is in no list; its tag "Status Bar" is in the bucket of layouts: 3 of 8 instead of 2 of 7.
    del expected["unclassified"]
    expected["layout_understanding"] = {"acc": 0.375, "n": 8}
    assert found["by_category"] == expected
    assert truth.categories_source == "buckets.json"


def test_tolerated_faults_are_named_by_line_and_id_with_the_nearest_known_id(run_score: Score) -> None:
    run = run_score(PREDICTIONS / "warn.strings-and-duplicates.jsonl", "--data", FIXTURES, "--json", "-")
    assert run.status == 0
    said = {(finding.get("line"), finding.get("id"), finding["message"]) for finding in run.json["findings"]}
    for line, row_id, message in (
        (1, "pbt_9001", "x is a string, read as 214; write numbers without quotes"),
        (3, "pbt_9002", "was already given on line 2 with the same answer"),
        (8, "PBT_9005", "unknown id PBT_9005 (did you mean pbt_9005?)"),
        (9, "pbt_09015", "unknown id pbt_09015 (ids are zero-padded: pbt_9015)"),
        (10, "pbt_9006", "5 numbers in bbox; the first four count"),
        (12, "pbt_9008", "bbox has 4 entries, entry 2 is null; it is not read"),
        (20, "pbt_9016", "3 numbers in point (decimal comma?); the first two count"),
        (21, "pbt_9017", "x is null; the row counts as no_answer"),
        (22, "pbt_9018", "point is a string; write it as a JSON array [x, y]"),
    ):
        assert (line, row_id, message) in said
    assert "on line 4 with another answer ([990, 256] then, [10, 10] here); the last row counts" in run.out


@pytest.mark.usefixtures("json_parser")
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_no_number_and_its_line_and_cause_are_named(name: str, run_score: Score) -> None:
    arguments = [PREDICTIONS / name, "--data", FIXTURES]
    if name == "bad.wrong-subset.jsonl":
        arguments += ["--benchmark", "pointerbench-sheets"]
    run = run_score(*arguments)
    assert (run.status, run.out) == (1, "")
    for words in BAD[name]:
        assert words in run.err

    refused = run_score(*arguments, "--json", "-").json
    assert refused["accepted"] is False
    assert "accuracy" not in refused


def test_a_file_name_with_the_right_stem_is_told_the_id_it_means(run_score: Score, tmp_path: Path) -> None:
    text = (PREDICTIONS / "bad.file-names-as-ids.jsonl").read_text(encoding="utf-8")
    file = tmp_path / "names.jsonl"
    file.write_text(text.replace('"9001', '"pbs_9001'), encoding="utf-8")
    run = run_score(file, "--data", FIXTURES, "--benchmark", "pointerbench-sheets")
    assert run.status == 1
    assert "unknown id pbs_9001.png (a file name? did you mean pbs_9001?)" in run.err


def test_every_screenshot_is_as_its_annotations_say_and_as_the_script_draws_it() -> None:
    sizes = {}
    for subset in SUBSETS:
        folder = FIXTURES / f"pointerbench/pointerbench-{subset}/data/test"
        for line in (folder / "metadata.jsonl").read_bytes().splitlines():
            row = json.loads(line)
            sizes[folder / row["file_name"]] = tuple(row["image_size"])
    for record in json.loads((OSWORLD_G / "OSWorld-G.json").read_bytes()):
        sizes[OSWORLD_G / "images" / record["image_path"]] = tuple(record["image_size"])

    drawn = dict(pictures())

    assert set(FIXTURES.rglob("*.png")) == set(sizes) == set(drawn)
    for path, size in sizes.items():
        with Image.open(path) as image:
            assert image.size == size, path
            assert image.convert("RGB").tobytes() == drawn[path].tobytes(), f"{path}: run python fixtures/draw.py"
