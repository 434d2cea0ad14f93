"""``score benchmarks``: what is known."""

from __future__ import annotations

import click

from scorer.benchmarks import BENCHMARKS
from scorer.output.text.tables import listing


@click.command("benchmarks")
def command() -> None:
    """List the known benchmarks."""
    rows = [
        [known.id, str(known.size), known.id_example, ", ".join(known.rules), known.source]
        for known in BENCHMARKS.values()
    ]
    click.echo(listing(["benchmark", "examples", "ids like", "rules", "source"], rows))
