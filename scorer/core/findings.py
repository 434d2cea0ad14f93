"""Findings: the closed list of codes, and the collection that a run fills.

``score`` is tolerant and ``score check`` is strict. Both find the same, and each code says how serious it is for either
of them. The texts of all findings are in ``scorer.core.messages``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Self

from scorer.core.limits import DEFAULT_LIMITS, Limits, reason

Severity = Literal["error", "warning", "note"]


class Code(StrEnum):
    """What can be found, as (code, severity in ``score``, severity in ``score check``, meaning)."""

    tolerant: Severity
    """Severity in ``score``. An error means that the file cannot be read as predictions and gets no number."""
    strict: Severity
    """Severity in ``score check``. An error means that the file is not accepted."""
    meaning: str
    """What the code says, in one phrase."""

    def __new__(cls, value: str, tolerant: Severity, strict: Severity, meaning: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.tolerant, member.strict, member.meaning = tolerant, strict, meaning
        return member

    UNREADABLE = "unreadable", "error", "error", "the file cannot be opened or read"
    NOT_UTF8 = "not-utf8", "error", "error", "the file is not UTF-8"
    BAD_JSON = "bad-json", "error", "error", "a line, or an entry of the array, is not JSON"
    LINE_TOO_LONG = "line-too-long", "error", "error", "a line is longer than the limit"
    ARRAY_TOO_LONG = "array-too-long", "error", "error", "a file that is one JSON array is longer than the limit"
    TOO_MANY_ROWS = "too-many-rows", "error", "error", "more rows than the limit; the rest is not read"
    NOT_AN_OBJECT = "not-an-object", "error", "error", "a row is not a JSON object"
    NO_ROWS = "no-rows", "error", "error", "the file holds no row"
    NO_KNOWN_ID = "no-known-id", "error", "error", "no id of the file belongs to the benchmark"
    NO_ID = "no-id", "warning", "error", 'a row has no "id"; rows are never matched by position'
    ID_TYPE = "id-type", "warning", "error", "an id is not a string"
    UNKNOWN_ID = "unknown-id", "warning", "error", "an id that the ground truth does not have"
    DUPLICATE_ID = "duplicate-id", "warning", "error", "an id was given before; the last row counts"
    ABSENT_ID = "absent-id", "warning", "error", "an example has no row; it counts as wrong"
    ABSENT_ATTEMPT = "absent-attempt", "warning", "error", "attempts that --attempts asks for have no row"
    NOT_SELECTED = "not-selected", "note", "note", "rows of examples that a filter left out"
    OTHER_ATTEMPT = "other-attempt", "warning", "warning", "a row of a later attempt, which only --attempts scores"
    BAD_ATTEMPT = "bad-attempt", "warning", "error", "an attempt is no whole number from 1, or beyond the limit"
    BAD_SPACE = "bad-space", "warning", "error", "the space that a row names is unknown, so its numbers mean nothing"
    EMPTY_ANSWER = "empty-answer", "warning", "error", "a row with no coordinates at all"
    WRONG_SHAPE = "wrong-shape", "warning", "error", "the geometry is not the one that the example asks for"
    BAD_NUMBER = "bad-number", "warning", "error", "a coordinate is not a finite JSON number"
    NUMBER_IN_TEXT = "number-in-text", "warning", "error", "coordinates were read out of a text"
    EXTRA_NUMBERS = "extra-numbers", "warning", "error", "more numbers than needed; the first ones count"
    CANDIDATE_COUNT = "candidate-count", "warning", "error", "several points where one is asked for"
    SEVERAL_CANDIDATES = "several-candidates", "note", "warning", "several candidate points; any of them may hit"
    REFUSAL_AND_POINT = "refusal-and-point", "warning", "error", "candidate points that both name a place and refuse"
    REFUSAL_MARKER = "refusal-marker", "note", "warning", "a refusal by a marker, which counts as no answer here"
    KEY_CONFLICT = "key-conflict", "warning", "warning", "two spellings of the answer differ; the first one counts"
    REPEATED_KEY = "repeated-key", "warning", "error", "a key stands twice in one object; the last one counts"
    INVERTED_BOX = "inverted-box", "warning", "error", "the corners of a box are swapped; they were sorted"
    ZERO_AREA = "zero-area", "warning", "error", "a box without area"
    OUT_OF_FRAME = "out-of-frame", "warning", "warning", "a point or box outside the screenshot"
    ERROR_WITH_ANSWER = "error-with-answer", "warning", "error", "a row records an error and also gives an answer"
    IGNORED_FIELD = "ignored-field", "note", "warning", "a verdict or a target in a row; no rule reads it"
    MIXED_SPACE = "mixed-space", "note", "warning", "answers in more than one space"
    BYTE_ORDER_MARK = "byte-order-mark", "note", "note", "a UTF-8 byte order mark at the start was ignored"
    GT_ROW = "gt-row", "error", "error", "a ground-truth row that cannot be used"
    GT_DUPLICATE_ID = "gt-duplicate-id", "error", "error", "an id stands twice in the ground truth"
    GT_OUTSIDE_IMAGE = "gt-outside-image", "warning", "warning", "a target reaches outside its image; scored as given"
    GT_ANSWER_TYPE = "gt-answer-type", "warning", "warning", "the answer type is missing and was taken from the rule"
    GT_EMPTY_INSTRUCTION = "gt-empty-instruction", "warning", "warning", "a record without an instruction; kept"
    GT_CATEGORIES = "gt-categories", "warning", "warning", "the category file is absent, invalid or lists unknown ids"
    GT_VARIANTS_DIFFER = "gt-variants-differ", "warning", "warning", "the two instruction variants disagree on a target"
    GT_NOT_OFFICIAL = "gt-not-official", "note", "note", "the ground truth is not the known official file"
    GT_SCREENSHOT = "gt-screenshot", "error", "error", "a screenshot is missing, broken or of another size"
    BUNDLE_ARCHIVE = (
        "bundle-archive",
        "error",
        "error",
        "a zip that is broken, or whose members are not plain stored files",
    )
    BUNDLE_FILE = "bundle-file", "error", "error", "a file of a bundle is missing, unknown, a link or too long"
    BUNDLE_FORM = "bundle-form", "error", "error", "submission.json is not what score bundle writes"
    BUNDLE_HASH = "bundle-hash", "error", "error", "a file of a bundle is not the one that was bundled"
    BUNDLE_MANIFEST = "bundle-manifest", "error", "error", "an answer of the manifest is missing or cannot be published"
    BUNDLE_CLAIM = "bundle-claim", "error", "error", "a claimed figure is not the one that the predictions give"
    RUN_DETAIL = "run-detail", "error", "error", "a file below details/ is not what score --output-dir writes"

    def severity(self, *, strict: bool) -> Severity:
        """How serious the finding is, for the strict check or for the tolerant score."""
        return self.strict if strict else self.tolerant


class Finding(NamedTuple):
    """One finding about a file."""

    code: Code
    severity: Severity
    """In ``score``, or in the strict check where that made it."""
    message: str
    """The cause and, where there is one, the next step."""
    source: str = ""
    """The name of the file."""
    line: int = 0
    """From 1; 0 where the finding is about the whole file."""
    column: int = 0
    """From 1; 0 where there is none."""
    id: str = ""
    """The id of the row, where it has one."""

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data; line, column, source and id are left out where there is none."""
        data = {key: value for key, value in self._asdict().items() if value not in (0, "")}
        return data | {"code": self.code.value}


