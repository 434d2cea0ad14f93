"""What the three Pointerbench subsets share: prompt, record schema, sources.

Facts from warmwindOS/pointerbench at commit 2a112ed. Boxes are corner pairs of whole pixels. The ``eval.type`` of a
bbox task is the string ``iou``, although its rule is coverage and precision, whose thresholds the record names.
"""

from __future__ import annotations

from operator import itemgetter

from scorer.benchmarks.fields import (
    LARGEST,
    RecordError,
    coordinate_list,
    image_size,
    number_list,
    record_id,
    shown,
    text,
)
from scorer.core import messages
from scorer.core.records import (
    MIN_COVERAGE,
    MIN_PRECISION,
    Axis,
    Benchmark,
    Box,
    Example,
    HubDataset,
    Notes,
    ReadLabels,
    Record,
    RuleName,
    Size,
)

SUITE = "pointerbench"
METADATA = "data/test/metadata.jsonl"
IMAGE_SIZE: Size = (1024, 768)

SYSTEM_PROMPT = (
    "You are evaluating Pointerbench, a GUI grounding benchmark. You will receive one 1024x768 screenshot and one "
    "task instruction. Use absolute pixel coordinates with origin at the top-left of the image. Do not return "
    "normalized coordinates. Do not crop or resize the coordinate frame. For point tasks, return JSON like "
    '{"point": [x, y]}. For bounding-box tasks, return JSON like {"bbox": [x0, y0, x1, y1]}.'
)
"""The prompt that the benchmark recommends, word for word."""


def subset(
    name: str, id_prefix: str, axes: tuple[Axis, ...], sha256: str, rules: tuple[RuleName, ...] = ("point_in_bbox",)
) -> Benchmark:
    """The benchmark of one subset, whose name is ``sheets``, ``text`` or ``pro``."""
    folder = f"pointerbench-{name}"
    return Benchmark(
        id=folder,
        title=f"Pointerbench-{name.title()}",
        read_record=read_record,
        id_pattern=rf"{id_prefix}_[0-9]{{4,9}}",
        id_example=f"{id_prefix}_0001",
        files={"": (METADATA,)},
        axes=axes,
        rules=rules,
        # In the suite's folder, in a folder of suites, or the folder itself.
        folders=(folder, f"{SUITE}/{folder}", ""),
        suite=SUITE,
        column=name.title(),
        size=500,
        sha256=(sha256,),
        image_size=IMAGE_SIZE,
        prompt=SYSTEM_PROMPT,
        download=HubDataset("WarmwindOS/pointerbench"),
        source="https://github.com/warmwindOS/pointerbench",
        licence="CC BY 4.0 (annotations)",
    )


def read_record(record: Record, read_labels: ReadLabels, notes: Notes) -> Example:
    """One record as an example. Raises RecordError for one that cannot be used."""
    try:
        name, instruction, image, answer_type, size, bbox = _FIELDS(record)
    except KeyError:
        name, instruction, image, answer_type, size, bbox = map(record.get, _NAMES, _DEFAULTS)
    if not (type(name) is str and name and type(instruction) is str and type(image) is str):
        name, instruction, image = record_id(record), text(record, "instruction"), text(record, "file_name")
    rule, coverage, precision = _POINT if answer_type == "point" else _rule(record, notes)
    size = IMAGE_SIZE if size == _SIZE else image_size(size)
    fields = name, rule, _box(bbox), size, read_labels(record), instruction, image, coverage, precision
    return tuple.__new__(Example, fields)  # takes half the time of Example(...), where there are many


def _rule(record: Record, notes: Notes) -> tuple[RuleName, float, float]:
    """The rule of a record and its two thresholds. A missing answer type is inferred as the public scorer does."""
    answer_type = record.get("answer_type")
    settings = record.get("eval") or {}
    if not isinstance(settings, dict):
        raise RecordError(f"eval must be an object, found {shown(settings)}")
    if not answer_type:
        # Written into the record, because the answer type is also one of the axes.
        answer_type = record["answer_type"] = "bbox" if settings.get("type") == "iou" else "point"
        notes.append((messages.ANSWER_TYPE_MISSING, {"task": answer_type}))
    if answer_type == "point":
        return _POINT
    if answer_type != "bbox":
        raise RecordError(f"unknown answer_type {shown(answer_type)} (known: point, bbox)")
    coverage, precision = number_list(
        "min_coverage and min_precision",
        [settings.get("min_coverage", MIN_COVERAGE), settings.get("min_precision", MIN_PRECISION)],
    )
    if not (0 <= coverage <= 1 and 0 <= precision <= 1):
        raise RecordError("min_coverage and min_precision must lie in 0..1")
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
        raise RecordError(f"bbox must be [x0, y0, x1, y1], found {shown(value)}")
    x0, y0, x1, y1 = numbers
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


_SIZE = list(IMAGE_SIZE)
_NAMES = ("id", "instruction", "file_name", "answer_type", "image_size", "bbox")
_DEFAULTS = (None, "", "", None, _SIZE, None)
_FIELDS = itemgetter(*_NAMES)
_POINT: tuple[RuleName, float, float] = ("point_in_bbox", MIN_COVERAGE, MIN_PRECISION)
