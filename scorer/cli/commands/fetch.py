"""``score fetch``: get a benchmark's annotations and screenshots."""

from __future__ import annotations

import os

import click

from scorer.cli.console import say
from scorer.core.errors import UsageError
from scorer.ground_truth.download import OSWORLD_G_ZIP, fetch_osworld_g, fetch_pointerbench
from scorer.ground_truth.search import ENVIRONMENT
from scorer.output.text.tables import escape


@click.command("fetch")
@click.argument("name", type=click.Choice(["pointerbench", "osworld-g"]))
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
    default=OSWORLD_G_ZIP,
    help="OSWorld-G: the archive to get. Empty: local data only. Default: the official repository's.",
)
@click.option("--dataset-sha256", metavar="HEX", help="OSWorld-G: the digest that the archive must have.")
def command(name: str, data: str | None, dataset_zip_url: str, dataset_sha256: str | None) -> None:
    """Get a benchmark's data, screenshots included. Needs the extra: pip install 'gui-grounding-scorer[fetch]'.

    An interrupted download goes on, or starts anew; nothing half-unpacked is left behind.
    """
    folder = data or click.get_app_dir("score")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror})") from None
    if name == "pointerbench":
        where = fetch_pointerbench(folder, _say)
    else:
        where = fetch_osworld_g(folder, dataset_zip_url, dataset_sha256, _say)
    click.echo(escape(str(where)))


def _say(line: str) -> None:
    say(escape(line))
