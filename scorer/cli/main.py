"""The command ``score``: options to calls, results to exit statuses. The only place that prints or exits."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from scorer._version import __version__
from scorer.cli.commands.score import score_files, system_prompt
from scorer.cli.console import echo_findings, say
from scorer.cli.options import SCORING, options
from scorer.core.errors import ScorerError, UsageError
from scorer.output.text.tables import escape

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED, PIPE_CLOSED, BUG = 130, 141, 70
COMMANDS = (
    *("check", "compare", "report", "bundle", "verify", "leaderboard", "schema", "summarize"),
    *("reparse", "fetch", "benchmarks", "profiles"),
)
"""Modules of scorer.cli.commands, in the order of the help."""


class ScoreGroup(click.Group):
    """A group that also works bare: ``score FILE...`` and ``score --predictions FILE`` beside ``score COMMAND``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (the same)
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"scorer.cli.commands.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in COMMANDS:
            return super().parse_args(ctx, args)
        ctx.allow_interspersed_args = True
        click.Command.parse_args(self, ctx, args)
        for word in ctx.args:
            if word in COMMANDS and not os.path.exists(word):
                raise click.UsageError(f'options go behind the command: "score {word} ...", not in front of it', ctx)
        return ctx.args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def collect_usage_pieces(self, _ctx: click.Context, /) -> list[str]:
        return ["[OPTIONS]", "[FILE]...", "| COMMAND"]


@click.group(
    cls=ScoreGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "allow_extra_args": True},
)
@options(SCORING)
@click.version_option(__version__, prog_name="score", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, **given: Any) -> object:
    """Score GUI-grounding predictions offline and exactly.

    \b
    score --predictions preds.jsonl         the benchmark is found from the ids
    score preds.jsonl --json report.json    the report as data
    score check preds.jsonl                 what a leaderboard would reject, without a score

    Exit status: 0 scored, 1 predictions rejected, 2 usage or unwritable output, 3 ground truth absent or malformed,
    70 a bug in score.
    """
    if ctx.invoked_subcommand is None:
        if given["show_system_prompt"]:
            click.echo(system_prompt(given["profile"], given["benchmark"]))
        else:
            return score_files(more=ctx.args, **given)
    return None


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command and exit. No input ends in a traceback.

    Two things are done for speed, here and nowhere else; tests/bench/ending.py measures both. Garbage collection is
    off, because a run makes millions of records and hardly a cycle: with it, 200,000 rows take 1.6 times as long. The
    process ends without freeing what the command returned: freeing it makes any run take 1.1 times as long.
    """
    gc.disable()
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)
    returned: list[object] = []
    status = run(args, returned=returned)
    if args is not None:
        sys.exit(status)
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def _usable(stream: TextIO | None) -> TextIO:
    """The stream, set to escape characters that it cannot show; for a closed one, a stream that discards everything."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def run(args: list[str] | None = None, command: click.Command = cli, *, returned: list[object] | None = None) -> int:
    """Run a command and return its exit status; errors are printed. ``returned`` gets what the command returns."""
    stdout = sys.stdout
    try:
        result = command.main(args, standalone_mode=False)
        if returned is not None:
            returned.append(result)
        sys.stdout.flush()
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        if context is not None:
            say(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n")
        say(f"Error: {escape(error.format_message())}")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # click itself ends a run whose reader has gone, with status 1 and another stdout in place of the closed one.
        if isinstance(error, SystemExit) and sys.stdout is stdout:
            raise
        # Nothing more can be said; keep the interpreter from trying at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return PIPE_CLOSED
    except ScorerError as error:
        echo_findings(error.findings, error.counts, show_all="--all" in (args or sys.argv))
        say(f"error: {_lines(error.message)}")
        return error.exit_code
    except OSError as error:  # inputs are read with care, so this is an output
        say(f"error: the output cannot be written ({error.strerror or error})")
        return UsageError.exit_code
    except Exception as error:
        say(f"internal error: {_lines(repr(error))}{_where(error)}")
        say("this is a bug in score, not in your files; please report it with the command")
        return BUG
    return result if isinstance(result, int) else 0


def _lines(text: str) -> str:
    return "\n".join(map(escape, text.split("\n")))


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
