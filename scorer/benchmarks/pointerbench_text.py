"""Pointerbench-Text: carets, characters, words and invoice fields; 366 point and 134 bbox tasks."""

from __future__ import annotations

from scorer.benchmarks import pointerbench
from scorer.core.records import Axis, Benchmark

AXES = (
    Axis("answer_type"),
    Axis("data_type"),
    Axis("category"),
    Axis("surface", print_up_to=20),
    Axis("language"),
    Axis("difficulty"),
)

BENCHMARK = Benchmark(
    id="pointerbench-text",
    title="Pointerbench-Text",
    column="Text",
    suite=pointerbench.SUITE,
    size=500,
    id_pattern=r"pbt_[0-9]{4,9}",
    id_example="pbt_0001",
    folders=pointerbench.folders("text"),
    files={"": pointerbench.METADATA},
    axes=AXES,
    rules=("point_in_bbox", "coverage_precision"),
    read=pointerbench.read_examples,
    sha256=("f3a1503075389d4928409e5cd4936aeef7ddff298f4ffd1dee880dc40699eeab",),
    prompt=pointerbench.SYSTEM_PROMPT,
    source=pointerbench.SOURCE,
    licence=pointerbench.LICENCE,
)
