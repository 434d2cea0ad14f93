"""Batches for other engines: each row as ``score`` judges it alone, whatever holds the columns."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer import GroundTruth, Limits, PredictionsError, UsageError, load_benchmark, score, score_batch
from scorer.benchmarks import BENCHMARKS
from scorer.pipeline import batch
from tests.conftest import DATA, FIXTURES, ROOT, needs_data
from tests.strategies import points, rows

TEXT = load_benchmark("pointerbench-text", FIXTURES)
OSWORLD = load_benchmark("osworld-g", FIXTURES)
SPACES = ["pixel", "fraction", "grid1000", "frame:1280x720", "smart-resize:28:3136:12845056", "fraction-or-pixel"]
THREE = Limits(attempts=3)
MISSING = (None, math.nan, numpy.float64("nan"), pandas.NA, pandas.NaT)


def _array(values: list[Any]) -> Any:
    """An array of objects, also of lists of one length, which numpy would make a table of."""
    array = numpy.empty(len(values), dtype=object)
    array[:] = [*values, None][:-1]
    return array


def _columns(given_rows: list[dict[str, Any]], filler: object = None) -> dict[str, list[Any]]:
    names = dict.fromkeys(["id", *(key for row in given_rows for key in row)])
    return {name: [row.get(name, filler) for row in given_rows] for name in names}


def _arrays(given_rows: list[dict[str, Any]], filler: object = None) -> dict[str, Any]:
    return {name: _array(values) for name, values in _columns(given_rows, filler).items()}


def _frame(given_rows: list[dict[str, Any]], filler: object = None) -> Any:
    """A frame of objects: the texts of a file may be such as the strings of pandas cannot hold."""
    return pandas.DataFrame(_arrays(given_rows, filler), dtype=object)


SHAPES = {"lists": _columns, "arrays": _arrays, "frame": _frame, "rows": lambda given_rows, _: given_rows}


def _gold(truth: GroundTruth) -> list[dict[str, Any]]:
    """Rows in the middle of their targets, which hit where the space is that of pixels."""
    found: list[dict[str, Any]] = []
    for example in truth.examples:
        xs, ys = example.target[::2] or (-1.0,), example.target[1::2] or (-1.0,)
        answer = {"point": [(min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2]}
        box = {"bbox": list(example.target)}
        found.append({"id": example.id, **(box if example.rule == "coverage_precision" else answer)})
    return found


def _drawn(truth: GroundTruth) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows of which many answer, in spaces of their own, with candidates, of later attempts, and some are anything."""
    ids = [example.id for example in truth.examples]
    more = {"attempt": st.integers(1, 4), "space": st.sampled_from(SPACES), "points": st.lists(points, max_size=3)}
    more["error"] = st.sampled_from(["", "timeout"])
    extras = st.fixed_dictionaries({}, optional=more)
    answers = st.builds(lambda row, extra: {**row, **extra}, st.sampled_from(_gold(truth)), extras)
    return st.lists(st.sampled_from(_gold(truth)) | answers | rows(ids), max_size=6)


def _alone(truth: GroundTruth, row: dict[str, Any], space: str) -> tuple[str | None, set[str]]:
    """What ``score`` makes of a row that is all there is."""
    try:
        report = score(truth, [row], space=space, attempts=3, limits=THREE)
    except PredictionsError as refused:
        return None, {str(finding.code) for finding in refused.findings if finding.line}
    codes = {str(finding.code) for finding in report.findings if finding.line}
    assert report.attempts is not None
    if not report.attempts.observed:  # an attempt beyond the limit
        return None, codes
    first = {key: value for key, value in row.items() if key != "attempt"}
    verdicts = score(truth, [first], space=space).verdicts
    return next(verdict.outcome for verdict in verdicts if verdict.example.id == row["id"]), codes


@pytest.mark.parametrize("truth", [TEXT, OSWORLD], ids=["text", "osworld-g"])
@given(st.data())
def test_each_row_of_a_batch_is_judged_as_score_judges_it_alone(truth: GroundTruth, data: st.DataObject) -> None:
    given_rows, space = data.draw(_drawn(truth)), data.draw(st.sampled_from(SPACES))
    shape, filler = data.draw(st.sampled_from(sorted(SHAPES))), data.draw(st.sampled_from(MISSING))
    found = score_batch(truth, SHAPES[shape](given_rows, filler), space=space, limits=THREE)
    there = [{key: value for key, value in row.items() if value is not None and value == value} for row in given_rows]
    expected = [_alone(truth, row, space) for row in there]
    assert found["outcome"] == [outcome for outcome, _ in expected]
    assert found["hit"] == [outcome == "hit" for outcome, _ in expected]
    assert list(map(set, found["findings"])) == [codes for _, codes in expected]
    assert list(map(len, found["findings"])) == [len(codes) for _, codes in expected]


