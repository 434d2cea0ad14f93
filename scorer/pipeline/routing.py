"""Rows -> the collector of the benchmark that each belongs to, found from its id.

The first half of a run: files are read and their rows validated, one file after the other, one row at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import IO, Any, Protocol

from scorer.benchmarks import BENCHMARKS, EXAMPLE_IDS, ID_PATTERNS
from scorer.benchmarks.ids import Ids, benchmark_of, resembled_benchmark
from scorer.core.errors import GroundTruthError, PredictionsError
from scorer.core.findings import MAX_MESSAGE, Code, Findings, shorten, type_name
from scorer.core.records import Batch, GroundTruth, Kept, Refusal, Space
from scorer.files.rows import batches
from scorer.files.unpack import unpacked
from scorer.pipeline.validate import Collector, JudgeTries

BATCH = 1000
"""So many rows made in Python are taken at a time."""

PACKED = 8
"""About how many bytes of rows a compressed byte holds."""

LEVELS = 4
"""A list of points is two levels deep."""

_PLAIN = frozenset({str, int, float, dict, type(None)})

_ANY_ID = " or ".join(EXAMPLE_IDS.values())


Progress = Callable[[int], object]
"""Told the number of rows after each batch."""


class Reread(Protocol):
    """Makes a row anew before anything else looks at it. ``found_nothing`` says, after all rows, that none could be."""

    @property
    def found_nothing(self) -> bool: ...

    def __call__(self, row: dict[str, Any], /) -> dict[str, Any]: ...


class Router:
    """Hands each row to the collector of the benchmark that its id belongs to.

    With a ``fixed`` ground truth every row is of its benchmark. ``load`` gives the ground truth of one that is met.
    ``judge_tries`` judges what the collectors read, up to the attempt ``attempts``; ``kept``, if given, gets each row
    that counts.
    """

    def __init__(
        self,
        load: Callable[[str], GroundTruth],
        fixed: GroundTruth | None,
        space: Space,
        findings: Findings,
        judge_tries: JudgeTries | None = None,
        attempts: int = 1,
        kept: Kept | None = None,
        refusal: Refusal = "markers",
        reread: Reread | None = None,
    ) -> None:
        self.load = load
        self.space = space
        self.findings = findings
        self.judge_tries = judge_tries
        self.attempts = attempts
        self.kept = kept
        self.refusal = refusal
        self.reread = reread
        self.loaded: dict[str, GroundTruth] = {}
        self.collectors: dict[str, Collector] = {}
        self.fixed = self._collector(fixed) if fixed is not None else None
        self.sources: list[str] = []
        self.strangers: list[tuple[str, int, dict[str, Any]]] = []
        self.strangers_met = 0
        self.nobody = Collector(Ids("", (), (), _ANY_ID, ID_PATTERNS), findings)

    def read(self, name: str, opener: Callable[[], IO[bytes]], progress: Progress | None = None) -> None:
        """Take the rows of a file; one that cannot be opened is a finding like any other."""
        try:
            stream = opener()
        except (OSError, ValueError) as error:
            self.findings.add("unreadable", f"cannot be read ({getattr(error, 'strerror', None) or error})", name)
            return
        with stream:
            self.take(name, self._batches(name, stream), progress)

    def _batches(self, name: str, stream: IO[bytes]) -> Iterator[Batch]:
        try:
            plain, compressed = unpacked(stream, name, self.findings)
            size = _size(stream) * (PACKED if compressed else 1)
            yield from batches(plain, name, self.findings, size=size)
        except OSError as error:
            self.findings.add("unreadable", f"cannot be read ({error.strerror or error})", name)

    def plain_rows(self, source: str, given: Iterable[object]) -> Iterator[Batch]:
        """Rows made in Python, as a file would hold them: tuples and arrays as lists, their numbers as JSON's."""
        numbered = enumerate(given, 1)
        while some := list(islice(numbered, BATCH)):
            lines: list[int] = []
            rows: list[dict[str, Any]] = []
            for number, row in some:
                if isinstance(row, Mapping):
                    lines.append(number)
                    rows.append({key: plain(value) for key, value in row.items()})
                else:
                    found = f"expected a mapping, found {type_name(row)}"
                    self.findings.add("not-an-object", found, source, number)
            yield lines, rows

    def take(self, source: str, batches: Iterable[Batch], progress: Progress | None = None) -> None:
        """Take numbered rows, and tell ``progress`` how many each batch held. A source without any is an error."""
        self.sources.append(source)
        before = self.rows_met, self.findings.unreadable
        for lines, rows in batches:
            self._route(source, (lines, rows if self.reread is None else list(map(self.reread, rows))))
            if progress is not None:
                progress(len(rows))
        if (self.rows_met, self.findings.unreadable) == before:
            self.findings.add("no-rows", "no prediction rows", source)

    @property
    def rows_met(self) -> int:
        """The rows met so far."""
        return self.strangers_met + sum(known.known_rows + known.refused_rows for known in self.collectors.values())

    def _route(self, source: str, batch: Batch) -> None:
        """Hand rows to the first benchmark met that has their id, else to the one that the id looks like."""
        for collector in self.collectors.values():
            batch = collector.take(source, batch)
        unmet: dict[str, tuple[list[int], list[dict[str, Any]]]] = {}
        for line, row in zip(*batch, strict=True):
            name = self._benchmark_of(row)
            if name is None:
                self._keep_stranger(source, line, row)
            elif name in self.collectors:
                self.collectors[name].refuse(source, line, row)
            else:
                lines, rows = unmet.setdefault(name, ([], []))
                lines.append(line)
                rows.append(row)
        for name, its in unmet.items():
            collector = self._collector(self.load(name))
            for line, row in zip(*collector.take(source, its), strict=True):
                collector.refuse(source, line, row)

    def _benchmark_of(self, row: dict[str, Any]) -> str | None:
        """The benchmark that every row is of, else the one that the id of this row looks like."""
        if self.fixed is not None:
            return self.fixed.ids.benchmark
        row_id = row.get("id")
        return benchmark_of(row_id, ID_PATTERNS) if isinstance(row_id, str) else None

    def settle(self) -> list[tuple[GroundTruth, Collector]]:
        """The benchmarks with a known id, in the order of the table. Where there is none, that is a finding."""
        known = [
            name for name, collector in self.collectors.items() if collector.known_rows and self.loaded[name].examples
        ]
        met = self.rows_met
        self._place_strangers(known)
        if not known and not self.findings.unreadable:
            self.findings.add("no-known-id", self._no_known_id(met), ", ".join(self.sources))
        return [(self.loaded[name], self.collectors[name]) for name in BENCHMARKS if name in known]

    def finish(self) -> list[tuple[GroundTruth, Collector]]:
        """The benchmarks to score; PredictionsError where the input cannot be read as predictions."""
        loaded = self.settle()
        if self.findings.refused:
            found = self.findings.in_file_order(self.sources)
            raise PredictionsError(f"not scored: {self.findings.summary()}", found, self.findings.counts)
        return loaded

    def _collector(self, ground_truth: GroundTruth) -> Collector:
        benchmark = ground_truth.benchmark
        example_id = next((example.id for example in ground_truth.examples), benchmark.id_example)
        collector = Collector(
            Ids(benchmark.id, ground_truth.examples, ground_truth.left_out, example_id, ID_PATTERNS),
            self.findings,
            any_candidate=benchmark.any_candidate,
            space=self.space,
            refusal=self.refusal,
            judge_tries=self.judge_tries,
            attempts=self.attempts,
            kept=self.kept,
        )
        self.loaded[benchmark.id] = ground_truth
        self.collectors[benchmark.id] = collector
        return collector

    def _keep_stranger(self, source: str, line: int, row: dict[str, Any]) -> None:
        """Keep of a row whose id tells no benchmark what a message needs, until the file's benchmarks are known."""
        self.strangers_met += 1
        code: Code = "unknown-id" if isinstance(row.get("id"), str) else "no-id"
        if self.strangers_met > self.findings.limits.findings:
            self.findings.counts[code] += 1
        elif code == "unknown-id":
            self.strangers.append((source, line, {"id": shorten(row["id"], MAX_MESSAGE)}))
        else:
            self.nobody.refuse(source, line, row)

    def _place_strangers(self, known: list[str]) -> None:
        if not self.collectors and self.strangers:
            self._load_likely()
        names = known or list(self.collectors)
        collector = self.collectors[names[0]] if names else self.nobody
        for source, line, row in self.strangers:
            collector.refuse(source, line, row)

    def _load_likely(self) -> None:
        """Load the benchmark that misspelt ids seem to mean, so that each can be told what it should be."""
        likely = Counter(filter(None, (resembled_benchmark(row["id"], EXAMPLE_IDS) for _, _, row in self.strangers)))
        if likely:
            with suppress(GroundTruthError):
                self._collector(self.load(likely.most_common(1)[0][0]))

    def _no_known_id(self, met: int) -> str:
        if any(collector.known_rows for collector in self.collectors.values()):
            return "no row belongs to an example that the filter keeps"
        ids = met - self.findings.counts["no-id"] - self.findings.counts["id-type"]
        if not ids:
            return 'no row has an id; rows look like {"id": "pbs_0001", "point": [612, 388]}'
        if len(self.collectors) != 1:
            known = ", ".join(BENCHMARKS)
            return f"none of {ids} ids looks like one of a known benchmark ({known}); --benchmark NAME says which it is"
        name, collector = next(iter(self.collectors.items()))
        looks = f"its ids look like {collector.ids.example}"
        if collector.ids.others:
            looks = f"they look like {collector.ids.others.most_common(1)[0][0]} ids"
        return f"none of {ids} ids belongs to {name}; {looks}"


def _size(stream: IO[bytes]) -> int:
    """Bytes in a stream, 0 where it does not tell."""
    try:
        return os.fstat(stream.fileno()).st_size
    except OSError:
        return 0


def plain(value: Any, levels: int = LEVELS) -> Any:
    """A value made in Python as a file would hold it: arrays and tuples as lists, their numbers as JSON's.

    So many ``levels`` deep: no rule reads further, and a list may hold itself.
    """
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "tolist"):  # arrays and their scalars
        value = value.tolist()
    return [plain(entry, levels - 1) for entry in value] if levels and isinstance(value, list | tuple) else value
