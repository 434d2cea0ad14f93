"""Category cells -> one figure: AgentCompass's aggregation modes and its tree of categories, in exact fractions.

``micro_weighted`` is hits over examples, ``category_mean`` the plain mean of the cells. A tree is one
``{"overall": node}``; a node has ``aggregation`` (leaf, unweighted, weighted, weighted_by_count), ``children`` and
``weight``. A leaf is the category of its name, once in a tree; one without examples has no value and is in no mean.
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
ROOT = "overall"
MAX_DEPTH = 50
KINDS = ("leaf", "unweighted", "weighted", "weighted_by_count")


class Node(NamedTuple):
    """One node of a tree of categories. ``weight`` is None where none was given."""

    name: str
    path: str
    kind: str
    weight: Fraction | None
    children: tuple[Node, ...]

    def leaves(self) -> Iterator[Node]:
        """The categories below, itself if it is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_hierarchy(data: bytes, source: str) -> Node:
    """A tree of categories from JSON. Raises UsageError that names the file, the node and what is wrong with it."""
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
            raise UsageError(f'{again.path}: the category "{shorten(again.name)}" stands in the tree twice')
    except UsageError as fault:
        raise UsageError(f"{source}: {fault.message}") from None
    return root


def _parse(data: bytes) -> Any:
    """JSON with its numbers exact. ValueError for one that no double holds, and for a name given twice."""

    def number(text: str) -> Fraction:
        value = float(text)
        if not math.isfinite(value) or (value == 0 and text.strip("-0.").partition("e")[0].strip("0.")):
            raise ValueError(f"{shorten(text)} is a number that no double holds")
        return Fraction(text)

    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{shorten(text)} is no JSON number")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        again = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if again is not None:
            raise ValueError(f'"{shorten(again)}" stands twice in one object')
        return dict(pairs)

    return json.loads(data.decode("utf-8-sig"), parse_float=number, parse_constant=refuse, object_pairs_hook=distinct)


def _node(name: str, path: str, given: object, depth: int = 0) -> Node:
    if depth > MAX_DEPTH:
        raise UsageError(f"{shorten(path)}: nested deeper than {MAX_DEPTH} nodes")
    if not isinstance(given, dict):
        raise UsageError(f"{path}: a node is an object, found {type_name(given)}")
    unknown = [key for key in given if key not in ("aggregation", "children", "weight")]
    if unknown:
        raise UsageError(f'{path}: unknown "{shorten(unknown[0])}"; a node has aggregation, children, weight')
    kind = given.get("aggregation", "leaf")
    if kind not in KINDS:
        raise UsageError(f"{path}: no aggregation {shorten(json.dumps(kind, default=str))}; known: {', '.join(KINDS)}")
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
    """One figure from the category cells of a report; see aggregate_cells."""
    return aggregate_cells(report.total, report.categories, mode, tree)


def aggregate_cells(total: Cell, categories: Table, mode: str | None, tree: Node | None) -> Aggregation:
    """One figure from a total and category cells, and the branches of the tree that it comes from.

    A tree replaces the mode. Categories outside the tree stay out of its figure and are named.
    Raises UsageError for an unknown mode and where only children of weight zero have a value.
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
    raise UsageError(f'no aggregation mode "{mode}"; known: {", ".join(MODES)}')


def _evaluate(node: Node, cells: Mapping[str, Cell], branches: list[Branch]) -> tuple[Fraction | None, int]:
    """Value and number of examples of a node; adds a branch for it in front of those of its children."""
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
    """How much a child with ``n`` examples weighs under a parent of that kind."""
    if kind == "weighted_by_count":
        return Fraction(n)
    return child.weight or Fraction(0) if kind == "weighted" else Fraction(1)


def _ratio(cell: Cell) -> Fraction | None:
    return Fraction(cell.hits, cell.n) if cell.n else None


def _mean(weighted: Sequence[tuple[Fraction | None, Fraction]]) -> Fraction | None:
    present = [(value, weight) for value, weight in weighted if value is not None]
    if not present:
        return None
    return sum((value * weight for value, weight in present), Fraction()) / sum(weight for _, weight in present)
