"""Hostile files against the report: nothing of theirs runs, is asked for, or leads out of the folder of screenshots."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from scorer.benchmarks import BENCHMARKS
from scorer.output.html import images
from scorer.output.html.images import ScreenshotError, Wanted
from tests.conftest import Score, scaled, subset_row, write_rows

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "' onmouseover='window.ran = 1",
    "<svg onload=window.ran=1>",
    "<style>* { background: url(http://127.0.0.1:9/x) }</style>",
    '<link rel="stylesheet" href="http://127.0.0.1:9/x.css"><iframe src="http://127.0.0.1:9/"></iframe>',
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.ran=1",
    "<base href='http://127.0.0.1:9/'><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "page-search __proto__ constructor \u202e\u0007 \ud800",
)


def _hostile_files(folder: Path) -> tuple[Path, Path]:
    """A ground truth and predictions with script in every text that the page shows."""
    truth = [
        subset_row("pbp", number)
        | {"id": f"{text} {number}", "instruction": text, "app": text, "element_type": text, "platform": text}
        | {"file_name": text}
        for number, text in enumerate(HOSTILE)
    ]
    answers: list[dict[str, Any]] = [{"point": [1, 1]}, {"point": [150, 250]}, {"error": HOSTILE[1]}, {"point": "x"}]
    rows = [{"id": row["id"], "raw": row["instruction"], **answers[n % 4]} for n, row in enumerate(truth)]
    return write_rows(folder / "truth.jsonl", truth), write_rows(folder / f"{HOSTILE[2].replace('/', '')}.jsonl", rows)


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_no_text_of_a_file_runs_or_is_taken_for_markup(
    run_score: Score, visit: Callable[..., Page], tmp_path: Path
) -> None:
    truth, predictions = _hostile_files(tmp_path)
    out = tmp_path / "report.html"
    options = ("--gt", truth, "-b", "pointerbench-pro", "--compare", predictions, "--out", out)
    assert run_score("report", "-p", predictions, *options).status == 0
    page = visit(out)  # which fails on any request, error or word on the console, such as of a policy that was broken
    for number in range(len(HOSTILE)):
        panel = page.locator("#page-detail")
        panel.locator("summary").first.click()
        shown = panel.inner_text()
        assert any(text[:20] in shown for text in HOSTILE), number
        page.locator("#page-list a").nth(number).hover()
        page.keyboard.press("ArrowRight")
    for summary in page.locator("main > details > summary, .receipt > summary").all():
        summary.click()
    page.locator("select[name=cell]").select_option(index=3)
    assert page.evaluate("window.ran") is None
    assert page.locator("img, iframe, link[rel=stylesheet], base, main style, main script").count() == 0
    assert page.locator("#page-list li").count() == len(HOSTILE)


@pytest.mark.xdist_group("browser")
def test_the_policy_alone_stops_what_would_slip_through(run_score: Score, chromium: Any, tmp_path: Path) -> None:
    truth, predictions = _hostile_files(tmp_path)
    out = tmp_path / "report.html"
    run_score("report", "-p", predictions, "--gt", truth, "-b", "pointerbench-pro", "--out", out)
    injected = "<script>window.ran = 1</script><img src='http://127.0.0.1:9/x' onerror='window.ran = 1'>"
    out.write_text(out.read_text(encoding="utf-8").replace("<main>", f"<main>{injected}"), encoding="utf-8")
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(out.as_uri())
    page.locator("#page-detail h3").wait_for()
    assert page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in text for text in said) >= 2
    page.close()


def _wanted(name: str, benchmark: str = "osworld-g", frame: tuple[int, int] = (4, 3)) -> Wanted:
    known = BENCHMARKS[benchmark]
    return Wanted(known, next(iter(known.files)), name, frame, ())


def _picture(path: Path, size: tuple[int, int] = (4, 3)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "teal").save(path)
    return path


@pytest.mark.parametrize(
    "name", ["../secret.png", "a/../../secret.png", "{outside}", "link.png", "folder/secret.png", "", "nul\0.png"]
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    secret = _picture(tmp_path / "outside/secret.png")
    folder = tmp_path / "outside/images"
    folder.mkdir()
    (folder / "link.png").symlink_to(secret)
    (folder / "folder").symlink_to(secret.parent)
    with pytest.raises(ScreenshotError):
        images.find(str(folder), _wanted(name.format(outside=secret)), alone=True)


def test_screenshots_are_found_in_each_layout_and_never_another_benchmarks(tmp_path: Path) -> None:
    official = _picture(tmp_path / "pointerbench-text/data/test/0001.png")
    assert images.find(str(tmp_path), _wanted("0001.png", "pointerbench-text"), alone=False) == str(official)
    assert images.find(str(official.parent), _wanted("0001.png", "pointerbench-text"), alone=True) == str(official)
    with pytest.raises(ScreenshotError, match="not found"):
        images.find(str(official.parent), _wanted("0001.png", "pointerbench-text"), alone=False)
    with pytest.raises(ScreenshotError, match="not found"):
        images.find(str(tmp_path), _wanted("0001.png", "pointerbench-pro"), alone=True)
    shot = _picture(tmp_path / "osworld_g/benchmark/images/A.png")
    assert images.find(str(tmp_path), _wanted("A.png"), alone=False) == str(shot)
    link = tmp_path / "linked"
    link.symlink_to(shot.parent)  # the folder that was named may be a link itself
    assert images.find(str(link), _wanted("A.png"), alone=True) == str(shot)


def _convert(folder: Path, *wanted: Wanted) -> list[images.Pictures | ScreenshotError]:
    return list(images.convert_all(str(folder), wanted, 1024, alone=True))


def _bomb(path: Path, width: int, height: int) -> None:
    """A PNG of a few bytes that says how large it is and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [8001, 12_000, 60_000])
