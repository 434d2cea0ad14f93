"""``score fetch``: get a benchmark's annotations and screenshots."""

from __future__ import annotations

import os

import click

from scorer.cli.console import say
from scorer.core.errors import UsageError
from scorer.core.records import ZipArchive
from scorer.ground_truth.download import fetch, fetchable
from scorer.ground_truth.search import ENVIRONMENT
from scorer.output.text.tables import escape

FETCHABLE = fetchable()
ARCHIVES = ", ".join(
    known.title for members in FETCHABLE.values() for known in members if isinstance(known.download, ZipArchive)
)


@click.command("fetch")
@click.argument("name", type=click.Choice(list(FETCHABLE)))
@click.option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="DIR",
    envvar=ENVIRONMENT,
    show_envvar=True,
    help="Folder that the data goes below. Default: the per-user folder, where score looks for it.",
)
@click.option(
    "--dataset-zip-url",
    metavar="URL",
    help=f"{ARCHIVES}: the archive to get. Empty: local data only. Default: the official repository's.",
)
@click.option("--dataset-sha256", metavar="HEX", help=f"{ARCHIVES}: the digest that the archive must have.")
def command(name: str, data: str | None, dataset_zip_url: str | None, dataset_sha256: str | None) -> None:
    """Get a benchmark's data, screenshots included. Needs the extra: pip install 'gui-grounding-scorer[fetch]'.

    An interrupted download goes on, or starts again; nothing half-unpacked is left behind.
    """
    folder = data or click.get_app_dir("score")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror})") from None
    where = fetch(name, folder, _say, url=dataset_zip_url, sha256=dataset_sha256)
    click.echo(escape(str(where)))


def _say(line: str) -> None:
    say(escape(line))