@pytest.mark.parametrize("truth", [TEXT, OSWORLD], ids=["text", "osworld-g"])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_the_targets_hit_again_and_again_in_one_batch(truth: GroundTruth, shape: str) -> None:
    gold = _gold(truth)
    again = [*gold, *gold, *({**row, "attempt": 2} for row in gold)]
    found = score_batch(truth, SHAPES[shape](again, None))
    wrong = {row["id"] for row, hit in zip(again, found["hit"], strict=True) if not hit}
    rings = {example.id for example in truth.examples if example.rule == "point_in_polygon"}
    assert wrong <= rings  # the middle of a ring's box may lie outside the ring
    assert not any("duplicate-id" in codes for codes in found["findings"])


@needs_data
@pytest.mark.parametrize("variant", ["original", "refined"])
def test_batches_of_public_predictions_add_up_to_the_score_of_their_file(variant: str) -> None:
    assert DATA is not None
    truth = load_benchmark("osworld-g", DATA, variant=variant)
    file = DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl"
    given_rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    report = score(truth, file)
    outcomes: dict[str, str] = {}
    for start in range(0, len(given_rows), 100):
        some = given_rows[start : start + 100]
        found = score_batch(truth, pandas.DataFrame(some))
        outcomes |= dict(zip([row["id"] for row in some], found["outcome"], strict=True))
    assert outcomes == {v.example.id: v.outcome for v in report.verdicts if v.outcome != "absent"}
    assert sum(outcome == "hit" for outcome in outcomes.values()) == report.total.hits > 300


def test_numbers_of_arrays_are_read_as_those_of_a_file_and_bytes_never_are() -> None:
    row = next(row for row in _gold(TEXT) if "point" in row)
    (x, y), n = row["point"], 3
    ids = numpy.array([row["id"]] * n)
    assert score_batch(TEXT, {"id": ids, "point": numpy.array([[x, y]] * n)})["hit"] == [True] * n
    assert score_batch(TEXT, {"id": ids, "x": numpy.full(n, x), "y": numpy.full(n, int(y))})["hit"] == [True] * n
    nested = _array([_array([numpy.float64(x), numpy.float32(int(y))])] * n)
    assert score_batch(TEXT, {"id": tuple(ids), "point": nested})["hit"] == [True] * n
    whole = pandas.DataFrame({"id": ids, "attempt": pandas.array([1, None, 2], dtype="Int64"), "point": [(x, y)] * n})
    assert score_batch(TEXT, whole) == {"outcome": ["hit"] * n, "hit": [True] * n, "findings": [[]] * n}
    assert score_batch(TEXT, {"id": ids, "point": [[x, math.nan]] * n})["findings"] == [["bad-number"]] * n
    assert score_batch(TEXT, {"id": ids, "point": [b"\x01\x02"] * n})["outcome"] == ["no_answer"] * n
    assert score_batch(TEXT, {"id": ids.astype("S")})["findings"] == [["id-type"]] * n


def test_a_batch_that_is_none_is_refused_with_what_it_lacks() -> None:
    wrong: list[tuple[Any, str]] = [
        ({"point": [[1, 2]]}, r'no column "id" \(it has: point\)'),
        ({"id": ["a", "b"], "point": [[1, 2]]}, 'column "point" of the batch has 1 entries, "id" has 2'),
        ({"id": "pbt_0001", "point": [1, 2]}, r'column "id" must be a list or an array, found string; .*batched=True'),
        ([{"id": "a"}, [1, 2]], "row 2 of the batch must be a mapping, found list"),
        (None, "a batch is columns by name or a list of rows, found null"),
        (7, "a batch is columns by name or a list of rows, found number"),
    ]
    for given_batch, message in wrong:
        with pytest.raises(UsageError, match=message):
            score_batch(TEXT, given_batch)
    with pytest.raises(UsageError, match="unknown space"):
        score_batch(TEXT, {"id": []}, space="norm1000")
    empty: dict[str, list[Any]] = {"outcome": [], "hit": [], "findings": []}
    assert score_batch(TEXT, {"id": []}) == score_batch(TEXT, []) == empty


def test_rows_of_examples_that_a_filter_leaves_out_have_no_outcome() -> None:
    truth = load_benchmark("osworld-g", FIXTURES, categories=["refusal"])
    left_out = sorted(truth.left_out)[0]
    found = score_batch(truth, {"id": [left_out, ["no", "text"]], "point": [[1, 2], [1, 2]]})
    assert found == {"outcome": [None, None], "hit": [False, False], "findings": [["not-selected"], ["id-type"]]}


