"""Rows made in Python, as a file would hold them: mappings, data frames, and batches of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

from scorer.core import messages
from scorer.core.errors import UsageError
from scorer.core.findings import Findings, shorten, type_name
from scorer.core.records import Block

BLOCK_ROWS = 1000
"""Block size for rows from a Python iterable, in rows."""

LEVELS = 4
"""Levels of lists that are converted. A list of points has two, no rule reads further, and a list may hold itself."""

_PLAIN = frozenset({str, int, float, dict, type(None)})

_MISSING = frozenset({"NAType", "NaTType"})
"""The types of pandas' values that are not there, known by name so that pandas is not imported."""


@runtime_checkable
class Columns(Protocol):
    """Columns by name: a mapping, or a data frame, which is no mapping but has these two methods."""

    def keys(self) -> Iterable[Any]: ...

    def __getitem__(self, name: Any, /) -> Any: ...


class PythonRows(NamedTuple):
    """A source of rows that are made in Python."""

    name: str
    """What findings call it."""
    rows: Iterable[object]
    """Mappings such as ``{"id": "pbs_0001", "point": [612, 388]}``, or a data frame with these columns."""

    def blocks(self, findings: Findings) -> Iterator[Block]:
        """The rows in blocks, numbered from 1; whatever is no mapping becomes a finding."""
        given = rows_of(self.rows) if is_data_frame(self.rows) else self.rows
        numbered = enumerate(given, 1)
        report = findings.at(self.name)
        while some := list(islice(numbered, BLOCK_ROWS)):
            lines: list[int] = []
            rows: list[dict[str, Any]] = []
            for number, row in some:
                if isinstance(row, Mapping):
                    lines.append(number)
                    rows.append({key: plain(value) for key, value in row.items()})
                else:
                    report.at(number)(messages.NOT_A_MAPPING, found=type_name(row))
            yield lines, rows


def is_data_frame(value: object) -> bool:
    """Whether a value is a data frame of pandas or of a library with the same interface."""
    return isinstance(value, Columns) and not isinstance(value, Mapping) and hasattr(value, "columns")


def rows_of(batch: Columns | Sequence[Mapping[str, Any]] | Any) -> list[dict[str, Any]]:
    """The rows of a batch of columns or of rows. Values that an engine writes for absent ones are left out.

    Raises UsageError for columns without "id" or of unequal lengths, and for what is no column or no row.
    """
    if isinstance(batch, Columns):
        return _rows_of_columns({name: batch[name] for name in batch.keys()})  # noqa: SIM118 (data frames need it)
    if not isinstance(batch, Iterable):
        raise UsageError(f"a batch is columns by name or a list of rows, found {type_name(batch)}")
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(batch, 1):
        if not isinstance(row, Mapping):
            raise UsageError(f"row {number} of the batch must be a mapping, found {type_name(row)}")
        values = zip(row, map(plain, row.values()), strict=True)
        rows.append({key: value for key, value in values if not is_missing(value)})
    return rows


def plain(value: Any, levels: int = LEVELS) -> Any:
    """A value as a parsed file would hold it: arrays and tuples as lists, their numbers as Python's."""
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "tolist"):  # arrays and their scalars
        value = value.tolist()
    return [plain(entry, levels - 1) for entry in value] if levels and isinstance(value, list | tuple) else value


def is_missing(value: object) -> bool:
    """Whether a value stands for an absent one: None, NaN or pandas' NA."""
    return value is None or (type(value) is float and value != value) or type(value).__name__ in _MISSING


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
            if not is_missing(value):
                row[name] = value
    return rows


def _entries(name: object, column: Any) -> Sequence[Any]:
    """The entries of a column: a list, another sequence, or an array of any library that can make a list of it."""
    values = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return values
    found = f'column "{name}" must be a list or an array, found {type_name(values)}'
    raise UsageError(f"{found}; a single row goes in a list (with datasets: map(..., batched=True))")
