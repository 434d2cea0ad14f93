"""The README against the program: its commands, its Python, its tables."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from scorer.cli import main as cli
from scorer.core.errors import GroundTruthError, PredictionsError, ScorerError, UsageError
from scorer.core.findings import Code
from scorer.core.limits import LIMITS
from scorer.core.signature import format_signature, parse_signature
from scorer.profiles import PROFILES
from tests.conftest import PACKAGE, ROOT, Score

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
    _, _, section = README.partition("\n## Python\n")
    (code,) = re.findall(r"```python\n(.*?)```", section.partition("\n### ")[0], re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    total, outcomes, verdict = capsys.readouterr().out.strip().splitlines()
    assert total.startswith("6 12 pointerbench-sheets|n:12|")
    assert "'hit': 1," in outcomes
    assert verdict == "hit"


@pytest.mark.parametrize("section", ["Submitting", "Receiving a submission"])
def test_the_lines_of_a_section_work_when_pasted(section: str, tmp_path: Path) -> None:
    _, _, text = README.partition(f"\n## {section}\n")
    lines = re.findall(r"^    (.*)$", text.partition("\n## ")[0], re.MULTILINE)
    assert 4 <= len(lines) <= 10
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    command = f'score() {{ "{sys.executable}" -m scorer "$@"; }}'
    script = "\n".join(["set -eu", command, *lines])
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "holds  " in run.stdout


def test_every_code_profile_option_and_exit_status_is_documented() -> None:
    assert all(f"| `{code}` |" in README for code in Code)
    assert all(f"| `{profile}` |" in README for profile in PROFILES)
    assert all(f"| `{limit}` |" in README for limit in LIMITS)
    context = click.Context(cli.cli)
    commands = [cli.cli, *(cli.cli.get_command(context, name) for name in cli.COMMANDS)]
    for command in filter(None, commands):
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or any(option in README for option in parameter.opts)
    statuses = {kind.exit_code for kind in (PredictionsError, UsageError, GroundTruthError, ScorerError)}
    for status in statuses | {0, cli.BUG}:
        assert f"| {status} |" in README
    assert f"| {cli.INTERRUPTED}, {cli.PIPE_CLOSED} |" in README


def test_the_signature_in_the_readme_is_one() -> None:
    (signature,) = re.findall(r"^    (pointerbench-text\|n:500\|.*)$", README, re.MULTILINE)
    assert format_signature(parse_signature(signature)) == signature


def test_the_changelog_has_a_section_on_numbers() -> None:
    assert "### Numbers" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_every_module_and_every_public_function_says_what_it_is(path: Path) -> None:
    import ast

    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name