def test_a_marker_and_a_profile_are_read_as_score_reads_them() -> None:
    refusal = next(example for example in OSWORLD.examples if example.rule == "refusal")
    given_batch = {"id": [refusal.id], "point": [[-1, -1]], "refusal": ["FAIL()"]}
    assert score_batch(OSWORLD, given_batch)["outcome"] == ["hit"]
    assert score_batch(OSWORLD, given_batch, refusal="negative-only")["outcome"] == ["no_answer"]
    target = next(example for example in OSWORLD.examples if example.rule == "point_in_bbox")
    point = [(target.target[0] + 1) / target.image_size[0] * 1000, (target.target[1] + 1) / target.image_size[1] * 1000]
    assert score_batch(OSWORLD, [{"id": target.id, "point": point}], profile="qwen3vl")["hit"] == [True]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_ground_truth_can_be_sent_to_workers(benchmark: str) -> None:
    truth = load_benchmark(benchmark, FIXTURES)
    sent = pickle.loads(pickle.dumps(truth))
    assert sent == truth
    assert score_batch(sent, _gold(truth)) == score_batch(truth, _gold(truth))


def test_the_examples_are_looked_through_once_and_each_ground_truth_has_its_own() -> None:
    batch._index.cache_clear()
    far = tuple(each._replace(target=tuple(side + 9999 for side in each.target)) for each in OSWORLD.examples)
    moved = OSWORLD._replace(examples=far)
    for _ in range(3):
        assert sum(score_batch(OSWORLD, _gold(OSWORLD))["hit"]) > sum(score_batch(moved, _gold(OSWORLD))["hit"])
    assert batch._index.cache_info()[:2] == (4, 2)  # hits and misses


# The README's section, word for word, and the batches that the engines named there hand over.

README = (ROOT / "README.md").read_text(encoding="utf-8")
_, _, SECTION = README.partition("\n### Inside Ray Data, Spark or datasets\n")
EXAMPLE, RAY, SPARK = re.findall(r"```python\n(.*?)```", SECTION.partition("\n## ")[0], re.DOTALL)
SHEETS = [json.loads(line) for line in (FIXTURES / "predictions/sheets.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_the_example_gives_the_score_with_datasets_whatever_the_size_of_a_batch(
    size: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    datasets.disable_progress_bars()
    assert "batched=True" in EXAMPLE
    exec(compile(EXAMPLE.replace("batched=True", f"batched=True, batch_size={size}"), "README.md", "exec"), {})
    report = score(load_benchmark("pointerbench-sheets", "fixtures"), "fixtures/predictions/sheets.jsonl")
    assert capsys.readouterr().out == f"{report.total.hits} of {report.total.n}\n"


class Engine:
    """Hands batches over as Ray Data and Spark do, and keeps what comes back."""

    def __init__(self) -> None:
        self.hits: list[bool] = []

    def map_batches(self, function: Any, *, batch_format: str = "numpy") -> None:
        assert batch_format == "numpy"  # a dictionary of arrays
        for start in range(0, len(SHEETS), 5):
            self._take(function(_arrays(SHEETS[start : start + 5])), len(SHEETS[start : start + 5]))

    def mapInPandas(self, function: Any, schema: str) -> None:  # noqa: N802 (Spark's name)
        def frames() -> Iterator[Any]:
            for start in range(0, len(SHEETS), 5):
                yield pandas.DataFrame(SHEETS[start : start + 5])

        found: Iterable[Any] = function(frames())
        names = [field.split()[0] for field in schema.split(", ")]
        for frame in found:
            assert list(frame.columns) == names
            self._take({name: frame[name].tolist() for name in names}, min(5, len(SHEETS) - len(self.hits)))

    def _take(self, columns: dict[str, Any], rows_given: int) -> None:
        assert {len(column) for column in columns.values()} == {rows_given}
        self.hits += columns["hit"]


@pytest.mark.parametrize("code", [RAY, SPARK], ids=["ray", "spark"])
def test_the_other_examples_take_what_their_engines_hand_over(code: str) -> None:
    engine, truth = Engine(), load_benchmark("pointerbench-sheets", FIXTURES)
    exec(compile(code, "README.md", "exec"), {"truth": truth, "rows": engine, "score_batch": score_batch})
    expected = score(truth, FIXTURES / "predictions/sheets.jsonl").total.hits
    assert sum(engine.hits) == expected
    assert len(engine.hits) == len(SHEETS)
