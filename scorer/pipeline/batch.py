"""A batch of rows that a data engine hands over -> the outcome of each row by itself.

The rows take the way that those of a file take; only the joining is particular to a batch, and there is no report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from scorer.core import messages
from scorer.core.findings import Code, Findings
from scorer.core.outcomes import Outcome
from scorer.core.records import Block, Example, GroundTruth
from scorer.files.python_rows import Columns, rows_of
from scorer.pipeline.ledger import Ledger, report_unknown
from scorer.pipeline.routing import Rows, join
from scorer.pipeline.scoring import score
from scorer.pipeline.settings import Settings

CACHED_INDEXES = 8
"""Upper bound on the ground truths whose examples are kept by id between batches."""

EVERY_FINDING = 10**9
"""The limit on findings of one code: all of a batch are kept, since there are only as many as it has rows."""


class _Same:
    """A ground truth as a key: equal to itself alone, because hashing its records would read all of them."""

    __slots__ = ("ground_truth",)

    def __init__(self, ground_truth: GroundTruth) -> None:
        self.ground_truth = ground_truth

    def __hash__(self) -> int:
        return id(self.ground_truth)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.ground_truth is self.ground_truth


class _BatchRows:
    """The rows of a batch, as one block."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.name, self.rows = "<batch>", rows

    def blocks(self, _: Findings) -> Iterator[Block]:
        yield range(1, len(self.rows) + 1), self.rows


class _BatchJoining:
    """Joins the rows of a batch with the examples that they name."""

    def __init__(self, ledger: Ledger, findings: Findings) -> None:
        self.ledger, self.findings, self.sources = ledger, findings, list[str]()

    @property
    def rows_met(self) -> int:
        return self.ledger.known_rows + self.ledger.rejected_rows

    def join(self, source: str, block: Block) -> Iterator[Rows]:
        report = self.findings.at(source)
        rows, rest = join(self.ledger, report, block)
        yield rows
        for line, row in zip(*rest, strict=True):
            self.ledger.rejected_rows += 1
            row_id = row.get("id")
            if isinstance(row_id, str):
                # Without an explanation: looking for the nearest id takes longer than the batch.
                if row_id in self.ledger.ground_truth.left_out:
                    report.at(line)(messages.NOT_SELECTED, rows=1)
                else:
                    report.at(line)(messages.UNKNOWN_ID, explanation="unknown id")
            else:
                report_unknown(row, self.ledger.ids, report.at(line))

    def settle(self) -> list[Ledger]:
        return []  # a batch knows neither absent examples nor other batches, so there is nothing to report


def judge_batch(
    ground_truth: GroundTruth, batch: Columns | Sequence[Mapping[str, Any]], settings: Settings
) -> dict[str, list[Any]]:
    """The columns ``outcome``, ``hit`` and ``findings``, aligned with the rows of a batch.

    A ledger is made for each batch, and for the examples of the batch alone: batches are judged side by side.
    """
    rows = rows_of(batch)
    index = _index(_Same(ground_truth))
    ids = dict.fromkeys(row["id"] for row in rows if isinstance(row.get("id"), str))
    findings = Findings(strict=True, limits=settings.limits._replace(findings=EVERY_FINDING))
    ledger = Ledger(ground_truth, settings, [index[row_id] for row_id in ids if row_id in index])
    ledger.outcomes_by_line = {}
    score([_BatchRows(rows)], _BatchJoining(ledger, findings))
    outcomes: list[Outcome | None] = [ledger.outcomes_by_line.get(line) for line in range(1, len(rows) + 1)]
    found: list[list[str]] = [[] for _ in rows]
    for finding in findings:
        # Whether an id was given before does not matter where each row stands by itself.
        if finding.line and finding.code != Code.DUPLICATE_ID and finding.code not in found[finding.line - 1]:
            found[finding.line - 1].append(finding.code.value)
    return {"outcome": outcomes, "hit": [outcome == "hit" for outcome in outcomes], "findings": found}


@lru_cache(maxsize=CACHED_INDEXES)
def _index(known: _Same) -> dict[str, Example]:
    """The examples by id, made once for a ground truth: it is larger than most batches."""
    return {example.id: example for example in known.ground_truth.examples}
