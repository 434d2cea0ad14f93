"""The search for a screenshot: the same places for asking and for the report, and no name leads out of the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.benchmarks import BENCHMARKS
from scorer.ground_truth.screenshots import NotFound, find_below, find_beside

OSWORLD, TEXT = BENCHMARKS["osworld-g"], BENCHMARKS["pointerbench-text"]


def _file(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return str(path)


@pytest.mark.parametrize("place", ["", "images/"])
def test_beside_the_annotations_and_in_images_there(tmp_path: Path, place: str) -> None:
    file = _file(tmp_path / f"osworld_g/benchmark/{place}a.png")
    annotations = str(tmp_path / "osworld_g/benchmark/OSWorld-G.json")
    assert find_beside(annotations, "a.png") == file
    assert find_below(str(tmp_path), OSWORLD, "original", "a.png", alone=False) == file
    assert find_below(str(tmp_path / "osworld_g"), OSWORLD, "refined", "a.png", alone=True) == file
    assert find_beside(annotations, "b.png") == NotFound("absent", ("b.png", "images/b.png"))


def test_both_commands_prefer_the_same_of_two_files(tmp_path: Path) -> None:
    annotations = str(tmp_path / "pointerbench-text/data/test/metadata.jsonl")
    _file(tmp_path / "pointerbench-text/data/test/images/a.png")
    beside = _file(tmp_path / "pointerbench-text/data/test/a.png")
    assert find_beside(annotations, "a.png") == beside
    assert find_below(str(tmp_path), TEXT, "", "a.png", alone=False) == beside


def test_a_bare_folder_of_screenshots_is_searched_where_all_examples_are_of_one_benchmark(tmp_path: Path) -> None:
    file = _file(tmp_path / "a.png")
    assert find_below(str(tmp_path), TEXT, "", "a.png", alone=True) == file
    not_found = find_below(str(tmp_path), TEXT, "", "a.png", alone=False)
    assert isinstance(not_found, NotFound)
    assert not_found.reason == "absent"
    assert "pointerbench/pointerbench-text/data/test/images/a.png" in not_found.looked
    assert "a.png" not in not_found.looked


@pytest.mark.parametrize("name", ["", "\0", "a\0.png"])
def test_what_is_no_name_is_said(tmp_path: Path, name: str) -> None:
    assert find_beside(str(tmp_path / "x.json"), name) == NotFound("no-name")
    assert find_below(str(tmp_path), TEXT, "", name, alone=True) == NotFound("no-name")


@pytest.mark.parametrize("name", ["../s.png", "a/../../s.png", "a/../b.png", "..", "..\\s.png", "/s.png", "{outside}"])
def test_a_name_that_leads_elsewhere_is_refused_whether_or_not_a_file_is_there(tmp_path: Path, name: str) -> None:
    name = name.format(outside=_file(tmp_path / "s.png"))
    _file(tmp_path / "folder/b.png")
    folder = tmp_path / "folder"
    assert find_beside(str(folder / "x.json"), name) == NotFound("leads-out")
    assert find_below(str(folder), TEXT, "", name, alone=True) == NotFound("leads-out")


def test_a_link_out_of_the_folder_is_followed_beside_the_annotations_alone(tmp_path: Path) -> None:
    """A data folder may consist of links, as the cache of a hub does; a page takes no picture from elsewhere."""
    secret = _file(tmp_path / "blobs/s.png")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.png").symlink_to(secret)
    assert find_beside(str(folder / "x.json"), "a.png") == str(folder / "a.png")
    assert find_below(str(folder), TEXT, "", "a.png", alone=True) == NotFound("leads-out")


def test_no_directory_or_pipe_is_taken_for_a_screenshot(tmp_path: Path) -> None:
    (tmp_path / "a.png").mkdir()
    os.mkfifo(tmp_path / "b.png")
    for name in ("a.png", "b.png", "./a.png"):
        for found in (
            find_beside(str(tmp_path / "x.json"), name),
            find_below(str(tmp_path), TEXT, "", name, alone=True),
        ):
            assert isinstance(found, NotFound)
            assert found.reason == "absent"


@given(st.lists(st.sampled_from(["..", ".", "/", "\\", "a", "s.png", "\0", "~", "C:", ""]) | st.text(max_size=3)))
def test_whatever_the_name_what_is_found_lies_in_the_folder(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    base = tmp_path_factory.getbasetemp() / "screenshots"
    for place in ("s.png", "a/s.png", "in/s.png", "in/a/s.png", "in/images/s.png"):
        _file(base / place)
    folder = str(base / "in")
    for name in ("/".join(parts), "".join(parts)):
        for found in (
            find_beside(os.path.join(folder, "x.json"), name),
            find_below(folder, TEXT, "", name, alone=True),
        ):
            assert isinstance(found, NotFound) or os.path.realpath(found).startswith(os.path.join(folder, ""))
