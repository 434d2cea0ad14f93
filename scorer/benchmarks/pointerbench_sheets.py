"""Pointerbench-Sheets: cells, headers, edges and corners of spreadsheets."""

from __future__ import annotations

from scorer.benchmarks import pointerbench
from scorer.core.records import Axis, Benchmark

AXES = (Axis("category"), Axis("ui_style"), Axis("data_type"))

BENCHMARK = Benchmark(
    id="pointerbench-sheets",
    title="Pointerbench-Sheets",
    column="Sheets",
    suite=pointerbench.SUITE,
    size=500,
    id_pattern=r"pbs_[0-9]{4,9}",
    id_example="pbs_0001",
    folders=pointerbench.folders("sheets"),
    files={"": pointerbench.METADATA},
    axes=AXES,
    rules=("point_in_bbox",),
    read=pointerbench.read_examples,
    sha256=("514e46ac580ccdca40bcb8c8a5c4554575ae30b38bc7f7c832ff3f563d5ef798",),
    prompt=pointerbench.SYSTEM_PROMPT,
    source=pointerbench.SOURCE,
    licence=pointerbench.LICENCE,
)
