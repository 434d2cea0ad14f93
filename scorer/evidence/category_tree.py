"""Category cells -> one figure, as AgentCompass aggregates them. All arithmetic is in exact fractions.

A mode is ``micro_weighted`` (hits / examples) or ``category_mean`` (the plain mean of the accuracies of the cells).

A category tree is a JSON object ``{"overall": node}``. A node is an object with the keys ``aggregation`` (leaf,
unweighted, weighted or weighted_by_count; leaf if it is left out), ``children`` (name -> node) and ``weight`` (a number
that is not negative). A leaf stands for the category of its name, and a category is in a tree at most once. The value
of any other node is the weighted mean of its children. A leaf without examples has no value and is in no mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from scorer.core.errors import UsageError
from scorer.core.findings import shorten, type_name
from scorer.core.report import Aggregation, Branch, Cell, Report, Table

MODES = ("micro_weighted", "category_mean")
"""The aggregations that need no tree."""
ROOT = "overall"
"""The name of the only root of a category tree."""
MAX_DEPTH = 50
"""Deepest level of a category tree below its root. It keeps the recursion of reading below Python's limit."""
KINDS = ("leaf", "unweighted", "weighted", "weighted_by_count")
"""The values of a node's ``aggregation``: a category, or a mean of the children with equal weights, with the weights
that are given, or with the numbers of examples as weights."""


