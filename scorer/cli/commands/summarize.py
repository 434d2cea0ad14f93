"""``score summarize``: the aggregate files of a run folder, made again."""

from __future__ import annotations

import click

from scorer.output.run_folder.folder import summarize
from scorer.output.text.tables import escape


@click.command("summarize")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
def command(folder: str) -> None:
    """Make metrics.json and summary.md of a run folder again, from its details alone.

    Exit status: 0 written, 1 a detail cannot be used.
    """
    for path in summarize(folder):
        click.echo(escape(path))
