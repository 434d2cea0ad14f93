"""Pointerbench-Pro: elements of a hundred professional programs."""

from __future__ import annotations

from scorer.benchmarks.pointerbench import subset
from scorer.core.records import Axis

BENCHMARK = subset(
    "pro",
    id_prefix="pbp",
    axes=(Axis("element_type"), Axis("app_category"), Axis("platform"), Axis("app", print_up_to=0)),
    sha256="771ea5a457efaf62037ec9d3df01b052481c71c77cac85ba3c498aa8d492dcab",
)
