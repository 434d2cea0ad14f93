"""Verdicts -> what the page shows of each example: plain data, made of the records that the JSON is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scorer.core.findings import shorten
from scorer.core.records import Axis, Box, Labels, Point, Size, Verdict
from scorer.core.report import Report
from scorer.output.data import detail
from scorer.pipeline.judge import is_false_refusal

MAX_DRAWN = 100
"""So many candidate points of one answer are drawn; the page says how many more there are."""
MAX_TEXT = 20_000
"""So many characters of a reply or an instruction are shown."""

MARGIN = 32
"""Pixels around the target, at the least, in its cut-out."""

Replies = Mapping[tuple[str, int], str]
"""What the model said, by file and line."""

_RANKS = {"miss": 2, "no_answer": 3, "run_error": 4, "absent": 5, "hit": 6}
_SHARED = ("benchmark", "id", "rule", "target")


class Section(NamedTuple):
    """One benchmark on the page: its report, that of the file it is compared with, and remarks for the head."""

    report: Report
    rival: Report | None = None
    hints: tuple[str, ...] = ()

    @property
    def pairs(self) -> Iterator[tuple[Verdict, ...]]:
        """The verdict of each example, or both."""
        reports = [self.report] if self.rival is None else [self.report, self.rival]
        return zip(*(report.verdicts for report in reports), strict=True)


def example_data(verdicts: Sequence[Verdict], report: Report, replies: Replies) -> dict[str, Any]:
    """One example with an answer for each file. Keys without a value are left out.

    ``rank`` and ``gap`` put near misses first: misses by their distance in pixels (rank 0), then false refusals, places
    named where there is none, answers that are missing, and hits.
    """
    first, example = verdicts[0], verdicts[0].example
    rows = [detail(verdict, report.benchmark.id) for verdict in verdicts]
    answers = [_answer(verdict, row, replies) for verdict, row in zip(verdicts, rows, strict=True)]
    near = gap(first)
    rank = 0 if near is not None else 1 if is_false_refusal(first) else _RANKS[first.outcome]
    data = {key: rows[0][key] for key in _SHARED} | {
        "image_size": list(example.image_size),
        "image": example.image,
        "instruction": shorten(example.instruction, MAX_TEXT),
        "labels": label_pairs(report.benchmark.axes, example.labels),
        "rank": rank,
        "answers": answers,
    }
    if near is not None:
        data["gap"] = near
    if example.rule == "coverage_precision":
        data["thresholds"] = [example.min_coverage, example.min_precision]
    cut = cut_out(example.target, [point for answer in answers for point in places(answer)], example.image_size)
    if cut is not None:
        data["cut"] = cut
    return data


def _answer(verdict: Verdict, row: dict[str, Any], replies: Replies) -> dict[str, Any]:
    """The part of a detail row that is about the prediction, with the reply it was read from."""
    answer = {key: value for key, value in row.items() if key not in _SHARED}
    points = answer.get("points", [])
    if len(points) > MAX_DRAWN:
        answer |= {"points": points[:MAX_DRAWN], "more": len(points) - MAX_DRAWN}
    if is_false_refusal(verdict):
        answer["false_refusal"] = True
        answer.pop("distance", None)  # of a point that names no place
    reply = replies.get((answer.get("source", ""), answer.get("line", 0)))
    if reply:
        answer["reply"] = shorten(reply, MAX_TEXT)
    return answer


def label_pairs(axes: Sequence[Axis], labels: Labels) -> list[list[str]]:
    """The cells that an example counts in, each with the name of its axis."""
    return [[axis.name, label] for axis, cells in zip(axes, labels, strict=False) for label in cells]


def nearness(data: Mapping[str, Any]) -> tuple[int, float]:
    """The key that puts near misses first."""
    return data["rank"], data.get("gap", 0.0)


def gap(verdict: Verdict) -> float | None:
    """How far a miss is from its target in pixels; None where nothing measures it.

    For a point it is the distance, for a box that of the edge which is farthest from the target's own.
    """
    if verdict.outcome != "miss" or is_false_refusal(verdict) or verdict.prediction is None:
        return None
    if verdict.prediction.bbox is not None:
        pairs = zip(verdict.prediction.bbox, verdict.example.target, strict=True)
        return max(abs(mine - its) for mine, its in pairs)
    away = verdict.distance
    return None if away is None or math.isinf(away) else away


def places(answer: Mapping[str, Any]) -> list[Point]:
    """The points that an answer names, the centre of its box among them; a refusal names none."""
    found = [(x, y) for x, y in answer.get("points", []) if x >= 0 or y >= 0]
    if "bbox" in answer:
        x0, y0, x1, y1 = answer["bbox"]
        found.append(((x0 + x1) / 2, (y0 + y1) / 2))
    return found


def bounds(target: Sequence[float]) -> Box:
    """The smallest box around a box or a ring."""
    xs, ys = target[0::2], target[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def cut_out(target: Sequence[float], answers: Sequence[Point], image_size: Size) -> tuple[int, int, int, int] | None:
    """The part of the screenshot around the target, as left, top, width, height; None where there is no target.

    It takes in the answers that are near the target, and has room around both.
    """
    if not target:
        return None
    x0, y0, x1, y1 = bounds(target)
    margin = max(MARGIN, (x1 - x0) / 2, (y1 - y0) / 2)
    near = [
        value
        for x, y in answers
        if abs(x - (x0 + x1) / 2) <= 3 * margin and abs(y - (y0 + y1) / 2) <= 3 * margin
        for value in (x, y)
    ]
    left, top, right, bottom = bounds([x0, y0, x1, y1, *near])
    width, height = right - left + 2 * margin, bottom - top + 2 * margin
    # Neither a strip nor a column: it has to fit beside the screenshot.
    width, height = max(width, height * 0.75), max(height, width * 0.5)
    x, width = _span((left + right) / 2, width, image_size[0])
    y, height = _span((top + bottom) / 2, height, image_size[1])
    return x, y, width, height


def _span(centre: float, length: float, limit: int) -> tuple[int, int]:
    """Start and length of whole pixels around a centre, moved into 0..limit where they reach beyond."""
    whole = max(1, min(math.ceil(length), limit))
    return max(0, min(math.floor(centre - whole / 2), limit - whole)), whole
