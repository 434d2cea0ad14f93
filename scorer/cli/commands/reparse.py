"""``score reparse``: read the replies of a predictions file again."""

from __future__ import annotations

from functools import partial

import click

from scorer.cli.console import check_files, check_outputs, open_input, say, write_json
from scorer.core.errors import PredictionsError
from scorer.core.findings import Findings
from scorer.files.source import Source
from scorer.pipeline.reread import Rereader, reparse
from scorer.profiles import PROFILES


@click.command("reparse")
@click.argument("file", metavar="IN", type=click.Path(allow_dash=True))
@click.option("--profile", type=click.Choice(list(PROFILES)), required=True, help="The profile that reads the replies.")
@click.option(
    "--out",
    metavar="OUT",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where the rows go, as JSON Lines; - for stdout.",
)
def command(file: str, profile: str, out: str) -> None:
    """Read the raw replies of predictions again and write the rows with what they say.

    A better parser needs no new inference: every row keeps its reply. Rows whose call failed stay as they are.
    """
    check_files([file])
    check_outputs([out], [file])
    findings, reader = Findings(), Rereader(profile)
    source = Source(file, partial(open_input, file))
    again = list(reparse((row for _, row in source.rows(findings)), reader))
    if findings.has_errors or reader.found_nothing:
        why = findings.summary() if findings.has_errors else 'no row has a "raw" reply'
        raise PredictionsError(f"nothing written: {why}", findings, findings.counts)
    write_json(out, again, lines=True)
    say(f"{len(again)} rows read again as {profile}, {sum('error' in row for row in again)} without an answer")
