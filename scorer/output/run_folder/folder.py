"""Writing a run folder, and computing its two aggregate files again from its details.

A folder is written completely or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scorer._version import __version__
from scorer.core import messages
from scorer.core.errors import PredictionsError, UsageError
from scorer.core.findings import Findings, type_name
from scorer.core.report import Kept, Report
from scorer.files.write import make_file, replace_file, whole
from scorer.output.run_folder.details import file_name, tasks
from scorer.output.run_folder.metrics import metrics, summary

MOST = 10**7
"""Upper bound on the number of tasks, and on k, that ``summarize`` accepts in run.json. It protects the memory."""

RUN_KEYS = (
    "benchmark",
    "variant",
    "model",
    "signature",
    "version",
    "k",
    "tasks",
    "category_axis",
    "overlapping",
    "aggregation_mode",
    "category_hierarchy",
)
"""The keys of details/run.json: exactly these."""
TASK_KEYS = (
    "task_id",
    "dataset",
    "category",
    "labels",
    "instruction",
    "ground_truth",
    "attempt_plan",
    "attempts",
)
"""The keys of a task's file: exactly these."""


def write_runs(out: str, reports: Sequence[Report], kept: Kept, mode: str | None, hierarchy: object) -> None:
    """Write the run folder of one benchmark to ``out``; of several benchmarks, a folder for each below ``out``.

    ``kept`` holds the rows of the predictions. ``mode`` and ``hierarchy`` (a category tree as parsed JSON) are the
    aggregation that was asked for, None for none. Raises UsageError where ``out`` exists or cannot be written.
    """
    with whole(out) as made:
        for report in reports:
            below = made if len(reports) == 1 else os.path.join(made, report.benchmark.id)
            records = list(tasks(report, kept))
            run = _run(report, records, mode, hierarchy)
            make_file(os.path.join(below, "details", "run.json"), dump(run))
            for record in records:
                make_file(
                    os.path.join(below, "details", *file_name(record["task_id"], len(records)).split("/")), dump(record)
                )
            for name, data in aggregates(records, run):
                make_file(os.path.join(below, name), data)


def summarize(folder: str) -> list[str]:
    """Compute metrics.json and summary.md again from the details of a run folder, or of each run folder in ``folder``.

    Returns the paths that were written. Raises PredictionsError, with a finding for each file, where the details are
    not what ``write_runs`` writes, and UsageError where there are no details.
    """
    folders = [folder] if os.path.isdir(os.path.join(folder, "details")) else _below(folder)
    if not folders:
        raise UsageError(f"{folder}: no run folder: it holds no details/")
    findings = Findings()
    made = [(each, name, data) for each in folders for name, data in _again(each, findings)]
    if findings.has_errors:
        raise PredictionsError(f"not summarized: {findings.summary()}", findings, findings.counts)
    for each, name, data in made:
        replace_file(os.path.join(each, name), data)
    return [os.path.join(each, name) for each, name, _ in made]


def aggregates(records: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The two files that are computed from the details: name and content."""
    found = metrics(sorted(records, key=lambda record: record["task_id"]), run)
    yield "metrics.json", dump(found)
    yield "summary.md", summary(found).encode()


def dump(data: object) -> bytes:
    """JSON in ASCII with sorted keys and an indent of two, so that the same content always gives the same bytes."""
    return (json.dumps(data, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def _run(report: Report, records: Iterable[Mapping[str, Any]], mode: str | None, hierarchy: object) -> dict[str, Any]:
    models = (attempt["meta"]["model"] for record in records for attempt in record["attempts"].values())
    named = sorted({model for model in models if isinstance(model, str)})
    axis = report.categories.axis
    return {
        "benchmark": report.benchmark.id,
        "variant": report.variant or None,
        "model": ", ".join(named) or None,
        "signature": report.signature,
        "version": __version__,
        "k": report.attempts.k if report.attempts else 1,
        "tasks": report.total.n,
        "category_axis": axis.name,
        "overlapping": axis.overlapping,
        "aggregation_mode": mode if hierarchy is None else None,
        # Its children are sorted as they are in run.json, so that ``summarize`` finds the branches in the same order.
        "category_hierarchy": json.loads(dump(hierarchy)),
    }


def _below(folder: str) -> list[str]:
    """The run folders in a folder, sorted. Raises UsageError where it cannot be read."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read ({error.strerror})") from None
    return [os.path.join(folder, name) for name in names if os.path.isdir(os.path.join(folder, name, "details"))]


