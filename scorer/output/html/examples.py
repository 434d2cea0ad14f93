"""Verdicts -> what the page shows about each example, as plain data from the rows that ``score --details`` writes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scorer.core.findings import shorten
from scorer.core.records import Axis, Labels, Point, Size, Verdict
from scorer.core.report import Report
from scorer.evidence.target import bounds, centre
from scorer.output.data import detail
from scorer.pipeline.judge import is_false_refusal

MAX_DRAWN = 100
"""Upper bound on the candidate points of one answer that are drawn; the page gives the number of the others."""
MAX_TEXT = 20_000
"""Upper bound on the characters of a reply or an instruction that the page holds, so that it stays small."""

MARGIN = 32
"""Smallest margin around the target in its cut-out, in pixels of the screenshot."""

Replies = Mapping[tuple[str, int], str]
"""(file, line) of a row -> the model's reply in it."""

_RANKS = {"miss": 2, "no_answer": 3, "run_error": 4, "absent": 5, "hit": 6}
_SHARED = ("benchmark", "id", "rule", "target")


class Section(NamedTuple):
    """One benchmark on the page."""

    report: Report
    """The report of the first file."""
    rival: Report | None = None
    """The report of the second file, over the same examples; None where only one file is shown."""
    hints: tuple[str, ...] = ()
    """Lines about the coordinates, shown at the top of the section."""

    @property
    def pairs(self) -> Iterator[tuple[Verdict, ...]]:
        """For each example its verdict, or its two verdicts where two files are shown; in ground-truth order."""
        reports = [self.report] if self.rival is None else [self.report, self.rival]
        return zip(*(report.verdicts for report in reports), strict=True)


def example_data(verdicts: Sequence[Verdict], report: Report, replies: Replies) -> dict[str, Any]:
    """One example with the answers of all files, as JSON data. Keys without a value are left out.

    ``verdicts`` holds one verdict per file, ``report`` is that of the first file. ``rank`` and ``gap`` are the sort key
    that puts near misses first: misses by their ``gap`` in pixels (rank 0), false refusals (1), answers that name a
    place on an example without a target (2), missing answers (3 to 5), hits (6).
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
    """The part of a detail row that describes the prediction, with the reply that it was read from."""
    answer = {key: value for key, value in row.items() if key not in _SHARED}
    points = answer.get("points", [])
    if len(points) > MAX_DRAWN:
        answer |= {"points": points[:MAX_DRAWN], "more": len(points) - MAX_DRAWN}
    if is_false_refusal(verdict):
        answer["false_refusal"] = True
        answer.pop("distance", None)  # a refusal names no place that could be near or far
    reply = replies.get((answer.get("source", ""), answer.get("line", 0)))
    if reply:
        answer["reply"] = shorten(reply, MAX_TEXT)
    return answer


def label_pairs(axes: Sequence[Axis], labels: Labels) -> list[list[str]]:
    """The cells that an example counts in, each as [name of the axis, label]."""
    return [[axis.name, label] for axis, cells in zip(axes, labels, strict=False) for label in cells]


def nearness(data: Mapping[str, Any]) -> tuple[int, float]:
    """The sort key of an example's data that puts near misses first; see ``example_data``."""
    return data["rank"], data.get("gap", 0.0)


def gap(verdict: Verdict) -> float | None:
    """How far a miss is from its target, in pixels; None for other verdicts and where there is no such distance.

    For a point it is the distance to the target. For a box it is the largest distance between an edge and the same edge
    of the target.
    """
    if verdict.outcome != "miss" or is_false_refusal(verdict) or verdict.prediction is None:
        return None
    if verdict.prediction.bbox is not None:
        pairs = zip(verdict.prediction.bbox, verdict.example.target, strict=True)
        return max(abs(edge - target_edge) for edge, target_edge in pairs)
    away = verdict.distance
    return None if away is None or math.isinf(away) else away


def places(answer: Mapping[str, Any]) -> list[Point]:
    """The places that an answer names, in pixels: its points without refusals, and the centre of its box."""
    found = [(x, y) for x, y in answer.get("points", []) if x >= 0 or y >= 0]
    if "bbox" in answer:
        x0, y0, x1, y1 = answer["bbox"]
        found.append(centre((x0, y0, x1, y1)))
    return found


def cut_out(target: Sequence[float], answers: Sequence[Point], image_size: Size) -> tuple[int, int, int, int] | None:
    """The part of the screenshot to show around the target, as (left, top, width, height) in pixels.

    It includes the ``answers`` (points in pixels) that are near the target, with a margin around all of them. None
    where there is no target.
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
    # It is shown beside the screenshot, so that neither side may be much longer than the other.
    width, height = max(width, height * 0.75), max(height, width * 0.5)
    x, width = _span((left + right) / 2, width, image_size[0])
    y, height = _span((top + bottom) / 2, height, image_size[1])
    return x, y, width, height


def _span(centre: float, length: float, limit: int) -> tuple[int, int]:
    """Start and length, in whole pixels, of a span of ``length`` around ``centre`` that is moved into 0..limit."""
    whole = max(1, min(math.ceil(length), limit))
    return max(0, min(math.floor(centre - whole / 2), limit - whole)), whole
