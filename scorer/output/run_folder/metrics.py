"""The records of tasks -> metrics.json and summary.md. They depend on nothing else, so both can be computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from scorer.core.records import Axis
from scorer.core.report import Cell, Table
from scorer.evidence.category_tree import aggregate_cells, read_hierarchy
from scorer.output.text.tables import cell, table

MARKDOWN = "github"
"""The table format of summary.md."""

Task = Mapping[str, Any]
"""The record of a task; see ``details.tasks``."""
Reducer = Callable[[Task, int], Fraction | None]
"""A task and k -> the value of the task, 0..1; None where its attempts do not determine it."""


def native(task: Task, _: int) -> Fraction | None:
    """1 where the only attempt is correct, else 0."""
    values = _observed(task)
    return Fraction(values[0]) if values else None


def average(task: Task, k: int) -> Fraction | None:
    """The mean of k attempts, where all k were observed."""
    values = _observed(task)
    return Fraction(sum(values), k) if len(values) == k else None


def any_right(task: Task, k: int) -> Fraction | None:
    """1 where any of k attempts is correct, 0 where all k were observed and none is correct."""
    values = _observed(task)
    return Fraction(any(values)) if any(values) or len(values) == k else None


REDUCERS: dict[str, tuple[Reducer, str]] = {
    "native": (native, "the one attempt"),
    "avg": (average, "mean of k attempts, all observed"),
    "pass": (any_right, "any of k attempts"),
}
"""The name of a reducer in metrics.json -> the reducer, and its formula in words."""


def metrics(tasks: Sequence[Task], run: Mapping[str, Any]) -> dict[str, Any]:
    """The content of metrics.json. ``run`` is the content of details/run.json."""
    k = run["k"]
    reducers = ["native"] if k == 1 else ["avg", "pass"]
    series = [_series(tasks, reducer, k, headline=number == 0) for number, reducer in enumerate(reducers)]
    return {
        "k": k,
        "strategy": "avg",
        "aggregation": "micro_weighted",
        "evaluation_failed": False,
        "extra": {**run, "aggregated": _aggregated(tasks, run)},
        "series": series,
    }


def _series(tasks: Sequence[Task], reducer: str, k: int, *, headline: bool) -> dict[str, Any]:
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task["category"] or "__uncategorized__", []).append(task)
    found = {name: _figures(groups[name], reducer, k) for name in sorted(groups)}
    return {
        "series_id": f"correct.{reducer}@{k}",
        "metric_id": "correct",
        "kind": "binary",
        "reducer": reducer,
        "role": "headline" if headline else "auxiliary",
        "aggregation": "micro_weighted",
        "display": {"format": "fraction", "formula": REDUCERS[reducer][1]},
        "k": k,
        **_figures(tasks, reducer, k),
        "categories": {
            name: {**figures, "aggregation_weight": figures["counts"]["evaluated"]} for name, figures in found.items()
        },
        "hierarchy": {},
        "extra": {},
    }


def _figures(tasks: Iterable[Task], reducer: str, k: int) -> dict[str, Any]:
    """The mean value of some tasks, and counts: ``evaluated`` and ``unavailable`` add up to ``total``.

    ``error`` counts the tasks with an attempt that failed; each of them is also evaluated or unavailable.
    """
    values: list[Fraction] = []
    total = errors = 0
    for task in tasks:
        total += 1
        errors += any(attempt["status"] == "run_error" for attempt in task["attempts"].values())
        value = REDUCERS[reducer][0](task, k)
        if value is not None:
            values.append(value)
    mean = float(sum(values, Fraction()) / len(values)) if values else None
    counts = {
        "total": total,
        "evaluated": len(values),
        "error": errors,
        "unavailable": total - len(values),
        "invalidated": 0,
    }
    return {"value": mean, "reference_value": None, "counts": counts}


def _aggregated(tasks: Sequence[Task], run: Mapping[str, Any]) -> dict[str, Any] | None:
    """The figure of the aggregation mode or category tree that was asked for, from the first attempts; else None."""
    if run["aggregation_mode"] is None and run["category_hierarchy"] is None:
        return None
    hits: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for task in tasks:
        for label in task["labels"][run["category_axis"]]:
            sizes[label] = sizes.get(label, 0) + 1
            hits[label] = hits.get(label, 0) + _first_is_correct(task)
    cells = tuple(Cell(label, hits[label], sizes[label]) for label in sorted(sizes))
    axis = Axis(run["category_axis"], overlapping=run["overlapping"])
    total = Cell("all", sum(_first_is_correct(task) for task in tasks), len(tasks))
    text = run["category_hierarchy"]
    tree = None if text is None else read_hierarchy(json.dumps(text).encode(), "category_hierarchy")
    return aggregate_cells(total, Table(axis, cells), run["aggregation_mode"], tree).to_dict()


def _observed(task: Task) -> list[bool]:
    """Whether each observed attempt is correct."""
    return [attempt["metrics"]["correct"] for attempt in task["attempts"].values()]


def _first_is_correct(task: Task) -> bool:
    return bool(task["attempts"].get("1", {"metrics": {"correct": False}})["metrics"]["correct"])


def summary(found: Mapping[str, Any]) -> str:
    """The content of summary.md: the figures of ``found``, the content of metrics.json, in Markdown."""
    run, head = found["extra"], found["series"][0]["counts"]
    lines = [
        f"# {_text(run['benchmark'])}" + (f" ({_text(run['variant'])})" if run["variant"] else ""),
        "",
        f"- Model: {_text(run['model'] or 'unknown')}",
        f"- Total: {head['total']}",
        f"- Evaluated: {head['evaluated']}/{head['total']}",
        f"- Invalidated: {head['invalidated']}",
        f"- Error: {head['error']}",
        f"- Signature: `{run['signature']}`",
    ]
    if found["k"] == 1:
        values = [[each["series_id"], _value(each)] for each in found["series"]]
        lines += ["", table(["Metric", "Value"], values, MARKDOWN), "", _breakdown(found["series"])]
    else:
        lines += ["", f"k = {found['k']}, strategy {found['strategy']}, aggregation {found['aggregation']}", ""]
        headers = ["Metric", "Role", "Reducer", "Formula", "Value", "Evaluated", "Error", "Unavailable", "Total"]
        lines.append(table(headers, [_long_row(each) for each in found["series"]], MARKDOWN))
    if run["aggregated"] is not None:
        lines += ["", f"{run['aggregated']['mode']}: {_number(run['aggregated']['value'])}"]
    return "\n".join(lines) + "\n"


def _long_row(series: Mapping[str, Any]) -> list[str]:
    counts = series["counts"]
    return [
        series["series_id"],
        series["role"],
        series["reducer"],
        series["display"]["formula"],
        _value(series),
        *(str(counts[key]) for key in ("evaluated", "error", "unavailable", "total")),
    ]


def _breakdown(series: Sequence[Mapping[str, Any]]) -> str:
    headers = ["category", *(each["series_id"] for each in series), "total", "evaluated", "error"]
    rows = []
    for name, figures in series[0]["categories"].items():
        counts = figures["counts"]
        values = [_value(each["categories"][name]) for each in series]
        rows.append([name, *values, *(str(counts[key]) for key in ("total", "evaluated", "error"))])
    return table(headers, rows, MARKDOWN)


def _value(figures: Mapping[str, Any]) -> str:
    return _number(figures["value"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _text(text: str) -> str:
    """A text from a file, escaped for Markdown."""
    return cell(text, MARKDOWN)
