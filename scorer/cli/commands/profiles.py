"""``score profiles``: which space each model family answers in."""

from __future__ import annotations

import click

from scorer.output.text.tables import listing
from scorer.profiles import PROFILES


@click.command("profiles")
def command() -> None:
    """List the model profiles and the space of each."""
    rows = [[known.id, str(known.space), known.image, known.models] for known in PROFILES.values()]
    click.echo(listing(["profile", "space", "image sent", "models"], rows))
