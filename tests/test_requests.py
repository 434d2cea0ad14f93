"""What each profile really sends, taken from the wire: roles, order, tools, parameters, and the image measured."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from scorer.core.records import GroundTruth
from scorer.ground_truth.load import load_benchmark
from scorer.inference.plan import Plan
from scorer.pipeline.reread import parse_reply
from scorer.profiles import PROFILES
from tests.conftest import FIXTURES, Ask
from tests.endpoint import Endpoint, completion
from tests.test_inference import ONE

INSTRUCTION = "Save the draft."  # of FIXSHOT001-0
ORDER = {profile: ["image_url", "text"] for profile in PROFILES} | {"glm": ["text", "image_url"]}
# Each profile's words for "not there", as its own reply reader must understand them.
ABSENT = {
    "base": "pyautogui.click(x=-1, y=-1)",
    "claude": '{"point": [-1, -1]}',
    "gpt": "(-1, -1)",
    "internvl3.5": "terminate(status='failure')",
    "qwen3vl": "[-1, -1]",
    "glm": "FAIL()",
    "gemini3": "(-1, -1)",
    "scalecua": "terminate(status='failure')",
    "kimik25": 'computer.terminate(status="failure")',
}
BOX_ABSENT = {"glm": "FAIL()", "kimik25": 'computer.terminate(status="failure")'}


def sent(ask: Ask, tmp_path: Path, profile: str, *more: object) -> dict[str, Any]:
    """The body that one call of a profile puts on the wire."""
    with Endpoint(lambda *_: completion("(1, 2)")) as endpoint:
        options = more or ONE
        run = ask(profile, *options, "--out", tmp_path / "p.jsonl", "--model-base-url", endpoint.url)
    assert run.status == 0, run.err
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    return asked.body


def image_of(body: dict[str, Any]) -> bytes:
    (part,) = [part for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
    head, _, data = part["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    return base64.b64decode(data, validate=True)


@pytest.mark.parametrize("profile", PROFILES)
def test_roles_order_and_image(ask: Ask, tmp_path: Path, profile: str) -> None:
    body = sent(ask, tmp_path, profile)
    roles = [message["role"] for message in body["messages"]]
    assert roles == (["user"] if profile == "glm" else ["system", "user"])
    assert [part["type"] for part in body["messages"][-1]["content"]] == ORDER[profile]
    assert INSTRUCTION in next(part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text")
    assert ABSENT[profile] in str(body["messages"]).replace("\\'", "'")

    data = image_of(body)
    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.format, picture.mode) == ("PNG", "RGB")
        assert picture.size == ((1280, 720) if profile == "claude" else (1920, 1080))
    original = (FIXTURES / "osworld_g/benchmark/images/FIXSHOT001.png").read_bytes()
    assert (data == original) == (profile != "claude")
    assert "<image>" not in str(body)


def test_claude_gets_every_corner_of_the_picture(ask: Ask, tmp_path: Path) -> None:
    with Image.open(io.BytesIO(image_of(sent(ask, tmp_path, "claude")))) as picture:
        mine = picture.convert("RGB")
    with Image.open(FIXTURES / "osworld_g/benchmark/images/FIXSHOT001.png") as whole:
        expected = whole.resize((1280, 720), Image.Resampling.LANCZOS)
    assert list(mine.tobytes()) == list(expected.tobytes())


@pytest.mark.parametrize("profile", PROFILES)
def test_tools_and_parameters(ask: Ask, tmp_path: Path, profile: str) -> None:
    body = sent(ask, tmp_path, profile)
    rest = {key: value for key, value in body.items() if key not in ("model", "messages", "tools", "tool_choice")}
    if profile in ("gpt", "kimik25"):
        assert rest == {}
    else:
        assert rest == {"temperature": 0} | ({"skip_special_tokens": False} if profile == "glm" else {})
    if profile == "qwen3vl":
        (tool,) = body["tools"]
        parameters = tool["function"]["parameters"]
        assert tool["function"]["name"] == "computer_use"
        assert parameters["required"] == ["action", "coordinate"]
        assert parameters["properties"]["action"]["enum"] == ["left_click"]
        coordinate = parameters["properties"]["coordinate"]
        assert coordinate["items"] == {"type": "integer"}
        assert coordinate["minItems"] == coordinate["maxItems"] == 2
        assert body["tool_choice"] == {"type": "function", "function": {"name": "computer_use"}}
    else:
        assert not {"tools", "tool_choice"} & set(body)
    if profile == "gpt":
        assert body["messages"][1]["content"][0]["image_url"]["detail"] == "high"


def test_alpha_is_flattened_and_palettes_become_rgb(tmp_path: Path) -> None:
    from scorer.inference.images import is_sent_as_it_is, png_bytes

    half = Image.new("RGBA", (4, 2), (200, 0, 0, 255))
    half.putpixel((0, 0), (0, 0, 0, 0))
    half.save(tmp_path / "alpha.png")
    half.convert("P").save(tmp_path / "palette.png")
    half.convert("RGB").save(tmp_path / "photo.jpg")
    with Image.open(io.BytesIO(png_bytes(str(tmp_path / "alpha.png"), (4, 2)))) as flat:
        assert (flat.mode, flat.getpixel((0, 0)), flat.getpixel((1, 1))) == ("RGB", (255, 255, 255), (200, 0, 0))
    for name in ("palette.png", "photo.jpg"):
        with Image.open(io.BytesIO(png_bytes(str(tmp_path / name), (4, 2)))) as flat:
            assert (flat.format, flat.mode, flat.size) == ("PNG", "RGB", (4, 2))
        assert not is_sent_as_it_is(str(tmp_path / name), (4, 2))


def test_a_frame_given_as_space_is_the_size_that_is_sent_and_named(ask: Ask, tmp_path: Path) -> None:
    body = sent(ask, tmp_path, "claude", *ONE, "--space", "frame:640x360")
    with Image.open(io.BytesIO(image_of(body))) as picture:
        assert picture.size == (640, 360)
    assert "640x360" in body["messages"][0]["content"]


@pytest.fixture(scope="module")
def text() -> GroundTruth:
    return load_benchmark("pointerbench-text", FIXTURES)


@pytest.mark.parametrize("profile", PROFILES)
def test_box_tasks_ask_for_a_box_and_say_how_to_refuse(text: GroundTruth, profile: str) -> None:
    example = next(example for example in text.examples if example.rule == "coverage_precision")
    plan = Plan(profile, "m", text)
    request = plan.request(example)
    words = str(request.messages)
    assert "box" in words
    assert not request.tools
    point = plan.prompt_digest(example._replace(rule="point_in_bbox"))
    assert (plan.prompt_digest(example) == point) == (profile == "base")
    if profile == "base":
        assert request.messages[0]["content"] == text.benchmark.prompt
    else:
        assert BOX_ABSENT.get(profile, "-1, -1, -1, -1") in words


BOXES = {  # a reply in the form that the profile asks for -> the box [102.4, 76.8, 512, 384] of 1024x768
    "base": '{"bbox": [102.4, 76.8, 512, 384]}',
    "claude": '{"bbox": [128, 72, 640, 360]}',
    "gpt": '{"bbox": [100, 100, 500, 500]}',
    "internvl3.5": "<box>[[0.1, 0.1, 0.5, 0.5]]</box>",
    "qwen3vl": '[{"bbox_2d": [100, 100, 500, 500], "label": "x"}]',
    "glm": "Here: left_click(start_box='[100,100,500,500]', element_info='x')\nMemory:\n[]",
    "gemini3": '{"bbox": [100, 100, 500, 500]}',
    "scalecua": "<box>[[103.6, 75.6, 518, 378]]</box>",
    "kimik25": '## Code:\n```python\nbbox = {"bbox": [0.1, 0.1, 0.5, 0.5]}\n```',
}


@pytest.mark.parametrize("profile", BOXES)
def test_the_box_is_kept_in_every_profile(profile: str) -> None:
    read = parse_reply(profile, BOXES[profile], (1024, 768))
    assert read.bbox == pytest.approx((102.4, 76.8, 512, 384))
    assert read.points[0] == pytest.approx((307.2, 230.4))
