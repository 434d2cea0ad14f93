"""Pointerbench-Pro: elements of a hundred professional programs."""

from __future__ import annotations

from scorer.benchmarks import pointerbench
from scorer.core.records import Axis, Benchmark

AXES = (Axis("element_type"), Axis("app_category"), Axis("platform"), Axis("app", print_up_to=0))

BENCHMARK = Benchmark(
    id="pointerbench-pro",
    title="Pointerbench-Pro",
    column="Pro",
    suite=pointerbench.SUITE,
    size=500,
    id_pattern=r"pbp_[0-9]{4,9}",
    id_example="pbp_0001",
    folders=pointerbench.folders("pro"),
    files={"": pointerbench.METADATA},
    axes=AXES,
    rules=("point_in_bbox",),
    read=pointerbench.read_examples,
    sha256=("771ea5a457efaf62037ec9d3df01b052481c71c77cac85ba3c498aa8d492dcab",),
    prompt=pointerbench.SYSTEM_PROMPT,
    source=pointerbench.SOURCE,
    licence=pointerbench.LICENCE,
)
