"""``score schema``: the forms of what is read and written."""

from __future__ import annotations

import click

from scorer.output.schemas import SCHEMAS, schema_text
from scorer.output.text.tables import listing


@click.command("schema")
@click.argument("name", required=False, metavar="[NAME]")
def command(name: str | None) -> None:
    """Print a JSON Schema; without NAME, list them."""
    if name is None:
        click.echo(listing(["schema", "what it describes"], list(SCHEMAS.items())))
    else:
        click.echo(schema_text(name), nl=False)
