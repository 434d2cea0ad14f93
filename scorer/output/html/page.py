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
"""Number of examples up to which hits are shown where the caller sets no limit. Examples that are not hits are all
shown then, even beyond this number."""


class File(NamedTuple):
    """A file that the page was made from."""

    role: str
    """What the file is, for example ``predictions``."""
    name: str
    """Its name, without folders."""
    sha256: str
    """Its SHA-256 in hexadecimal."""


class Page(NamedTuple):
    """What the template shows, except for the screenshots."""

    files: tuple[File, ...]
    """The files of predictions."""
    sections: tuple[dict[str, Any], ...]
    """One per benchmark: its scores, hints, tables and charts; see ``_section``."""
    suites: tuple[tuple[str, str], ...]
    """The complete suites: the name and the average in percent, as text."""
    findings: tuple[str, ...]
    """The findings about all files, one line each."""
    examples: list[dict[str, Any]]
    """The examples that are shown, in the order of the sections; see ``example_data``."""
    left_out: dict[str, int]
    """How many examples are not shown: ``hits``, and ``others`` that are not hits."""
    version: str = __version__
    """The version of the scorer."""

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
    """Everything that the page shows, except for the screenshots.

    ``files`` are the files of predictions, ``replies`` the replies in their rows. ``limit`` bounds the number of
    examples; see ``keep``.
    """
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
    first = sections[0]  # all reports of one run hold the same findings
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
    """Whether the example is a hit in every file of the page."""
    return all(answer["outcome"] == "hit" for answer in data["answers"])


def keep(examples: Sequence[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """At most ``limit`` examples, in their given order.

    Examples that are not hits are kept first, those with the nearest misses before others; then hits, evenly spaced.
    Without a limit all examples that are not hits are kept, and hits until there are DEFAULT_EXAMPLES.
    """
    hits = [index for index, data in enumerate(examples) if is_hit(data)]
    others = [index for index, data in enumerate(examples) if not is_hit(data)]
    others.sort(key=lambda index: nearness(examples[index]))
    others = others[:limit]
    room = min(len(hits), max(0, (DEFAULT_EXAMPLES if limit is None else limit) - len(others)))
    sample = [hits[place * len(hits) // room] for place in range(room)]
    return [examples[index] for index in sorted(others + sample)]


def _section(section: Section, landed: Scatter | None) -> dict[str, Any]:
    """The scores, tables and charts of one benchmark. ``gained`` and ``lost`` are counted for the second file."""
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
    """Cells as rows of a chart. A row holds the bar of a file's cell, and that of the second file's same cell."""
    return [tuple(bar(cell) for cell in pair if cell is not None) for pair in zip_longest(cells, others)]


def _findings(reports: Iterable[Report], truths: Iterable[GroundTruth]) -> Iterator[str]:
    """The findings about ground truths and predictions, as the command prints them."""
    for truth in truths:
        yield from finding_lines(truth.findings, {}, show_all=False)
    for report in reports:
        yield from finding_lines(report.findings, report.finding_counts, show_all=False)
