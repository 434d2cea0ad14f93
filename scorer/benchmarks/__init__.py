"""What is known about each benchmark. Adding one is a module and a line here."""

from __future__ import annotations

import re

from scorer.benchmarks import osworld_g, pointerbench_pro, pointerbench_sheets, pointerbench_text
from scorer.core.errors import UsageError
from scorer.core.records import Benchmark

_MODULES = (pointerbench_sheets, pointerbench_text, pointerbench_pro, osworld_g)

BENCHMARKS: dict[str, Benchmark] = {module.BENCHMARK.id: module.BENCHMARK for module in _MODULES}

ID_PATTERNS: dict[str, re.Pattern[str]] = {
    benchmark.id: re.compile(benchmark.id_pattern) for benchmark in BENCHMARKS.values()
}

EXAMPLE_IDS: dict[str, str] = {benchmark.id: benchmark.id_example for benchmark in BENCHMARKS.values()}

GROUND_TRUTH_NAMES = frozenset(
    [name.rpartition("/")[2] for benchmark in BENCHMARKS.values() for name in benchmark.files.values()]
    + list(osworld_g.SIDE_FILES)
)


def get_benchmark(name: str) -> Benchmark:
    """The benchmark of that id. Raises UsageError, naming the known ids, where there is none."""
    try:
        return BENCHMARKS[name]
    except KeyError:
        known = ", ".join(BENCHMARKS)
        raise UsageError(f'unknown benchmark "{name}"; known: {known}') from None
