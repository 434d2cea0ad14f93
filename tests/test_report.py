"""``score report`` from the outside, and the data of its page against annotations and the reports decided by hand."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.api import load_benchmark, score
from scorer.core.report import Report
from scorer.evidence.target import bounds
from scorer.output.html.charts import sizes
from scorer.output.html.examples import Section, cut_out
from scorer.output.html.page import DEFAULT_EXAMPLES, File, Page, keep, make_page
from scorer.output.html.replies import read_replies
from scorer.output.html.template import render_page
from tests.conftest import DATA, FIXTURES, Score, needs_data, write_rows

OSWORLD = FIXTURES / "predictions/osworld_g.jsonl"
RUN = ("report", "-p", OSWORLD, "--data", FIXTURES)


def embedded(html: str) -> Any:
    """The data that the page's script reads."""
    (text,) = re.findall(r'<script type="application/json" id="page-data">(.*?)</script>', html)
    return json.loads(text)


def rows_of(html: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Accuracy in percent and n of each row of the charts, by axis and label."""
    found = re.findall(
        r'data-axis="([^"]*)" data-label="([^"]*)".*?data-value="([^"]*)".*?data-value="([^"]*)"', html, re.DOTALL
    )
    return {(axis, label): (float(accuracy), int(n)) for axis, label, accuracy, n in found}


@pytest.fixture
def html(run_score: Score, tmp_path: Path) -> str:
    out = tmp_path / "report.html"
    assert run_score(*RUN, "--images", FIXTURES, "--out", out).status == 0
    return out.read_text(encoding="utf-8")


def test_its_figures_are_those_decided_by_hand(html: str) -> None:
    expected = json.loads((FIXTURES / "expected/osworld_g.json").read_text(encoding="utf-8"))
    rows = rows_of(html)
    for axis in ("category", "box_type", "gui_type"):
        for label, cell in expected[f"by_{axis}"].items():
            accuracy, n = rows[axis, label]
            assert n == cell["n"]
            assert accuracy == pytest.approx(cell["acc"] * 100, abs=0.01)
    outcomes = {data["id"]: data["answers"][0]["outcome"] for data in embedded(html)["examples"]}
    assert outcomes == {name: verdict["outcome"] for name, verdict in expected["verdicts"].items()}


def test_it_shows_what_the_score_writes_as_json(html: str, run_score: Score) -> None:
    report = run_score(OSWORLD, "--data", FIXTURES, "--json", "-").json
    assert f"<code>{report['signature']}</code>" in html
    assert report["ground_truth"]["sha256"] in html
    low, high = report["ci95"]
    (interval,) = re.findall(r"95 % interval ([0-9.]+) – ([0-9.]+)</span>", html)
    assert [float(bound) for bound in interval] == pytest.approx([low * 100, high * 100], abs=0.06)
    details = run_score(OSWORLD, "--data", FIXTURES, "--details", "-").out.splitlines()
    for detail, data in zip(map(json.loads, details), embedded(html)["examples"], strict=True):
        shown = {**data, **data["answers"][0]}
        if shown.get("false_refusal"):
            del detail["distance"]  # of a point that names no place
        assert detail.items() <= shown.items()


def test_nothing_in_it_leads_elsewhere(html: str) -> None:
    addresses = re.findall(r'\b(?:src|href|action|poster|srcset|data)="([^"]*)"', html)
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "url(" not in html
    assert "@import" not in html


def test_a_screenshot_that_cannot_be_shown_is_named_and_the_page_written(run_score: Score, tmp_path: Path) -> None:
    folder = tmp_path / "shots"
    folder.mkdir()
    source = FIXTURES / "osworld_g/benchmark/images"
    (folder / "FIXSHOT001.png").write_bytes((source / "FIXSHOT001.png").read_bytes())
    (folder / "FIXSHOT002.png").write_bytes((source / "FIXSHOT002.png").read_bytes()[:500])
    (folder / "FIXSHOT003.png").write_bytes(
        (FIXTURES / "pointerbench/pointerbench-pro/data/test/9001.png").read_bytes()
    )
    out = tmp_path / "report.html"
    run = run_score(*RUN, "--images", folder, "--out", out)
    assert run.status == 3
    assert re.search(
        r"FIXSHOT002\.png +error +gt-screenshot +FIXSHOT002-0 and 4 more on a blank frame: cannot", run.err
    )
    assert "it is 1024x768, but its examples are of 1280x720" in run.err
    assert re.search(r"FIXSHOT004\.png .* not found in .*shots; looked for", run.err)
    examples = embedded(out.read_text(encoding="utf-8"))["examples"]
    assert {data["id"].partition("-")[0] for data in examples if "shot" in data} == {"FIXSHOT001"}
    assert len(examples) == 21


def test_pictures_are_embedded_once_each(html: str) -> None:
    data = embedded(html)
    pictures = re.findall(r'<script type="text/plain" id="page-picture-\d+">([A-Za-z0-9+/=]+)</script>', html)
    shots = {example["shot"] for example in data["examples"]}
    assert len(shots) == len({example["image"] for example in data["examples"]}) == 5
    assert len(pictures) == len(set(pictures))
    assert all(example.get("crop", 0) < len(pictures) for example in data["examples"])


def test_pictures_beside_the_page(run_score: Score, tmp_path: Path) -> None:
    out, assets = tmp_path / "report.html", tmp_path / "made of pictures"
    assert run_score(*RUN, "--images", FIXTURES, "--out", out, "--assets", assets).status == 0
    links = embedded(out.read_text(encoding="utf-8"))["pictures"]
    assert {f"made%20of%20pictures/{file.name}" for file in assets.iterdir()} == set(links)


def test_what_is_left_out_is_said(run_score: Score, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert run_score(*RUN, "--max-examples", 8, "--out", out).status == 0
    text = out.read_text(encoding="utf-8")
    assert len(embedded(text)["examples"]) == 8
    assert "Not on this page: 4 misses or missing answers and 9 hits." in " ".join(text.split())
    assert ">9 of 21 ·" in text


def test_the_page_goes_to_stdout(run_score: Score) -> None:
    run = run_score(*RUN, "--out", "-")
    assert run.status == 0
    assert run.out.lstrip().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        (("-p", "-", "--out", "r.html"), 2, "reads its files twice"),
        (("-p", FIXTURES / "predictions/bad.truncated.jsonl", "--out", "r.html"), 1, "incomplete JSON"),
        (("-p", OSWORLD, "--data", "nowhere", "--out", "r.html"), 3, "there is no folder nowhere"),
        (("-p", OSWORLD, "--out", "no/such/folder/r.html"), 2, "cannot be written (No such file or directory)"),
        (("-p", OSWORLD, "--compare", FIXTURES / "predictions/pro.jsonl", "--out", "r.html"), 2, "no row of osworld-g"),
        (("-p", OSWORLD, "--images", "nowhere", "--out", "r.html"), 2, "'nowhere' does not exist"),
        (("-p", OSWORLD, "--out", OSWORLD), 2, "would overwrite what is read"),
    ],
)
def test_it_ends_as_documented(run_score: Score, options: tuple[object, ...], status: int, says: str) -> None:
    data = () if "--data" in options else ("--data", FIXTURES)
    run = run_score("report", *options, *data)
    assert run.status == status
    assert says in run.err
    assert not Path("r.html").exists()


def test_each_of_two_files_may_be_in_a_space_and_of_a_variant_of_its_own(run_score: Score, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    lines = (FIXTURES / "predictions/osworld_g.grid1000.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    other = write_rows(tmp_path / "other.jsonl", [{**row, "space": None} for row in rows])
    both = ("--space", "pixel", "--space", "grid1000")
    variants = ("--instruction-variant", "original", "--instruction-variant", "refined")
    assert run_score(*RUN, "--compare", other, *both, *variants, "--out", out).status == 0
    text = out.read_text(encoding="utf-8")
    expected = json.loads((FIXTURES / "expected/osworld_g.grid1000.json").read_text(encoding="utf-8"))
    answers = {data["id"]: data["answers"][1]["outcome"] for data in embedded(text)["examples"]}
    assert answers == {name: verdict["outcome"] for name, verdict in expected["verdicts"].items()}
    assert "Coordinates: pixel · original instructions" in text
    assert "Coordinates: grid1000 · refined instructions" in text
    assert {"OSWorld-G.json", "OSWorld-G_refined.json"} <= set(re.findall(r"<bdi>([^<]*\.json)</bdi>", text))
    thrice = ("--space", "pixel") * 3
    assert run_score(*RUN, "--compare", other, *thrice, "--out", out).status == 2


@pytest.mark.parametrize("library", ["jinja2", "PIL"])
def test_without_the_extra_it_says_what_to_install(
    run_score: Score, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    run = run_score(*RUN, "--out", "r.html")
    assert run.status == 2
    assert "pip install 'gui-grounding-scorer[report]'" in run.err


def _page(rows: list[dict[str, Any]], benchmark: str = "pointerbench-sheets", **options: Any) -> tuple[Page, Report]:
    report = score(load_benchmark(benchmark, FIXTURES), rows)
    file = File("predictions", "rows.jsonl", "")
    return make_page([file], [Section(report, hints=options.get("hints", ()))], (), {}), report


@pytest.mark.parametrize(
    ("across", "down", "says"),
    [
        (2.0, -1.0, "2.0 target widths right of and 1.0 target heights above"),
        (-0.75, 0.0, "0.8 target widths left of"),
        (0.0, 7.0, "7.0 target heights below"),
    ],
)
def test_an_offset_shows_in_the_scatter(across: float, down: float, says: str) -> None:
    examples = load_benchmark("pointerbench-sheets", FIXTURES).examples
    boxes = {example.id: example.target for example in examples}
    rows = [
        {"id": name, "point": [(x0 + x1) / 2 + across * (x1 - x0), (y0 + y1) / 2 + down * (y1 - y0)]}
        for name, (x0, y0, x1, y1) in boxes.items()
    ]
    page, _ = _page(rows)
    scatter = page.sections[0]["scatter"]
    assert scatter.summary == f"The median miss lies {says} the centre."
    assert scatter.misses == len(boxes) == len(scatter.marks)
    assert len({(mark.x, mark.y) for mark in scatter.marks}) == 1


def test_the_classes_of_size_hold_every_target_once() -> None:
    _, report = _page([json.loads(line) for line in OSWORLD.read_text(encoding="utf-8").splitlines()], "osworld-g")
    cells = sizes(report.verdicts)
    assert report.actionable is not None
    assert sum(cell.n for cell in cells) == report.actionable.n
    assert sum(cell.hits for cell in cells) == report.actionable.hits
    # The one target whose shorter side is below 8 px, 4.5 px wide: a hit.
    assert cells[0][1:] == (1, 1)


def test_hints_and_findings_stand_in_the_head() -> None:
    page, _ = _page([{"id": "pbs_9001", "point": [1, 1]}], hints=("as grid1000 this would be 51.2 %",))
    text = render_page(page, [])
    assert "<li><bdi>as grid1000 this would be 51.2 %</bdi></li>" in text
    assert text.index("as grid1000") < text.index("11 of 12 examples") < text.index('id="page-examples"')


def test_of_many_candidates_the_first_are_drawn_and_the_others_counted() -> None:
    page, _ = _page([{"id": "FIXSHOT001-0", "points": [[n, n] for n in range(150)]}], "osworld-g")
    (answer,) = next(data["answers"] for data in page.examples if data["id"] == "FIXSHOT001-0")
    assert (len(answer["points"]), answer["more"]) == (100, 50)


@needs_data
def test_a_wrong_space_is_hinted_at_for_the_file_that_it_is_of(run_score: Score, tmp_path: Path) -> None:
    assert DATA is not None
    out, file = tmp_path / "report.html", DATA / "predictions/mai_ui_8b.osworld_g_original.jsonl"
    spaces = ("--space", "pixel", "--space", "grid1000")  # the file is in pixels
    assert run_score("report", "-p", file, "--compare", file, *spaces, "--data", DATA, "--out", out).status == 0
    (hint,) = re.findall(r'class="hints">.*?<li><bdi>(.*?)</bdi></li></ul>', out.read_text(encoding="utf-8"), re.DOTALL)
    assert hint.startswith("B: read as pixel, ")
    assert "--space pixel" in hint


def test_replies_are_those_of_the_rows_that_count(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "raw": "first"}, {"id": "a", "raw": 7, "text": "second"}, {"id": "b"}]
    lines = write_rows(tmp_path / "p.jsonl", rows)
    assert read_replies(str(lines), {2, 3}) == {(str(lines), 2): "second"}
    array = tmp_path / "p.json"
    array.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    assert set(read_replies(str(array), range(99)).values()) == {"first", "second"}
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    assert read_replies(str(packed), {1}) == {(str(packed), 1): "first"}


ranked = st.lists(st.sampled_from(["hit", "miss", "absent"]), max_size=40).map(
    lambda outcomes: [
        {
            "answers": [{"outcome": outcome}],
            "rank": {"miss": 0, "absent": 5, "hit": 6}[outcome],
            "gap": float(index % 7),
        }
        for index, outcome in enumerate(outcomes)
    ]
)


@given(examples=ranked, limit=st.one_of(st.none(), st.integers(1, 50)))
def test_a_limit_leaves_out_hits_before_misses_and_far_ones_before_near(
    examples: list[dict[str, Any]], limit: int | None
) -> None:
    kept = keep(examples, limit)
    assert len(kept) == min(len(examples), limit or DEFAULT_EXAMPLES)
    places = [next(index for index, data in enumerate(examples) if data is each) for each in kept]
    assert places == sorted(set(places))
    left = [
        (data["rank"], data["gap"] * (data["rank"] < 6)) for index, data in enumerate(examples) if index not in places
    ]
    shown = [(data["rank"], data["gap"] * (data["rank"] < 6)) for data in kept]
    assert not left or not shown or max(shown) <= min(left)


sides = st.integers(1, 5000)


@given(
    frame=st.tuples(sides, sides), shares=st.tuples(*[st.floats(-0.2, 1.2)] * 4), point=st.tuples(*[st.floats()] * 2)
)
def test_a_cut_out_holds_what_the_frame_holds_of_its_target(
    frame: tuple[int, int], shares: tuple[float, ...], point: tuple[float, float]
) -> None:
    xs, ys = sorted(share * frame[0] for share in shares[:2]), sorted(share * frame[1] for share in shares[2:])
    target = (xs[0], ys[0], xs[1], ys[1])
    cut = cut_out(target, [point], frame)
    assert cut is not None
    left, top, width, height = cut
    assert 0 <= left <= left + width <= frame[0]
    assert 0 <= top <= top + height <= frame[1]
    x0, y0, x1, y1 = bounds(target)
    assert left <= max(x0, 0) or x0 > frame[0]
    assert left + width >= min(x1, frame[0]) or x1 < 0
    assert top <= max(y0, 0) or y0 > frame[1]
    assert top + height >= min(y1, frame[1]) or y1 < 0


def test_a_refusal_has_no_cut_out() -> None:
    assert cut_out((), [(1, 1)], (10, 10)) is None
