"""Batches and columns: however a file is cut and whichever way a row takes, rows, verdicts and findings are one."""

from __future__ import annotations

import io
import json
import math
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer import GroundTruth, PredictionsError, Report, judge, load_benchmark, score, score_streams
from scorer.core.findings import Finding, Findings
from scorer.core.limits import Limits
from scorer.core.records import Example, Prediction
from scorer.core.spaces import parse_space, point_to_pixels, to_pixels
from scorer.files import rows as read
from scorer.pipeline import fast_path
from scorer.pipeline.fast_path import judge_points
from tests.conftest import FIXTURES, ROOT
from tests.strategies import coordinates, examples, rows

TEXT = load_benchmark("pointerbench-text", FIXTURES)
OSWORLD = load_benchmark("osworld-g", FIXTURES)
SPACES = ["pixel", "fraction", "grid1000", "grid999", "frame:1280x720", "smart-resize:28:3136:12845056"]
SPACES += ["fraction-or-pixel", "grid1000-or-pixel"]

# Pieces that look like one object a line, or like several lines of one, once commas stand between the lines.
PIECES = [
    *('{"a": 1}', '{"a": 1, "b": [2, 3]}', '{"a": 1},{"a": 2}', '{"a": 1', '"b": 2}', '{"a": [{}', "{}]}", "{}", "{},"),
    *(
        "",
        " ",
        "[1",
        "2]",
        "7",
        "null",
        '{"a": {"b": 1}}',
        '{"a": "{"}',
        '{"a": 1, "a": 2}',
        '{"a": ":"}',
        '{"a": "\\\\n"}',
    ),
    *(
        '{"a": 1}\r',
        "\u2028",
        '{"a": 1}{"a": 2}',
        "}",
        "{",
        '{"a": NaN}',
        '{"\\u0061": 1, "a": 2}',
        "x" * 900,
        "[" * 900,
    ),
]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    with patch.object(read, "BLOCK_BYTES", size):
        yield


def _read(data: bytes, size: int = 10**9) -> tuple[list[tuple[int, Any]], Counter[tuple[str, int]]]:
    findings = Findings()
    found = [
        row
        for block in read.blocks(io.BytesIO(data), findings.at("file"), size=size)
        for row in zip(*block, strict=True)
    ]
    return found, Counter((finding.code, finding.line) for finding in findings)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.booleans(), st.sampled_from([1, 5, 16, 40, 2**15]))
