"""``score compare``: the same examples, two or more files."""

from __future__ import annotations

import click

from scorer.cli.console import check_axes, check_files, check_outputs, one_for_each, write_json
from scorer.cli.options import JSON_AND_ALL, READING_EACH, TABLE_FORMAT, WHERE, options, parse_limits
from scorer.cli.scoring import FindingsEcho, make_request, score_request
from scorer.core.errors import UsageError
from scorer.core.report import Report
from scorer.evidence.compare import compare, pair_up
from scorer.output.data import comparison_json
from scorer.output.text.comparison import comparison_text
from scorer.output.text.tables import check_format
from scorer.pipeline.settings import Options


@click.command("compare")
@click.argument("files", nargs=-1, required=True, metavar="FIRST OTHER...", type=click.Path(allow_dash=True))
@options((*READING_EACH, *WHERE))
@click.option("--across", is_flag=True, help="Compare although the files are scored differently, and say in what.")
@click.option("--by", multiple=True, metavar="AXIS", help="Print the table of this axis only. May be repeated.")
@click.option("--list", "show_ids", is_flag=True, help="List the ids that changed.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the bootstrap interval.")
@options((TABLE_FORMAT, *JSON_AND_ALL))
def command(
    files: tuple[str, ...],
    benchmark: str | None,
    space: tuple[str, ...],
    profile: tuple[str, ...],
    instruction_variant: tuple[str, ...],
    gt: str | None,
    data: str | None,
    maxima: tuple[str, ...],
    across: bool,
    by: tuple[str, ...],
    show_ids: bool,
    seed: int,
    table_format: str,
    json_path: str | None,
    show_all: bool,
) -> None:
    """Compare files over the same examples, each with the first one: gained, lost, and whether chance explains it.

    --space, --profile and --instruction-variant hold for all files, or, given as often as there are files, for one
    each in their order.
    """
    check_format(table_format)
    limits = parse_limits(maxima)
    if len(files) < 2:
        raise UsageError("one file alone cannot be compared; name the first file and the other one")
    check_files(files)
    check_outputs([json_path], [*files, gt])
    spaces, profiles, variants = (
        one_for_each(name, values, len(files))
        for name, values in (("space", space), ("profile", profile), ("instruction-variant", instruction_variant))
    )
    echo = FindingsEcho(show_all=show_all)
    found: list[tuple[str, list[Report]]] = []
    for name, own_space, own_profile, variant in zip(files, spaces, profiles, variants, strict=True):
        request = make_request(
            [name],
            benchmark=benchmark,
            gt=gt,
            data=data,
            instruction_variant=variant,
            options=Options(space=own_space, profile=own_profile, limits=limits),
            json_path=json_path,
        )
        reports = score_request(request)
        echo.reports(reports)
        found.append((name, reports))
    check_axes(by, (report for _, reports in found for report in reports))
    comparisons = [
        ((files[0], name), compare(first, other, across=across, seed=seed)) for name, first, other in pair_up(found)
    ]
    if json_path is not None:
        write_json(json_path, [{"comparisons": [comparison_json(each, names) for names, each in comparisons]}])
    if json_path != "-":
        texts = [
            comparison_text(each, names, table_format=table_format, axes=by, show_ids=show_ids)
            for names, each in comparisons
        ]
        click.echo("\n\n".join(texts))
