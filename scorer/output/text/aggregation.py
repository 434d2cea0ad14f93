"""A figure made of category cells as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scorer.core.report import Aggregation
from scorer.output.text.figures import exact_percent
from scorer.output.text.tables import inline, remarks, table


def aggregation_text(found: Aggregation, table_format: str) -> str:
    """The figure and, where it comes from a category tree, a table of its nodes with value and number of examples."""
    blocks = [remarks(_lines(found, table_format), table_format)]
    if found.branches:
        rows = [[branch.path, exact_percent(branch.value), str(branch.n)] for branch in found.branches]
        blocks.append(table(["category_hierarchy", "value %", "examples"], rows, table_format))
    return "\n".join(blocks)


def _lines(found: Aggregation, table_format: str) -> Iterator[str]:
    yield f"{found.mode} {exact_percent(found.value)} % (over {found.axis.name})"
    if found.axis.overlapping:
        yield "the categories overlap: an example counts in every category that it has"
    if found.outside:
        yield f"not in the tree, so not in the figure: {_names(found.outside, table_format)}"
    empty = [branch.path for branch in found.branches if branch.value is None]
    if empty:
        yield f"without examples, so without a value: {_names(empty, table_format)}"


def _names(names: Iterable[str], table_format: str) -> str:
    return ", ".join(inline(name, table_format) for name in names)
