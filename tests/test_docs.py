"""The README against the program: its commands, its Python, its tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorer import cli
from scorer.errors import GroundTruthError, PredictionsError, ScorerError, UsageError
from scorer.limits import LIMITS
from scorer.problems import KINDS
from scorer.profiles import PROFILES
from scorer.signature import format_signature, parse_signature
from tests.conftest import ROOT, Score

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (python -m pip install .*)$", README, re.MULTILINE)


def test_the_two_commands_are_the_ones_that_ci_runs_word_for_word() -> None:
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert len(COMMANDS) == 2
    assert all(command in ci for command in COMMANDS)


def test_the_first_command_scores(run_score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, _, command = COMMANDS[0].partition(" && score ")
    run = run_score(*command.split())
    assert run.status == 0
    assert "average" in run.out


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    total, outcomes, verdict = capsys.readouterr().out.strip().splitlines()
    assert total.startswith("6 12 pointerbench-sheets|n:12|")
    assert "'hit': 1," in outcomes
    assert verdict == "hit"


def test_every_code_profile_option_and_exit_status_is_documented() -> None:
    assert all(f"| `{code}` |" in README for code in KINDS)
    assert all(f"| `{profile}` |" in README for profile in PROFILES)
    assert all(f"| `{limit}` |" in README for limit in LIMITS)
    for parameter in cli.cli.params:
        assert all(option in README for option in parameter.opts)
    statuses = {kind.exit_code for kind in (PredictionsError, UsageError, GroundTruthError, ScorerError)}
    for status in statuses | {0, cli.BUG}:
        assert f"| {status} |" in README
    assert f"| {cli.INTERRUPTED}, {cli.PIPE_CLOSED} |" in README


def test_the_signature_in_the_readme_is_one() -> None:
    (signature,) = re.findall(r"^    (pointerbench-text\|n:500\|.*)$", README, re.MULTILINE)
    assert format_signature(parse_signature(signature)) == signature


def test_the_changelog_has_a_section_on_numbers() -> None:
    assert "### Numbers" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "scorer").rglob("*.py")), ids=lambda path: path.name)
def test_every_module_and_every_public_function_says_what_it_is(path: Path) -> None:
    import ast

    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name
