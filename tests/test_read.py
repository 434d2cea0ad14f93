"""Reading: line numbers, every bad line in one run, and two JSON parsers that never disagree."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterator
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.core.findings import Findings, Reporter
from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.core.records import Row
from scorer.files import rows as read
from tests.strategies import json_values

pytestmark = pytest.mark.usefixtures("json_parser")


def _rows(stream: IO[bytes], report: Reporter, **options: Any) -> Iterator[Row]:
    for lines, found in read.blocks(stream, report, **options):
        yield from zip(lines, found, strict=True)


def rows_of(
    data: bytes, limits: Limits = DEFAULT_LIMITS, **options: Any
) -> tuple[list[Row], list[tuple[int, str, str]]]:
    findings = Findings(limits=limits)
    rows = list(_rows(io.BytesIO(data), findings.at("file"), **options))
    return rows, [(finding.line, finding.code, finding.message) for finding in findings]


def codes(data: bytes) -> list[tuple[int, str]]:
    return [(line, code) for line, code, _ in rows_of(data)[1]]


def test_lines_keep_their_numbers_across_blank_ones_and_windows_line_ends() -> None:
    assert rows_of(b'\r\n{"a": 1}\r\n\n \t\n{"b": 2}') == ([(2, {"a": 1}), (5, {"b": 2})], [])


def test_every_bad_line_is_listed_and_reading_goes_on() -> None:
    data = b'{"a": 1}\nnope\n{"a": 2}\n42\n\xff\n{"a": 3}\n{"a": 4'
    rows, findings = rows_of(data)
    assert rows == [(1, {"a": 1}), (3, {"a": 2}), (6, {"a": 3})]
    assert [(line, code) for line, code, _ in findings] == [
        (2, "bad-json"),
        (4, "not-an-object"),
        (5, "not-utf8"),
        (7, "bad-json"),
    ]


def test_only_lf_ends_a_line() -> None:
    text = json.dumps({"raw": "a\u2028b\u2029c\x85d\x0be\x0cf"}, ensure_ascii=False)
    rows, findings = rows_of(text.replace("\\u000b", "").replace("\\f", "").encode() + b"\n")
    assert findings == []
    assert rows[0][0] == 1
    assert "\u2028" in rows[0][1]["raw"]


def test_an_array_gives_its_entries_the_lines_they_start_on() -> None:
    assert rows_of(b'\n[{"a": 1},\n\n {"b":\n 2}, {"c": 3}\n]\n') == (
        [(2, {"a": 1}), (4, {"b": 2}), (5, {"c": 3})],
        [],
    )
    assert rows_of(b"[]") == ([], [])
    assert rows_of(b"") == ([], [])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"a": 1}, 2, null, {"b": 3}]', [(1, "not-an-object"), (1, "not-an-object")]),
        (b'[{"a": 1}\n{"b": 2}]', [(2, "bad-json")]),
        (b'[{"a": 1},\n]', [(1, "bad-json")]),
        (b'[{"a": 1}', [(1, "bad-json")]),
        (b'[{"a": 1}] x', [(1, "bad-json")]),
        (b"[{'a': 1},\n{\"b\": 2},\nx]", [(1, "bad-json"), (3, "bad-json")]),
        (b'[{"a": \xff}]', [(1, "not-utf8")]),
        (b'[{"a": 1, "a": 2}]', [(1, "repeated-key")]),
    ],
)
def test_faults_of_an_array(data: bytes, expected: list[tuple[int, str]]) -> None:
    assert codes(data) == expected


def test_a_byte_order_mark_is_ignored_at_the_start_and_named_in_the_middle() -> None:
    mark = b"\xef\xbb\xbf"
    rows, findings = rows_of(mark + b'{"a": 1}\n' + mark + b'{"a": 2}\n')
    assert rows == [(1, {"a": 1})]
    assert [code for _, code, _ in findings] == ["byte-order-mark", "bad-json"]
    assert "files joined?" in findings[1][2]
    assert codes("{}".encode("utf-16")) == [(1, "not-utf8")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}{"b": 2}\n', "column 9: second JSON value on the same line"),
        (b'{"a": 1} x\n', "column 10: text after the JSON value"),
        (b'{"a": "x\n{}\n', "one object over several lines?"),
        (b'{"a": 1}\n{"a": "x', "incomplete JSON, no newline at the end"),
        (b"{'id': 1}\n", "single quotes"),
        (b"```\n", "markdown fence"),
        (b'{"a": 01}\n', "not JSON"),
        (b'{\n  "id": 1\n}\n{\n "id": 2\n}', "one object over several lines?"),
        (b"\x1f\x8b\x08rest", "compressed twice (gzip)"),
    ],
)
def test_the_cause_of_a_broken_line_is_named(data: bytes, message: str) -> None:
    assert message in rows_of(data)[1][0][2]


def test_a_file_that_is_one_object_over_several_lines_is_one_row() -> None:
    assert rows_of(b'\n{\n "predictions": [\n {"id": 1}\n]}\n') == ([(2, {"predictions": [{"id": 1}]})], [])
    assert (1, "bad-json") in codes(b'{"a":\n' + b"[" * 5000 + b"]" * 5000 + b"}")


def test_a_first_line_that_is_cut_does_not_hide_the_faults_behind_it() -> None:
    assert codes(b'{"id": "a", "poi\n{"id": "b"}\nnope\n') == [(1, "bad-json"), (3, "bad-json")]


def test_lines_behind_a_cut_first_one_stay_whole_however_long_the_file() -> None:
    data = b'{"id": "a", "poi\n' + b"".join(b'{"id": "%06d"}\n' % n for n in range(40))
    rows, findings = rows_of(data, Limits(line_bytes=64))
    assert [row["id"] for _, row in rows] == [f"{n:06d}" for n in range(40)]
    assert [line for line, _ in rows] == list(range(2, 42))
    assert len(findings) == 1


@pytest.mark.parametrize(
    "data",
    [
        b'[\nx"\n' + b"[" * 50_000 + b'\n"\n]',
        b"[\nx" + b"]" * 100_000 + b"\n" + b"[" * 50_000 + b"\n]",
    ],
)
def test_nesting_that_hides_behind_a_fault_of_an_array_is_found_all_the_same(data: bytes) -> None:
    assert "bad-json" in [code for _, code in codes(data)]


def test_a_row_of_very_many_keys_is_read_in_a_time_that_grows_with_its_length() -> None:
    many = {f"k{n:06d}": 1 for n in range(100_000)}
    line = json.dumps({"id": "a", "raw": "a:b", **many}).encode()
    start = time.perf_counter()
    assert rows_of(line[:-1] + b', "id": "b"}')[1] == [
        (1, "repeated-key", 'the key "id" appears twice; the last value counts')
    ]
    assert time.perf_counter() - start < 20  # counting each key would take minutes


def test_nesting_is_limited_to_the_same_depth_by_every_parser_and_in_both_forms() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert codes(nested(DEFAULT_LIMITS.depth)) == []
    assert codes(nested(DEFAULT_LIMITS.depth + 1)) == [(1, "bad-json")]
    assert codes(nested(100_000)) == [(1, "bad-json")]
    assert codes(b"[" + nested(100_000) + b"]") == [(1, "bad-json")]
    assert codes(b'{"a": "' + b"[" * 5000 + b'"}') == []
    assert codes(b'{"a": ' + b"[" * 500) == [(1, "bad-json")]


def test_a_line_over_the_limit_is_refused_and_the_next_one_is_read() -> None:
    limits = Limits(line_bytes=50)
    data = b'{"a": 1}\n{"a": "' + b"x" * 500 + b'"}\n{"a": 2}\n'
    rows, findings = rows_of(data, limits)
    assert [row for _, row in rows] == [{"a": 1}, {"a": 2}]
    (found,) = findings
    assert found[:2] == (2, "line-too-long")
    assert "the limit of 50 (--max line-bytes=N" in found[2]
    exactly = b'{"a": "' + b"x" * 41 + b'"}\n'
    rows, findings = rows_of(b'{"a": 1}\n' + exactly + b"nope\n", limits)
    assert len(exactly) == 51
    assert [(line, code) for line, code, _ in findings] == [(2, "line-too-long"), (3, "bad-json")]


@pytest.mark.parametrize(
    ("data", "limits", "code", "named"),
    [
        (
            b"[" + b'{"a": 1},' * 9 + b'{"a": 1}]',
            Limits(array_bytes=90),
            "array-too-long",
            "limit of 90 (--max array-bytes",
        ),
        (b'[{"a": 1}, {"a": 1}, {"a": 1}]', Limits(rows=2), "too-many-rows", "the limit of 2 (--max rows"),
        (b'{"a": 1}\n{"a": 1}\n{"a": 1}', Limits(rows=2), "too-many-rows", "the limit of 2 (--max rows"),
        (b"\n\n\n", Limits(rows=2), "too-many-rows", "the limit of 2 (--max rows"),
        (b'{"a": [[1]]}', Limits(depth=2), "bad-json", "the limit of 2 (--max depth"),
        (b'[{"a": [1]}]', Limits(depth=2), "bad-json", "the limit of 2 (--max depth"),
    ],
)
def test_each_limit_is_named_by_what_it_refuses_and_holds_to_the_last_one(
    data: bytes, limits: Limits, code: str, named: str
) -> None:
    _, findings = rows_of(data, limits)
    assert [found for _, found, _ in findings] == [code]
    assert named in findings[0][2]
    wider = Limits(*(value + 1 for value in limits))
    assert code not in [found for _, found, _ in rows_of(data, wider)[1]]


@pytest.mark.parametrize("row_limit", [1023, 1024, 1025, 1026, 2051, 2999])
def test_the_limit_of_rows_holds_wherever_in_a_block_it_falls(row_limit: int) -> None:
    data = b'{"id":"pbp_9001","point":[1,2]}\n' * 3000
    assert len(data) % 3000 == 0
    assert read.BLOCK_BYTES % (len(data) // 3000) == 0  # so that lines end where blocks do
    rows, findings = rows_of(data, Limits(rows=row_limit))
    assert [number for number, _ in rows] == list(range(1, row_limit + 1))
    assert [code for _, code, _ in findings] == ["too-many-rows"]


def test_what_stands_behind_an_object_over_several_lines_is_read_however_far_behind() -> None:
    data = b'{\n"id": "a"\n}\n' + b"\n" * 50 + b'{"id": "b"}\nGARBAGE\n'
    for limit in (20, 40, 4000):
        rows, findings = rows_of(data, Limits(line_bytes=limit))
        assert {"id": "b"} in [row for _, row in rows]
        assert "bad-json" in [code for _, code, _ in findings]


def test_an_object_over_several_lines_is_asked_for_repeated_keys_too() -> None:
    rows, findings = rows_of(b'{\n"id": "a",\n"id": "b"\n}\n')
    assert rows == [(1, {"id": "b"})]
    assert [code for _, code, _ in findings] == ["repeated-key"]


def test_blank_lines_at_the_start_count_as_lines_like_any_other() -> None:
    rows, findings = rows_of(b"\n\n\n" + b'{"a": 1}\n' * 5, Limits(rows=5))
    assert [number for number, _ in rows] == [4, 5]
    assert [code for _, code, _ in findings] == ["too-many-rows"]
    rows, findings = rows_of(b" " * 120 + b"\n" + b'{"a": 1}\n', Limits(line_bytes=50))
    assert ([number for number, _ in rows], [(n, code) for n, code, _ in findings]) == ([2], [(1, "line-too-long")])


@pytest.mark.parametrize(
    ("line", "repeated"),
    [
        (b'{"id": "a", "id": "b"}', ["id"]),
        (b'{"id": "a", "i\\u0064": "b"}', ["id"]),
        (b'{"a": {"x": 1, "x": 2}, "b": "1:2"}', []),
        (b'{"a": "x: \\"a\\": y"}', []),
        (b'{"a": 1, "a": 2, "a": 3, "b": 1, "b": 2}', ["a", "a", "b"]),
        (b'{"a/b": 1, "a\\/b": 2}', ["a/b"]),
        (b'{"a": [{"a": 1}], "b": 2}', []),
    ],
)
def test_repeated_keys_of_a_row_are_found_however_they_are_spelt(line: bytes, repeated: list[str]) -> None:
    found = [message.split('"')[1] for _, code, message in rows_of(line)[1] if code == "repeated-key"]
    assert found == repeated
    assert rows_of(line, check_keys=False)[1] == []


def test_numbers_no_double_can_hold_are_read_as_infinite_not_refused_as_json() -> None:
    rows, findings = rows_of(b'{"a": [1e999, %s, NaN, -Infinity]}' % (b"9" * 6000))
    assert findings == []
    values = rows[0][1]["a"]
    assert values[0] == values[1] == float("inf")
    assert values[2] != values[2]
    assert values[3] == float("-inf")


def _with_parser(data: bytes, orjson: bool) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "ORJSON_PAYS_FROM_BYTES", 0 if orjson else 2**60)
        if orjson:
            pytest.importorskip("orjson")
            assert sys.modules.get("orjson") is not None
        rows, findings = rows_of(data, size=1)
        return repr(rows), findings


@given(st.lists(json_values.map(lambda v: json.dumps(v).encode()) | st.binary(max_size=30), max_size=5))
def test_both_parsers_read_the_same_rows_and_report_the_same_findings(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    if sys.modules.get("orjson", True) is None:
        return  # this run has no orjson to compare with; the other one does
    # A whole number beyond 64 bits becomes a float in one parser: equal, but written differently.
    if any(len(word) > 18 for line in lines for word in line.replace(b"-", b" ").split()):
        return
    assert _with_parser(data, orjson=True) == _with_parser(data, orjson=False)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    rows, _ = rows_of(data)
    assert all(type(row) is dict for _, row in rows)
    rows, findings = rows_of(b"[" + data)
    assert all(type(row) is dict for _, row in rows)
    assert rows or findings or data.strip(b" \t\r\n") == b"]"