def _again(folder: str, findings: Findings) -> list[tuple[str, bytes]]:
    """The aggregate files of a run folder; none where a finding was reported."""
    details = os.path.join(folder, "details")
    run_path = os.path.join(details, "run.json")
    run = _load_run(run_path, findings)
    paths = sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(details)
        for name in names
        if name.endswith(".json") and name != "run.json"
    )
    records = [record for path in paths if run is not None and (record := _load_task(path, run, findings)) is not None]
    if run is not None and len(paths) != run["tasks"]:
        findings.at(run_path)(messages.RUN_TASK_COUNT, details=len(paths), tasks=run["tasks"])
    if run is None or findings.has_errors:
        return []
    try:
        return list(aggregates(records, run))
    except UsageError as fault:  # of the category tree, which is in run.json
        findings.at(run_path)(messages.RUN_TREE, fault=fault.message)
        return []


def _load_run(path: str, findings: Findings) -> dict[str, Any] | None:
    """The content of run.json; None after a finding."""
    run = _load(path, RUN_KEYS, findings)
    if run is None:
        return None
    whole = all(type(run[key]) is int and 0 < run[key] <= MOST for key in ("k", "tasks"))
    texts = all(map(_is_text, (run["benchmark"], run["signature"], run["version"], run["category_axis"])))
    named = all(run[key] is None or _is_text(run[key]) for key in ("variant", "model", "aggregation_mode"))
    tree = run["category_hierarchy"] is None or isinstance(run["category_hierarchy"], dict)
    if not (whole and texts and named and tree and isinstance(run["overlapping"], bool)):
        findings.at(path)(messages.RUN_VALUE)
        return None
    return run


def _load_task(path: str, run: Mapping[str, Any], findings: Findings) -> dict[str, Any] | None:
    """The content of a task's file; None after a finding."""
    record = _load(path, TASK_KEYS, findings)
    if record is None:
        return None
    if not (
        _is_text(record["task_id"]) and _are_labels(record["labels"]) and _are_attempts(record["attempts"], run["k"])
    ):
        findings.at(path)(messages.TASK_PARTS)
    elif os.path.basename(file_name(record["task_id"], 1)) != os.path.basename(path):
        findings.at(path)(messages.TASK_NAME)
    elif run["category_axis"] not in record["labels"] or not isinstance(record["category"] or "", str):
        findings.at(path)(messages.TASK_LABEL, axis=run["category_axis"])
    else:
        return record
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_labels(labels: object) -> bool:
    return isinstance(labels, dict) and all(isinstance(v, list) and all(map(_is_text, v)) for v in labels.values())


def _are_attempts(attempts: object, k: int) -> bool:
    return isinstance(attempts, dict) and all(
        name.isascii()
        and name.isdecimal()
        and name == str(int(name[:9]))
        and 0 < int(name) <= k
        and isinstance(attempt, dict)
        and attempt.get("status") in ("completed", "run_error")
        and isinstance(attempt.get("metrics"), dict)
        and isinstance(attempt["metrics"].get("correct"), bool)
        for name, attempt in attempts.items()
    )


def _load(path: str, keys: Sequence[str], findings: Findings) -> dict[str, Any] | None:
    """The JSON object in a file that has exactly these keys; None after a finding."""
    if not os.path.isfile(path) or os.path.islink(path):
        findings.at(path)(messages.DETAIL_NO_FILE)
        return None
    try:
        with open(path, "rb") as stream:
            found = json.loads(stream.read().decode())
    except OSError as error:
        findings.at(path)(messages.DETAIL_UNREADABLE, why=error.strerror or error)
        return None
    except (ValueError, RecursionError) as error:
        findings.at(path)(messages.DETAIL_NOT_JSON, why=error)
        return None
    if not isinstance(found, dict):
        findings.at(path)(messages.DETAIL_NO_OBJECT, found=type_name(found))
        return None
    missing, more = sorted(set(keys) - set(found)), sorted(set(found) - set(keys))
    if missing or more:
        what = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has unknown {', '.join(more)}"] * bool(more)
        findings.at(path)(messages.DETAIL_KEYS, keys="; ".join(what))
        return None
    return found
