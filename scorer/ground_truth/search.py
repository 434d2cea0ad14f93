"""The places where ground truth is looked for, and their order."""

from __future__ import annotations

import os
from collections.abc import Iterable

from scorer.benchmarks import ID_PATTERNS, get_benchmark
from scorer.benchmarks.ids import benchmark_of
from scorer.core.errors import GroundTruthError, UsageError
from scorer.core.records import Benchmark, GroundTruth
from scorer.ground_truth.load import Selection, benchmark_in, find, load_files

ENVIRONMENT = "SCORER_DATA"


class Locator:
    """Finds and loads the ground truth of a benchmark when a row of it is met.

    If ``gt`` (a file or a folder) or ``data`` (a folder) is given, it is the only place that is searched. Otherwise
    ``environment`` (the value of $SCORER_DATA), ``current`` and ``app_folder`` are searched in this order. Where
    ``several`` benchmarks may occur, each sample id belongs to the benchmark that it looks like, and a benchmark
    without any sample id keeps no example.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        gt: str | None = None,
        data: str | None = None,
        environment: str = "",
        current: str | None = None,
        app_folder: str | None = None,
        several: bool = False,
    ) -> None:
        if gt is not None and data is not None:
            raise UsageError("--gt and --data both say where the ground truth is; give one of them")
        self.selection = selection
        self.several = several
        self.file = gt if gt is not None and not os.path.isdir(gt) else None
        given = gt if gt is not None else data
        self.explicit = given is not None
        ambient = [environment or None, current, app_folder]
        self.places = [place for place in ([given] if given is not None else ambient) if place is not None]

    def benchmark_of_file(self) -> str | None:
        """The benchmark that a ground-truth file given by name holds; None where no single file was given."""
        if self.file is None:
            return None
        name = benchmark_in(self.file)
        if name is None:
            raise UsageError(f"cannot tell from {self.file} which benchmark it holds; say it with --benchmark")
        return name

    def load(self, benchmark: Benchmark) -> GroundTruth:
        """Raises GroundTruthError where the ground truth is nowhere, naming every place and the next step."""
        ids = self.selection.sample_ids
        own = tuple(name for name in ids if (benchmark_of(name, ID_PATTERNS) or benchmark.id) == benchmark.id)
        if not self.several or own == ids:
            return self._load(benchmark, self.selection)
        truth = self._load(benchmark, self.selection._replace(sample_ids=own))
        return truth if own else truth._replace(examples=(), left_out=frozenset(e.id for e in truth.examples))

    def _load(self, benchmark: Benchmark, selection: Selection) -> GroundTruth:
        if self.file is not None:
            return load_files(benchmark, [self.file], selection)
        variant = self.selection.variant or next(iter(benchmark.files))
        if variant not in benchmark.files:
            # The variant is that of another benchmark in the same run; this one has none to choose.
            variant = next(iter(benchmark.files))
        files, looked_for = find(benchmark, variant, self.places)
        if not files:
            raise GroundTruthError(_not_found(benchmark, variant, self.places, looked_for, explicit=self.explicit))
        return load_files(benchmark, files, selection._replace(variant=variant))

    def load_name(self, name: str) -> GroundTruth:
        return self.load(get_benchmark(name))


def _not_found(
    benchmark: Benchmark, variant: str, places: Iterable[str], looked_for: Iterable[str], *, explicit: bool
) -> str:
    lines = [f"the ground truth of {benchmark.id} was not found; looked for:"]
    lines += [f"  {path}" for path in looked_for]
    lines += [f"there is no folder {place}" for place in places if place and not os.path.isdir(place)]
    where = "the --gt or --data folder" if explicit else f"${ENVIRONMENT}, the current or the per-user folder"
    official = ", ".join(f"{benchmark.folders[0]}/{name}" for name in benchmark.files[variant])
    lines.append(
        f"score fetch {benchmark.suite or benchmark.id} gets it; or get {official} from {benchmark.source} "
        f"and put it below {where}, "
        "or name the file with --gt FILE or the folder with --data DIR"
    )
    return "\n".join(lines)
