"""``score bundle``: make a submission from predictions and answers about the run."""

from __future__ import annotations

from typing import Any

import click

from scorer.cli.console import check_files, echo_findings, make_locator, open_input, streams
from scorer.cli.options import PREDICTIONS, READING, options, parse_limits
from scorer.core.errors import UsageError
from scorer.ground_truth.load import Selection
from scorer.output.text.tables import escape
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
    limits = parse_limits(maxima)
    check_files(predictions)
    if manifest is None or out is None:
        missing = "--manifest" if manifest is None else "--out"
        raise UsageError(f"{missing} is missing; --example-manifest prints a manifest to fill in")
    check_files([manifest])
    with open_input(manifest) as stream:
        answers = read_manifest(stream.read(LONGEST_FILE + 1), manifest)
    locator = make_locator(Selection(instruction_variant or ""), gt, data)
    contents, checked = make_bundle(
        streams(predictions),
        locator.load_name,
        answers,
        benchmark=benchmark or locator.benchmark_of_file(),
        space=space,
        profile=profile,
        limits=limits,
    )
    truths = [finding for truth in checked.ground_truths for finding in truth.findings]
    echo_findings([*truths, *checked.findings], checked.finding_counts, show_all=False)
    write_bundle(out, contents)
    click.echo(escape(f"{out}: {', '.join(contents)}"))
