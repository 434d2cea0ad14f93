"""The closed vocabulary of findings, and the list that a run collects them in.

``score`` is tolerant: what it can live with is a warning. The strict temper of each code stands beside it, so that
one table serves both commands and the README.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.core.records import Finding

Severity = Literal["error", "warning", "note"]
Code = Literal[
    "unreadable",
    "not-utf8",
    "bad-json",
    "line-too-long",
    "array-too-long",
    "too-many-rows",
    "not-an-object",
    "no-rows",
    "no-known-id",
    "no-id",
    "id-type",
    "unknown-id",
    "duplicate-id",
    "absent-id",
    "absent-attempt",
    "not-selected",
    "other-attempt",
    "bad-attempt",
    "bad-space",
    "empty-answer",
    "wrong-shape",
    "bad-number",
    "number-in-text",
    "extra-numbers",
    "candidate-count",
    "several-candidates",
    "refusal-and-point",
    "refusal-marker",
    "key-conflict",
    "repeated-key",
    "inverted-box",
    "zero-area",
    "out-of-frame",
    "error-with-answer",
    "ignored-field",
    "mixed-space",
    "byte-order-mark",
    "gt-row",
    "gt-duplicate-id",
    "gt-outside-image",
    "gt-answer-type",
    "gt-empty-instruction",
    "gt-categories",
    "gt-variants-differ",
    "gt-not-official",
    "gt-screenshot",
    "bundle-archive",
    "bundle-file",
    "bundle-form",
    "bundle-hash",
    "bundle-manifest",
    "bundle-claim",
    "run-detail",
]


class Kind(NamedTuple):
    """One code: how serious it is for ``score``, how serious for the strict check, and what it means."""

    score: Severity
    strict: Severity
    meaning: str


KINDS: dict[Code, Kind] = {
    "unreadable": Kind("error", "error", "the file cannot be opened or read"),
    "not-utf8": Kind("error", "error", "the file is not UTF-8"),
    "bad-json": Kind("error", "error", "a line, or an entry of the array, is not JSON"),
    "line-too-long": Kind("error", "error", "a line is longer than the limit"),
    "array-too-long": Kind("error", "error", "a file that is one JSON array is longer than the limit"),
    "too-many-rows": Kind("error", "error", "more rows than the limit; the rest is not read"),
    "not-an-object": Kind("error", "error", "a row is not a JSON object"),
    "no-rows": Kind("error", "error", "the file holds no row"),
    "no-known-id": Kind("error", "error", "no id of the file belongs to the benchmark"),
    "no-id": Kind("warning", "error", 'a row has no "id"; rows are never matched by position'),
    "id-type": Kind("warning", "error", "an id is not a string"),
    "unknown-id": Kind("warning", "error", "an id that the ground truth does not have"),
    "duplicate-id": Kind("warning", "error", "an id was given before; the last row counts"),
    "absent-id": Kind("warning", "error", "an example has no row; it counts as wrong"),
    "absent-attempt": Kind("warning", "error", "attempts that --attempts asks for have no row"),
    "not-selected": Kind("note", "note", "rows of examples that a filter left out"),
    "other-attempt": Kind("warning", "warning", "a row of a later attempt, which only --attempts scores"),
    "bad-attempt": Kind("warning", "error", '"attempt" is no whole number from 1, read as 1, or beyond the limit'),
    "bad-space": Kind("warning", "error", 'the row\'s "space" is unknown, so its numbers mean nothing'),
    "empty-answer": Kind("warning", "error", "a row with no coordinates at all"),
    "wrong-shape": Kind("warning", "error", "the geometry is not the one that the example asks for"),
    "bad-number": Kind("warning", "error", "a coordinate is not a finite JSON number"),
    "number-in-text": Kind("warning", "error", "coordinates were read out of a text"),
    "extra-numbers": Kind("warning", "error", "more numbers than needed; the first ones count"),
    "candidate-count": Kind("warning", "error", "several points where one is asked for"),
    "several-candidates": Kind("note", "warning", "several candidate points in a row; any of them may hit"),
    "refusal-and-point": Kind("warning", "error", "candidate points that both name a place and refuse"),
    "refusal-marker": Kind("note", "warning", "a refusal by a marker, which the strict reading takes for no answer"),
    "key-conflict": Kind("warning", "warning", "two spellings of the answer differ; the first one counts"),
    "repeated-key": Kind("warning", "error", "a key stands twice in one object; the last one counts"),
    "inverted-box": Kind("warning", "error", "the corners of a box are swapped; they were sorted"),
    "zero-area": Kind("warning", "error", "a box without area"),
    "out-of-frame": Kind("warning", "warning", "a point or box outside the screenshot"),
    "error-with-answer": Kind("warning", "error", "a row records an error and also gives an answer"),
    "ignored-field": Kind("note", "warning", "a verdict or a target in a row; no rule reads it"),
    "mixed-space": Kind("note", "warning", "answers in more than one space"),
    "byte-order-mark": Kind("note", "note", "a UTF-8 byte order mark at the start was ignored"),
    "gt-row": Kind("error", "error", "a ground-truth row that cannot be used"),
    "gt-duplicate-id": Kind("error", "error", "an id stands twice in the ground truth"),
    "gt-outside-image": Kind("warning", "warning", "a target reaches outside its image; scored as given"),
    "gt-answer-type": Kind("warning", "warning", "the answer type is missing and was taken from the rule"),
    "gt-empty-instruction": Kind("warning", "warning", "a record without an instruction; kept"),
    "gt-categories": Kind("warning", "warning", "the category file is absent, invalid or lists unknown ids"),
    "gt-variants-differ": Kind("warning", "warning", "the two instruction variants disagree on a target"),
    "gt-not-official": Kind("note", "note", "the ground truth is not the known official file"),
    "gt-screenshot": Kind("error", "error", "a screenshot for the report is missing, broken or of another size"),
    "bundle-archive": Kind("error", "error", "a zip that score bundle did not write"),
    "bundle-file": Kind("error", "error", "a file of a bundle is missing, unknown, a link or too long"),
    "bundle-form": Kind("error", "error", "submission.json is not what score bundle writes"),
    "bundle-hash": Kind("error", "error", "a file of a bundle is not the one that was bundled"),
    "bundle-manifest": Kind("error", "error", "an answer of the manifest is missing or cannot be published"),
    "bundle-claim": Kind("error", "error", "a claimed figure is not the one that the predictions give"),
    "run-detail": Kind("error", "error", "a file below details/ is not what score --output-dir writes"),
}

MAX_MESSAGE = 1000
"""Messages quote files, and a file may hold one line of megabytes."""


class Findings:
    """The findings of one run, in the order in which they were made, and the limits that the run keeps to.

    All findings are counted; of each code no more are kept than ``limits`` says.
    """

    def __init__(self, *, strict: bool = False, limits: Limits = DEFAULT_LIMITS) -> None:
        self.strict = strict
        self.limits = limits
        self.counts: Counter[str] = Counter()
        self._kept: list[Finding] = []

    def add(
        self, code: Code, message: str, source: str = "", line: int = 0, *, column: int = 0, row_id: str = ""
    ) -> None:
        """Count a finding and keep it, unless enough of its code are kept already."""
        self.counts[code] += 1
        if self.counts[code] <= self.limits.findings:
            message, row_id = shorten(message, MAX_MESSAGE), shorten(row_id, MAX_MESSAGE)
            self._kept.append(Finding(code, self.severity(code), message, source, line, column, row_id))

    def extend(self, found: Iterable[Finding], counts: Mapping[str, int]) -> None:
        """Take over the findings of another run, with its counts."""
        self._kept.extend(found)
        self.counts.update(counts)

    def only_counts(self, code: Code) -> bool:
        """Count a finding of a code of which enough are kept; False where it has to be added with its message.

        Asked first where a message is dear and a file may cause it a million times.
        """
        if self.counts[code] < self.limits.findings:
            return False
        self.counts[code] += 1
        return True

    def severity(self, code: Code) -> Severity:
        kind = KINDS[code]
        return kind.strict if self.strict else kind.score

    @property
    def refused(self) -> bool:
        """Whether any finding, kept or only counted, is an error."""
        return any(self.severity(code) == "error" for code in KINDS if self.counts[code])

    @property
    def unreadable(self) -> int:
        """How many findings say, in whichever temper, that something cannot be read as predictions at all."""
        return sum(self.counts[code] for code, kind in KINDS.items() if kind.score == "error")

    def summary(self) -> str:
        """How many errors, and how many warnings: "3 errors, 1 warning"."""
        totals = count_severities(self.counts, strict=self.strict)
        parts = [(totals["error"], "error"), (totals["warning"], "warning")]
        return ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in parts if count)

    def in_file_order(self, sources: Sequence[str]) -> tuple[Finding, ...]:
        """The findings kept, file by file and line by line; those about a whole file behind its lines."""
        ranks = {source: rank for rank, source in reversed(list(enumerate(sources)))}
        return tuple(sorted(self._kept, key=lambda p: (ranks.get(p.source, len(ranks)), p.line == 0, p.line)))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept)


class Reporter:
    """Adds findings about one row; ``used`` says whether there were any."""

    __slots__ = ("findings", "id", "line", "source", "used")

    def __init__(self, findings: Findings, source: str, line: int, row_id: str) -> None:
        self.findings, self.source, self.line, self.id = findings, source, line, row_id
        self.used = False

    def __call__(self, code: Code, message: str) -> None:
        self.used = True
        self.findings.add(code, message, self.source, self.line, row_id=self.id)


def count_severities(counts: Mapping[str, int], *, strict: bool) -> Counter[Severity]:
    """Findings by severity, in the tolerant or in the strict temper."""
    totals: Counter[Severity] = Counter()
    for code, kind in KINDS.items():
        totals[kind.strict if strict else kind.score] += counts.get(code, 0)
    return totals


NUMBERS = frozenset({int, float})
"""The types of a parsed JSON number; a boolean's is another one."""


def type_name(value: object) -> str:
    """JSON's word for the type of a parsed value."""
    if isinstance(value, bool):
        return "boolean"
    names = {int: "number", float: "number", str: "string", list: "list", dict: "object", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def shorten(text: str, limit: int = 60) -> str:
    """At most ``limit`` characters of a text from a file, for a message."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def write_numbers(numbers: Iterable[float]) -> str:
    """Coordinates for a message: ``[140, 210.5]``."""
    return "[" + ", ".join(f"{number:.15g}" for number in numbers) + "]"
