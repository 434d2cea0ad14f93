"""Pointerbench-Sheets: cells, headers, edges and corners of spreadsheets."""

from __future__ import annotations

from scorer.benchmarks.pointerbench import subset
from scorer.core.records import Axis

BENCHMARK = subset(
    "sheets",
    id_prefix="pbs",
    axes=(Axis("category"), Axis("ui_style"), Axis("data_type")),
    sha256="514e46ac580ccdca40bcb8c8a5c4554575ae30b38bc7f7c832ff3f563d5ef798",
)
