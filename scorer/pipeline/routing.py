"""Rows -> the examples that they answer, found by id among the ground truths that are loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any, NamedTuple

from scorer.benchmarks import BENCHMARKS, EXAMPLE_IDS, ID_PATTERNS
from scorer.benchmarks.ids import Ids, benchmark_of, resembled_benchmark
from scorer.core import messages
from scorer.core.errors import GroundTruthError
from scorer.core.findings import MAX_MESSAGE, Code, Findings, Reporter, shorten
from scorer.core.records import Block, GroundTruth
from scorer.pipeline.ledger import Ledger, Row, report_unknown
from scorer.pipeline.settings import Settings

Load = Callable[[str], GroundTruth]
"""Benchmark id -> its ground truth. Raises GroundTruthError where there is none."""


class Rows(NamedTuple):
    """Rows of one benchmark in the order of their file, each with its example."""

    ledger: Ledger
    """Of the benchmark."""
    report: Reporter
    """Adds findings about the file."""
    lines: Sequence[int]
    """The line that each row starts on."""
    values: Sequence[dict[str, Any]]
    """The rows as parsed JSON."""
    places: Sequence[int]
    """The position of each row's example in the ground truth."""

    def one_by_one(self) -> Iterator[Row]:
        """The same as single rows."""
        examples = self.ledger.examples
        for line, values, place in zip(self.lines, self.values, self.places, strict=True):
            yield Row(self.ledger, place, values, self.report.at(line, examples[place].id))


