"""A batch, as engines for large data hand it over -> the outcome of each of its rows, by itself.

The rows go the way that those of a file go, through the collector and its judging; a batch only shapes them first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from scorer.benchmarks import ID_PATTERNS
from scorer.benchmarks.ids import Ids
from scorer.core.errors import UsageError
from scorer.core.findings import shorten, type_name
from scorer.core.records import OUTCOMES, Example, GroundTruth, Outcome, Tries
from scorer.pipeline.routing import plain
from scorer.pipeline.scoring import RunSettings
from scorer.pipeline.validate import Collector

KEPT_INDEXES = 8
"""So many ground truths are known by id between batches."""

EVERY_FINDING = 10**9
"""The limit on findings of one code: a batch keeps all of its own, which are as few as its rows."""

_MISSING = frozenset({"NAType", "NaTType"})
"""The types that pandas has for a value that is not there; known by name, so that pandas is not imported."""


@runtime_checkable
class Columns(Protocol):
    """Columns by name: a mapping, or a data frame, which is none but has these two."""

    def keys(self) -> Iterable[Any]: ...

    def __getitem__(self, name: Any, /) -> Any: ...


class _Same:
    """A ground truth as a key: equal to itself alone, since the hash of its records would take all of them."""

    __slots__ = ("ground_truth",)

    def __init__(self, ground_truth: GroundTruth) -> None:
        self.ground_truth = ground_truth

    def __hash__(self) -> int:
        return id(self.ground_truth)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.ground_truth is self.ground_truth


def judge_batch(
    ground_truth: GroundTruth, batch: Columns | Sequence[Mapping[str, Any]], settings: RunSettings
) -> dict[str, list[Any]]:
    """The columns ``outcome``, ``hit`` and ``findings``, aligned with the rows of a batch.

    The collector is made anew, for the examples of this batch alone: it changes as rows come, and batches are judged
    side by side.
    """
    rows = rows_of(batch)
    index = _index(_Same(ground_truth))
    benchmark = ground_truth.benchmark
    outcomes: list[Outcome | None] = [None] * len(rows)

    def judge_tries(tries: Tries) -> bytearray:
        codes = settings.judge_tries(tries)
        for line, code in zip(tries.lines, codes, strict=True):
            outcomes[line - 1] = OUTCOMES[code - 1]
        return codes

    ids = dict.fromkeys(row["id"] for row in rows if isinstance(row.get("id"), str))
    examples = [index[row_id] for row_id in ids if row_id in index]
    collector = Collector(
        Ids(benchmark.id, examples, ground_truth.left_out, benchmark.id_example, ID_PATTERNS),
        settings.findings,
        any_candidate=benchmark.any_candidate,
        space=settings.space,
        refusal=settings.refusal,
        judge_tries=judge_tries,
        attempts=settings.attempts,
    )
    for line, row in zip(*collector.take("<batch>", (range(1, len(rows) + 1), rows)), strict=True):
        row_id = row.get("id")
        if isinstance(row_id, str):
            # Its code alone: to name the nearest of many ids, as a message does, takes longer than the batch.
            settings.findings.add("not-selected" if row_id in ground_truth.left_out else "unknown-id", "", "", line)
        else:
            collector.refuse("<batch>", line, row)
    found: list[list[str]] = [[] for _ in rows]
    for finding in settings.findings:
        codes = found[finding.line - 1]
        # Whether an id was given before is no matter of a row by itself.
        if finding.code != "duplicate-id" and finding.code not in codes:
            codes.append(finding.code)
    return {"outcome": outcomes, "hit": [outcome == "hit" for outcome in outcomes], "findings": found}


def rows_of(batch: Columns | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a batch as a file would hold them. What an engine fills in for a value that is absent is left out.

    Raises UsageError for columns without "id" or of unequal lengths, and for what is no column or no row.
    """
    if isinstance(batch, Columns):
        return _rows_of_columns({name: batch[name] for name in batch.keys()})  # noqa: SIM118 (a frame has no other way)
    if not isinstance(batch, Iterable):
        raise UsageError(f"a batch is columns by name or a list of rows, found {type_name(batch)}")
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(batch, 1):
        if not isinstance(row, Mapping):
            raise UsageError(f"row {number} of the batch must be a mapping, found {type_name(row)}")
        rows.append({key: value for key, value in zip(row, map(plain, row.values()), strict=True) if _is_there(value)})
    return rows


def _rows_of_columns(columns: Mapping[Any, Any]) -> list[dict[str, Any]]:
    if "id" not in columns:
        names = ", ".join(shorten(str(name), 20) for name in columns)
        raise UsageError(f'the batch has no column "id" (it has: {names}); rows are never matched by position')
    ids = _entries("id", columns["id"])
    rows: list[dict[str, Any]] = [{} for _ in ids]
    for name, column in columns.items():
        values = ids if name == "id" else _entries(name, column)
        if len(values) != len(rows):
            raise UsageError(f'column "{name}" of the batch has {len(values)} entries, "id" has {len(rows)}')
        for row, value in zip(rows, map(plain, values), strict=True):
            if _is_there(value):
                row[name] = value
    return rows


def _entries(name: object, column: Any) -> Sequence[Any]:
    """The entries of a column: a list, another sequence, or an array of any library that can make a list of itself."""
    values = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return values
    found = f'column "{name}" must be a list or an array, found {type_name(values)}'
    raise UsageError(f"{found}; a single row goes in a list (with datasets: map(..., batched=True))")


def _is_there(value: object) -> bool:
    """Whether a row has a value: None, NaN and pandas' NA in its place say that it has not."""
    return not (value is None or (type(value) is float and value != value) or type(value).__name__ in _MISSING)


@lru_cache(maxsize=KEPT_INDEXES)
def _index(known: _Same) -> dict[str, Example]:
    """The examples by id, made once for a ground truth: it is larger than most batches."""
    return {example.id: example for example in known.ground_truth.examples}
