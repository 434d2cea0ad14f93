"""Where ground truth is found: layouts, the order of places, files given by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scorer import GroundTruthError, UsageError, load_benchmark
from scorer.ground_truth.load import Selection
from scorer.ground_truth.search import Locator
from tests.conftest import SHEETS_ROW, write_rows

LAYOUTS = ["pointerbench-sheets/data/test", "pointerbench/pointerbench-sheets/data/test", "data/test", "."]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ground_truth_is_found_in_a_suites_folder_in_one_above_it_and_in_the_subsets_own(
    layout: str, tmp_path: Path
) -> None:
    (tmp_path / layout).mkdir(parents=True, exist_ok=True)
    file = write_rows(tmp_path / layout / "metadata.jsonl", [SHEETS_ROW])
    assert load_benchmark("pointerbench-sheets", tmp_path).path == str(file)


def test_a_subsets_own_folder_is_not_taken_for_another_subsets(tmp_path: Path) -> None:
    (tmp_path / "data/test").mkdir(parents=True)
    write_rows(tmp_path / "data/test/metadata.jsonl", [SHEETS_ROW])
    with pytest.raises(GroundTruthError, match="no ground truth of pointerbench-text"):
        load_benchmark("pointerbench-text", tmp_path)


def test_places_are_tried_in_order_and_a_given_one_alone(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("environment", "current", "app_folder")}
    for place in places.values():
        (place / "data/test").mkdir(parents=True)
        write_rows(place / "data/test/metadata.jsonl", [SHEETS_ROW])

    def locate(**options: Any) -> str:
        return Locator(Selection(), **options).load_name("pointerbench-sheets").path

    ambient = {name: str(place) for name, place in places.items()}
    for place in places.values():
        assert locate(**ambient).startswith(str(place))
        (place / "data/test/metadata.jsonl").unlink()
    with pytest.raises(GroundTruthError) as error:
        locate(**ambient)
    message = str(error.value)
    assert all(str(place / layout / "metadata.jsonl") in message for place in places.values() for layout in LAYOUTS)
    assert "--data DIR" in message
    assert "https://github.com/warmwindOS/pointerbench" in message

    with pytest.raises(GroundTruthError, match=r"there is no folder .*gone"):
        locate(data=str(tmp_path / "gone"))
    (tmp_path / "mine").mkdir()
    write_rows(places["current"] / "data/test/metadata.jsonl", [SHEETS_ROW])
    with pytest.raises(GroundTruthError, match="mine") as error:
        locate(data=str(tmp_path / "mine"), **ambient)
    assert "current" not in str(error.value).split("get ")[0]
    with pytest.raises(UsageError, match="--gt and --data both say"):
        locate(data=str(tmp_path / "mine"), gt=str(tmp_path / "mine"), **ambient)


def test_a_file_given_by_name_tells_its_benchmark_by_its_ids(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "any.jsonl", [SHEETS_ROW])
    locator = Locator(Selection(), gt=str(file))
    assert locator.benchmark_of_file() == "pointerbench-sheets"
    assert len(locator.load_name("pointerbench-sheets").examples) == 1
    assert Locator(Selection(), gt=str(tmp_path)).benchmark_of_file() is None
    for content in ('{"id": "strange"}', "", '{"id": 7}'):
        file.write_text(content)
        with pytest.raises(UsageError, match="say it with --benchmark"):
            Locator(Selection(), gt=str(file)).benchmark_of_file()
    with pytest.raises(GroundTruthError, match="cannot be read"):
        Locator(Selection(), gt=str(tmp_path / "absent")).benchmark_of_file()


def test_the_variant_of_osworld_g_does_not_hinder_a_pointerbench_subset_in_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "data/test").mkdir(parents=True)
    write_rows(tmp_path / "data/test/metadata.jsonl", [SHEETS_ROW])
    locator = Locator(Selection(variant="refined"), data=str(tmp_path))
    assert locator.load_name("pointerbench-sheets").variant == ""
