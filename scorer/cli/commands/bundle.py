"""``score bundle``: make a submission from predictions and answers about the run."""

from __future__ import annotations

from typing import Any

import click

from scorer.cli.console import check_files, echo_findings, open_input
from scorer.cli.options import PREDICTIONS, READING, options, parse_limits
from scorer.cli.scoring import FindingsEcho, check_request, make_request
from scorer.core.errors import UsageError
from scorer.output.text.tables import escape
from scorer.pipeline.settings import Options
from scorer.submission.bundle import make_bundle
from scorer.submission.files import write_bundle
from scorer.submission.manifest import LONGEST_FILE, example_manifest, read_manifest


@click.command("bundle")
@options((PREDICTIONS, *READING))
@click.option("--manifest", metavar="FILE", type=click.Path(), help="Answers about the run, in TOML or JSON.")
@click.option("--out", metavar="DIR|ZIP", type=click.Path(), help="The bundle to write: a folder, or a file.zip.")
@click.option("--example-manifest", is_flag=True, help="Print a manifest to fill in and exit.")
def command(example_manifest: bool, **given: Any) -> None:
    """Make a submission: predictions in the official form, answers about the run, scores and hashes.

    The predictions must pass the strict check. Exit status: 0 written, 1 predictions rejected.
    """
    if example_manifest:
        click.echo(print_example())
    else:
        _bundle(**given)


print_example = example_manifest


def _bundle(
    *,
    predictions: tuple[str, ...],
    benchmark: str | None,
    gt: str | None,
    data: str | None,
    space: str | None,
    profile: str | None,
    instruction_variant: str | None,
    maxima: tuple[str, ...],
    manifest: str | None,
    out: str | None,
) -> None:
    asked = Options(space=space, profile=profile, limits=parse_limits(maxima))
    check_files(predictions)
    if manifest is None or out is None:
        missing = "--manifest" if manifest is None else "--out"
        raise UsageError(f"{missing} is missing; --example-manifest prints a manifest to fill in")
    check_files([manifest])
    with open_input(manifest) as stream:
        answers = read_manifest(stream.read(LONGEST_FILE + 1), manifest)
    request = make_request(
        predictions,
        benchmark=benchmark,
        gt=gt,
        data=data,
        instruction_variant=instruction_variant,
        options=asked,
    )
    checked, reports = check_request(request)
    contents = make_bundle(checked, reports, answers)
    FindingsEcho(show_all=False).ground_truths(checked.ground_truths)
    echo_findings(checked.findings, checked.finding_counts, show_all=False)
    write_bundle(out, contents)
    click.echo(escape(f"{out}: {', '.join(contents)}"))
