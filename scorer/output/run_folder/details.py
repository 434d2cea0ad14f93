"""Verdicts and their rows -> one record per task, in the form of AgentCompass.

A task is an example. ``metrics.correct`` of an attempt says whether its verdict is a hit. A failed call and a row
without a usable answer are attempts with the status ``run_error`` that are not correct, so that they stay in the
denominator. The same holds for an example without a row where one attempt is scored. Where several attempts are scored,
an attempt without a row is left out: it was not observed.

The trajectory of an attempt is in the format ACTF. Unknown values are null or empty, and the screenshot is its path.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from scorer.core.records import Axis, Example, Verdict
from scorer.core.report import Kept, Report
from scorer.output.data import detail

ACTF = "ACTF_v1.0"
"""The name of the trajectory format and its version."""
SHARD_ABOVE = 10_000
"""Number of tasks above which their files are spread over 256 folders, by the first two digits of the id's hash.

Many file systems and tools are slow with more files in one folder.
"""


def tasks(report: Report, kept: Kept) -> Iterator[dict[str, Any]]:
    """One record per example, in ground-truth order.

    ``kept`` holds the rows of the predictions, and the verdicts of the attempts after the first.
    """
    k = report.attempts.k if report.attempts else 1
    names = [axis.name for axis in report.benchmark.axes]
    category = category_axis(report.benchmark.axes)
    for verdict in report.verdicts:
        example = verdict.example
        labels = {name: list(cells) for name, cells in zip(names, example.labels, strict=True)}
        observed = [(1, verdict), *((number, kept.later.get((example.id, number))) for number in range(2, k + 1))]
        attempts = {
            str(number): _attempt(each, kept.rows.get((example.id, number), {}), report.benchmark.id)
            for number, each in observed
            if each is not None and (k == 1 or each.outcome != "absent")
        }
        yield {
            "task_id": example.id,
            "dataset": {"benchmark": report.benchmark.id, "variant": report.variant or None},
            "category": labels[category][0] if category else None,
            "labels": labels,
            "instruction": example.instruction,
            "ground_truth": {
                "rule": example.rule,
                "target": list(example.target),
                "image_size": list(example.image_size),
            },
            "attempt_plan": {"k": k, "strategy": "avg"},
            "attempts": attempts,
        }


def category_axis(axes: tuple[Axis, ...]) -> str:
    """The name of the axis whose label is the category of a task.

    It is ``category`` where that axis is not overlapping, else the first axis that is not overlapping, else "".
    """
    single = [axis.name for axis in axes if not axis.overlapping]
    return "category" if "category" in single else next(iter(single), "")


def file_name(task_id: str, tasks: int) -> str:
    """The path of a task's file below ``details/``, in a run of ``tasks`` tasks.

    It holds the start of the id, in characters that every file system takes, and the SHA-256 of the whole id.
    """
    digest = sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()
    name = f"{re.sub(r'[^A-Za-z0-9._-]', '_', task_id)[:80]}--{digest}.json"
    return f"{digest[:2]}/{name}" if tasks > SHARD_ABOVE else name


def _attempt(verdict: Verdict, row: Mapping[str, Any], benchmark: str) -> dict[str, Any]:
    prediction, failed = verdict.prediction, verdict.outcome not in ("hit", "miss")
    scoring = detail(verdict, benchmark)
    for key in ("benchmark", "id", "target"):
        del scoring[key]
    code = "absent-id" if prediction is None else prediction.fault or "run-error"
    message = "the example has no row" if prediction is None else prediction.error or "no usable answer in the row"
    return {
        "status": "run_error" if failed else "completed",
        "metrics": {"correct": verdict.outcome == "hit"},
        "scoring": scoring,
        "issues": [{"severity": "error", "phase": "run", "code": code, "message": message}] if failed else [],
        "raw": _json(row.get("raw")),
        "timing": {"latency_s": _json(row.get("latency_s"))},
        "meta": {key: _json(row.get(key)) for key in ("model", "profile", "finish_reason", "usage", "error")},
        "trajectory": _json(_trajectory(verdict.example, row)),
    }


def _json(value: Any) -> Any:
    """A value of a row with null for every number that is not finite, because JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: _json(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_json(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _trajectory(example: Example, row: Mapping[str, Any]) -> dict[str, Any]:
    """An attempt as a trajectory of one step: the screenshot, the instruction, the reply, its tokens and its time."""
    raw = row.get("raw")
    reply = raw if isinstance(raw, dict) else {"content": raw}
    usage, latency = row.get("usage"), row.get("latency_s")
    tokens = usage if isinstance(usage, dict) else {}
    seconds = latency if isinstance(latency, int | float) and not isinstance(latency, bool) else None
    step = {
        "step_id": 1,
        "system_prompt": row.get("system_prompt"),
        "user_content": [
            {"type": "image", "path": example.image},
            {"type": "text", "text": example.instruction},
        ],
        "tools": [],
        "assistant_content": {
            "content": reply.get("content"),
            "reasoning_content": reply.get("reasoning"),
            "tool_calls": reply.get("tool_calls") or [],
        },
        "observation": [],
        "metric": {
            "prompt_tokens_len": tokens.get("prompt_tokens"),
            "completion_tokens_len": tokens.get("completion_tokens"),
            "llm_infer_ms": None if seconds is None else seconds * 1000,
            "env_action_ms": None,
            "stop_reason": row.get("finish_reason"),
        },
        "started_at": None,
        "finished_at": None,
    }
    return {"schema_version": ACTF, "steps": [step], "started_at": None, "finished_at": None}
