"""``score verify``: check the form, the hashes and the claimed figures of bundles."""

from __future__ import annotations

import click

from scorer.cli.console import check_outputs, echo_findings, load_variant, write_json
from scorer.cli.options import BUNDLES, JSON_AND_ALL, WHERE, options, parse_limits
from scorer.core.errors import PredictionsError
from scorer.submission.text import verified_json, verified_lines
from scorer.submission.verify import verify_bundle


@click.command("verify")
@options((BUNDLES, *WHERE, *JSON_AND_ALL))
def command(
    bundles: tuple[str, ...],
    gt: str | None,
    data: str | None,
    maxima: tuple[str, ...],
    json_path: str | None,
    show_all: bool,
) -> None:
    """Verify bundles, each a folder or a zip: hashes, strict check, and every claimed figure computed again.

    Prints one line per bundle; the findings go to stderr. A zip must store its files without compression. Exit status:
    0 all bundles hold, 1 at least one does not.
    """
    limits = parse_limits(maxima)
    check_outputs([json_path], [*bundles, gt], folders=bundles)
    load = load_variant(gt, data)
    found = [verify_bundle(bundle, load, limits=limits) for bundle in bundles]
    for bundle in found:
        echo_findings(bundle.findings, bundle.finding_counts, show_all=show_all)
    if json_path is not None:
        write_json(json_path, [verified_json(found)])
    if json_path != "-":
        click.echo("\n".join(verified_lines(found)))
    if not all(bundle.holds for bundle in found):
        click.get_current_context().exit(PredictionsError.exit_code)
