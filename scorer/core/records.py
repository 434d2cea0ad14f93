"""The records that the stages hand to each other. All are immutable but ``Tries``, none does any I/O.

Boxes are corner pairs ``(x0, y0, x1, y1)`` (xyxy) everywhere; OSWorld-G's left, top, width, height become
corners once, at load. Points and boxes of examples are pixels of the original screenshot, origin top left.
Named tuples rather than dataclasses: a run makes one of each per row, and they cost a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

Point = tuple[float, float]
Points = tuple[Point, ...]
"""The candidate points of one answer."""
Box = tuple[float, float, float, float]
Size = tuple[int, int]
"""Width and height of a screenshot in pixels."""

Outcome = Literal["hit", "miss", "no_answer", "run_error", "absent"]
OUTCOMES: tuple[Outcome, ...] = ("hit", "miss", "no_answer", "run_error", "absent")

Refusal = Literal["markers", "negative-only"]
"""Whether a refusal by a marker in the reply counts beside a point that is negative in both coordinates."""

RuleName = Literal["point_in_bbox", "coverage_precision", "point_in_polygon", "refusal"]

Labels = tuple[tuple[str, ...], ...]
"""One entry per axis of the benchmark; each holds the cells of that axis the example counts in."""

UNKNOWN_LABEL = "?"
"""The cell of an example whose row lacks the field of an axis."""

MIN_COVERAGE = 0.90
MIN_PRECISION = 0.70
"""Defaults of the coverage rule (Pointerbench-Text); a row may name others."""


class Space(NamedTuple):
    """What coordinates mean. ``parameters`` are the numbers behind the colon, if the kind takes any."""

    kind: str
    parameters: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.kind == "frame":
            return f"frame:{self.parameters[0]}x{self.parameters[1]}"
        return ":".join([self.kind, *map(str, self.parameters)])


PIXEL = Space("pixel")


class Example(NamedTuple):
    """One ground-truth row.

    ``target`` is what ``rule`` reads: xyxy for the box rules, a flat ring ``x0, y0, x1, y1, ...`` for the polygon
    rule, empty for a refusal. ``labels`` is aligned with the axes of the benchmark.
    """

    id: str
    rule: RuleName
    target: tuple[float, ...]
    image_size: Size
    labels: Labels = ()
    instruction: str = ""
    image: str = ""
    min_coverage: float = MIN_COVERAGE
    min_precision: float = MIN_PRECISION


class Prediction(NamedTuple):
    """One row of a predictions file, after reading. Coordinates are in ``space`` until they are converted.

    ``points`` are the candidate points; a benchmark that asks for one point gets at most one. ``error`` is set when
    the row says that the call failed; ``fault`` names the finding code when the row holds no usable geometry.
    ``refusal`` names the marker where a reply refused by one; its point is then (-1, -1).
    """

    id: str
    points: Points = ()
    bbox: Box | None = None
    space: Space = PIXEL
    error: str | None = None
    fault: str | None = None
    attempt: int = 1
    line: int = 0
    source: str = ""
    refusal: str = ""


class Tries:
    """Rows of a file, of which it may have millions: columns, with an entry for each row in its order.

    ``points`` are [x, y] in ``space``. ``others`` holds, by their place in the columns, the predictions of rows that
    are more, or less, than one point in that space; their own points are not a number. Filled as rows are read.
    """

    __slots__ = ("attempts", "examples", "lines", "others", "points", "source", "space")

    def __init__(self, source: str, space: Space) -> None:
        self.source, self.space = source, space
        self.examples: list[Example] = []
        self.points: list[list[float]] = []
        self.attempts: list[int] = []
        self.lines: list[int] = []
        self.others: dict[int, Prediction] = {}

    def prediction(self, place: int) -> Prediction:
        """The prediction of one row."""
        other = self.others.get(place)
        if other is not None:
            return other
        (x, y), attempt, line = self.points[place], self.attempts[place], self.lines[place]
        return Prediction(
            self.examples[place].id, ((x, y),), None, self.space, attempt=attempt, line=line, source=self.source
        )


class Verdict(NamedTuple):
    """What became of one example. ``prediction`` is in pixels, or None where the example has no row.

    ``coverage`` and ``precision`` are set by the coverage rule alone.
    """

    example: Example
    prediction: Prediction | None
    outcome: Outcome
    coverage: float | None = None
    precision: float | None = None


class Axis(NamedTuple):
    """A grouping key. The report's key is ``by_<name>``.

    ``print_up_to`` is the largest number of cells that is printed unasked (None: any, 0: the table is in the JSON
    only). In an ``overlapping`` axis one example may count in several cells, so they do not add up to n.
    """

    name: str
    overlapping: bool = False
    print_up_to: int | None = None


class Benchmark(NamedTuple):
    """A named set with one scorer: data alone.

    ``folders`` are the places of its files below a data folder, the first one official. ``files`` maps each
    instruction variant (``""`` where there are none) to its annotation file. ``read`` turns the rows of that file
    into examples and reports what is wrong with them. ``sha256`` are the known digests of official files.
    """

    id: str
    title: str
    column: str
    suite: str
    size: int
    id_pattern: str
    id_example: str
    folders: tuple[str, ...]
    files: Mapping[str, str]
    axes: tuple[Axis, ...]
    rules: tuple[str, ...]
    read: Callable[..., Any]
    sha256: tuple[str, ...] = ()
    any_candidate: bool = False
    categories: tuple[str, ...] = ()
    prompt: str = ""
    source: str = ""
    licence: str = ""


class GroundTruth(NamedTuple):
    """A benchmark's examples, loaded and possibly filtered.

    ``left_out`` holds the ids of the file that a filter left out. ``sha256`` is the digest of the annotation file;
    ``categories_sha256`` that of the file the categories came from ("" where the annotations hold them).
    """

    benchmark: Benchmark
    variant: str
    examples: tuple[Example, ...]
    left_out: frozenset[str]
    path: str
    sha256: str
    official: bool
    categories_source: str = ""
    categories_sha256: str = ""
    filter: str = ""
    findings: tuple[Finding, ...] = ()


class Finding(NamedTuple):
    """One finding about a file. ``line`` and ``column`` are 1-based, 0 where the finding is about the whole file."""

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    source: str = ""
    line: int = 0
    column: int = 0
    id: str = ""


class Cell(NamedTuple):
    """Hits and examples of one value of an axis, or of a whole benchmark."""

    label: str
    hits: int
    n: int

    @property
    def accuracy(self) -> float:
        """Hits over n; 0.0 for an empty cell."""
        return self.hits / self.n if self.n else 0.0


class Table(NamedTuple):
    """The cells of one axis, sorted by label."""

    axis: Axis
    cells: tuple[Cell, ...]


class Alternative(NamedTuple):
    """What the hits would have been had a tolerated fault been read another way. Advice, never the score."""

    name: str
    reason: str
    rows: int
    hits: int


class Answers(NamedTuple):
    """The rows behind a report as they were read: what a diagnosis looks at, and no score does.

    ``predictions`` stand beside the verdicts, in their own spaces, before any conversion; ``space`` is that of rows
    which name none, and ``uses_default`` whether any answer left it to that. ``odd_rows`` are rows in which something
    was found, or which refuse, cut where they are long.
    """

    predictions: Sequence[Prediction | None]
    space: Space = PIXEL
    uses_default: bool = True
    odd_rows: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class Series(NamedTuple):
    """One figure over several attempts: the exact mean over the ``evaluated`` of all ``total`` examples.

    ``mean`` and ``interval`` are None where no example could be evaluated.
    """

    name: str
    mean: Fraction | None
    evaluated: int
    total: int
    interval: tuple[float, float] | None


class Attempts(NamedTuple):
    """What ``k`` attempts at each example gave. ``most`` is the largest number of attempts that an example has.

    ``observed`` counts the first k attempts that have a row, ``errors`` those of them that failed. ``consistency`` says
    how many examples with all k attempts were right in none, one, ... all of them.
    """

    k: int
    most: int
    observed: int
    errors: int
    series: tuple[Series, ...]
    consistency: tuple[int, ...]


class Branch(NamedTuple):
    """A node of a tree of categories: its exact value, None where it has no examples, and how many it has."""

    path: str
    value: Fraction | None
    n: int


class Aggregation(NamedTuple):
    """One exact figure made of the cells of ``axis`` by ``mode``; ``outside`` are the categories not in the tree."""

    mode: str
    axis: Axis
    value: Fraction | None
    branches: tuple[Branch, ...]
    outside: tuple[str, ...]


class Report(NamedTuple):
    """The score of one benchmark with its evidence.

    ``space`` is what rows without a space of their own were read in (None where there were none), ``row_spaces`` those
    that rows named themselves. ``refusal_markers`` counts the refusals that name the marker they were read from.

    Invariant: ``total.n`` is the number of ground-truth examples, and the outcomes add up to it: an absent,
    failed or unreadable answer stays in the denominator.
    """

    benchmark: Benchmark
    variant: str
    total: Cell
    outcomes: Mapping[Outcome, int]
    no_answer_reasons: Mapping[str, int]
    actionable: Cell | None
    refusals: Cell | None
    false_refusals: int
    tables: tuple[Table, ...]
    space: Space | None
    row_spaces: tuple[Space, ...]
    profile: str
    signature: str
    ground_truth: GroundTruth
    alternatives: tuple[Alternative, ...]
    verdicts: Sequence[Verdict]
    findings: tuple[Finding, ...] = ()
    finding_counts: Mapping[str, int] = MappingProxyType({})
    answers: Answers = Answers(())
    attempts: Attempts | None = None
    aggregation: Aggregation | None = None
    refusal_markers: Mapping[str, int] = MappingProxyType({})

    @property
    def categories(self) -> Table:
        """The table whose cells are the categories: that of the axis ``category``, else the first."""
        return next((table for table in self.tables if table.axis.name == "category"), self.tables[0])

    @property
    def answered(self) -> Cell:
        """Hits over the examples that got a usable answer: a second figure, never the score."""
        return Cell("answered", self.total.hits, self.outcomes["hit"] + self.outcomes["miss"])

    @property
    def missing_predictions(self) -> int:
        """no_answer + run_error + absent, as the public Pointerbench scorer counts them."""
        return self.total.n - self.answered.n


class Kept(NamedTuple):
    """What a run keeps beyond its verdicts where it is asked to, by id and attempt: the row that counts, and the
    verdicts of later attempts."""

    rows: dict[tuple[str, int], Mapping[str, Any]]
    later: dict[tuple[str, int], Verdict]


class Check(NamedTuple):
    """What the strict check found. ``absent`` lists, for each benchmark of the file, the examples without a row."""

    accepted: bool
    rows: int
    benchmarks: tuple[str, ...]
    absent: Mapping[str, tuple[str, ...]]
    findings: tuple[Finding, ...]
    finding_counts: Mapping[str, int]
    ground_truths: tuple[GroundTruth, ...] = ()


class Suite(NamedTuple):
    """Benchmarks that are ranked by the plain mean of their accuracies. ``average`` is None while one is missing."""

    name: str
    members: tuple[tuple[str, Report | None], ...]

    @property
    def average(self) -> float | None:
        accuracies = [report.total.accuracy for _, report in self.members if report is not None]
        return sum(accuracies) / len(accuracies) if len(accuracies) == len(self.members) else None


Row = tuple[int, dict[str, Any]]
"""A line number (1-based) and the JSON object that starts there."""

Rows = Iterable[Row]

Batch = tuple[Sequence[int], list[dict[str, Any]]]
"""Rows that stand near each other in a file: their line numbers, and the objects that start there."""
