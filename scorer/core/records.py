"""The records that the stages hand to each other. All are immutable, none does any I/O.

Boxes are corner pairs ``(x0, y0, x1, y1)`` (xyxy) everywhere. Points and targets of examples are pixels of the original
screenshot, origin top left. Records are named tuples rather than dataclasses: a run makes one of each per row, and they
take a third of the time. ``scorer.core.report`` has the records of a finished score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from scorer.core.findings import Code, Finding, Message, Reporter
from scorer.core.outcomes import Outcome

Point = tuple[float, float]
"""x and y, in pixels or in the space that the record names."""
Points = tuple[Point, ...]
"""The candidate points of one answer."""
Box = tuple[float, float, float, float]
"""x0, y0, x1, y1: the top-left and the bottom-right corner."""
Size = tuple[int, int]
"""Width and height of an image in pixels."""

Refusal = Literal["markers", "negative-only"]
"""Whether a refusal by a marker in the reply counts beside a point that is negative in both coordinates."""

RuleName = Literal["point_in_bbox", "coverage_precision", "point_in_polygon", "refusal"]
"""The rules that an example can be judged by; ``scorer.pipeline.judge`` says what each means."""

Labels = tuple[tuple[str, ...], ...]
"""One entry per axis of the benchmark: the cells of that axis that the example counts in."""

UNKNOWN_LABEL = "?"
"""The cell of an example whose record lacks the field of an axis."""

MIN_COVERAGE = 0.90
"""Default threshold of the coverage rule for overlap / target area (Pointerbench-Text); a record may name another."""
MIN_PRECISION = 0.70
"""The same for overlap / predicted area."""


class Space(NamedTuple):
    """What coordinates mean; ``scorer.core.spaces`` lists all spaces."""

    kind: str
    """The name, without what follows a colon: ``pixel``, ``grid1000``, ``frame``, ..."""
    parameters: tuple[int, ...] = ()
    """The numbers behind the colon, for the kinds that take any."""

    def __str__(self) -> str:
        if self.kind == "frame":
            return f"frame:{self.parameters[0]}x{self.parameters[1]}"
        return ":".join([self.kind, *map(str, self.parameters)])


PIXEL = Space("pixel")
"""Pixels of the original screenshot."""


class Example(NamedTuple):
    """One ground-truth record."""

    id: str
    """Unique within the benchmark."""
    rule: RuleName
    """How a prediction is judged."""
    target: tuple[float, ...]
    """What the rule reads, in pixels: xyxy for boxes, a flat ring x0, y0, x1, y1, ... for polygons, () for refusals."""
    image_size: Size
    """Width and height of the original screenshot."""
    labels: Labels = ()
    """Aligned with the axes of the benchmark."""
    instruction: str = ""
    """What the model is asked to do."""
    image: str = ""
    """The name of the screenshot's file, as the annotations give it."""
    min_coverage: float = MIN_COVERAGE
    """Threshold of the coverage rule, 0..1; other rules do not read it."""
    min_precision: float = MIN_PRECISION
    """Likewise."""


class Prediction(NamedTuple):
    """One row of a predictions file after reading. Coordinates are in ``space`` until they are converted."""

    id: str
    """The id of the example that is answered."""
    points: Points = ()
    """The candidate points. A benchmark that asks for one point gets at most one."""
    bbox: Box | None = None
    """The box, for examples that ask for one."""
    space: Space = PIXEL
    """What the coordinates mean."""
    error: str | None = None
    """What the row says of a call that failed; the outcome is then run_error whatever else is there."""
    fault: Code | None = None
    """The code of the finding that left the row without usable geometry."""
    attempt: int = 1
    """Which attempt at the example this is, from 1."""
    line: int = 0
    """The line of the file that the row starts on, from 1; 0 where there is no file."""
    source: str = ""
    """The name of the file."""
    refusal: str = ""
    """The marker by which a reply refused, if one did; the point is then (-1, -1)."""


class Verdict(NamedTuple):
    """What became of one example."""

    example: Example
    prediction: Prediction | None
    """The prediction in pixels; None where the example has no row."""
    outcome: Outcome
    coverage: float | None = None
    """Overlap / target area, 0..1; for the coverage rule only."""
    precision: float | None = None
    """Overlap / predicted area, 0..1; for the coverage rule only."""

    @property
    def distance(self) -> float | None:
        """Pixels from the nearest candidate point of a miss to its target; None where there is no such distance."""
        if self.outcome != "miss" or self.prediction is None or not self.prediction.points:
            return None
        from scorer.core.geometry import distance_to_box, distance_to_polygon

        rule, target = self.example.rule, self.example.target
        measure = {"point_in_bbox": distance_to_box, "point_in_polygon": distance_to_polygon}.get(rule)
        return None if measure is None else min(measure(x, y, target) for x, y in self.prediction.points)


class Axis(NamedTuple):
    """A grouping key of a benchmark's examples. The report's key is ``by_<name>``."""

    name: str
    overlapping: bool = False
    """Whether an example may count in several cells, so that the cells do not add up to n."""
    print_up_to: int | None = None
    """The largest number of cells that is printed unasked. None: any number. 0: the table is in the JSON only."""
    field: str = ""
    """The field of a ground-truth record that holds the cell, or a list of cells. Default: the axis's name."""


