"""Findings: each code has its texts, each text is used, and whoever uses it gives it every value that it names."""

from __future__ import annotations

import ast
import string
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from scorer.core import messages
from scorer.core.findings import Code, Findings, Message
from scorer.core.limits import LIMITS, Limits
from tests.conftest import PACKAGE

TEXTS = {name: value for name, value in vars(messages).items() if isinstance(value, Message)}
FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if file.name != "messages.py"]


def _fields(message: Message) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(message.text) if name and name != "limit"}


def _named(node: ast.expr) -> list[str]:
    """The messages that an expression may be."""
    if isinstance(node, ast.IfExp):
        return [*_named(node.body), *_named(node.orelse)]
    is_message = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "messages"
    return [node.attr] if is_message and isinstance(node, ast.Attribute) and node.attr in TEXTS else []


def test_every_code_has_a_text_and_every_text_is_used() -> None:
    assert {message.code for message in TEXTS.values()} == set(Code)
    used = Counter(
        node.attr
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "messages"
    )
    assert not set(TEXTS) - set(used)


def test_texts_stand_in_the_order_of_their_codes_and_name_limits_that_exist() -> None:
    for name, message in TEXTS.items():
        limits = [spec for _, field, spec, _ in string.Formatter().parse(message.text) if field == "limit"]
        assert set(limits) <= set(LIMITS), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_whoever_adds_a_finding_gives_the_values_that_its_text_names(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            names = _named(node.args[0])
            given = {keyword.arg for keyword in node.keywords}
            if names and None not in given:  # values that are handed on are given elsewhere
                wanted = set().union(*(_fields(TEXTS[name]) for name in names))
                assert wanted == given - {"column"}, f"line {node.lineno}: {names}"


def test_a_finding_carries_its_text_its_place_and_the_limit() -> None:
    findings = Findings(strict=True, limits=Limits(depth=7))
    findings.at("p.jsonl").at(3, "a")(messages.NO_NUMBER, name="x", what="null", lost="it does not count")
    findings.at("p.jsonl")(messages.TOO_DEEP)
    first, second = findings
    assert (first.code, first.severity, first.source, first.line, first.id) == (
        "bad-number",
        "error",
        "p.jsonl",
        3,
        "a",
    )
    assert first.message == "x is null; it does not count"
    assert second.message.endswith("the limit of 7 (--max depth=N sets another)")


def test_a_text_that_is_not_kept_is_not_made() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return "no"

    findings = Findings(limits=Limits(findings=2))
    report = findings.at("p.jsonl")
    for number in range(5):
        report(messages.UNKNOWN_ID, explanation=partial(make, number))
    assert made == [0, 1]
    assert findings.counts["unknown-id"] == 5
    assert len(list(findings)) == 2
