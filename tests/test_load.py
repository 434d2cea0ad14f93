"""Ground truth: where it is found, what is refused by name, what is kept with a warning."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scorer import GroundTruth, GroundTruthError, UsageError, load_benchmark
from scorer.ground_truth.load import Selection
from scorer.ground_truth.search import Locator
from tests.conftest import FIXTURES, SHEETS_ROW, write_rows

RECORD: dict[str, Any] = {
    "id": "FIXTURE001-0",
    "image_path": "FIXTURE001.png",
    "image_size": [1920, 1080],
    "instruction": "Press OK.",
    "box_type": "bbox",
    "box_coordinates": [10.5, 20.25, 30, 40],
    "GUI_types": ["Button", "Label"],
}
REFUSAL = RECORD | {"id": "FIXTURE001-1", "box_type": "refusal", "box_coordinates": [0, 0, 0, 0], "GUI_types": ["/"]}
RING = RECORD | {
    "id": "FIXTURE001-2",
    "box_type": "polygon",
    "box_coordinates": [0, 0, 50, 0, 50, 40],
    "GUI_types": ["Slider"],
}
CLASSES = {"classified": {"text_matching": [{"id": RECORD["id"]}], "refusal": [REFUSAL["id"]]}}
BUCKETS = {"element_recognition": ["Button"], "text_matching": ["Label"]}


def sheets(folder: Path, *changes: dict[str, Any]) -> GroundTruth:
    file = write_rows(folder / "metadata.jsonl", [SHEETS_ROW | change for change in changes or ({},)])
    return load_benchmark("pointerbench-sheets", file)


def osworld(folder: Path, *records: dict[str, Any], sides: bool = True, **options: Any) -> GroundTruth:
    (folder / "OSWorld-G.json").write_text(json.dumps(records or [RECORD, REFUSAL, RING]))
    if sides:
        (folder / "classification_result.json").write_text(json.dumps(CLASSES))
        (folder / "buckets.json").write_text(json.dumps(BUCKETS))
    return load_benchmark("osworld-g", folder, **options)


def codes(truth: GroundTruth) -> list[str]:
    return [finding.code for finding in truth.findings]


def test_a_row_becomes_an_example_with_its_labels_and_the_file_its_digest(tmp_path: Path) -> None:
    truth = sheets(tmp_path)
    (example,) = truth.examples
    assert list(example.target) == [10, 20, 30, 40]
    assert (example.rule, example.image_size, example.instruction) == ("point_in_bbox", (1024, 768), "Select B2.")
    assert example.labels == (("cell_ref",), ("bare",), ("cell",))
    assert truth.sha256 == hashlib.sha256((tmp_path / "metadata.jsonl").read_bytes()).hexdigest()
    assert not truth.official
    assert codes(truth) == ["gt-not-official"]


@pytest.mark.parametrize(
    ("change", "labels"),
    [
        ({"category": None}, ("?",)),
        ({"category": 7}, ("7",)),
        ({"category": ["a"]}, ("['a']",)),
        ({"category": "x" * 500}, ("x" * 500,)),
    ],
)
def test_an_axis_field_that_is_missing_or_no_string_still_has_a_cell(
    change: dict[str, Any], labels: tuple[str, ...], tmp_path: Path
) -> None:
    assert sheets(tmp_path, change).examples[0].labels[0] == labels
    row = {key: value for key, value in SHEETS_ROW.items() if key != "category"}
    truth = load_benchmark("pointerbench-sheets", write_rows(tmp_path / "m.jsonl", [row]))
    assert truth.examples[0].labels[0] == ("?",)


def test_swapped_corners_of_a_target_are_put_in_order_as_the_public_scorer_does(tmp_path: Path) -> None:
    assert sheets(tmp_path, {"bbox": [30, 40, 10, 20]}).examples[0].target == (10, 20, 30, 40)


def test_an_image_size_is_the_rows_own_and_1024x768_where_it_is_missing(tmp_path: Path) -> None:
    plain = {key: value for key, value in SHEETS_ROW.items() if key != "image_size"}
    rows = [SHEETS_ROW | {"image_size": [800, 600]}, plain | {"id": "pbs_0002"}]
    truth = load_benchmark("pointerbench-sheets", write_rows(tmp_path / "m.jsonl", rows))
    assert [example.image_size for example in truth.examples] == [(800, 600), (1024, 768)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bbox": None}, "id pbs_0001: bbox must be a list of numbers, found null"),
        ({"bbox": [1, 2, 3]}, "bbox must be [x0, y0, x1, y1], found [1, 2, 3]"),
        ({"bbox": [1, 2, 3, "4"]}, "bbox: entry 4 is a string, not a number"),
        ({"bbox": [1, 2, True, 4]}, "bbox: entry 3 is a boolean, not a number"),
        ({"bbox": [1, 2, float("nan"), 4]}, "bbox: entry 3 is not finite"),
        ({"bbox": [1, 2, float("-inf"), 4]}, "bbox: entry 3 is not finite"),
        ({"bbox": [1, 2, 10**400, 4]}, "bbox: entry 3 is 1000"),
        ({"bbox": [1, 2, 10**7, 4]}, "bbox: entry 3 is 10000000 (needs pixels between -10,000,000 and 10,000,000)"),
        ({"bbox": [1, -1e7, 3, 4]}, "bbox: entry 2 is -10000000.0 (needs pixels between"),
        ({"image_size": [0, 768]}, "image_size must be [width, height], two whole numbers from 1, found [0, 768]"),
        ({"image_size": [1024.5, 768]}, "image_size must be"),
        ({"image_size": "1024x768"}, "image_size must be"),
        ({"answer_type": "polygon"}, "unknown answer_type 'polygon' (known: point, bbox)"),
        ({"answer_type": "bbox", "eval": "iou"}, "eval must be an object, found 'iou'"),
        ({"answer_type": "bbox", "eval": {"min_coverage": 90}}, "must lie in 0..1"),
        ({"answer_type": "bbox", "eval": {"min_coverage": 10**400}}, "must lie in 0..1"),
        ({"answer_type": "bbox", "eval": {"min_coverage": "0.9"}}, "entry 1 is a string"),
        ({"instruction": 7}, "instruction must be a string, found number"),
        ({"id": 7}, "entry 1: id must be a string, found number"),
    ],
)
def test_a_malformed_row_refuses_the_file_and_is_named(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(GroundTruthError) as error:
        sheets(tmp_path, change)
    assert error.value.exit_code == 3
    assert said in error.value.findings[0].message


def test_all_faults_of_a_file_are_named_in_one_error(tmp_path: Path) -> None:
    with pytest.raises(GroundTruthError, match="4 errors") as error:
        osworld(
            tmp_path,
            RECORD | {"box_type": "circle"},
            RING | {"box_coordinates": [1, 2, 3, 4, 5]},
            RECORD | {"id": "FIXTURE001-9", "box_coordinates": [1, 2, -3, 4]},
            REFUSAL,
            REFUSAL,
        )
    assert [(p.id, p.code) for p in error.value.findings] == [
        ("FIXTURE001-0", "gt-row"),
        ("FIXTURE001-2", "gt-row"),
        ("FIXTURE001-9", "gt-row"),
        ("FIXTURE001-1", "gt-duplicate-id"),
    ]
    assert "appears twice (entries 4 and 5) with the same box" in error.value.findings[3].message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"box_coordinates": [1, 2, 3]}, "bbox has 3 numbers (needs x, y, width, height)"),
        ({"box_type": "polygon"}, "polygon has 4 numbers (needs an even count of at least 6)"),
        ({"box_type": "polygon", "box_coordinates": [1] * 7}, "polygon has 7 numbers"),
        ({"box_coordinates": [1, 2, 3, 1e7]}, "box_coordinates: entry 4 is 10000000.0 (needs pixels between"),
        ({"box_coordinates": [6e6, 2, 5e6, 4]}, "the corners of bbox: entry 3 is 11000000.0 (needs pixels between"),
        (RING | {"box_coordinates": [0, 0, 50, 0, 50, 2**60]}, "box_coordinates: entry 6 is 1152921504606846976 ("),
        (RING | {"box_coordinates": [0, 0, 50, 0, 1e300, 1]}, "box_coordinates: entry 5 is 1e+300 (needs"),
        ({"box_type": None}, "unknown box_type None"),
        ({"box_type": ["bbox"]}, "unknown box_type ['bbox']"),
        ({"image_size": None}, "image_size must be"),
        ({"image_path": 3}, "image_path must be a string"),
    ],
)
def test_a_malformed_osworld_g_record_refuses_the_file(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(GroundTruthError) as error:
        osworld(tmp_path, RECORD | change)
    assert said in error.value.findings[0].message


def test_very_many_duplicates_are_named_in_a_time_that_grows_with_their_number(tmp_path: Path) -> None:
    records = [REFUSAL | {"id": f"FIXTURE{n:03d}-{n // 1000}"} for n in range(8000)]
    with pytest.raises(GroundTruthError, match="8000 errors") as error:
        osworld(tmp_path, *records, *[records[-1]] * 8000)
    assert "(entries 8000 and 8001) with the same box" in error.value.findings[0].message


def test_a_pipe_or_a_path_that_cannot_be_is_no_ground_truth(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GroundTruthError, match="no regular file"):
        load_benchmark("osworld-g", tmp_path / "pipe")
    with pytest.raises(GroundTruthError, match="no regular file"):
        Locator(Selection(), gt=str(tmp_path / "pipe")).benchmark_of_file()
    with pytest.raises(GroundTruthError, match="no such file"):
        load_benchmark("osworld-g", "nul\0")


def test_one_category_or_one_sample_id_may_be_given_as_a_string(tmp_path: Path) -> None:
    truth = osworld(tmp_path, categories="refusal", sample_ids="FIXTURE001-1")
    assert [example.id for example in truth.examples] == ["FIXTURE001-1"]


def test_another_variant_that_cannot_be_read_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    osworld(tmp_path)
    (tmp_path / "OSWorld-G_refined.json").write_text("[")

    def guarded(file: str, mode: str) -> Any:
        if "refined" in str(file):
            raise PermissionError(13, "Permission denied")
        return open(file, mode)

    monkeypatch.setattr("scorer.ground_truth.load.open", guarded, raising=False)
    assert len(load_benchmark("osworld-g", tmp_path).examples) == 3


def test_a_file_without_rows_or_with_broken_ones_is_no_ground_truth(tmp_path: Path) -> None:
    for content in ("", "[]", "{", "\n", "[1]"):
        (tmp_path / "metadata.jsonl").write_text(content)
        with pytest.raises(GroundTruthError, match="no usable ground truth"):
            load_benchmark("pointerbench-sheets", tmp_path / "metadata.jsonl")
    with pytest.raises(GroundTruthError, match="cannot be read"):
        load_benchmark("pointerbench-sheets", tmp_path / "absent.jsonl")


def test_boxes_are_left_top_width_height_and_become_corners_once(tmp_path: Path) -> None:
    box, refusal, ring = osworld(tmp_path).examples
    assert (box.rule, box.target) == ("point_in_bbox", (10.5, 20.25, 40.5, 60.25))
    assert (refusal.rule, refusal.target) == ("refusal", ())
    assert (ring.rule, ring.target) == ("point_in_polygon", (0, 0, 50, 0, 50, 40))


def test_categories_come_from_the_classification_then_from_the_tags_then_from_nothing(tmp_path: Path) -> None:
    def categories(truth: GroundTruth) -> list[tuple[str, ...]]:
        return [example.labels[0] for example in truth.examples]

    truth = osworld(tmp_path)
    assert categories(truth) == [("text_matching",), ("refusal",), ("unclassified",)]
    assert (codes(truth), truth.categories_source) == ([], "classification_result.json")

    (tmp_path / "classification_result.json").write_text('{"classified": {"text_matching": 7}}')
    truth = load_benchmark("osworld-g", tmp_path)
    assert categories(truth) == [("element_recognition", "text_matching"), ("refusal",), ("unclassified",)]
    assert (codes(truth), truth.categories_source) == (["gt-categories"], "buckets.json")
    assert "is invalid" in truth.findings[0].message
    assert "categories come from buckets.json" in truth.findings[0].message

    (tmp_path / "buckets.json").write_text("{")
    (tmp_path / "classification_result.json").unlink()
    truth = load_benchmark("osworld-g", tmp_path)
    assert categories(truth) == [("unclassified",), ("refusal",), ("unclassified",)]
    assert (codes(truth), truth.categories_source) == (["gt-categories", "gt-categories"], "none")
    assert "is not in" in truth.findings[0].message
    assert "cannot be read" in truth.findings[1].message


@pytest.mark.parametrize(
    "content", ["[]", '{"classified": []}', '{"classified": {"a": [{}]}}', '{"classified": {"a": [7]}}', "\xff"]
)
def test_an_invalid_classification_is_a_warning_that_says_what_takes_its_place(content: str, tmp_path: Path) -> None:
    osworld(tmp_path)
    (tmp_path / "classification_result.json").write_bytes(content.encode("latin-1"))
    truth = load_benchmark("osworld-g", tmp_path)
    assert codes(truth) == ["gt-categories"]
    assert truth.categories_source == "buckets.json"


def test_tags_that_are_missing_empty_or_repeated_are_cells_all_the_same(tmp_path: Path) -> None:
    truth = osworld(
        tmp_path,
        RECORD | {"GUI_types": None},
        RECORD | {"GUI_types": [], "id": "FIXTURE001-7"},
        RECORD | {"GUI_types": ["Tab", "Tab", 7], "id": "FIXTURE001-8"},
    )
    assert [example.labels[2] for example in truth.examples] == [("?",), ("?",), ("Tab", "7")]


def test_what_is_odd_but_usable_is_scored_with_a_warning(tmp_path: Path) -> None:
    truth = osworld(tmp_path, RECORD | {"instruction": ""}, RING | {"box_coordinates": [0, 0, 5000, 0, 50, 40]})
    assert codes(truth)[:2] == ["gt-empty-instruction", "gt-outside-image"]
    assert len(truth.examples) == 2
    truth = sheets(tmp_path, {"bbox": [0, 0, 2000, 20], "instruction": ""})
    assert codes(truth) == ["gt-outside-image", "gt-empty-instruction", "gt-not-official"]


def test_target_coordinates_up_to_the_bound_and_down_to_the_smallest_double_are_read(tmp_path: Path) -> None:
    ring = [-9_999_999, 5e-324, 9_999_999.5, 0, 0, 9_999_999]
    truth = osworld(tmp_path, RING | {"box_coordinates": ring}, RECORD | {"box_coordinates": [9e6, -9e6, 9e5, 1]})
    assert [example.target for example in truth.examples] == [tuple(ring), (9e6, -9e6, 9.9e6, 1 - 9e6)]
    assert sheets(tmp_path, {"bbox": [-9_999_999, 0, 0.5, 9_999_999]}).examples[0].target[0] == -9_999_999


def test_a_missing_answer_type_is_taken_from_the_rule(tmp_path: Path) -> None:
    row = {key: value for key, value in SHEETS_ROW.items() if key != "answer_type"}
    box = row | {"id": "pbs_0002", "eval": {"type": "iou", "min_coverage": 0.8, "min_precision": 0.6}}
    no_eval = row | {"id": "pbs_0003", "eval": None}
    truth = load_benchmark("pointerbench-sheets", write_rows(tmp_path / "m.jsonl", [row, box, no_eval]))
    assert [e.rule for e in truth.examples] == ["point_in_bbox", "coverage_precision", "point_in_bbox"]
    assert truth.examples[1][-2:] == (0.8, 0.6)
    assert codes(truth)[:3] == ["gt-answer-type"] * 3


def test_variants_that_disagree_on_a_target_are_named_with_both(tmp_path: Path) -> None:
    osworld(tmp_path)
    other = [RECORD | {"box_coordinates": [1, 2, 3, 4]}, REFUSAL, RING]
    (tmp_path / "OSWorld-G_refined.json").write_text(json.dumps(other))
    for variant in ("original", "refined"):
        truth = load_benchmark("osworld-g", tmp_path, variant=variant)
        assert truth.variant == variant
        assert codes(truth) == ["gt-variants-differ"]
        assert "[1, 2, 4, 6]" in truth.findings[0].message
        assert "[10.5, 20.25, 40.5, 60.25]" in truth.findings[0].message


def test_the_name_of_a_file_says_which_variant_it_holds(tmp_path: Path) -> None:
    osworld(tmp_path)
    refined = tmp_path / "OSWorld-G_refined.json"
    refined.write_text((tmp_path / "OSWorld-G.json").read_text())
    assert load_benchmark("osworld-g", refined).variant == "refined"
    with pytest.raises(UsageError, match="holds the refined instructions, but original was asked for"):
        load_benchmark("osworld-g", refined, variant="original")
    renamed = tmp_path / "mine.json"
    renamed.write_text(refined.read_text())
    assert load_benchmark("osworld-g", renamed, variant="refined").variant == "refined"


def test_filters_shrink_the_examples_in_file_order_and_name_themselves(tmp_path: Path) -> None:
    truth = osworld(tmp_path, categories=["refusal", "text_matching"], sample_ids=["FIXTURE001-1", "FIXTURE001-0"])
    assert [example.id for example in truth.examples] == ["FIXTURE001-0", "FIXTURE001-1"]
    assert truth.left_out == {"FIXTURE001-2"}
    assert truth.filter.startswith("category=refusal+text_matching,sample_ids=2@")
    everything = load_benchmark("osworld-g", tmp_path, categories=["all", "refusal"])
    assert (len(everything.examples), everything.filter, everything.left_out) == (3, "", frozenset())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"categories": ["refusals"]}, 'no category "refusals"; known: text_matching'),
        ({"sample_ids": ["FIXTURE001-7"]}, "no example with the sample id: FIXTURE001-7"),
        ({"sample_ids": [f"x{i}" for i in range(12)]}, "and 2 more"),
        (
            {"categories": ["refusal"], "sample_ids": ["FIXTURE001-0"]},
            "no example in category refusal with the sample id: FIXTURE001-0",
        ),
        ({"variant": "rewritten"}, 'no instruction variant "rewritten"; known: original, refined'),
    ],
)
def test_unknown_names_in_a_filter_are_errors(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        osworld(tmp_path, **options)


def test_an_unknown_benchmark_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match='unknown benchmark "screenspot"; known: pointerbench-sheets'):
        load_benchmark("screenspot", "x")
    with pytest.raises(UsageError, match='pointerbench-sheets has no instruction variant "refined"; known: none'):
        load_benchmark("pointerbench-sheets", ".", variant="refined")


def test_a_compressed_annotation_file_is_read_as_the_plain_one(tmp_path: Path) -> None:
    plain = FIXTURES / "pointerbench/pointerbench-pro/data/test/metadata.jsonl"
    packed = tmp_path / "metadata.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    found, same = (load_benchmark("pointerbench-pro", file) for file in (packed, plain))
    assert found.examples == same.examples