class SideFile(NamedTuple):
    """A file beside the annotations, after reading."""

    value: Any
    """The parsed content; None where it cannot be used."""
    fault: str = ""
    """Why it cannot be used."""


Record = dict[str, Any]
"""One record of an annotation file, as parsed JSON."""

Notes = list[tuple[Message, dict[str, object]]]
"""What a reader notes about a record that can be used: messages with their values."""

ReadLabels = Callable[[Record], Labels]
"""Gives the cells of a record from the fields that the axes name."""

ReadRecord = Callable[[Record, ReadLabels, Notes], Example]
"""Turns one record into an example, or raises ValueError with the reason for one that cannot be used."""

Categories = Mapping[str, tuple[str, ...]]
"""Example id -> the categories that the example counts in."""

Categorize = Callable[[Sequence[tuple[Record, Example]], Mapping[str, SideFile], Reporter], Categories]
"""Makes the categories from all records with their examples, and from the side files by name."""


class HubDataset(NamedTuple):
    """A dataset on the Hugging Face Hub, laid out as the folders of its benchmarks."""

    name: str
    """``OWNER/NAME``."""


class ZipArchive(NamedTuple):
    """A zip archive that holds the annotation files, and beside them the screenshots, in any of its folders."""

    url: str


class Benchmark(NamedTuple):
    """A named set with one scorer. It is data: everything that is particular in a benchmark stands here."""

    id: str
    """The name on the command line and in reports."""
    title: str
    """The name in prose."""
    read_record: ReadRecord
    """The reader of one annotation record."""
    id_pattern: str
    """The regular expression of its ids, which tells rows of this benchmark from those of others."""
    id_example: str
    """One id, for messages."""
    files: Mapping[str, tuple[str, ...]]
    """Instruction variant ("" where there are none) -> its annotation files, below one of ``folders``."""
    axes: tuple[Axis, ...]
    """The grouping keys, in the order of the tables."""
    rules: tuple[RuleName, ...]
    """The rules that its examples are judged by."""
    folders: tuple[str, ...] = ("",)
    """Where its files may be below a data folder; the first one is the official place."""
    screenshots: tuple[str, ...] = ("images", "")
    """Where the screenshots may be, seen from the folder of the annotation files."""
    side_files: Mapping[str, Callable[[object], str]] = {}
    """Files beside the annotations -> what says why a parsed content cannot be used, "" where it can."""
    categorize: Categorize | None = None
    """Makes the cells of the axis ``category`` from the side files; None where the records hold every axis."""
    categories: tuple[str, ...] = ()
    """The cells of the axis ``category`` that examples can be selected by; empty where there is no such selection."""
    paper: tuple[tuple[str, str], ...] = ()
    """The columns of the row that papers print: category and heading; the overall accuracy follows."""
    suite: str = ""
    """The suite that it belongs to, "" for none. Suites are ranked by the plain mean of their benchmarks."""
    column: str = ""
    """The heading of its column in the table of the suite and in papers."""
    size: int = 0
    """The number of examples of the official files."""
    any_candidate: bool = False
    """Whether a row may give several candidate points, of which any may hit."""
    sha256: tuple[str, ...] = ()
    """The known digests of official annotation files."""
    image_size: Size | None = None
    """The size of all screenshots, where they share one."""
    prompt: str = ""
    """The system prompt that the benchmark recommends, word for word."""
    download: HubDataset | ZipArchive | None = None
    """What ``score fetch`` gets; None where it cannot get the benchmark. The members of a suite share a dataset."""
    source: str = ""
    """Where the official files are."""
    licence: str = ""
    """The licence of the annotations."""

    @property
    def has_refusals(self) -> bool:
        """Whether some examples have no target, so that refusing is right there."""
        return "refusal" in self.rules


class GroundTruth(NamedTuple):
    """A benchmark's examples, loaded and possibly filtered."""

    benchmark: Benchmark
    variant: str
    """The instruction variant, "" where the benchmark has none."""
    examples: tuple[Example, ...]
    """Those that a filter kept, in the order of the file. Their number is n."""
    left_out: frozenset[str]
    """The ids that a filter left out."""
    path: str
    """The annotation file, or the folder of several."""
    sha256: str
    """The digest of the annotation file or files."""
    official: bool
    """Whether the digest is a known one."""
    categories_source: str = ""
    """The side file that the categories came from, "none" where none could be used, "" where there are none to use."""
    categories_sha256: str = ""
    """The digest of that file."""
    filter: str = ""
    """How the signature names the filter, "" for all examples."""
    findings: tuple[Finding, ...] = ()
    """What was found in the files."""

    def to_dict(self) -> dict[str, Any]:
        """What the predictions are held against, as plain data; the examples only by their number."""
        data: dict[str, Any] = {
            "path": self.path,
            "sha256": self.sha256,
            "official": self.official,
            "examples": len(self.examples),
        }
        if self.variant:
            data["variant"] = self.variant
        if self.categories_source:
            data |= {"categories": self.categories_source, "categories_sha256": self.categories_sha256}
        data["findings"] = [finding.to_dict() for finding in self.findings]
        return data


Row = tuple[int, dict[str, Any]]
"""A line number (from 1) and the JSON object that starts there."""

Rows = Iterable[Row]

Block = tuple[Sequence[int], list[dict[str, Any]]]
"""Rows that stand near each other in a file: their line numbers, and the objects that start there, aligned."""
