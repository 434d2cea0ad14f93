"""Reports -> everything that the page shows, as data for its template. No score is computed here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from scorer._version import __version__
from scorer.core.records import GroundTruth
from scorer.core.report import Cell, Report, Suite
from scorer.output.data import report_json
from scorer.output.html.charts import Bar, Scatter, bar, offset, scatter, sizes
from scorer.output.html.examples import Replies, Section, example_data, nearness
from scorer.output.text.findings import finding_lines
from scorer.output.text.report import suite_percent

DEFAULT_EXAMPLES = 600
"""Without a limit of the caller's the page holds everything that is no hit, and hits up to so many examples."""


class File(NamedTuple):
    """A file that the page was made from: what it is, its name without folders, its SHA-256."""

    role: str
    name: str
    sha256: str


class Page(NamedTuple):
    """What the template shows. ``examples`` are those kept, in the order of the sections; ``left_out`` counts others.

    ``findings`` are the findings of all files, a line each. In a section, ``gained`` counts the examples that only the
    other file hits.
    """

    files: tuple[File, ...]
    sections: tuple[dict[str, Any], ...]
    suites: tuple[tuple[str, str], ...]
    findings: tuple[str, ...]
    examples: list[dict[str, Any]]
    left_out: dict[str, int]
    version: str = __version__

    @property
    def compared(self) -> bool:
        """Whether two files are shown side by side."""
        return any(len(section["reports"]) > 1 for section in self.sections)


def make_page(
    files: Iterable[File],
    sections: Sequence[Section],
    suites: Iterable[Suite],
    replies: Replies,
    *,
    limit: int | None = None,
) -> Page:
    """Everything that the page shows but the screenshots. ``limit`` bounds the examples (see keep)."""
    shown: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for section in sections:
        pairs = list(section.pairs)
        examples = [example_data(verdicts, section.report, replies) for verdicts in pairs]
        offsets = [offset(verdicts[0], data["answers"][0]) for verdicts, data in zip(pairs, examples, strict=True)]
        landed = [
            (data["id"], data["answers"][0]["outcome"] == "hit", vector)
            for data, vector in zip(examples, offsets, strict=True)
            if vector is not None
        ]
        parts.append(_section(section, scatter(landed)))
        shown += examples
    kept = keep(shown, limit)
    hits = sum(map(is_hit, shown)) - sum(map(is_hit, kept))
    first = sections[0]  # the findings of a run are the same in each of its reports
    reports = [report for report in (first.report, first.rival) if report is not None]
    return Page(
        tuple(files),
        tuple(parts),
        tuple((suite.name, average) for suite in suites if (average := suite_percent(suite))),
        tuple(_findings(reports, [section.report.ground_truth for section in sections])),
        kept,
        {"hits": hits, "others": len(shown) - len(kept) - hits},
    )


def is_hit(data: Mapping[str, Any]) -> bool:
    """Whether every file of the page hits this example."""
    return all(answer["outcome"] == "hit" for answer in data["answers"])


def keep(examples: Sequence[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """At most ``limit`` examples, in order: near misses before others, then hits evenly spaced.

    Without a limit every example that is no hit is kept, and hits up to DEFAULT_EXAMPLES in all.
    """
    hits = [index for index, data in enumerate(examples) if is_hit(data)]
    others = [index for index, data in enumerate(examples) if not is_hit(data)]
    others.sort(key=lambda index: nearness(examples[index]))
    others = others[:limit]
    room = min(len(hits), max(0, (DEFAULT_EXAMPLES if limit is None else limit) - len(others)))
    sample = [hits[place * len(hits) // room] for place in range(room)]
    return [examples[index] for index in sorted(others + sample)]


def _section(section: Section, landed: Scatter | None) -> dict[str, Any]:
    """One benchmark's head and charts."""
    report, rival = section.report, section.rival
    both = [each for each in (report, rival) if each is not None]
    truths = [File("ground truth", os.path.basename(t.path), t.sha256) for t in (each.ground_truth for each in both)]
    hits = [tuple(verdict.outcome == "hit" for verdict in pair) for pair in section.pairs]
    tables = report.tables if rival is None else rival.tables
    return {
        "title": report.benchmark.title,
        "reports": [(bar(each.total), report_json(each)) for each in both],
        "gained": hits.count((False, True)),
        "lost": hits.count((True, False)),
        "hints": section.hints,
        "ground_truths": tuple(dict.fromkeys(truths)),
        "tables": [
            (table.axis, _rows(table.cells, other.cells if rival is not None else ()))
            for table, other in zip(report.tables, tables, strict=True)
        ],
        "sizes": _rows(sizes(report.verdicts), sizes(rival.verdicts) if rival is not None else ()),
        "scatter": landed,
    }


def _rows(cells: Iterable[Cell], others: Iterable[Cell]) -> list[tuple[Bar, ...]]:
    """Cells as rows of a chart, each beside the same cell of the other file: both have the same ground truth."""
    return [tuple(bar(cell) for cell in pair if cell is not None) for pair in zip_longest(cells, others)]


def _findings(reports: Iterable[Report], truths: Iterable[GroundTruth]) -> Iterator[str]:
    """What was found in the files, as the command prints it."""
    for truth in truths:
        yield from finding_lines(truth.findings, {}, show_all=False)
    for report in reports:
        yield from finding_lines(report.findings, report.finding_counts, show_all=False)