def test_a_block_of_lines_gives_the_rows_that_each_line_gives_by_itself(
    pieces: list[str], ends: bool, block: int
) -> None:
    lines = ['{"first": 0}', *pieces]
    expected: list[tuple[int, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            expected.append((number, value))
    data = "\n".join(lines).encode() + b"\n" * ends
    with blocks_of(block):
        for size in (10**9, 0):  # orjson where it is installed, and the standard parser
            found, said = _read(data, size)
            assert repr(found) == repr(expected)  # as text, in which NaN equals NaN
            faulty = {line for code, line in said if code in ("bad-json", "not-an-object")}
            blank = {number for number, line in enumerate(lines, 1) if not line.strip()}
            assert faulty == set(range(1, len(lines) + 1)) - {number for number, _ in expected} - blank
            repeated = {line for code, line in said if code == "repeated-key"}
            assert repeated == {
                n for n, line in enumerate(lines, 1) if line in PIECES and '1, "a"' in line.replace("\\u0061", "a")
            }


def _outcome(truth: GroundTruth, data: bytes, attempts: int, space: str) -> tuple[Any, ...]:
    try:
        reports = score_streams(
            [("file", partial(io.BytesIO, data))],
            lambda _: truth,
            benchmark=truth.benchmark.id,
            attempts=attempts,
            space=space,
        )
    except PredictionsError as refused:
        return "refused", _sorted(refused.findings), refused.counts
    return _everything(reports[0])


def _everything(report: Report) -> tuple[Any, ...]:
    """All that a report says, in which NaN equals NaN and a whole number its float."""
    evidence = [_canonical(list(verdict.prediction or ())) for verdict in report.verdicts]
    plain = report._replace(findings=(), verdicts=(), answers=None, ground_truth=None)  # type: ignore[arg-type]
    return (
        plain,
        [v.outcome for v in report.verdicts],
        evidence,
        _sorted(report.findings),
        report.answers.odd_rows.keys(),
    )


def _canonical(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _sorted(findings: tuple[Finding, ...] | Any) -> list[Any]:
    return sorted((p.line, p.code, p.message, p.id) for p in findings)


def _files(truth: GroundTruth) -> st.SearchStrategy[bytes]:
    """Files of rows of which many are plain, many of later attempts, many given again, and some anything at all."""
    ids = [example.id for example in truth.examples[:6]]
    plain = st.fixed_dictionaries(
        {"id": st.sampled_from(ids), "point": st.lists(coordinates, min_size=2, max_size=2)},
        optional={
            "attempt": st.integers(1, 4),
            "raw": st.just("Click: [3, 4]"),
            "space": st.sampled_from(["pixel", "pixel", *SPACES]),
        },
    )
    return st.lists(plain | plain | rows(ids), min_size=1, max_size=14).map(
        lambda drawn: "".join(json.dumps(row) + "\n" for row in drawn).encode()
    )


@pytest.mark.parametrize("truth", [TEXT, OSWORLD], ids=["text", "osworld-g"])
@given(st.data())
def test_the_quick_way_and_the_careful_one_give_one_report_however_the_file_is_cut(
    truth: GroundTruth, data: st.DataObject
) -> None:
    content = data.draw(_files(truth))
    attempts, space = data.draw(st.sampled_from([1, 3])), data.draw(st.sampled_from(["pixel", "pixel", *SPACES]))
    usual = _outcome(truth, content, attempts, space)
    with blocks_of(data.draw(st.sampled_from([1, 30, 100]))):
        assert _outcome(truth, content, attempts, space) == usual
    with patch.object(fast_path, "_plain_points", lambda given_rows, _: ([None] * len(given_rows.values), 0, False)):
        assert _outcome(truth, content, attempts, space) == usual


@pytest.mark.parametrize("digits", [15, 20, 308])
@pytest.mark.parametrize("last", ["8", "9"])
def test_whole_numbers_at_the_limit_of_digits_are_one_thing_to_every_parser(
    digits: int, last: str, tmp_path: Path
) -> None:
    pytest.importorskip("orjson")
    refusal = next(example.id for example in OSWORLD.examples if example.rule == "refusal")
    number = "-" + "9" * (digits - 1) + last
    file = tmp_path / "p.jsonl"
    file.write_text(f'{{"id": "{refusal}", "point": [{number}, {number}]}}\n', encoding="ascii")
    found = []
    for size in (0, 10**9):
        with patch.object(read, "ORJSON_PAYS_FROM_BYTES", size):
            report = score(OSWORLD, file, limits=Limits(digits=digits))
        found.append((report.outcomes, report.finding_counts))
    assert found[0] == found[1]


def test_a_space_that_rows_name_is_told_from_the_same_one_left_out_however_they_follow_each_other() -> None:
    ids = [example.id for example in OSWORLD.examples[:4]]
    for spaces in (
        ["pixel", "pixel", None, "pixel"],
        [None, "pixel", "pixel", None],
        ["pixel", None, "pixel", "pixel"],
    ):
        fields = [{} if space is None else {"space": space} for space in spaces]
        report = score(OSWORLD, [{"id": i, "point": [1, 2], **own} for i, own in zip(ids, fields, strict=True)])
        assert (str(report.space), [*map(str, report.row_spaces)]) == ("pixel", ["pixel"])
    report = score(OSWORLD, [{"id": example_id, "point": [1, 2], "space": "pixel"} for example_id in ids])
    assert (report.space, [*map(str, report.row_spaces)]) == (None, ["pixel"])


# A point in pixels is finite, or not a number where its space cannot express it.
_pixels = coordinates | st.floats(allow_infinity=False)


@given(st.lists(st.tuples(examples(), _pixels, _pixels), min_size=1, max_size=20))
def test_points_at_many_examples_are_right_where_each_is_judged_a_hit(
    drawn: list[tuple[Example, float, float]],
) -> None:
    named = [(example._replace(id=f"{place % 3}{example.target}"), x, y) for place, (example, x, y) in enumerate(drawn)]
    found = judge_points([example for example, _, _ in named], [[x, y] for _, x, y in named])
    for (example, x, y), right in zip(named, found, strict=True):
        if example.rule == "coverage_precision" or not (math.isfinite(x) and math.isfinite(y)):
            assert not right
        else:
            assert right == (judge(example, Prediction("", ((x, y),))).outcome == "hit")


@given(coordinates, coordinates, st.sampled_from(SPACES), st.tuples(st.integers(1, 9000), st.integers(1, 9000)))
def test_a_point_alone_becomes_the_pixels_that_its_prediction_becomes(
    x: float, y: float, name: str, frame: tuple[int, int]
) -> None:
    space = parse_space(name)
    pixels = to_pixels(Prediction("", ((x, y),), None, space), frame)
    found = point_to_pixels(x, y, space, frame)
    assert [found] == list(pixels.points) or (math.isnan(found[0]) and pixels.fault)


@given(st.lists(rows([example.id for example in OSWORLD.examples]), max_size=12))
def test_verdicts_are_a_sequence_and_their_outcomes_those_of_the_report(given_rows: list[dict[str, Any]]) -> None:
    try:
        report = score(OSWORLD, given_rows)
    except PredictionsError:
        return
    verdicts = report.verdicts
    assert Counter(v.outcome for v in verdicts) == Counter({k: n for k, n in report.outcomes.items() if n})
    assert [v.example for v in verdicts] == list(OSWORLD.examples)
    assert len(verdicts) == len(OSWORLD.examples)
    assert repr(verdicts[-1]) == repr(list(verdicts)[-1])
    assert repr(list(verdicts[3:9:2])) == repr(list(verdicts)[3:9:2])
    assert verdicts[2:2] == ()
    assert verdicts != list(verdicts)[1:]


# The peak of the process itself; what the resource module tells may be that of the process which started it.
PEAK = """
import sys
from scorer.cli.main import run
status = run(sys.argv[1:])
print(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0], file=sys.stderr)
sys.exit(status)
"""


def test_a_file_of_many_attempts_takes_a_byte_a_row(
    tmp_path: Path, in_fresh_process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of a process is read from /proc, which Linux has")
    ids = [example.id for example in TEXT.examples if example.rule == "point_in_bbox"]
    peaks: list[float] = []
    for attempts in (1_000, 16_000):
        file = tmp_path / f"{attempts}.jsonl"
        with file.open("w", encoding="ascii") as stream:
            for attempt in range(1, attempts + 1):
                stream.writelines(
                    f'{{"id": "{i}", "attempt": {attempt}, "point": [{attempt % 999}, 9]}}\n' for i in ids
                )
        arguments = ("--predictions", str(file), "--data", str(ROOT / "fixtures"), "--attempts", str(attempts))
        run = in_fresh_process("-c", PEAK, *arguments)
        assert run.returncode == 0, run.stderr
        peaks.append(int(run.stderr.split()[-1]) / 1024)
    more_rows = 15_000 * len(ids)
    assert peaks[1] < 150
    assert (peaks[1] - peaks[0]) * 2**20 < 30 * more_rows  # a kept row would take hundreds
