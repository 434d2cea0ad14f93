"""The schemas against jsonschema, against what the program writes, and against what the strict check accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from scorer import check, load_benchmark
from scorer.benchmarks import BENCHMARKS
from scorer.core.findings import Code
from scorer.output.schemas import SCHEMAS, schema_text
from tests.conftest import FIXTURES, Score
from tests.strategies import json_values
from tests.test_manifest import ANSWERS

VALIDATORS = {
    name: Draft202012Validator(json.loads(schema_text(name)), format_checker=FormatChecker(["date"]))
    for name in SCHEMAS
}
GOOD = sorted(path for path in FIXTURES.glob("predictions/*.jsonl") if not path.name.startswith(("bad.", "warn.")))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_is_printed_as_it_is(name: str, run_score: Score) -> None:
    Draft202012Validator.check_schema(VALIDATORS[name].schema)
    assert run_score("schema", name).json == VALIDATORS[name].schema
    assert f"\n{name} " in run_score("schema").out


def test_an_unknown_schema_is_refused_with_the_known_ones(run_score: Score) -> None:
    run = run_score("schema", "row")
    assert run.status == 2
    assert "known: prediction, manifest, report" in run.err


def test_the_codes_of_the_schema_are_those_of_the_program() -> None:
    assert VALIDATORS["findings"].schema["$defs"]["finding"]["properties"]["code"]["enum"] == list(Code)


@pytest.mark.parametrize("file", sorted(FIXTURES.glob("predictions/*.json*")), ids=lambda file: file.name)
def test_what_the_program_writes_of_every_fixture_is_of_its_schema(file: str, run_score: Score) -> None:
    report = run_score(file, "--data", FIXTURES, "--json", "-").json
    findings = run_score("check", file, "--data", FIXTURES, "--json", "-").json["findings"]
    assert [error.message for error in VALIDATORS["report"].iter_errors(report)] == []
    assert [error.message for error in VALIDATORS["findings"].iter_errors(findings)] == []


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.name)
def test_a_row_of_the_fixtures_without_a_fault_of_its_own_is_of_the_schema_and_no_other(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if VALIDATORS["prediction"].is_valid(row):
            # What is of another shape than its example asks for is a row all the same.
            assert _faults(row) <= {"wrong-shape"}, row
        else:
            assert _faults(row), row


def test_a_manifest_that_is_read_is_of_the_schema_and_one_that_is_refused_is_not() -> None:
    assert VALIDATORS["manifest"].is_valid(ANSWERS)
    for name in ANSWERS:
        assert not VALIDATORS["manifest"].is_valid({key: value for key, value in ANSWERS.items() if key != name})
        assert not VALIDATORS["manifest"].is_valid({**ANSWERS, name: " "})
    for name, answer in (
        ("model", "none"),
        ("date", "2026-02-30"),
        ("links", "x"),
        ("links", ["ftp://x"]),
        ("more", "x"),
    ):
        assert not VALIDATORS["manifest"].is_valid({**ANSWERS, name: answer})


@pytest.mark.parametrize("name", ["pointerbench/submission.json"])
def test_a_submission_is_of_the_schema(name: str) -> None:
    submission = json.loads((FIXTURES / "submissions" / name).read_text(encoding="utf-8"))
    assert [error.message for error in VALIDATORS["submission"].iter_errors(submission)] == []


TRUTHS = [load_benchmark(name, FIXTURES) for name in BENCHMARKS]
OF_THE_EXAMPLE = {"absent-id", "inverted-box", "zero-area", "refusal-and-point", "no-known-id"}


def _faults(row: dict[str, Any]) -> set[str]:
    """The error codes that the strict check finds in a row by itself, whatever its example would say of it."""
    truth = next((t for t in TRUTHS for example in t.examples if example.id == row["id"]), TRUTHS[0])
    return {
        str(finding.code) for finding in check(truth, [row]).findings if finding.severity == "error"
    } - OF_THE_EXAMPLE


_coordinate = st.integers(-20, 1100) | st.floats(-20, 1100)
_pair, _quad = st.lists(_coordinate, min_size=2, max_size=2), st.lists(_coordinate, min_size=4, max_size=4)
_ANSWERS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "point": ("FIXSHOT001-0", _pair),
    "coordinate": ("FIXSHOT001-0", _pair),
    "pred": ("FIXSHOT001-0", _pair),
    "points": ("FIXSHOT001-0", st.lists(_pair, min_size=1, max_size=1)),
    "bbox": ("pbt_9011", _quad),
    "box": ("pbt_9011", _quad),
    "error": ("pbt_9011", json_values),
    "latency_s": ("pbt_9011", st.just(1.5)),
}


@st.composite
def _rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row with one answer under one key, as it should be or anything at all."""
    key = draw(st.sampled_from(list(_ANSWERS)))
    row_id, good = _ANSWERS[key]
    row = {"id": row_id, key: draw(good | json_values)}
    row |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "space": st.sampled_from(
                    ["pixel", "grid1000", "frame:1280x720", "smart-resize:28:3136:2109744", "norm", 5]
                ),
                "attempt": st.sampled_from([1, None, 0, -1, "1", 1.5, True]),
                "latency_s": json_values,
                "error": st.sampled_from(["HTTP 500", "", None, False, {"code": "empty"}]),
            },
        )
    )
    if draw(st.integers(0, 9)) == 0:
        row["id"] = draw(st.sampled_from([5, None, [], {}]))
    return row


@given(_rows())
def test_a_row_is_of_the_schema_where_the_strict_check_finds_no_fault_in_it_by_itself(row: dict[str, Any]) -> None:
    json.dumps(row)
    assert VALIDATORS["prediction"].is_valid(row) == (not _faults(row)), (row, _faults(row))
