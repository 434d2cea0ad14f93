"""``score check``: the strict check of a submission."""

from __future__ import annotations

import click

from scorer.api import check_streams
from scorer.cli.console import (
    check_files,
    check_outputs,
    echo_findings,
    make_locator,
    reading,
    refusal_written,
    write_json,
)
from scorer.cli.options import ATTEMPTS, JSON_AND_ALL, READING, options, parse_limits
from scorer.core.errors import PredictionsError
from scorer.ground_truth.load import Selection
from scorer.output.text import report as render


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(allow_dash=True))
@options((*READING, ATTEMPTS, *JSON_AND_ALL))
def command(
    files: tuple[str, ...],
    benchmark: str | None,
    gt: str | None,
    data: str | None,
    space: str | None,
    profile: str | None,
    instruction_variant: str | None,
    maxima: tuple[str, ...],
    attempts: int,
    json_path: str | None,
    show_all: bool,
) -> None:
    """Check predictions as a leaderboard would: strictly, without a score.

    Every fault is an error, all of them are listed, and each example needs its row. Exit status: 0 accepted, 1 not.
    """
    limits = parse_limits(maxima)
    check_files(files)
    check_outputs([json_path], [*files, gt])
    locator = make_locator(Selection(instruction_variant or ""), gt, data)
    with refusal_written(json_path), reading(files) as (opened, progress):
        checked = check_streams(
            opened,
            locator.load_name,
            benchmark=benchmark or locator.benchmark_of_file(),
            space=space,
            profile=profile,
            attempts=attempts,
            limits=limits,
            progress=progress,
        )
    truths = [finding for truth in checked.ground_truths for finding in truth.findings]
    echo_findings(truths, {}, show_all=show_all)
    if json_path is not None:
        write_json(json_path, [render.check_json(checked)])
    if json_path != "-":
        click.echo("\n".join(render.check_lines(checked, show_all=show_all)))
    if not checked.accepted:
        click.get_current_context().exit(PredictionsError.exit_code)
