"""The pipeline: read, validate, convert, judge, aggregate.

Rows travel in one direction. A source gives blocks of rows. Each row is joined with its example, validated, converted
to pixels and judged, and the ledger of its benchmark keeps the result. At the end every ledger becomes a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from scorer.core import messages
from scorer.core.errors import PredictionsError
from scorer.core.findings import Findings
from scorer.core.records import Block
from scorer.core.report import Report
from scorer.pipeline import fast_path
from scorer.pipeline.aggregate.report import aggregate
from scorer.pipeline.convert import convert
from scorer.pipeline.judge import judge
from scorer.pipeline.ledger import Ledger
from scorer.pipeline.routing import Rows

Progress = Callable[[int], object]
"""Called with the number of rows after each block."""


class RowSource(Protocol):
    """What rows are read from: a file, rows made in Python, or either of them with the replies read again."""

    @property
    def name(self) -> str:
        """What findings call it."""

    def blocks(self, findings: Findings) -> Iterator[Block]:
        """The rows in blocks; whatever is no row becomes a finding."""


class Joining(Protocol):
    """What finds the example of each row; ``scorer.pipeline.routing`` is the usual one."""

    findings: Findings
    sources: list[str]

    @property
    def rows_met(self) -> int:
        """How many rows were joined or rejected so far."""

    def join(self, source: str, block: Block) -> Iterator[Rows]:
        """The rows of a block with their examples, in the order of the file for each benchmark."""

    def settle(self) -> list[Ledger]:
        """The ledgers that become reports, after all rows."""


def score(sources: Iterable[RowSource], joining: Joining, progress: Progress | None = None) -> list[Report]:
    """Score sources of rows. One report for each benchmark that is met; what was found is in ``joining.findings``.

    Raises PredictionsError where the findings are not strict and a source cannot be read as predictions.
    """
    findings = joining.findings
    for source in sources:
        joining.sources.append(source.name)
        before = joining.rows_met, findings.unreadable
        for block in source.blocks(findings):  # read
            for rows in joining.join(source.name, block):
                for some in fast_path.split(rows):
                    if some.points is not None:  # plain rows, of which a file may have millions
                        fast_path.judge_plain_rows(some)
                        continue
                    for row in some.rows.one_by_one():
                        answer = row.ledger.validator.validate(row.values, row.example, row.report)  # validate
                        if answer is None:
                            continue
                        pixels = convert(answer.prediction, row.example.image_size, row.report)  # convert
                        verdict = judge(row.example, pixels)  # judge
                        row.ledger.keep(row, answer, verdict)
            if progress is not None:
                progress(len(block[1]))
        if (joining.rows_met, findings.unreadable) == before:
            findings.at(source.name)(messages.NO_ROWS)
    ledgers = joining.settle()
    if findings.has_errors and not findings.strict:
        found = findings.in_file_order(joining.sources)
        raise PredictionsError(f"not scored: {findings.summary()}", found, findings.counts)
    return [aggregate(ledger, findings.at(", ".join(joining.sources))) for ledger in ledgers]  # aggregate
