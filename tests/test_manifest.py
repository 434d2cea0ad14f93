"""The manifest: every answer is asked for, none is an answer, and all faults are named at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scorer.core.errors import UsageError
from scorer.submission.manifest import QUESTIONS, example_manifest, manifest_faults, read_manifest

ANSWERS: dict[str, Any] = {
    "model": "M 1",
    "organisation": "none",
    "date": "2026-11-30",
    "prompt": "Click it.",
    "image_resizing": "none",
    "zoom": "none",
    "links": ["https://example.org/m"],
}


def test_the_example_is_refused_as_it_stands_naming_every_question() -> None:
    with pytest.raises(UsageError) as refused:
        read_manifest(example_manifest().encode(), "m.toml")
    assert all(f"  {name} (" in refused.value.message for name in QUESTIONS)
    assert refused.value.message.count("is left out") == len(QUESTIONS) == 7


def test_the_example_filled_in_is_accepted() -> None:
    text = example_manifest().replace('"""\n"""', '""').replace("links = []", 'links = ""')
    for name, answer in ANSWERS.items():
        text = text.replace(f'{name} = ""', f"{name} = {json.dumps(answer)}")
    assert read_manifest(text.encode(), "m.toml") == ANSWERS


def test_toml_and_json_say_the_same_and_a_date_may_be_one_of_toml() -> None:
    toml = "\n".join(f"{name} = {json.dumps(answer)}" for name, answer in ANSWERS.items())
    assert read_manifest(toml.encode(), "m.toml") == ANSWERS
    assert read_manifest(toml.replace('"2026-11-30"', "2026-11-30").encode(), "m.toml") == ANSWERS
    assert read_manifest(b"\xef\xbb\xbf" + json.dumps(ANSWERS).encode(), "m.json") == ANSWERS


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("model", "None", "needs an answer other than none"),
        ("model", "  ", "is left out"),
        ("model", 5, "must be a string, found number"),
        ("date", "none", "needs an answer other than none"),
        ("date", "30.11.2026", "is no date"),
        ("date", "2026-11-31", "is no date"),
        ("date", "20261130", "is no date"),
        ("prompt", "x" * 100_001, "is longer than"),
        ("zoom", None, 'is left out; "none" is an answer'),
        ("links", "https://example.org", "must be a list"),
        ("links", ["javascript:alert(1)"], "not an http(s) address"),
        ("links", ["https://a.org/<script>"], "not an http(s) address"),
        ("links", ["https://a.org", 7], "not an http(s) address"),
        ("links", {"a": 1}, "must be a string, found object"),
    ],
)
def test_an_answer_that_cannot_be_published_is_named(name: str, answer: object, said: str) -> None:
    (fault,) = manifest_faults({**ANSWERS, name: answer})
    assert fault.startswith(f"{name} (")
    assert said in fault


def test_answers_that_were_not_asked_for_are_named() -> None:
    (fault,) = manifest_faults({**ANSWERS, "modle": "x"})
    assert fault.startswith('"modle" is not asked for; known: model, organisation')


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"model = ", "m.toml", "not TOML"),
        (b"{", "m.json", "not JSON"),
        (b"[1]", "m.json", "found list"),
        (b"[" * 100_000, "m.json", "not JSON"),
        (b"\xff", "m.toml", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_manifest_says_so(data: bytes, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_manifest(data, name)
