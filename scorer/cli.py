"""The command ``score``: options to calls, results to exit statuses. The only place that prints or exits."""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from scorer import render
from scorer._version import __version__
from scorer.api import diagnose, hints, score_streams, suites
from scorer.benchmarks import get_benchmark, pointerbench
from scorer.console import (
    check_axes,
    check_files,
    check_outputs,
    echo_problems,
    make_locator,
    open_input,
    refusal_written,
    say,
    streams,
    write_json,
)
from scorer.errors import ScorerError, UsageError
from scorer.limits import parse_limits
from scorer.model import Kept, Refusal, Report
from scorer.options import SCORING, options
from scorer.params import selection
from scorer.profiles import get_profile, profile_module
from scorer.tables import check_format, escape

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED, PIPE_CLOSED, BUG = 130, 141, 70
COMMANDS = (
    *("check", "compare", "report", "bundle", "verify", "leaderboard", "schema", "summarize"),
    *("reparse", "fetch", "benchmarks", "profiles"),
)
"""Modules of scorer.commands, in the order of the help."""

_KEPT: list[Report] = []  # what is not to be freed before the process ends


class ScoreGroup(click.Group):
    """A group that also works bare: ``score FILE...`` and ``score --predictions FILE`` beside ``score COMMAND``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (the same)
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"scorer.commands.{cmd_name}").command
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
def cli(ctx: click.Context, /, **given: Any) -> None:
    """Score GUI-grounding predictions offline and exactly.

    \b
    score --predictions preds.jsonl         the benchmark is found from the ids
    score preds.jsonl --json report.json    the report as data
    score check preds.jsonl                 what a leaderboard would refuse, without a score

    Exit status: 0 scored, 1 predictions refused, 2 usage or unwritable output, 3 ground truth absent or malformed,
    70 a bug in score.
    """
    if ctx.invoked_subcommand is None:
        if given["show_system_prompt"]:
            click.echo(_system_prompt(given["profile"], given["benchmark"]))
        else:
            _score(more=ctx.args, **given)


def _system_prompt(profile: str | None, benchmark: str | None) -> str:
    """The prompt that a profile asks a point with, the instruction left open."""
    if profile is None:
        return pointerbench.SYSTEM_PROMPT
    from scorer.profiles.request import Task, prompt_text

    known = get_profile(profile)
    frame = known.space.parameters if known.space.kind == "frame" else pointerbench.FRAME
    own = get_benchmark(benchmark).prompt if benchmark is not None else ""
    width, height = frame
    return prompt_text(profile_module(profile).build_request(Task("{instruction}", (width, height), prompt=own)))


def _score(
    *,
    predictions: tuple[str, ...],
    more: list[str],
    benchmark: str | None,
    gt: str | None,
    data: str | None,
    space: str | None,
    profile: str | None,
    instruction_variant: str | None,
    maxima: tuple[str, ...],
    attempts: int,
    aggregation_mode: str | None,
    category_hierarchy: str | None,
    category: tuple[str, ...],
    sample_ids: tuple[str, ...],
    benchmark_params: str | None,
    json_path: str | None,
    details: str | None,
    output_dir: str | None,
    by: tuple[str, ...],
    table_format: str,
    diagnosing: bool,
    paper_label: str | None,
    score_only: bool,
    from_raw: bool,
    refusal: Refusal,
    show_all: bool,
    show_system_prompt: bool,
) -> None:
    del show_system_prompt
    check_format(table_format)
    limits = parse_limits(maxima)
    files = [*predictions, *more]
    check_files(files, predictions)
    _check_formats(json_path, details, score_only=score_only)
    check_outputs((json_path, details), [*files, gt, category_hierarchy])
    aggregated, tree = _aggregation(aggregation_mode, category_hierarchy)
    kept = None if output_dir is None else Kept({}, {})
    locator = make_locator(selection(instruction_variant, category, sample_ids, benchmark_params), gt, data)
    with refusal_written(json_path):
        reports = score_streams(
            streams(files),
            locator.load_name,
            benchmark=benchmark or locator.benchmark_of_file(),
            space=space,
            profile=profile,
            attempts=attempts,
            limits=limits,
            kept=kept,
            refusal=refusal,
            from_raw=from_raw,
        )
    _KEPT.extend(reports)
    reports = list(map(aggregated, reports))
    check_axes(by, reports)
    if instruction_variant and not any(report.variant for report in reports):
        raise UsageError("--instruction-variant is for osworld-g, and no row is of it")
    found = suites(reports)
    truths = [problem for report in reports for problem in report.ground_truth.problems]
    echo_problems([*truths, *reports[0].problems], reports[0].problem_counts, show_all=show_all)
    diagnoses = [diagnose(report) for report in reports] if diagnosing else []
    if not diagnosing:
        for line in hints(reports):
            say(escape(line))
    if json_path is not None:
        result = render.reports_json(reports, found)
        if diagnoses:
            _render_diagnosis().attach(result, diagnoses)
        write_json(json_path, [result])
    if details is not None:
        write_json(details, (row for report in reports for row in render.details(report)), lines=True)
    if output_dir is not None and kept is not None:
        from scorer.runs.folder import write_runs

        write_runs(output_dir, reports, kept, aggregation_mode, tree)
    if score_only:
        click.echo(render.score_only(reports, found))
    elif paper_label is not None and "-" not in (json_path, details):
        from scorer.render_paper import paper_tables

        click.echo("\n\n".join(paper_tables(reports, found, paper_label, table_format)))
    elif "-" not in (json_path, details):
        blocks = [render.report_text(report, table_format=table_format, axes=by) for report in reports]
        blocks += [render.suite_text(suite, table_format=table_format) for suite in found]
        blocks += [_render_diagnosis().diagnosis_text(each, table_format=table_format) for each in diagnoses]
        click.echo("\n\n".join(blocks))


def _render_diagnosis() -> ModuleType:
    return import_module("scorer.render_diagnosis")


def _aggregation(mode: str | None, hierarchy: str | None) -> tuple[Callable[[Report], Report], Any]:
    """What adds to a report the figure that is asked for, if any is, and the tree as it was given.

    The arithmetic is imported only then.
    """
    if mode is None and hierarchy is None:
        return lambda report: report, None
    from scorer.hierarchy import aggregate, read_hierarchy

    tree, given = None, None
    if hierarchy is not None:
        check_files([hierarchy])
        with open_input(hierarchy) as stream:
            data = stream.read()
        tree, given = read_hierarchy(data, hierarchy), json.loads(data.decode("utf-8-sig"))
    return lambda report: report._replace(aggregation=aggregate(report, mode, tree)), given


def _check_formats(json_path: str | None, details: str | None, *, score_only: bool) -> None:
    """One thing on stdout, and each file written once."""
    if score_only and "-" in (json_path, details):
        raise UsageError("--score-only and --json - or --details - would mix on stdout; write one of them to a file")
    if json_path == details == "-":
        raise UsageError("--json - and --details - would mix on stdout; write one of them to a file")
    if json_path and details and json_path != "-" and os.path.realpath(json_path) == os.path.realpath(details):
        raise UsageError(f"--json and --details would both write {json_path}")


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command and exit. No input ends in a traceback."""
    # A run makes millions of records and hardly a cycle: collecting them again and again costs a third of its time.
    gc.disable()
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)
    status = run(args)
    if args is not None:
        sys.exit(status)
    # The process ends here: let the system take its memory at once rather than free record after record.
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def _usable(stream: TextIO | None) -> TextIO:
    """A stream that writes an escape for a character it cannot show, and one that writes nowhere for a closed one."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def run(args: list[str] | None = None, command: click.Command = cli) -> int:
    """Run a command and return its exit status; errors are printed as the command prints them."""
    stdout = sys.stdout
    try:
        status = command.main(args, standalone_mode=False)
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
        echo_problems(error.problems, error.counts, show_all="--all" in (args or sys.argv))
        say(f"error: {_lines(error.message)}")
        return error.exit_code
    except OSError as error:  # inputs are read with care, so this is an output
        say(f"error: the output cannot be written ({error.strerror or error})")
        return UsageError.exit_code
    except Exception as error:
        say(f"internal error: {_lines(repr(error))}{_where(error)}")
        say("this is a bug in score, not in your files; please report it with the command")
        return BUG
    return status if isinstance(status, int) else 0


def _lines(text: str) -> str:
    return "\n".join(map(escape, text.split("\n")))


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
