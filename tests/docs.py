"""What the README quotes from the program: run by cog, so that the text cannot drift from the code."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Sequence
from importlib import import_module

import click

from scorer.cli import ask as inference_command
from scorer.cli import main as cli
from scorer.core.findings import Code
from scorer.core.limits import DEFAULT_LIMITS, LIMITS, named
from scorer.core.outcomes import MEANINGS as OUTCOME_MEANINGS
from scorer.core.spaces import MEANINGS
from scorer.output.schemas import SCHEMAS
from scorer.profiles import PROFILES


def _quoted(command: str, text: str) -> str:
    return f"```console\n$ {command}\n{text.rstrip()}\n```"


def help_text(*path: str) -> str:
    """``score --help``, or that of a command, at a fixed width."""
    context = cli.cli.make_context("score", [], resilient_parsing=True, max_content_width=100, terminal_width=100)
    command: click.Command = cli.cli
    if path:
        command = import_module(f"scorer.cli.commands.{path[0]}").command
        context = click.Context(command, info_name=path[0], parent=context)
    return _quoted(" ".join(["score", *path, "--help"]), command.get_help(context))


def script_help(profile: str) -> str:
    """What ``python -m scorer.profiles.ID --help`` prints, at a fixed width."""
    script = inference_command.command(profile)
    context = script.make_context(script.name, [], resilient_parsing=True, max_content_width=100, terminal_width=100)
    return _quoted(f"{script.name} --help", script.get_help(context))


def output(command: str, *, first: int | None = None) -> str:
    """What a command prints on stdout, or its first lines."""
    os.environ.pop("SCORER_DATA", None)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        cli.cli.main(command.split()[1:], standalone_mode=False)
    lines = out.getvalue().splitlines()
    return _quoted(command, "\n".join([*lines[:first], "..."] if first and first < len(lines) else lines))


def refusal(command: str) -> str:
    """What a command prints where it refuses a file, the notes on the ground truth left out."""
    with contextlib.redirect_stderr(io.StringIO()) as printed, contextlib.redirect_stdout(printed):
        cli.run(command.split()[1:])
    lines = [line for line in printed.getvalue().splitlines() if "gt-not-official" not in line]
    return _quoted(command, "\n".join(lines))


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headers)} |", "| " + " | ".join("---" for _ in headers) + " |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def spaces() -> str:
    """The spaces and what each makes of a coordinate."""
    return _table(["space", "meaning"], ((f"`{name}`", meaning) for name, meaning in MEANINGS.items()))


def outcomes() -> str:
    """The outcomes and what each means."""
    return _table(["outcome", "meaning"], ((f"`{name}`", meaning) for name, meaning in OUTCOME_MEANINGS.items()))


def profiles() -> str:
    """The profiles and the space of each."""
    rows = ((f"`{known.id}`", f"`{known.space}`", known.models) for known in PROFILES.values())
    return _table(["profile", "space", "models"], rows)


def findings() -> str:
    """The closed vocabulary of findings."""
    rows = ((f"`{code}`", code.tolerant, code.strict, code.meaning) for code in Code)
    return _table(["code", "in `score`", "in `score check`", "meaning"], rows)


def limits() -> str:
    """The limits and what each counts."""
    rows = ((f"`{name}`", f"{default:,}", LIMITS[name][1]) for name, default in named(DEFAULT_LIMITS).items())
    return _table(["limit", "default", "what it counts"], rows)


def schemas() -> str:
    """The schemas and what each describes."""
    return _table(["schema", "of"], ((f"`{name}`", described) for name, described in SCHEMAS.items()))