def test_a_picture_that_claims_to_be_huge_is_not_decoded(tmp_path: Path, side: int) -> None:
    _bomb(tmp_path / "bomb.png", side, side)
    (result,) = _convert(tmp_path, _wanted("bomb.png", frame=(side, side)))
    assert "million pixels" in str(result)


def test_other_formats_and_other_sizes_are_refused_and_others_still_shown(tmp_path: Path) -> None:
    _picture(tmp_path / "good.png")
    _picture(tmp_path / "large.png", (5, 3))
    Image.new("RGB", (4, 3)).save(tmp_path / "other.png", "GIF")
    os.mkfifo(tmp_path / "pipe.png")
    names = ("large.png", "other.png", "pipe.png", "good.png")
    large, other, pipe, good = _convert(tmp_path, *map(_wanted, names))
    assert str(large) == "it is 5x3, but its examples are of 4x3"
    assert "cannot be read" in str(other)
    assert "not found" in str(pipe)
    assert isinstance(good, images.Pictures)


@settings(max_examples=scaled(60))
@given(data=st.data())
def test_a_damaged_picture_is_named_and_never_fatal(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(_picture(folder / "a.png").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "a.png").write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    (result,) = _convert(folder, _wanted("a.png"))
    assert isinstance(result, images.Pictures | ScreenshotError)


def test_a_dense_screenshot_stays_within_its_bytes(tmp_path: Path) -> None:
    noise = Image.effect_noise((1920, 1080), 120).convert("RGB")
    noise.save(tmp_path / "noise.png", compress_level=1)
    wanted = _wanted("noise.png", frame=(1920, 1080))._replace(cuts=((10, 20, 80, 60), (0, 0, 900, 900)))
    (result,) = _convert(tmp_path, wanted)
    assert isinstance(result, images.Pictures)
    assert len(result.screenshot) <= images.BYTES
    small, large = result.cuts
    with Image.open(BytesIO(small)) as cut:
        assert cut.size == (80, 60)
    assert large == b""