class Routing:
    """Finds the example of each row, and keeps one ledger for each benchmark that is met."""

    def __init__(self, load: Load, settings: Settings, findings: Findings, only: GroundTruth | None = None) -> None:
        """``load`` gives the ground truth of a benchmark when the first row of it is met. ``only`` is the one
        ground truth that all rows are of, where that is known."""
        self.load = load
        self.settings = settings
        self.findings = findings
        self.ledgers: dict[str, Ledger] = {}
        """Benchmark -> its ledger, in the order in which the benchmarks were met."""
        self.sources: list[str] = []
        """The names of the sources, in the order in which they were read."""
        self.only = self.open_ledger(only) if only is not None else None
        self._unplaced: list[tuple[Reporter, int, dict[str, Any]]] = []
        self._unplaced_rows = 0
        self._unknown = Ids("", (), (), " or ".join(EXAMPLE_IDS.values()), ID_PATTERNS)

    @property
    def rows_met(self) -> int:
        """How many rows were joined or rejected so far."""
        return self._unplaced_rows + sum(each.known_rows + each.rejected_rows for each in self.ledgers.values())

    def open_ledger(self, ground_truth: GroundTruth) -> Ledger:
        """Rows of this benchmark are taken from here on."""
        ledger = self.ledgers[ground_truth.benchmark.id] = Ledger(ground_truth, self.settings)
        return ledger

    def join(self, source: str, block: Block) -> Iterator[Rows]:
        """Give each row its example: first among the ledgers that are open, else in the benchmark its id looks like."""
        report = self.findings.at(source)
        for ledger in list(self.ledgers.values()):
            rows, block = join(ledger, report, block)
            if rows.values:
                yield rows
        unmet: dict[str, tuple[list[int], list[dict[str, Any]]]] = {}
        for line, row in zip(*block, strict=True):
            name = self._benchmark_of(row)
            if name is None:
                self._keep_unplaced(report, line, row)
            elif name in self.ledgers:
                self.ledgers[name].reject(line, row, report)
            else:
                lines, values = unmet.setdefault(name, ([], []))
                lines.append(line)
                values.append(row)
        for name, its in unmet.items():
            ledger = self.open_ledger(self.load(name))
            rows, rest = join(ledger, report, its)
            if rows.values:
                yield rows
            for line, row in zip(*rest, strict=True):
                ledger.reject(line, row, report)

    def settle(self) -> list[Ledger]:
        """The ledgers that have rows, in the order of the benchmarks. Where there are none, that is a finding."""
        known = [name for name, each in self.ledgers.items() if each.known_rows and each.ground_truth.examples]
        rows_met = self.rows_met
        self._report_unplaced(known)
        if not known and not self.findings.unreadable:
            self._report_no_known_id(rows_met, self.findings.at(", ".join(self.sources)))
        order = dict.fromkeys([*BENCHMARKS, *known])
        return [self.ledgers[name] for name in order if name in known]

    def _benchmark_of(self, row: dict[str, Any]) -> str | None:
        """The benchmark that every row is of, else the one that the id of this row looks like."""
        if self.only is not None:
            return self.only.ground_truth.benchmark.id
        row_id = row.get("id")
        return benchmark_of(row_id, ID_PATTERNS) if isinstance(row_id, str) else None

    def _keep_unplaced(self, report: Reporter, line: int, row: dict[str, Any]) -> None:
        """Keep what a message needs of a row whose id tells no benchmark, until those of the file are known."""
        self._unplaced_rows += 1
        row_id = row.get("id")
        code = Code.UNKNOWN_ID if isinstance(row_id, str) else Code.NO_ID
        if self._unplaced_rows > self.findings.limits.findings:
            self.findings.counts[code] += 1
        elif isinstance(row_id, str):
            self._unplaced.append((report, line, {"id": shorten(row_id, MAX_MESSAGE)}))
        else:
            report_unknown(row, self._unknown, report.at(line))

    def _report_unplaced(self, known: Sequence[str]) -> None:
        if not self.ledgers and self._unplaced:
            self._load_likely()
        names = known or list(self.ledgers)
        for report, line, row in self._unplaced:
            if names:
                self._unplaced_rows -= 1  # the ledger counts it from here on
                self.ledgers[names[0]].reject(line, row, report)
            else:
                report_unknown(row, self._unknown, report.at(line, row["id"]))

    def _load_likely(self) -> None:
        """Load the benchmark that misspelt ids seem to mean, so that each can be told what it should be."""
        likely = Counter(filter(None, (resembled_benchmark(row["id"], EXAMPLE_IDS) for _, _, row in self._unplaced)))
        if likely:
            with suppress(GroundTruthError):
                self.open_ledger(self.load(likely.most_common(1)[0][0]))

    def _report_no_known_id(self, rows: int, report: Reporter) -> None:
        if any(ledger.known_rows for ledger in self.ledgers.values()):
            report(messages.FILTERED_OUT)
            return
        ids = rows - self.findings.counts[Code.NO_ID] - self.findings.counts[Code.ID_TYPE]
        if not ids:
            report(messages.NO_IDS, example=next(iter(EXAMPLE_IDS.values())))
        elif len(self.ledgers) != 1:
            report(messages.NO_BENCHMARK, ids=ids, known=", ".join(BENCHMARKS))
        else:
            name, ledger = next(iter(self.ledgers.items()))
            looks = f"its ids look like {ledger.ids.example}"
            if ledger.ids.others:
                looks = f"they look like {ledger.ids.others.most_common(1)[0][0]} ids"
            report(messages.OTHER_IDS, ids=ids, benchmark=name, looks=looks)


def join(ledger: Ledger, report: Reporter, block: Block) -> tuple[Rows, Block]:
    """The rows of a ledger's examples, and the others."""
    lines, rows = block
    rest: Block = (), []
    known = ledger.ids.known
    try:
        places = [known[row["id"]] for row in rows]
    except (KeyError, TypeError):  # of any row whose id is unknown, missing or no string
        ids = [row.get("id") for row in rows]
        found = [known.get(row_id) if isinstance(row_id, str) else None for row_id in ids]
        is_known, is_unknown = [place is not None for place in found], [place is None for place in found]
        rest = list(compress(lines, is_unknown)), list(compress(rows, is_unknown))
        lines, rows = list(compress(lines, is_known)), list(compress(rows, is_known))
        places = [place for place in found if place is not None]
    ledger.known_rows += len(rows)
    return Rows(ledger, report, lines, rows, places), rest
