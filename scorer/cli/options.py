"""The options of the commands. What several commands take is declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_args

import click

from scorer.benchmarks import BENCHMARKS, VARIANTS
from scorer.core.errors import UsageError
from scorer.core.limits import LIMITS, Limits
from scorer.core.records import Refusal
from scorer.ground_truth.search import ENVIRONMENT
from scorer.output.text.tables import DEFAULT_FORMAT
from scorer.profiles import PROFILES

Command = TypeVar("Command", bound=Callable[..., Any])

WITH_VARIANTS = ", ".join(known.title for known in BENCHMARKS.values() if len(known.files) > 1)
WITH_CATEGORIES = ", ".join(known.title for known in BENCHMARKS.values() if known.categories)
RECOMMENDING = next(known.suite.title() or known.title for known in BENCHMARKS.values() if known.prompt)
"""Benchmarks that the help of some options names."""

PREDICTIONS = click.option(
    "--predictions",
    "-p",
    multiple=True,
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Predictions, JSON Lines or a JSON array; - reads stdin. May be repeated; further FILEs may follow.",
)
BUNDLES = click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE...", type=click.Path())
# Where the ground truth is, and how much is taken from a file.
WHERE = (
    click.option(
        "--gt",
        type=click.Path(),
        metavar="FILE|DIR",
        help="The annotation file or its folder, and no other place.",
    ),
    click.option(
        "--data",
        type=click.Path(),
        metavar="DIR",
        help=f"Folder that holds the benchmarks. Default: ${ENVIRONMENT}, the current folder, the per-user folder.",
    ),
    click.option(
        "--max",
        "maxima",
        multiple=True,
        metavar="NAME=N",
        help=f"Set a limit on what is taken from a file: {', '.join(LIMITS)}. May be repeated.",
    ),
)
BENCHMARK = click.option(
    "--benchmark",
    "-b",
    type=click.Choice(list(BENCHMARKS)),
    help="The benchmark all rows belong to. Default: found from the ids.",
)


def _reading(*, multiple: bool) -> tuple[Callable[[Command], Command], ...]:
    """What the numbers of a file mean, given once, or once for each of several files."""
    return (
        click.option(
            "--space",
            multiple=multiple,
            metavar="SPACE",
            help="What the coordinates of rows mean that do not say it themselves. Default: pixel.",
        ),
        click.option(
            "--profile",
            multiple=multiple,
            type=click.Choice(list(PROFILES)),
            help="A model profile, as a name for its space.",
        ),
        click.option(
            "--instruction-variant",
            multiple=multiple,
            type=click.Choice(VARIANTS),
            help=f"{WITH_VARIANTS}: which instructions were asked. Default: {VARIANTS[0]}.",
        ),
    )


ATTEMPTS = click.option(
    "--attempts",
    metavar="K",
    default=1,
    type=click.IntRange(1),
    help="Also avg@K and pass@K over K attempts at each example.",
)
# Ground truth, spaces and limits: every command that reads predictions takes these.
READING = (BENCHMARK, *WHERE, *_reading(multiple=False))
READING_EACH = (BENCHMARK, *_reading(multiple=True))
TABLE_FORMAT = click.option(
    "--table-format",
    default=DEFAULT_FORMAT,
    show_default=True,
    metavar="NAME",
    help="A format of tabulate: github, latex, tsv, html, ...",
)
SHOW_ALL = click.option(
    "--all", "show_all", is_flag=True, help="List every finding, not only the first few of each kind."
)
JSON_AND_ALL = (
    click.option(
        "--json",
        "json_path",
        metavar="PATH",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write the report as JSON; - for stdout.",
    ),
    SHOW_ALL,
)
SCORING = (
    PREDICTIONS,
    *READING,
    click.option(
        "--category",
        multiple=True,
        metavar="NAME",
        help=f"{WITH_CATEGORIES}: only these categories, or all. May be repeated, or hold several with commas.",
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
        help="--instruction-variant, --category and --sample-ids as one JSON object.",
    ),
    click.option(
        "--details",
        metavar="PATH",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write one verdict per example as JSON Lines; - for stdout.",
    ),
    click.option(
        "--output-dir",
        metavar="DIR",
        type=click.Path(),
        help="Write a run folder: summary.md, metrics.json, and a detail per task.",
    ),
    click.option(
        "--diagnose",
        "diagnosing",
        is_flag=True,
        help="Also try other readings of the coordinates, and describe the misses. The score does not change.",
    ),
    click.option("--by", multiple=True, metavar="AXIS", help="Print the table of this axis only. May be repeated."),
    TABLE_FORMAT,
    ATTEMPTS,
    click.option(
        "--aggregation-mode",
        type=click.Choice(["micro_weighted", "category_mean"]),
        help="Also print this figure: hits over examples, or the mean of the categories.",
    ),
    click.option(
        "--category-hierarchy",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="Also print the figure of a category tree (a JSON file), instead of a mode.",
    ),
    click.option(
        "--paper",
        "paper_label",
        metavar="LABEL",
        help="Print only the row of a paper's table, with this name first.",
    ),
    click.option("--score-only", is_flag=True, help="Print the percentage and nothing else."),
    click.option(
        "--from-raw",
        is_flag=True,
        help="Read the answers again from the raw replies in the rows, as --profile does.",
    ),
    click.option(
        "--refusal",
        type=click.Choice(get_args(Refusal)),
        default="markers",
        show_default=True,
        help="What else than a negative point is a refusal: markers in the reply (terminate, FAIL(), ...), or nothing.",
    ),
    click.option(
        "--show-system-prompt",
        is_flag=True,
        help=f"Print the prompt of --profile and exit; without one the prompt that {RECOMMENDING} recommends.",
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


def parse_limits(given: Iterable[str]) -> Limits:
    """Limits from texts such as ``depth=100``. Raises UsageError for an unknown name and a number out of range."""
    chosen: dict[str, int] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in LIMITS:
            raise UsageError(f'--max {text}: no limit "{name}"; known: {", ".join(LIMITS)}')
        highest, _ = LIMITS[name]
        if not (value.isascii() and value.isdecimal() and len(value) < 20 and 1 <= int(value) <= highest):
            raise UsageError(f"--max {text}: {name} must be a whole number from 1 to {highest}")
        chosen[name.replace("-", "_")] = int(value)
    return Limits(**chosen)
