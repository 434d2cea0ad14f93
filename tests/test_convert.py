"""Spaces against published figures: Qwen's resize results, vendors' formulas, the profiles' worked cases."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.core.errors import UsageError
from scorer.core.records import PIXEL, Prediction, Space
from scorer.core.spaces import MEANINGS, meaning, parse_space, smart_resize, to_pixels
from scorer.profiles import PROFILES, get_profile
from tests.conftest import CASES, needs_cases
from tests.strategies import coordinates

SCALECUA = (28, 3136, 2109744)


@pytest.mark.parametrize(
    ("frame", "expected"),
    # Results of qwen-vl-utils with factor 28, 3136 and 2109744 pixels.
    [
        ((1920, 1080), (1932, 1092)),
        ((1280, 720), (1288, 728)),
        ((1024, 768), (1036, 756)),
        ((1366, 768), (1372, 756)),
        ((1440, 900), (1428, 896)),
        ((2560, 1440), (1932, 1064)),
        ((3840, 2160), (1932, 1064)),
        ((5120, 2880), (1932, 1064)),
        ((1080, 2340), (980, 2128)),
        ((40, 40), (56, 56)),
        ((1918, 1078), (1904, 1064)),  # half to even; half up would give 1932x1092
        # By hand: 28x56 is under 3136, beta = sqrt(3136/1200) = 1.6166, ceil(1.155)*28 and ceil(3.464)*28.
        ((20, 60), (56, 112)),
    ],
)
def test_smart_resize_gives_the_published_sizes(frame: tuple[int, int], expected: tuple[int, int]) -> None:
    assert smart_resize(frame, *SCALECUA) == expected


def test_smart_resize_with_the_other_published_cap() -> None:
    assert smart_resize((1920, 1080), 28, 3136, 2007040) == (1876, 1036)


@given(st.integers(1, 6000), st.integers(1, 6000), st.sampled_from([SCALECUA, (32, 4096, 16777216)]))
def test_smart_resize_gives_multiples_of_the_factor(width: int, height: int, limits: tuple[int, int, int]) -> None:
    if max(width, height) > 200 * min(width, height):
        with pytest.raises(ValueError, match="factor of 200"):
            smart_resize((width, height), *limits)
        return
    resized = smart_resize((width, height), *limits)
    assert all(side > 0 and side % limits[0] == 0 for side in resized)


def _convert(space: str, *values: float, frame: tuple[int, int] = (1920, 1080)) -> tuple[float, ...]:
    (point,) = to_pixels(Prediction("a", ((values[0], values[1]),), space=parse_space(space)), frame).points
    return point


@pytest.mark.parametrize(
    ("space", "point", "expected"),
    [
        ("pixel", (12, 34), (12, 34)),
        ("fraction", (0.5, 0.25), (960, 270)),
        ("grid1000", (500, 1000), (960, 1080)),
        ("grid1000", (1200, -10), (2304, -10.8)),
        ("grid999", (999, 0), (1920, 0)),
        ("frame:1280x720", (640, 360), (960, 540)),
        ("frame:1920x1080", (1919.3, 7), (1919.3, 7)),
        ("smart-resize:28:3136:2109744", (966, 546), (960, 540)),
        ("fraction-or-pixel", (1, 1), (1920, 1080)),
        ("fraction-or-pixel", (1, 1.5), (1, 1.5)),
        ("fraction-or-pixel", (-1, -1), (-1920, -1080)),
        ("grid1000-or-pixel", (1440, 310), (1440, 310)),
        ("grid1000-or-pixel", (1000, 1000), (1920, 1080)),
    ],
)
def test_a_point_of_each_space_in_pixels(space: str, point: tuple[float, float], expected: tuple[float, float]) -> None:
    assert _convert(space, *point) == pytest.approx(expected, abs=1e-9)


def test_a_box_is_converted_as_a_whole_and_claudes_frame_squeezes_each_axis_by_its_own_factor() -> None:
    box = to_pixels(Prediction("a", bbox=(0.1, 0.2, 0.3, 1.2), space=Space("fraction-or-pixel")), (1000, 1000)).bbox
    assert box == (0.1, 0.2, 0.3, 1.2)
    assert _convert("frame:1280x720", 640, 360, frame=(1024, 768)) == (512, 384)


@given(st.sampled_from(["fraction", "grid1000", "grid999", "frame:77x99", "smart-resize:28:3136:2109744"]))
def test_a_refusal_stays_a_refusal_in_every_space(space: str) -> None:
    x, y = _convert(space, -1, -1)
    assert x < 0
    assert y < 0


@given(coordinates, coordinates)
def test_a_frame_of_the_screenshots_own_size_changes_nothing(x: float, y: float) -> None:
    assert _convert("frame:1920x1080", x, y) == (x, y)


def test_an_answer_that_overflows_or_has_no_frame_loses_its_geometry_and_says_why() -> None:
    huge = Prediction("a", ((1e308, 0),), space=Space("fraction"))
    assert to_pixels(huge, (1920, 1080))[1:4] == ((), None, PIXEL)
    assert to_pixels(huge, (1920, 1080)).fault == "bad-number"
    several = Prediction("a", ((1e308, 1e308), (0.75, 0.5)), space=Space("fraction"))
    assert to_pixels(several, (1920, 1080)).points == ((1440, 540),)
    for nonsense in (Space("grid-1000"), Space("frame", (0, 9))):
        assert to_pixels(Prediction("a", ((1, 1),), space=nonsense), (9, 9)).fault == "bad-space"
    thin = Prediction("a", ((1, 1),), space=Space("smart-resize", SCALECUA))
    assert to_pixels(thin, (30000, 10)).fault == "bad-space"


@pytest.mark.parametrize(
    "name", ["frame:1280x720", "smart-resize:28:3136:2109744", *(m for m in MEANINGS if ":" not in m)]
)
def test_the_name_of_a_space_reads_back_to_itself(name: str) -> None:
    assert str(parse_space(name)) == name
    assert meaning(parse_space(name))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("norm1000", "here it is called grid1000"),
        ("pixels", "here it is called pixel"),
        ("frame:0x10", "known: pixel"),
        ("frame:1280×720", "known: pixel"),
        ("smart-resize:28:100:50", "MAX must be at least MIN"),
        ("", "known: pixel"),
    ],
)
def test_an_unknown_space_is_refused_with_the_name_that_was_meant(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        parse_space(name)


def test_the_nine_profile_ids_are_stable() -> None:
    assert list(PROFILES) == [
        "base",
        "claude",
        "gpt",
        "internvl3.5",
        "qwen3vl",
        "glm",
        "gemini3",
        "scalecua",
        "kimik25",
    ]
    with pytest.raises(UsageError, match=r'unknown profile "gpt5"; known: base'):
        get_profile("gpt5")


@needs_cases
def test_bare_pairs_in_the_profile_vectors_convert_by_the_profiles_space() -> None:
    """Only the replies that are a bare "(x, y)": reading others is not the space's business."""
    assert CASES is not None
    checked = 0
    for line in (CASES / "profile_vectors.jsonl").read_bytes().splitlines():
        row = json.loads(line)
        raw, expected = row["raw"], row["expect_point"]
        if not isinstance(raw, str) or not isinstance(expected, list):
            continue
        try:
            pair = json.loads("[" + raw.strip().removeprefix("(").removesuffix(")") + "]")
        except ValueError:
            continue
        if len(pair) == 2 and all(isinstance(value, int | float) for value in pair):
            space = PROFILES[row["profile"]].space
            point = _convert(str(space), *pair, frame=tuple(row["image_size"]))
            assert point == pytest.approx(expected, abs=0.001), row["why"]
            checked += 1
    assert checked >= 4
