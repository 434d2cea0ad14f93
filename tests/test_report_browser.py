"""The report in a real browser, opened from disk as people open it. Expected verdicts are those decided by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.conftest import DATA, FIXTURES, needs_data, write_rows

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.xdist_group("browser")  # one browser at a time

OSWORLD = FIXTURES / "predictions/osworld_g.jsonl"
IMAGES = ("--images", FIXTURES)
VERDICTS = json.loads((FIXTURES / "expected/osworld_g.json").read_text(encoding="utf-8"))["verdicts"]
RECORDS = {
    record["id"]: record
    for record in json.loads((FIXTURES / "osworld_g/benchmark/OSWorld-G.json").read_text(encoding="utf-8"))
}
TARGET = (251, 140, 0)
"""The orange of fixtures/draw.py: targets have it, nothing else does."""

Make = Callable[..., Path]
Visit = Callable[..., "Page"]


def listed(page: Page) -> list[str]:
    """The ids in the list, in order."""
    return page.locator("#page-list li:not([hidden]) .id").all_text_contents()


def chosen(page: Page) -> str:
    return page.locator("#page-detail h3").inner_text()


def of_outcome(*outcomes: str) -> set[str]:
    return {name for name, verdict in VERDICTS.items() if verdict["outcome"] in outcomes}


def of_type(box_type: str) -> set[str]:
    return {name for name, record in RECORDS.items() if record["box_type"] == box_type}


def test_every_example_is_listed_and_the_nearest_miss_shown(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES))
    assert set(listed(page)) == set(VERDICTS)
    # On the polygon's boundary, which is out: no pixel away, and a miss.
    assert listed(page)[0] == chosen(page) == "FIXSHOT002-0"
    head = page.locator(".headline").inner_text()
    assert "42.86" in head
    assert "9 of 21" in head


def test_worst_misses_polygons_false_refusals_and_missing_answers_are_one_press_away(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES))
    page.get_by_role("button", name="Worst misses first").click()
    # By hand: 45 px right of the bent panel's notch, 1455 - (1422.37 + 26.68) px right of the icon, on the boundary.
    assert listed(page)[:3] == ["FIXSHOT002-1", "FIXSHOT001-3", "FIXSHOT002-0"]
    assert page.locator("#page-list .measure").all_text_contents()[:3] == ["45.0 px", "6.0 px", "0.0 px"]
    page.get_by_role("button", name="Polygons").click()
    assert set(listed(page)) == of_type("polygon")
    page.get_by_role("button", name="False refusals").click()
    assert listed(page) == [chosen(page)] == ["FIXSHOT003-1"]
    page.get_by_role("button", name="Missing answers").click()
    assert set(listed(page)) == of_outcome("no_answer", "run_error", "absent")


@pytest.mark.parametrize("outcome", ["hit", "miss", "no_answer", "run_error", "absent"])
def test_the_outcome_filter_keeps_its_examples(make: Make, visit: Visit, outcome: str) -> None:
    page = visit(make(OSWORLD))
    page.locator("select[name=outcome]").select_option(outcome)
    assert set(listed(page)) == of_outcome(outcome)


def test_search_axis_and_reset(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD))
    page.get_by_role("searchbox").fill("BRIGHTNESS turn")
    assert listed(page) == ["FIXSHOT001-10"]
    page.get_by_role("searchbox").fill("shot003")
    assert set(listed(page)) == {name for name in VERDICTS if name.startswith("FIXSHOT003")}
    page.get_by_role("searchbox").fill("no such thing")
    assert listed(page) == []
    assert page.locator("#page-status").inner_text() == "0 of 21 examples"
    page.get_by_role("button", name="Reset").click()
    page.locator("#page-status:text-is('21 examples')").wait_for()
    page.locator("select.axis").first.select_option("box_type (3)")
    page.get_by_role("button", name="refusal", exact=True).click()  # a row of the chart filters the list
    assert set(listed(page)) == of_type("refusal")


def test_a_table_sorts_by_accuracy_and_by_n(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD))
    table = page.locator("table.cells").first
    columns = {"acc %": "td:nth-child(3)", "n": "td:nth-child(4)"}
    for header, cells in columns.items():
        button = table.get_by_role("button", name=header, exact=True)
        for direction in ("descending", "ascending"):
            button.click()
            shown = [float(text) for text in table.locator(cells).all_inner_texts()]
            assert shown == sorted(shown, reverse=direction == "descending")
            assert table.locator(f"th[aria-sort={direction}]").count() == 1


def test_by_keyboard_alone(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES))
    order = listed(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert chosen(page) == order[1]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the examples"
    page.keyboard.press("Enter")
    page.locator("#page-list a").nth(2).focus()
    page.keyboard.press("Enter")
    assert chosen(page) == order[2]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert chosen(page) == order[3]
    assert order[3] in page.evaluate("document.activeElement.textContent")  # the focus went along
    page.get_by_role("searchbox").focus()
    page.keyboard.press("ArrowRight")
    assert chosen(page) == order[3]  # in a field the arrows are the field's
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert chosen(page) == order[5]
    assert page.evaluate("document.activeElement.textContent") == "Next →"


def test_links_lead_to_an_example_and_say_so(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD), "#FIXSHOT004-4")
    assert chosen(page) == "FIXSHOT004-4"
    page.get_by_role("button", name="Polygons").click()
    page.evaluate("location.hash = '#FIXSHOT005-0'")  # which the filter hides
    page.locator("#page-detail h3", has_text="FIXSHOT005-0").wait_for()
    page.get_by_role("button", name="Previous").click()
    assert page.evaluate("location.hash") == f"#{chosen(page)}"


@pytest.mark.slow
def test_a_link_brings_its_example_into_the_window_and_the_list_does_not_move_it(make: Make, visit: Visit) -> None:
    file = make(OSWORLD, *IMAGES)

    def is_in_window(page: Page) -> bool:
        panel = page.locator("#page-detail").bounding_box()
        return panel is not None and 0 <= panel["y"] <= 400

    for viewport in ({"width": 1280, "height": 800}, {"width": 390, "height": 800}):
        page = visit(file, "#FIXSHOT004-4", viewport=viewport)
        assert is_in_window(page)
        page.evaluate("scrollTo(0, 0)")
        page.keyboard.press("ArrowLeft")
        assert is_in_window(page)
    page = visit(file)
    second = page.locator("#page-list a").nth(1)
    second.hover()  # a click scrolls to what it clicks on, before it does
    before = page.evaluate("scrollY")
    second.click()
    assert page.evaluate("scrollY") == before


def test_a_suite_with_boxes(make: Make, visit: Visit) -> None:
    page = visit(make(FIXTURES / "predictions/suite.jsonl", *IMAGES))
    # 6/12, 10/18 and 7/12, and their mean, as fixtures/expected has them.
    assert page.locator(".figure").all_inner_texts() == ["50.00 %", "55.56 %", "58.33 %"]
    assert "54.63 %" in page.locator(".suites").inner_text()
    assert page.locator("#page-status").inner_text() == "42 examples"
    page.locator("select[name=rule]").select_option("box to be covered")
    page.locator("select[name=outcome]").select_option("miss")
    # Edges off by 16 (684 for 700), 20.5 (779.5 for 800) and 61 px (351 for 290), from the annotations by hand.
    assert listed(page) == ["pbt_9012", "pbt_9009", "pbt_9010"]
    assert "an edge 16 px off" in page.locator(".facts").inner_text()
    assert page.locator(".screen").first.locator(".a rect.stroke").count() == 1
    page.get_by_role("button", name="Reset").click()
    page.locator("select[name=benchmark]").select_option("Pointerbench-Pro")
    assert page.locator("#page-status").inner_text() == "12 of 42 examples"


def test_the_drawing_fits_the_screenshot(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES), "#FIXSHOT001-3")
    page.locator("#page-detail image").nth(1).wait_for()
    x, y, width, height = RECORDS["FIXSHOT001-3"]["box_coordinates"]
    for place, (left, top, wide) in enumerate([(0, 0, 1920), _cut(page)]):
        screen = page.locator(".screen").nth(place)
        outer = screen.bounding_box()
        drawn = screen.locator(".target rect.stroke").bounding_box()
        mark = screen.locator(".free .a path.stroke").bounding_box()
        assert outer is not None
        assert drawn is not None
        assert mark is not None
        scale = outer["width"] / wide
        assert drawn["x"] - outer["x"] == pytest.approx((x - left) * scale, abs=3)
        assert drawn["y"] - outer["y"] == pytest.approx((y - top) * scale, abs=3)
        assert drawn["width"] == pytest.approx(width * scale, abs=5)
        # The answer of this row is (1455, 316.40625).
        assert mark["x"] + mark["width"] / 2 - outer["x"] == pytest.approx((1455 - left) * scale, abs=3)
        assert mark["y"] + mark["height"] / 2 - outer["y"] == pytest.approx((316.40625 - top) * scale, abs=3)
    # In the cut-out the middle of the target shows the target of the screenshot, seen through the tint of the outline.
    picture = Image.open(io.BytesIO(screen.screenshot())).convert("RGB")
    pixel = picture.getpixel((round((x + 0.3 * width - left) * scale), round((y + 0.7 * height - top) * scale)))
    assert isinstance(pixel, tuple)
    assert all(abs(mine - its) < 40 for mine, its in zip(pixel, TARGET, strict=True))


def _cut(page: Page) -> list[float]:
    """Left, top and width of the part of the screenshot that the cut-out says it shows."""
    frame = page.locator(".screen").first.locator(".cut rect.stroke")
    return [float(frame.get_attribute(name) or 0) for name in ("x", "y", "width")]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_fault_in_either_scheme_and_nothing_is_cut_off(
    make: Make, visit: Visit, scheme: str, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(
        make(OSWORLD, *IMAGES, "--compare", _other()), color_scheme=scheme, viewport={"width": width, "height": 800}
    )
    for details in page.locator("details > summary").all():
        details.click()
    found = Axe().run(page)
    assert found.response["passes"]
    assert not found.response["violations"], found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_is_dark(make: Make, visit: Visit) -> None:
    file = make(OSWORLD)
    colour = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"
    assert max(visit(file, color_scheme="dark").evaluate(colour)) < 64
    assert min(visit(file, color_scheme="light").evaluate(colour)) > 192


def _other() -> Path:
    """Another answer to four examples: two hits more, one hit less, one miss as before."""
    return write_rows(
        Path("other.jsonl"),
        [
            *(json.loads(line) for line in OSWORLD.read_text(encoding="utf-8").splitlines()),
            {"id": "FIXSHOT001-3", "point": [1430, 310]},  # inside the box 1422.37, 303.19 + 26.68, 28.41
            {"id": "FIXSHOT003-1", "point": [-1, -1], "raw": "It is not there."},
            {"id": "FIXSHOT004-1", "point": [-1, -1]},  # a refusal is asked for
            {"id": "FIXSHOT001-0", "point": [1, 1]},  # the box starts at 240, 135.5
        ],
    )


def test_two_files_are_shown_with_what_the_second_gains_and_loses(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES, "--compare", _other()))
    assert page.locator(".change").inner_text() == "2 gained by B, 1 lost"
    page.get_by_role("button", name="Gained by B").click()
    assert set(listed(page)) == {"FIXSHOT001-3", "FIXSHOT004-1"}
    page.get_by_role("button", name="Lost by B").click()
    assert listed(page) == ["FIXSHOT001-0"]
    screen = page.locator(".screen").first
    assert screen.locator(".free .a").count() == screen.locator(".free .b").count() == 1
    page.get_by_role("searchbox").fill("FIXSHOT003-1")
    page.locator("select[name=outcome]").select_option("")
    page.get_by_text("Reply B").click()
    assert page.locator(".reply pre").inner_text() == "It is not there."


def test_pictures_beside_the_page_are_found(make: Make, visit: Visit, tmp_path: Path) -> None:
    page = visit(make(OSWORLD, *IMAGES, "--assets", tmp_path / "some pictures"), "#FIXSHOT001-3")
    assert "page-picture-0" not in page.content()
    address = page.locator("#page-detail image").first.get_attribute("href")
    assert address is not None
    assert page.evaluate(
        "src => { const i = new Image(); i.src = src; return i.decode().then(() => i.width) }", address
    )


def test_without_scripts_the_figures_and_the_list_are_there(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES), java_script_enabled=False)
    assert set(listed(page)) == set(VERDICTS)
    assert "42.86" in page.locator(".headline").inner_text()


def test_on_paper_there_are_no_controls(make: Make, visit: Visit) -> None:
    page = visit(make(OSWORLD, *IMAGES))
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator(".filters, .steps").first.is_visible()
    assert page.locator("#page-detail h3").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@needs_data
def test_a_page_of_all_real_examples_is_usable_at_once(make: Make, visit: Visit) -> None:
    assert DATA is not None
    file = make(DATA / "predictions/mai_ui_8b.osworld_g_original.jsonl", data=DATA)
    page = visit(file)
    assert "359 of 564" in page.locator(".headline").inner_text()
    assert page.locator("#page-status").inner_text() == "564 examples"
    page.get_by_role("button", name="Polygons").click()
    assert len(listed(page)) == 40
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert loaded < 10_000  # two seconds on a machine that has nothing else to do