class Message(NamedTuple):
    """The text of one kind of finding."""

    code: Code
    text: str
    """A ``str.format`` text: ``{name}`` stands for a value, ``{limit:NAME}`` for a limit and how to set another."""


MAX_MESSAGE = 1000
"""Longest text of one finding in characters: messages quote files, and one line of a file may hold megabytes."""


class Findings:
    """The findings of one run in the order in which they were made, and the limits that the run keeps to.

    All findings are counted. Of each code at most ``limits.findings`` are kept with their text.
    """

    def __init__(self, *, strict: bool = False, limits: Limits = DEFAULT_LIMITS) -> None:
        self.strict = strict
        self.limits = limits
        self.counts: Counter[str] = Counter()
        self._kept: list[Finding] = []

    def at(self, source: str) -> Reporter:
        """What adds findings about one file, or about what stands for a file in messages."""
        return Reporter(self, source)

    def extend(self, found: Iterable[Finding], counts: Mapping[str, int]) -> None:
        """Add the findings and the counts of another run."""
        self._kept.extend(found)
        self.counts.update(counts)

    @property
    def has_errors(self) -> bool:
        """Whether any finding, kept or only counted, is an error."""
        return any(code.severity(strict=self.strict) == "error" for code in Code if self.counts[code])

    @property
    def unreadable(self) -> int:
        """How many findings say that something cannot be read as predictions at all, strict or not."""
        return sum(self.counts[code] for code in Code if code.tolerant == "error")

    def summary(self) -> str:
        """How many errors, and how many warnings: "3 errors, 1 warning"."""
        totals = count_severities(self.counts, strict=self.strict)
        parts = [(totals["error"], "error"), (totals["warning"], "warning")]
        return ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in parts if count)

    def in_file_order(self, sources: Sequence[str]) -> tuple[Finding, ...]:
        """The kept findings, file by file and line by line; those about a whole file come after its lines."""
        ranks = {source: rank for rank, source in reversed(list(enumerate(sources)))}
        return tuple(sorted(self._kept, key=lambda f: (ranks.get(f.source, len(ranks)), f.line == 0, f.line)))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept)

    def _keep(self, code: Code, message: str, source: str, line: int, column: int, row_id: str) -> None:
        message, row_id = shorten(message, MAX_MESSAGE), shorten(row_id, MAX_MESSAGE)
        self._kept.append(Finding(code, code.severity(strict=self.strict), message, source, line, column, row_id))


