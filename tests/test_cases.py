"""Files modelled on public bug reports, with the scores and errors they should give (SCORER_CASES/cases.jsonl).

The table holds what each case's ``expected`` text says of the tolerant run; its CHECK and DIAGNOSIS parts are about
commands of their own. A case that the table lacks fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.conftest import Run, Score, case_rows, needs_cases

SPACES = {"norm1000": "grid1000", "norm999": "grid999", "norm01": "fraction"}


class Expected(NamedTuple):
    """``score`` is hits/n, "" for an error; ``says`` must stand on stdout or stderr, ``json`` in the report."""

    score: str
    says: tuple[str, ...] = ()
    json: Mapping[str, Any] = MappingProxyType({})
    not_said: tuple[str, ...] = ()


def scored(score: str, *says: str, not_said: tuple[str, ...] = (), **json: Any) -> Expected:
    return Expected(score, says, json, not_said)


def error(*says: str) -> Expected:
    return Expected("", says)


EXPECTED: dict[int, Expected] = {
    0: scored("0/8", "coordinates: pixel"),
    1: scored("8/8", "coordinates: grid1000 (x/1000*width, y/1000*height)"),
    3: scored("3/8"),
    4: scored("1/1"),
    6: scored("0/8"),
    7: scored("3/8"),
    9: scored("0/8"),
    10: scored("0/8"),
    13: scored("0/1", "out-of-frame", "1024x768", false_refusals=0),
    14: scored("2/3", not_said=("out-of-frame",)),
    66: scored("1/1"),
    67: scored("0/1"),
    69: scored(
        "3/4",
        "75.00 %   3/4",
        "66.67 %   2/3",
        actionable={"hits": 2, "n": 3, "accuracy": 0.6667},
        refusals={"hits": 1, "n": 1, "accuracy": 1.0},
        by_box_type={
            "bbox": {"acc": 1.0, "n": 2},
            "polygon": {"acc": 0.0, "n": 1},
            "refusal": {"acc": 1.0, "n": 1},
        },
    ),
    70: scored("3/4", "3-row actionable subset", "cannot be ranked", actionable={"hits": 3, "n": 3, "accuracy": 1.0}),
    72: scored("1/2", by_category={"text_matching": {"acc": 1.0, "n": 1}, "unclassified": {"acc": 0.0, "n": 1}}),
    88: scored("1/1"),
    89: scored("0/1"),
    91: scored("0/1", "inverted-box", "[200, 500, 500, 520]"),
    92: scored("0/1", "zero-area", "a point given for a box task?"),
    94: scored("0/1", "wrong-shape", missing_predictions=1),
    95: scored("0/1", "extra-numbers", "4 numbers in point"),
    97: scored("0/1", "3 numbers in point (decimal comma?)"),
    98: scored(
        "1/1",
        "[2, 200, 500, 500]",
        "the digit of a name",
        alternatives={
            "public_scorer": {
                "rows": 1,
                "hits": 0,
                "n": 1,
                "reason": "with the public scorer's reading of 1 rows that it misreads",
            }
        },
    ),
    100: scored("0/1", "pbt_9101", ":1 ", "bbox has 5 entries, entry 2 is null"),
    101: scored("0/1", "entry 2 is a string", missing_predictions=1),
    103: scored("1/1"),
    105: scored("2/2", "byte order mark"),
    107: error("UTF-16 (byte order mark FF FE)", "save it as UTF-8"),
    108: error(":1 ", "byte offset 53: not valid UTF-8 (0xfc)"),
    110: scored("2/2"),
    111: scored("1/1"),
    113: error(":3 ", "trailing comma before the ] on line 4"),
    114: error(":3 ", "missing comma between array entries (JSONL lines wrapped in [ ]?)"),
    116: error(":2 ", "incomplete JSON, no newline at the end of the file (interrupted run?)"),
    117: error(":1 ", "column 40: second JSON value on the same line", "interrupted run?"),
    119: error(":1 ", "no id", 'found a list under "predictions" with 2 entries: submit that list'),
    120: error("maps ids to points", 'expected rows like {"id": ..., "point": [x, y]}'),
    122: error(":1 ", "single quotes", "Python repr, not JSON", "json.dumps"),
    123: error(":1 ", "markdown fence"),
    125: error("no prediction rows"),
    126: error("no prediction rows"),
    128: error(
        ":2 ", ":3 ", ":4 ", ":5 ", "found list", "found number", "found string", "found null", "expected an object"
    ),
    129: scored("1/1", ":1 ", 'key "point" appears twice'),
    131: scored(
        "2/2",
        "line 1",
        ":3 ",
        "[1, 1] then, [140, 210] here",
        alternatives={"first_row": {"rows": 1, "hits": 1, "n": 2}},
    ),
    132: scored("2/2", "line 1", "line 2", ":2 ", ":3 "),
    134: scored(
        "1/3",
        "answered rows only: 1/1 = 100.00 % (not the score)",
        outcomes={"hit": 1, "miss": 0, "no_answer": 1, "run_error": 1, "absent": 0},
        no_answer_reasons={"empty-answer": 1},
    ),
    135: scored("1/2", ":1 ", "unknown id pbs-9000 (did you mean pbs_9000?)"),
    137: error("found number 9000", "unknown id 9001", "ids are strings like pbs_9000"),
    138: error("unknown id pbs_42 (ids are zero-padded: pbs_0042)"),
    140: error("none of 2 ids belongs to pointerbench-sheets; they look like pointerbench-text ids"),
    141: scored("1/2", ":1 ", "no id", "never matched by position"),
    143: error(":1 ", "id must be a string, found list"),
    144: error(":1 ", "unknown id pbs_\\ud800"),
    146: scored("1/2", "NaN, which is not JSON", outcomes={"no_answer": 1}, no_answer_reasons={"bad-number": 1}),
    147: scored("0/1", "x is not finite", no_answer_reasons={"bad-number": 1}),
    149: scored("1/1", "x is a string"),
    150: scored("0/1", "not a decimal number: 1_40", alternatives={"public_scorer": {"rows": 1, "hits": 1, "n": 1}}),
    152: scored("0/1", "point is a string; write it as a JSON array", missing_predictions=1),
    153: scored("0/1", "point is an object", missing_predictions=1),
    155: scored("1/2", ":1 ", "pbs_9000: 2 points in point, expected one"),
    156: scored("1/2", ":1 ", "pbs_9000: x is null"),
    158: scored("1/1", ":1 ", "point and pred differ; point was used"),
    159: scored("1/1"),
    161: scored("1/1"),
    162: scored(
        "1/1",
        by_element_type={"icon": {"acc": 1.0, "n": 1}},
        by_app_category={"creative": {"acc": 1.0, "n": 1}},
        by_platform={"Windows 11": {"acc": 1.0, "n": 1}},
        by_app={"Mock Editor": {"acc": 1.0, "n": 1}},
    ),
    169: scored("1/2", outcomes={"run_error": 1}, refusals={"hits": 0, "n": 1}),
    # Ground truth: the score is of a file with the right answer to the first row.
    73: scored("1/1", "NOPE000000-9", "text_matching", n=1),
    75: error("id KD55MOCKUP-0: polygon has 7 numbers (needs an even count of at least 6)"),
    77: error("id KD55MOCKUP-2: unknown box_type 'circle' (known: bbox, polygon, refusal)"),
    79: error("id QX41MOCKUP-0 appears twice (entries 1 and 2) with different boxes"),
    80: scored("1/1", "QX41MOCKUP-0", "[1500.5, 320.25, 1530.5, 344.75]", "osworld-g (original)"),
    164: scored("1/1"),
    165: scored("1/1", "id pbs_9010: bbox exceeds image_size 1024x768 (wrong file or resized copy?)"),
    167: scored("1/1", "id pbt_9103", "answer_type is missing", by_answer_type={"bbox": {"acc": 1.0, "n": 1}}),
}
RIGHT_ANSWERS: dict[int, dict[str, Any]] = {
    73: {"id": "QX41MOCKUP-0", "point": [1515, 332]},
    75: {"id": "KD55MOCKUP-0", "point": [20, 20]},
    77: {"id": "KD55MOCKUP-2", "point": [10, 10]},
    79: {"id": "QX41MOCKUP-0", "point": [1515, 332]},
    80: {"id": "QX41MOCKUP-0", "point": [1515, 332]},
    164: {"id": "pbs_9000", "point": [140, 210]},
    165: {"id": "pbs_9010", "point": [1050, 750]},
    167: {"id": "pbt_9103", "bbox": [200, 500, 500, 520]},
}


class Finding(NamedTuple):
    """A finding of the strict check: its code, its line (0: the whole file), and words of its message."""

    code: str
    line: int
    says: str


CHECKED: dict[int, list[Finding]] = {
    70: [
        Finding("absent-id", 0, "1 of 4 examples"),
        Finding("absent-id", 0, "3-row actionable subset, which cannot be"),
    ],
    94: [Finding("wrong-shape", 1, 'wants "point"; the row has "bbox"')],
    95: [Finding("extra-numbers", 1, "4 numbers in point")],
    97: [Finding("extra-numbers", 1, "3 numbers in point (decimal comma?)")],
    100: [Finding("bad-number", 1, "bbox has 5 entries, entry 2 is null")],
    101: [Finding("bad-number", 1, "entry 2 is a string")],
    107: [Finding("not-utf8", 1, "UTF-16")],
    108: [Finding("not-utf8", 1, "byte offset 53")],
    116: [Finding("bad-json", 2, "incomplete JSON")],
    125: [Finding("no-rows", 0, "no prediction rows")],
    126: [Finding("no-rows", 0, "no prediction rows")],
    128: [Finding("not-an-object", line, "expected an object") for line in (2, 3, 4, 5)],
    129: [Finding("repeated-key", 1, 'the key "point" appears twice')],
    131: [Finding("duplicate-id", 3, "line 1 with another answer ([1, 1] then, [140, 210] here)")],
    132: [Finding("duplicate-id", 2, "line 1"), Finding("duplicate-id", 3, "line 2")],
    135: [Finding("unknown-id", 1, "pbs-9000 (did you mean pbs_9000?)")],
    137: [Finding("id-type", 1, "found number 9000"), Finding("unknown-id", 2, "ids are strings like pbs_9000")],
    138: [Finding("unknown-id", 1, "pbs_42 (ids are zero-padded: pbs_0042)")],
    140: [Finding("no-known-id", 0, "they look like pointerbench-text ids")],
    141: [Finding("no-id", 1, "the row has no id")],
    143: [Finding("id-type", 1, "id must be a string, found list")],
    144: [Finding("unknown-id", 1, "pbs_\ud800")],
    146: [Finding("bad-number", 1, "NaN, which is not JSON")],
    147: [Finding("bad-number", 1, "x is not finite")],
    149: [Finding("bad-number", 1, "x is a string"), Finding("bad-number", 1, "y is a string")],
    150: [Finding("bad-number", 1, "not a decimal number: 1_40")],
    152: [Finding("wrong-shape", 1, "point is a string; write it as a JSON array")],
    153: [Finding("wrong-shape", 1, 'write it as "point": [x, y]')],
    155: [Finding("candidate-count", 1, "2 points in point, expected one")],
    156: [Finding("bad-number", 1, "x is null")],
    158: [Finding("key-conflict", 1, "point and pred differ; point was used")],
    169: [Finding("error-with-answer", 2, "the row records an error and also gives an answer")],
}
ACCEPTED = {0, 1, 3, 4, 7, 9, 66, 67, 69, 103, 105, 110, 111, 158, 159, 161, 162}


def _cases() -> list[dict[str, Any]]:
    return [row for row in case_rows() if row["kind"] in ("predictions-file", "metadata")]


def _json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _write_case(case: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """The ground truth and the predictions of a case, as files."""
    text = case["input"].encode(case.get("encoding", "utf-8"))
    osworld = case["benchmark"] == "osworld-g"
    truth = folder / ("OSWorld-G.json" if osworld else "metadata.jsonl")
    rows = case["gt"]["rows"]
    truth.write_bytes(json.dumps(rows).encode() if osworld else _json_lines(rows))
    predictions = folder / "preds.jsonl"
    predictions.write_bytes(text)
    if "classification_result" in case["gt"]:
        (folder / "classification_result.json").write_text(json.dumps(case["gt"]["classification_result"]))
    if case["kind"] == "metadata":
        predictions.write_bytes(_json_lines([RIGHT_ANSWERS[case["n"]]]))
        if case["n"] == 73:
            (folder / "classification_result.json").write_bytes(text)
        elif case["n"] == 80:
            for variant, name in (("original", "OSWorld-G.json"), ("refined", "OSWorld-G_refined.json")):
                (folder / name).write_text(json.dumps(json.loads(text)[variant]))
        else:
            truth.write_bytes(text)
    return truth, predictions


def _holds(found: Any, expected: Any) -> bool:
    """Whether every key of ``expected`` is in ``found`` with the same value."""
    if isinstance(expected, Mapping):
        return all(key in found and _holds(found[key], value) for key, value in expected.items())
    return bool(found == expected)


@needs_cases
@pytest.mark.usefixtures("json_parser")
@pytest.mark.parametrize("case", _cases(), ids=lambda case: f"{case['n']}-{case['case'].replace(' ', '-')}")
def test_case(case: dict[str, Any], run_score: Score, tmp_path: Path) -> None:
    expected = EXPECTED[case["n"]]
    truth, predictions = _write_case(case, tmp_path)
    space = case["gt"].get("declared", {}).get("space")
    arguments = [predictions, "--gt", truth, "--benchmark", case["benchmark"]]
    if space:
        arguments += ["--space", SPACES[space]]

    run: Run = run_score(*arguments)
    said = run.out + run.err

    assert "Traceback" not in said
    if expected.score:
        data = run_score(*arguments, "--json", "-").json
        assert run.status == 0, run.err
        assert f"   {expected.score}   95% CI" in run.out
        assert f"{data['hits']}/{data['n']}" == expected.score
        assert _holds(data, expected.json), data
    else:
        assert run.status == (3 if case["kind"] == "metadata" else 1)
        assert "95% CI" not in run.out
        if run.status == 1:
            refused = run_score(*arguments, "--json", "-").json
            assert refused["accepted"] is False
            assert "accuracy" not in refused
    for words in expected.says:
        assert words in said
    for words in expected.not_said:
        assert words not in said


@needs_cases
def test_the_table_has_every_case_and_no_other() -> None:
    assert {case["n"] for case in _cases()} == set(EXPECTED)


@needs_cases
@pytest.mark.usefixtures("json_parser")
@pytest.mark.parametrize(
    "case",
    [case for case in _cases() if case["n"] in ACCEPTED | CHECKED.keys()],
    ids=lambda case: f"{case['n']}-{case['case'].replace(' ', '-')}",
)
def test_check(case: dict[str, Any], run_score: Score, tmp_path: Path) -> None:
    truth, predictions = _write_case(case, tmp_path)
    arguments = ["check", predictions, "--gt", truth, "--benchmark", case["benchmark"]]
    space = case["gt"].get("declared", {}).get("space")
    if space:
        arguments += ["--space", SPACES[space]]

    run = run_score(*arguments)
    data = run_score(*arguments, "--json", "-").json

    accepted = case["n"] in ACCEPTED
    assert (run.status, data["accepted"]) == ((0, True) if accepted else (1, False)), run.out
    assert run.out.rstrip().splitlines()[-1].startswith("accepted: 0 errors" if accepted else "not accepted: ")
    assert "95% CI" not in run.out
    assert "accuracy" not in data
    for code, line, says in CHECKED.get(case["n"], []):
        matching = [p for p in data["findings"] if p["code"] == code and p.get("line", 0) == line]
        assert any(says in finding["message"] for finding in matching), data["findings"]
        assert code in run.out
    assert all(finding["severity"] != "error" for finding in data["findings"]) == accepted
