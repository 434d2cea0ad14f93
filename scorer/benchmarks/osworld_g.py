"""OSWorld-G: 564 tasks on 251 screenshots, in two wordings; 470 boxes, 40 polygons, 54 refusals.

Facts from xlang-ai/OSWorld-G (arXiv 2505.13227): boxes are left, top, width, height and become corners here; a polygon
is a flat ring; no rule reads the coordinates of a refusal. The capability categories overlap, and refusals also count
in the categories that their tags give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scorer.benchmarks.fields import RecordError, coordinate_list, image_size, record_id, shown, text
from scorer.core import messages
from scorer.core.findings import Reporter, type_name
from scorer.core.records import (
    Axis,
    Benchmark,
    Categories,
    Example,
    Notes,
    ReadLabels,
    Record,
    RuleName,
    SideFile,
    ZipArchive,
)

CATEGORIES = (
    "text_matching",
    "element_recognition",
    "layout_understanding",
    "fine_grained_manipulation",
    "refusal",
    "unclassified",
)
CLASSIFICATION = "classification_result.json"
"""Category -> the ids it holds."""
BUCKETS = "buckets.json"
"""Category -> the tags it holds; used where the classification is missing."""

_RULES: Mapping[str, RuleName] = {
    "bbox": "point_in_bbox",
    "polygon": "point_in_polygon",
    "refusal": "refusal",
}


def read_record(record: Record, read_labels: ReadLabels, notes: Notes) -> Example:
    """One record as an example. Raises RecordError for one that cannot be used."""
    del notes  # a record can be used or not, and there is nothing in between
    box_type = record.get("box_type")
    if not isinstance(box_type, str) or box_type not in _RULES:
        raise RecordError(f"unknown box_type {shown(box_type)} (known: {', '.join(_RULES)})")
    target = {"bbox": _box, "polygon": _ring, "refusal": _nothing}[box_type](record.get("box_coordinates"))
    return Example(
        record_id(record),
        _RULES[box_type],
        target,
        image_size(record.get("image_size")),
        read_labels(record),
        text(record, "instruction"),
        text(record, "image_path"),
    )


def categorize(
    records: Sequence[tuple[Record, Example]], sides: Mapping[str, SideFile], report: Reporter
) -> Categories:
    """The categories of each example: from the classification, else from the tags, else of refusals alone."""
    chosen = next((name for name in SIDE_FILES if sides[name].value is not None), "")
    for name in SIDE_FILES:
        if sides[name].fault:
            instead = f"categories come from {chosen}" if chosen else "all but refusals are unclassified"
            report.findings.at(name)(messages.SIDE_FILE_UNUSABLE, fault=sides[name].fault, instead=instead)
    if chosen == CLASSIFICATION:
        known = {example.id for _, example in records}
        pairs = list(_classified(sides[chosen].value["classified"], known, report))
    else:
        buckets = sides[BUCKETS].value if chosen else {}
        pairs = [
            (category, example.id)
            for category, tags in buckets.items()
            for record, example in records
            if not set(tags).isdisjoint(_tags(record))
        ]
        pairs += [("refusal", example.id) for _, example in records if example.rule == "refusal"]
    categories: dict[str, dict[str, None]] = {example.id: {} for _, example in records}
    for category, example_id in pairs:
        categories[example_id][category] = None
    return {example_id: tuple(names) or ("unclassified",) for example_id, names in categories.items()}


def _classified(classified: Mapping[str, list[Any]], known: set[str], report: Reporter) -> Iterable[tuple[str, str]]:
    for category, entries in classified.items():
        for entry in entries:
            example_id = entry["id"] if isinstance(entry, dict) else entry
            if example_id in known:
                yield category, example_id
            elif not report.findings.has_errors:  # where records were rejected, their ids are no surprise
                place = Reporter(report.findings, CLASSIFICATION, 0, example_id)
                place(messages.UNKNOWN_ID_IN_CATEGORY, category=category, example=example_id)


def _classification_fault(value: object) -> str:
    """What is wrong with the content of the classification, "" if nothing is."""
    if not isinstance(value, dict):
        return f"expected an object, found {type_name(value)}"
    table = value.get("classified")
    if not isinstance(table, dict):
        return f'"classified" must be an object, found {type_name(table)}'
    return _lists_fault(table, lambda entry: entry.get("id") if isinstance(entry, dict) else entry)


def _buckets_fault(value: object) -> str:
    """What is wrong with the content of the buckets, "" if nothing is."""
    if not isinstance(value, dict):
        return f"expected an object, found {type_name(value)}"
    return _lists_fault(value, lambda entry: entry)


def _lists_fault(table: Mapping[str, Any], name_of: Any) -> str:
    for category, entries in table.items():
        if not isinstance(entries, list):
            return f'"{category}" must be a list, found {type_name(entries)}'
        for entry in entries:
            if not isinstance(name_of(entry), str):
                return f'"{category}" holds a {type_name(entry)} without a name'
    return ""


def _box(value: object) -> tuple[float, ...]:
    numbers = coordinate_list("box_coordinates", value)
    if len(numbers) != 4:
        raise RecordError(f"bbox has {len(numbers)} numbers (needs x, y, width, height)")
    x, y, width, height = numbers
    if width < 0 or height < 0:
        raise RecordError(f"bbox has a negative size: {shown(value)} (needs x, y, width, height)")
    corners = x, y, x + width, y + height
    coordinate_list("the corners of bbox", list(corners))
    return corners


def _ring(value: object) -> tuple[float, ...]:
    numbers = coordinate_list("box_coordinates", value)
    if len(numbers) < 6 or len(numbers) % 2:
        raise RecordError(f"polygon has {len(numbers)} numbers (needs an even count of at least 6)")
    return tuple(numbers)


def _nothing(value: object) -> tuple[float, ...]:
    del value  # no rule reads the coordinates of a refusal
    return ()


def _tags(record: Record) -> Iterable[str]:
    tags = record.get("GUI_types")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else ()


SIDE_FILES = {CLASSIFICATION: _classification_fault, BUCKETS: _buckets_fault}

BENCHMARK = Benchmark(
    id="osworld-g",
    title="OSWorld-G",
    read_record=read_record,
    id_pattern=r"[A-Za-z0-9]{10}-[0-9]{1,3}",
    id_example="0FOB4CLBT2-0",
    files={"original": ("OSWorld-G.json",), "refined": ("OSWorld-G_refined.json",)},
    axes=(
        Axis("category", overlapping=True),
        Axis("box_type"),
        Axis("gui_type", overlapping=True, print_up_to=0, field="GUI_types"),
    ),
    rules=("point_in_bbox", "point_in_polygon", "refusal"),
    folders=("osworld_g/benchmark", "osworld_g", "OSWorld-G/benchmark", "OSWorld-G", "benchmark", ""),
    side_files=SIDE_FILES,
    categorize=categorize,
    categories=CATEGORIES,
    paper=(  # Table 5 of the paper
        ("text_matching", "Text Matching"),
        ("element_recognition", "Element Recognition"),
        ("layout_understanding", "Layout Understanding"),
        ("fine_grained_manipulation", "Fine-grained Manipulation"),
        ("refusal", "Refusal"),
    ),
    column="OSWorld-G",
    size=564,
    any_candidate=True,
    download=ZipArchive("https://github.com/xlang-ai/OSWorld-G/archive/daa6bd8e0f629f0917ad2984df930bf0bd967540.zip"),
    source="https://github.com/xlang-ai/OSWorld-G",
    licence="Apache-2.0",
)
