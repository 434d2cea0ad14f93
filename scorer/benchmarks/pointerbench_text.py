"""Pointerbench-Text: carets, characters, words and invoice fields; 366 point and 134 bbox tasks."""

from __future__ import annotations

from scorer.benchmarks.pointerbench import subset
from scorer.core.records import Axis

BENCHMARK = subset(
    "text",
    id_prefix="pbt",
    axes=(
        Axis("answer_type"),
        Axis("data_type"),
        Axis("category"),
        Axis("surface", print_up_to=20),
        Axis("language"),
        Axis("difficulty"),
    ),
    sha256="f3a1503075389d4928409e5cd4936aeef7ddff298f4ffd1dee880dc40699eeab",
    rules=("point_in_bbox", "coverage_precision"),
)
