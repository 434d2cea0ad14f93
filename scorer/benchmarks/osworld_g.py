"""OSWorld-G: 564 tasks on 251 screenshots, in two wordings; 470 boxes, 40 polygons, 54 refusals.

Facts from xlang-ai/OSWorld-G (arXiv 2505.13227): boxes are left, top, width, height and become corners here; a polygon
is a flat ring; what stands in a refusal's coordinates is read by no rule. The capability categories overlap, and
refusals count in the categories that their tags give them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scorer.benchmarks.rows import Records, RowError, coordinate_list, image_size, row_id, shown, text
from scorer.core.findings import Findings, type_name
from scorer.core.records import UNKNOWN_LABEL, Axis, Benchmark, Example, Rows, RuleName

CATEGORIES = (
    "text_matching",
    "element_recognition",
    "layout_understanding",
    "fine_grained_manipulation",
    "refusal",
    "unclassified",
)
CLASSIFICATION = "classification_result.json"
BUCKETS = "buckets.json"
SIDE_FILES = (CLASSIFICATION, BUCKETS)

AXES = (Axis("category", overlapping=True), Axis("box_type"), Axis("gui_type", overlapping=True, print_up_to=0))

_RULES: Mapping[str, RuleName] = {
    "bbox": "point_in_bbox",
    "polygon": "point_in_polygon",
    "refusal": "refusal",
}


class SideFile(NamedTuple):
    """A file beside the annotations: its parsed content, or what is wrong with it."""

    value: Any
    fault: str = ""


def read_examples(
    rows: Rows, source: str, findings: Findings, axes: tuple[Axis, ...], sides: Mapping[str, SideFile]
) -> list[Example]:
    """Records of an annotation file -> examples. Everything that is wrong becomes a finding, nothing is dropped."""
    del axes  # each is read in its own way
    records: list[tuple[dict[str, Any], Example]] = []
    found = Records(source, findings)
    for entry, (line, row) in enumerate(rows, 1):
        try:
            example = _example(row)
        except RowError as fault:
            found.report(row, entry, line, fault)
            continue
        if not found.is_new(example, entry, line, (known for _, known in records)):
            continue
        if _is_outside(example):
            size = f"{example.image_size[0]}x{example.image_size[1]}"
            message = f"id {example.id}: the target exceeds image_size {size}; scored as given"
            findings.add("gt-outside-image", message, source, line, row_id=example.id)
        if not example.instruction:
            message = f"id {example.id}: the instruction is empty; the record is kept"
            findings.add("gt-empty-instruction", message, source, line, row_id=example.id)
        records.append((row, example))
    categories = _categories(records, sides, findings)
    return [
        example._replace(
            labels=(
                categories.get(example.id, ("unclassified",)),
                (str(row["box_type"]),),
                _gui_types(row),
            )
        )
        for row, example in records
    ]


def categories_source(sides: Mapping[str, SideFile]) -> str:
    """The side file that decides the categories, "none" where neither can be used."""
    return next((name for name in SIDE_FILES if sides[name].value is not None), "none")


def check_side_file(name: str, value: object) -> str:
    """What is wrong with the content of a side file, "" if nothing is."""
    if not isinstance(value, dict):
        return f"expected an object, found {type_name(value)}"
    table = value.get("classified") if name == CLASSIFICATION else value
    if not isinstance(table, dict):
        return f'"classified" must be an object, found {type_name(table)}'
    for category, entries in table.items():
        if not isinstance(entries, list):
            return f'"{category}" must be a list, found {type_name(entries)}'
        for entry in entries:
            named = entry.get("id") if name == CLASSIFICATION and isinstance(entry, dict) else entry
            if not isinstance(named, str):
                return f'"{category}" holds a {type_name(entry)} without a name'
    return ""


def _example(row: dict[str, Any]) -> Example:
    box_type = row.get("box_type")
    if not isinstance(box_type, str) or box_type not in _RULES:
        raise RowError(f"unknown box_type {shown(box_type)} (known: {', '.join(_RULES)})")
    target = {"bbox": _box, "polygon": _ring, "refusal": _nothing}[box_type](row.get("box_coordinates"))
    frame = image_size(row.get("image_size"))
    return Example(row_id(row), _RULES[box_type], target, frame, (), text(row, "instruction"), text(row, "image_path"))


def _box(value: object) -> tuple[float, ...]:
    numbers = coordinate_list("box_coordinates", value)
    if len(numbers) != 4:
        raise RowError(f"bbox has {len(numbers)} numbers (needs x, y, width, height)")
    x, y, width, height = numbers
    if width < 0 or height < 0:
        raise RowError(f"bbox has a negative size: {shown(value)} (needs x, y, width, height)")
    corners = x, y, x + width, y + height
    coordinate_list("the corners of bbox", list(corners))
    return corners


def _ring(value: object) -> tuple[float, ...]:
    numbers = coordinate_list("box_coordinates", value)
    if len(numbers) < 6 or len(numbers) % 2:
        raise RowError(f"polygon has {len(numbers)} numbers (needs an even count of at least 6)")
    return tuple(numbers)


def _nothing(value: object) -> tuple[float, ...]:
    del value  # no rule reads the coordinates of a refusal
    return ()


def _is_outside(example: Example) -> bool:
    xs, ys, (width, height) = example.target[0::2], example.target[1::2], example.image_size
    return bool(example.target) and (min(xs) < 0 or min(ys) < 0 or max(xs) > width or max(ys) > height)


def _gui_types(row: dict[str, Any]) -> tuple[str, ...]:
    tags = row.get("GUI_types")
    if not isinstance(tags, list):
        return (UNKNOWN_LABEL,)
    return tuple(dict.fromkeys(tag if isinstance(tag, str) else shown(tag) for tag in tags)) or (UNKNOWN_LABEL,)


def _categories(
    records: list[tuple[dict[str, Any], Example]], sides: Mapping[str, SideFile], findings: Findings
) -> dict[str, tuple[str, ...]]:
    """Example id -> its categories. Ids that are in none are left out."""
    chosen = categories_source(sides)
    for name in SIDE_FILES:
        if sides[name].fault:
            instead = "all but refusals are unclassified" if chosen == "none" else f"categories come from {chosen}"
            findings.add("gt-categories", f"{sides[name].fault}; {instead}", name)
    if chosen == CLASSIFICATION:
        known = {example.id for _, example in records}
        return _in_order(_classified(sides[chosen].value["classified"], known, findings))
    buckets = sides[BUCKETS].value if chosen == BUCKETS else {}
    return _in_order(
        [(category, example.id) for category, tags in buckets.items() for row, example in records
         if not set(_gui_types(row)).isdisjoint(tags)]
        + [("refusal", example.id) for _, example in records if example.rule == "refusal"]
    )  # fmt: skip


def _classified(classified: Mapping[str, list[Any]], known: set[str], findings: Findings) -> Iterable[tuple[str, str]]:
    for category, entries in classified.items():
        for entry in entries:
            example_id = entry["id"] if isinstance(entry, dict) else entry
            if example_id in known:
                yield category, example_id
            elif not findings.refused:  # where records were refused, their ids are no surprise
                message = f"{category} lists {example_id}, which the annotations do not have; it is not counted"
                findings.add("gt-categories", message, CLASSIFICATION, row_id=example_id)


def _in_order(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    categories: dict[str, dict[str, None]] = {}
    for category, example_id in pairs:
        categories.setdefault(example_id, {})[category] = None
    return {example_id: tuple(names) for example_id, names in categories.items()}


BENCHMARK = Benchmark(
    id="osworld-g",
    title="OSWorld-G",
    column="OSWorld-G",
    suite="",
    size=564,
    id_pattern=r"[A-Za-z0-9]{10}-[0-9]{1,3}",
    id_example="0FOB4CLBT2-0",
    folders=("osworld_g/benchmark", "osworld_g", "OSWorld-G/benchmark", "OSWorld-G", "benchmark", ""),
    files={"original": "OSWorld-G.json", "refined": "OSWorld-G_refined.json"},
    axes=AXES,
    rules=("point_in_bbox", "point_in_polygon", "refusal"),
    read=read_examples,
    any_candidate=True,
    categories=CATEGORIES,
    source="https://github.com/xlang-ai/OSWorld-G",
    licence="Apache-2.0",
)
