"""What is known about each benchmark. Adding one is a module of data and its line in ``MODULES``."""

from __future__ import annotations

import re
from importlib import import_module

from scorer.core.errors import UsageError
from scorer.core.records import Benchmark

MODULES = (
    "pointerbench_sheets",
    "pointerbench_text",
    "pointerbench_pro",
    "osworld_g",
)
"""The modules beside this one that hold a ``BENCHMARK``, in the order in which benchmarks are listed."""

_ALL: list[Benchmark] = [import_module(f"scorer.benchmarks.{name}").BENCHMARK for name in MODULES]

BENCHMARKS: dict[str, Benchmark] = {known.id: known for known in _ALL}
"""All benchmarks by id, in the order in which they are listed."""

SUITES: dict[str, tuple[Benchmark, ...]] = {
    suite: tuple(known for known in BENCHMARKS.values() if known.suite == suite)
    for suite in dict.fromkeys(known.suite for known in BENCHMARKS.values() if known.suite)
}
"""Suite -> its benchmarks."""

VARIANTS: tuple[str, ...] = tuple(
    dict.fromkeys(variant for known in BENCHMARKS.values() for variant in known.files if variant)
)
"""The instruction variants that any benchmark has."""

ID_PATTERNS: dict[str, re.Pattern[str]] = {
    benchmark.id: re.compile(benchmark.id_pattern) for benchmark in BENCHMARKS.values()
}
"""Benchmark -> the pattern of its ids."""

EXAMPLE_IDS: dict[str, str] = {benchmark.id: benchmark.id_example for benchmark in BENCHMARKS.values()}
"""Benchmark -> one of its ids, for messages."""

GROUND_TRUTH_NAMES = frozenset(
    name.rpartition("/")[2]
    for known in BENCHMARKS.values()
    for name in (*(name for names in known.files.values() for name in names), *known.side_files)
)
"""The file names of ground truth, which no output may overwrite."""


def get_benchmark(name: str) -> Benchmark:
    """The benchmark of that id. Raises UsageError, naming the known ids, where there is none."""
    try:
        return BENCHMARKS[name]
    except KeyError:
        known = ", ".join(BENCHMARKS)
        raise UsageError(f'unknown benchmark "{name}"; known: {known}') from None
