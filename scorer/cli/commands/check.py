"""``score check``: the strict check of a submission."""

from __future__ import annotations

import click

from scorer.cli.console import check_files, check_outputs, write_json
from scorer.cli.options import ATTEMPTS, JSON_AND_ALL, READING, options, parse_limits
from scorer.cli.scoring import FindingsEcho, check_request, make_request
from scorer.core.errors import PredictionsError
from scorer.output.text.findings import check_lines
from scorer.pipeline.settings import Options


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
    check_files(files)
    check_outputs([json_path], [*files, gt])
    request = make_request(
        files,
        benchmark=benchmark,
        gt=gt,
        data=data,
        instruction_variant=instruction_variant,
        options=Options(space=space, profile=profile, attempts=attempts, limits=parse_limits(maxima)),
        json_path=json_path,
    )
    checked, _ = check_request(request)
    FindingsEcho(show_all=show_all).ground_truths(checked.ground_truths)
    if json_path is not None:
        write_json(json_path, [checked.to_dict()])
    if json_path != "-":
        click.echo("\n".join(check_lines(checked, show_all=show_all)))
    if not checked.accepted:
        click.get_current_context().exit(PredictionsError.exit_code)
