"""What the three Pointerbench subsets share: prompt, row schema, sources.

Facts from warmwindOS/pointerbench at commit 2a112ed. Boxes are corner pairs of whole pixels. A bbox task's
``eval.type`` is the string ``iou``, although its rule is coverage and precision, both named in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from scorer.benchmarks.rows import (
    LARGEST,
    Records,
    RowError,
    coordinate_list,
    image_size,
    number_list,
    row_id,
    shown,
    text,
)
from scorer.core.findings import Code, Findings
from scorer.core.records import (
    MIN_COVERAGE,
    MIN_PRECISION,
    UNKNOWN_LABEL,
    Axis,
    Box,
    Example,
    Labels,
    Rows,
    RuleName,
    Size,
)

SUITE = "pointerbench"
SOURCE = "https://github.com/warmwindOS/pointerbench"
LICENCE = "CC BY 4.0 (annotations)"
METADATA = "data/test/metadata.jsonl"
FRAME: Size = (1024, 768)

SYSTEM_PROMPT = (
    "You are evaluating Pointerbench, a GUI grounding benchmark. You will receive one 1024x768 screenshot and one "
    "task instruction. Use absolute pixel coordinates with origin at the top-left of the image. Do not return "
    "normalized coordinates. Do not crop or resize the coordinate frame. For point tasks, return JSON like "
    '{"point": [x, y]}. For bounding-box tasks, return JSON like {"bbox": [x0, y0, x1, y1]}.'
)
"""The benchmark's own recommended prompt, word for word."""


def folders(subset: str) -> tuple[str, ...]:
    """Where a subset lies below a data folder: in the suite's folder, in a folder of suites, or the folder itself."""
    return f"pointerbench-{subset}", f"pointerbench/pointerbench-{subset}", ""


def read_examples(
    rows: Rows, source: str, findings: Findings, axes: tuple[Axis, ...], sides: Mapping[str, Any]
) -> list[Example]:
    """Rows of a metadata.jsonl -> examples. Everything that is wrong becomes a finding."""
    del sides  # the annotations hold every axis
    examples: list[Example] = []
    records = Records(source, findings)
    read_labels = _label_reader([axis.name for axis in axes])
    for entry, (line, row) in enumerate(rows, 1):
        try:
            example = _example(row, read_labels)
        except RowError as fault:
            records.report(row, entry, line, fault)
            continue
        if records.is_new(example, entry, line, examples):
            examples.append(example)
            for code, message in _oddities(example, row):
                findings.add(code, f"id {example.id}: {message}", source, line, row_id=example.id)
    return examples


def _example(row: dict[str, Any], read_labels: Callable[[dict[str, Any]], Labels]) -> Example:
    try:
        name, instruction, image, answer_type, size, bbox = _FIELDS(row)
    except KeyError:
        name, instruction, image, answer_type, size, bbox = map(row.get, _NAMES, _DEFAULTS)
    if not (type(name) is str and name and type(instruction) is str and type(image) is str):
        name, instruction, image = row_id(row), text(row, "instruction"), text(row, "file_name")
    rule, coverage, precision = _POINT if answer_type == "point" else _rule(row)
    frame = FRAME if size == _SIZE else image_size(size)
    box = _box(bbox)
    fields = name, rule, box, frame, read_labels(row), instruction, image, coverage, precision
    return tuple.__new__(Example, fields)  # half the time of Example(...), where there are many


def _oddities(example: Example, row: dict[str, Any]) -> Sequence[tuple[Code, str]]:
    """What is worth a warning in a row that is scored as given."""
    x0, y0, x1, y1 = example.target
    width, height = example.image_size
    inside = x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height
    if inside and example.instruction and _INFERRED not in row:
        return ()
    found: list[tuple[Code, str]] = []
    if not inside:
        size = f"image_size {width}x{height}"
        found.append(("gt-outside-image", f"bbox exceeds {size} (wrong file or resized copy?); scored as given"))
    if not example.instruction:
        found.append(("gt-empty-instruction", "the instruction is empty; the record is kept"))
    if _INFERRED in row:
        task = row["answer_type"]
        found.append(("gt-answer-type", f"answer_type is missing; read as a {task} task from eval.type"))
    return found


def _rule(row: dict[str, Any]) -> tuple[RuleName, float, float]:
    """The rule of a row and its two thresholds. A missing answer type is inferred as the public scorer does."""
    answer_type = row.get("answer_type")
    if answer_type == "point":
        return _POINT
    settings = row.get("eval") or {}
    if not isinstance(settings, dict):
        raise RowError(f"eval must be an object, found {shown(settings)}")
    if not answer_type:
        row["answer_type"] = "bbox" if settings.get("type") == "iou" else "point"
        row[_INFERRED] = True
        return _rule(row)
    if answer_type != "bbox":
        raise RowError(f"unknown answer_type {shown(answer_type)} (known: point, bbox)")
    coverage, precision = number_list(
        "min_coverage and min_precision",
        [settings.get("min_coverage", MIN_COVERAGE), settings.get("min_precision", MIN_PRECISION)],
    )
    if not (0 <= coverage <= 1 and 0 <= precision <= 1):
        raise RowError("min_coverage and min_precision must lie in 0..1")
    return "coverage_precision", float(coverage), float(precision)


def _box(value: object) -> Box:
    """A box with its corners in order; the public scorer sorts swapped ones too."""
    if type(value) is list and len(value) == 4:
        x0, y0, x1, y1 = value
        # Whole numbers in order, as all official boxes are; anything else is read with more care.
        whole = type(x0) is int and type(y0) is int and type(x1) is int and type(y1) is int
        if whole and -LARGEST < x0 <= x1 < LARGEST and -LARGEST < y0 <= y1 < LARGEST:
            return x0, y0, x1, y1
    numbers = coordinate_list("bbox", value)
    if len(numbers) != 4:
        raise RowError(f"bbox must be [x0, y0, x1, y1], found {shown(value)}")
    x0, y0, x1, y1 = numbers
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _label_reader(names: Sequence[str]) -> Callable[[dict[str, Any]], Labels]:
    """Row -> its cell of each axis. Rows with the same fields share one tuple: there are few hundred of them."""
    combinations: dict[tuple[object, ...], Labels] = {}
    every_field = itemgetter(*names)

    def read(row: dict[str, Any]) -> Labels:
        try:
            return combinations[every_field(row)]
        except (KeyError, TypeError):
            fields = tuple(map(row.get, names))
        labels: Labels = tuple((_label(field),) for field in fields)
        if all(type(field) is str for field in fields):  # a string is equal to nothing but itself
            labels = combinations.setdefault(fields, labels)
        return labels

    return read


def _label(value: object) -> str:
    return UNKNOWN_LABEL if value is None else value if isinstance(value, str) else shown(value)


_SIZE = list(FRAME)
_NAMES = ("id", "instruction", "file_name", "answer_type", "image_size", "bbox")
_DEFAULTS = (None, "", "", None, _SIZE, None)
_FIELDS = itemgetter(*_NAMES)
_POINT: tuple[RuleName, float, float] = ("point_in_bbox", MIN_COVERAGE, MIN_PRECISION)
_INFERRED = "answer_type was inferred"