class Node(NamedTuple):
    """One node of a category tree."""

    name: str
    """Its key in the tree; of a leaf, the category."""
    path: str
    """The names from the root to this node, joined by "/"; in a name "~" is written "~0" and "/" is written "~1"."""
    kind: str
    """Its ``aggregation``, one of KINDS."""
    weight: Fraction | None
    """Its weight under a ``weighted`` parent; None where none is given."""
    children: tuple[Node, ...]
    """Empty for a leaf."""

    def leaves(self) -> Iterator[Node]:
        """The leaves below this node, or the node itself where it is a leaf."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_hierarchy(data: bytes, source: str) -> Node:
    """A category tree from the bytes of a JSON file; ``source`` names the file in messages.

    Raises UsageError with the file, the path of the node and what is wrong with it.
    """
    try:
        found = _parse(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: not JSON: {error}") from None
    if not isinstance(found, dict) or list(found) != [ROOT]:
        roots = ", ".join(map(shorten, found)) if isinstance(found, dict) else type_name(found)
        raise UsageError(f'{source}: a tree has exactly one root, {{"{ROOT}": ...}}; found {roots or "none"}')
    try:
        root = _node(ROOT, ROOT, found[ROOT])
        names = [leaf.name for leaf in root.leaves()]
        again = next((leaf for leaf in root.leaves() if names.count(leaf.name) > 1), None)
        if again is not None:
            raise UsageError(f'{again.path}: the category "{shorten(again.name)}" appears twice in the tree')
    except UsageError as fault:
        raise UsageError(f"{source}: {fault.message}") from None
    return root


def _parse(data: bytes) -> Any:
    """Parse JSON with exact numbers.

    Raises ValueError for a number that is beyond a double, is not finite, or is not 0 but rounds to 0 as a double, and
    for a name that appears twice in one object.
    """

    def number(text: str) -> Fraction:
        value = float(text)
        if not math.isfinite(value) or (value == 0 and text.strip("-0.").partition("e")[0].strip("0.")):
            raise ValueError(f"{shorten(text)} is too large or too small for a double")
        return Fraction(text)

    def reject(text: str) -> NoReturn:
        raise ValueError(f"{shorten(text)} is not a JSON number")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        again = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if again is not None:
            raise ValueError(f'"{shorten(again)}" appears twice in one object')
        return dict(pairs)

    return json.loads(data.decode("utf-8-sig"), parse_float=number, parse_constant=reject, object_pairs_hook=distinct)


def _node(name: str, path: str, given: object, depth: int = 0) -> Node:
    """A node from parsed JSON. Raises UsageError, with the path of the node, for what is not one."""
    if depth > MAX_DEPTH:
        raise UsageError(f"{shorten(path)}: nested deeper than {MAX_DEPTH} nodes")
    if not isinstance(given, dict):
        raise UsageError(f"{path}: a node is an object, found {type_name(given)}")
    unknown = [key for key in given if key not in ("aggregation", "children", "weight")]
    if unknown:
        raise UsageError(f'{path}: unknown "{shorten(unknown[0])}"; a node has aggregation, children, weight')
    kind = given.get("aggregation", "leaf")
    if kind not in KINDS:
        shown = shorten(json.dumps(kind, default=str))
        raise UsageError(f"{path}: unknown aggregation {shown}; known: {', '.join(KINDS)}")
    children = given.get("children") or {}
    if not isinstance(children, dict):
        raise UsageError(f"{path}: children must be an object, found {type_name(children)}")
    if (kind == "leaf") == bool(children):
        raise UsageError(f"{path}: {'a leaf has no children' if children else f'{kind} needs children'}")
    nodes = tuple(_node(child, f"{path}/{_escape(child)}", value, depth + 1) for child, value in children.items())
    if kind == "weighted":
        missing = next((node for node in nodes if node.weight is None), None)
        if missing is not None:
            raise UsageError(f"{missing.path}: has no weight, but its parent is weighted")
        if not any(node.weight for node in nodes):
            raise UsageError(f"{path}: all weights are zero")
    return Node(name, path, kind, _weight(path, given), nodes)


def _weight(path: str, given: Mapping[str, Any]) -> Fraction | None:
    weight = given.get("weight")
    if weight is None:
        return None
    if isinstance(weight, bool) or not isinstance(weight, int | Fraction) or weight < 0:
        found = shorten(str(weight)) if isinstance(weight, int | Fraction) else type_name(weight)
        raise UsageError(f"{path}: weight must be a number that is not negative, found {found}")
    return Fraction(weight)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def aggregate(report: Report, mode: str | None, tree: Node | None) -> Aggregation:
    """One figure from the category cells of a report; see ``aggregate_cells``."""
    return aggregate_cells(report.total, report.categories, mode, tree)


def aggregate_cells(total: Cell, categories: Table, mode: str | None, tree: Node | None) -> Aggregation:
    """One figure from the total and the category cells of a benchmark.

    Where a ``tree`` is given, ``mode`` is not read. Categories that are not in the tree are not in its figure either;
    they are listed. Raises UsageError for an unknown mode, and where all children of a node that have a value have the
    weight zero. Source of the modes and of the tree: AgentCompass.
    """
    axis, cells = categories.axis, {cell.label: cell for cell in categories.cells}
    if tree is not None:
        branches: list[Branch] = []
        value, _ = _evaluate(tree, cells, branches)
        outside = tuple(label for label in cells if label not in {leaf.name for leaf in tree.leaves()})
        return Aggregation("category_hierarchy", axis, value, tuple(branches), outside)
    if mode == "micro_weighted":
        return Aggregation(mode, axis, _ratio(total), (), ())
    if mode == "category_mean":
        return Aggregation(mode, axis, _mean([(_ratio(cell), Fraction(1)) for cell in cells.values()]), (), ())
    raise UsageError(f'unknown aggregation mode "{mode}"; known: {", ".join(MODES)}')


def _evaluate(node: Node, cells: Mapping[str, Cell], branches: list[Branch]) -> tuple[Fraction | None, int]:
    """The value of a node and its number of examples. Adds the node to ``branches``, in front of its children."""
    position = len(branches)
    if not node.children:
        cell = cells.get(node.name, Cell(node.name, 0, 0))
        value, n = _ratio(cell), cell.n
    else:
        found = [(child, *_evaluate(child, cells, branches)) for child in node.children]
        present = [(value, _share(node.kind, child, n)) for child, value, n in found if value is not None]
        if present and not any(weight for _, weight in present):
            raise UsageError(f"{node.path}: only children of weight zero have examples, so it has no value")
        value, n = _mean(present), sum(n for _, _, n in found)
    branches.insert(position, Branch(node.path, value, n))
    return value, n


def _share(kind: str, child: Node, n: int) -> Fraction:
    """The weight of a child with ``n`` examples under a parent of that kind."""
    if kind == "weighted_by_count":
        return Fraction(n)
    return child.weight or Fraction(0) if kind == "weighted" else Fraction(1)


def _ratio(cell: Cell) -> Fraction | None:
    """The exact accuracy of a cell; None without examples."""
    return Fraction(cell.hits, cell.n) if cell.n else None


def _mean(weighted: Sequence[tuple[Fraction | None, Fraction]]) -> Fraction | None:
    """The mean of (value, weight), over the values that are not None; None where there is none."""
    present = [(value, weight) for value, weight in weighted if value is not None]
    if not present:
        return None
    return sum((value * weight for value, weight in present), Fraction()) / sum(weight for _, weight in present)