class Reporter:
    """Adds findings about one source and, where they are given, one line and one id of it."""

    __slots__ = ("findings", "id", "line", "source", "used")

    def __init__(self, findings: Findings, source: str, line: int = 0, row_id: str = "") -> None:
        self.findings, self.source, self.line, self.id = findings, source, line, row_id
        self.used = False
        """Whether anything was added through this reporter."""

    def at(self, line: int, row_id: str = "") -> Reporter:
        """The same for one line of the source."""
        return Reporter(self.findings, self.source, line, row_id)

    def __call__(self, message: Message, /, *, column: int = 0, **values: object) -> None:
        """Add a finding. ``values`` fill the message's text.

        A value that is a function is called only if the text is needed: a file may cause the same finding a million
        times, and only the first ones are kept.
        """
        self.used = True
        findings, code = self.findings, message.code
        findings.counts[code] += 1
        if findings.counts[code] <= findings.limits.findings:
            filled = {name: value() if callable(value) else value for name, value in values.items()}
            text = message.text.format(limit=_LimitText(findings.limits), **filled)
            findings._keep(code, text, self.source, self.line, column, self.id)


class _LimitText:
    """Writes limits in messages: ``{limit:depth}`` becomes "the limit of 400 (--max depth=N sets another)"."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def __format__(self, name: str) -> str:
        return reason(name, self.limits)


def count_severities(counts: Mapping[str, int], *, strict: bool) -> Counter[Severity]:
    """How many findings have each severity, given how many there are of each code."""
    totals: Counter[Severity] = Counter()
    for code in Code:
        totals[code.severity(strict=strict)] += counts.get(code, 0)
    return totals


NUMBERS = frozenset({int, float})
"""The types of a parsed JSON number. The type of a boolean is another one, although Python counts it as an int."""


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
