"""A figure made of category cells -> lines, a table and JSON. Strings and plain data only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scorer.core.report import Aggregation
from scorer.output.text.figures import percent
from scorer.output.text.tables import inline, remark, table


def aggregation_text(found: Aggregation, table_format: str) -> str:
    """The figure and, where it comes from a tree, each node with its value and its examples."""
    blocks = [remark(line, table_format) for line in _lines(found, table_format)]
    if found.branches:
        rows = [[branch.path, exact_percent(branch.value), str(branch.n)] for branch in found.branches]
        blocks.append(table(["category_hierarchy", "value %", "examples"], rows, table_format))
    return "\n".join(blocks)


def exact_percent(value: Any) -> str:
    """An exact fraction in percent, rounded once; - where there is none."""
    return "-" if value is None else percent(value.numerator, value.denominator)


def _lines(found: Aggregation, table_format: str) -> Iterator[str]:
    yield f"{found.mode} {exact_percent(found.value)} % (over {found.axis.name})"
    if found.axis.overlapping:
        yield "the categories overlap: an example counts in each of its own"
    if found.outside:
        yield f"not in the tree, so not in its figure: {_names(found.outside, table_format)}"
    empty = [branch.path for branch in found.branches if branch.value is None]
    if empty:
        yield f"without examples, so without a value: {_names(empty, table_format)}"


def _names(names: Iterable[str], table_format: str) -> str:
    return ", ".join(inline(name, table_format) for name in names)
