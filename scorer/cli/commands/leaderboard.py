"""``score leaderboard``: verify bundles and rank those that hold."""

from __future__ import annotations

import os

import click

from scorer.cli.console import check_outputs, echo_findings, load_variant, say, write_json, write_text
from scorer.cli.options import BUNDLES, JSON_AND_ALL, TABLE_FORMAT, WHERE, options, parse_limits
from scorer.core.errors import PredictionsError, UsageError
from scorer.output.text.tables import check_format
from scorer.submission.board import make_boards
from scorer.submission.text import board_text, boards_csv, boards_json, verified_lines
from scorer.submission.verify import verify_bundle


@click.command("leaderboard")
@options((BUNDLES, *WHERE, TABLE_FORMAT))
@click.option(
    "--csv", "csv_path", metavar="PATH", type=click.Path(dir_okay=False, allow_dash=True), help="Write it as CSV."
)
@options(JSON_AND_ALL)
def command(
    bundles: tuple[str, ...],
    gt: str | None,
    data: str | None,
    maxima: tuple[str, ...],
    table_format: str,
    csv_path: str | None,
    json_path: str | None,
    show_all: bool,
) -> None:
    """Verify bundles and print leaderboards: one for Pointerbench, one per variant of OSWorld-G.

    Bundles that do not hold, or lack a benchmark of the suite, are listed below without a rank. Exit status: 0 all
    bundles hold, 1 at least one does not.
    """
    limits = parse_limits(maxima)
    check_format(table_format)
    if json_path == csv_path == "-":
        raise UsageError("--json - and --csv - would mix on stdout; write one of them to a file")
    check_outputs([json_path, csv_path], [*bundles, gt], folders=bundles)
    load = load_variant(gt, data)
    once = {os.path.realpath(bundle): bundle for bundle in reversed(bundles)}
    if len(once) < len(bundles):
        say("a bundle that is given twice counts once")
    found = [verify_bundle(bundle, load, limits=limits) for bundle in reversed(once.values())]
    for bundle in found:
        if not bundle.holds:
            echo_findings(bundle.findings, bundle.finding_counts, show_all=show_all)
    boards = make_boards(found)
    if json_path is not None:
        write_json(json_path, [boards_json(boards, found)])
    if csv_path is not None:
        write_text(csv_path, boards_csv(boards))
    if boards and "-" not in (json_path, csv_path):
        click.echo("\n\n".join(board_text(board, table_format) for board in boards))
    failed = [bundle for bundle in found if not bundle.holds]
    if failed:
        for line in verified_lines(failed):
            say(line)
        click.get_current_context().exit(PredictionsError.exit_code)
