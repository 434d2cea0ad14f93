"""The options of the commands. What several commands take is declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from scorer.benchmarks import BENCHMARKS
from scorer.locate import ENVIRONMENT
from scorer.model import Refusal
from scorer.profiles import PROFILES
from scorer.tables import DEFAULT_FORMAT

Command = TypeVar("Command", bound=Callable[..., Any])

# What a file is read against and how: every command that reads predictions takes these.
READING = (
    click.option(
        "--benchmark",
        "-b",
        type=click.Choice(list(BENCHMARKS)),
        help="The benchmark all rows belong to. Default: found from the ids.",
    ),
    click.option("--gt", type=click.Path(), metavar="FILE|DIR", help="The ground truth, and nowhere else."),
    click.option(
        "--data",
        type=click.Path(),
        metavar="DIR",
        help=f"Folder that holds the benchmarks. Default: ${ENVIRONMENT}, the current folder, the per-user folder.",
    ),
    click.option("--space", metavar="SPACE", help="What coordinates mean where a row does not say it. Default: pixel."),
    click.option("--profile", type=click.Choice(list(PROFILES)), help="A model profile, as a name for its space."),
    click.option(
        "--instruction-variant",
        type=click.Choice(["original", "refined"]),
        help="OSWorld-G: which instructions were asked. Default: original.",
    ),
)
JSON_AND_ALL = (
    click.option(
        "--json",
        "json_path",
        metavar="PATH",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write the report as JSON; - for stdout.",
    ),
    click.option("--all", "show_all", is_flag=True, help="List every warning, not the first few of each kind."),
)
SCORING = (
    click.option(
        "--predictions",
        "-p",
        multiple=True,
        metavar="FILE",
        type=click.Path(allow_dash=True),
        help="Predictions, JSON Lines or a JSON array; - reads stdin. May be repeated; further FILEs may follow.",
    ),
    *READING,
    click.option(
        "--category",
        multiple=True,
        metavar="NAME",
        help="OSWorld-G: only these categories, or all. May be repeated, or hold several with commas.",
    ),
    click.option(
        "--sample-ids",
        multiple=True,
        metavar="ID",
        help="Only these examples. May be repeated, or hold several ids with commas.",
    ),
    click.option(
        "--benchmark-params",
        metavar="JSON",
        help="The last three as one object: instruction_variant, category, sample_ids.",
    ),
    click.option(
        "--details",
        metavar="PATH",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write one verdict per example as JSON Lines; - for stdout.",
    ),
    click.option("--by", multiple=True, metavar="AXIS", help="Print the table of this axis only. May be repeated."),
    click.option(
        "--table-format",
        default=DEFAULT_FORMAT,
        show_default=True,
        metavar="NAME",
        help="A format of tabulate: github, latex, tsv, html, ...",
    ),
    click.option("--score-only", is_flag=True, help="Print the percentage and nothing else."),
    click.option(
        "--from-raw",
        is_flag=True,
        help="Read the answers anew out of the rows' raw replies, as --profile does.",
    ),
    click.option(
        "--refusal",
        type=click.Choice(get_args(Refusal)),
        default="markers",
        show_default=True,
        help="What refuses beside a negative point: markers in the reply (terminate, FAIL(), ...), or nothing.",
    ),
    click.option(
        "--show-system-prompt",
        is_flag=True,
        help="Print the prompt of --profile and exit; without one Pointerbench's recommended prompt.",
    ),
    *JSON_AND_ALL,
)


def options(declared: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """A decorator that gives a command these options, listed in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(declared):
            command = option(command)
        return command

    return decorate
