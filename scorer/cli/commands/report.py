"""``score report``: one HTML page that shows each answer on its screenshot."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from scorer.api import hints, suites
from scorer.cli.console import check_files, check_outputs, echo_findings, one_for_each
from scorer.cli.options import READING_EACH, SHOW_ALL, WHERE, options, parse_limits
from scorer.cli.progress import counting
from scorer.cli.scoring import FindingsEcho, make_request, score_request
from scorer.core import messages
from scorer.core.errors import GroundTruthError, UsageError
from scorer.core.findings import Findings, shorten
from scorer.core.report import Report
from scorer.files.write import make_file, replace_file
from scorer.pipeline.settings import Options

if TYPE_CHECKING:
    from scorer.core.limits import Limits
    from scorer.output.html.examples import Section
    from scorer.output.html.page import Page


@click.command("report")
@click.option(
    "--predictions",
    "-p",
    "files",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(),
    help="Predictions, JSON Lines or a JSON array. May be repeated.",
)
@click.option(
    "--compare",
    metavar="FILE",
    type=click.Path(),
    help="A second file; both answers are shown.",
)
@click.option(
    "--images",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The screenshots: a data folder as for --data, or the folder that holds them. Without it frames are blank.",
)
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page; - is stdout.",
)
@click.option(
    "--assets",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Keep the pictures in this folder, beside the page, rather than in it.",
)
@click.option(
    "--image-width",
    type=click.IntRange(64, 4096),
    default=1024,
    show_default=True,
    metavar="PIXELS",
    help="Greatest width of the screenshots on the page.",
)
@click.option(
    "--max-examples",
    type=click.IntRange(1),
    metavar="N",
    help="Show at most N examples, misses first. Default: all that are no hits, and hits up to 600 examples in all.",
)
@options((*READING_EACH, *WHERE, SHOW_ALL))
def command(
    files: tuple[str, ...],
    compare: str | None,
    images: str | None,
    out: str,
    assets: str | None,
    image_width: int,
    max_examples: int | None,
    benchmark: str | None,
    space: tuple[str, ...],
    profile: tuple[str, ...],
    instruction_variant: tuple[str, ...],
    gt: str | None,
    data: str | None,
    maxima: tuple[str, ...],
    show_all: bool,
) -> None:
    """Write one HTML page that shows where each answer landed.

    \b
    score report -p preds.jsonl --images data --out report.html

    It opens from disk, makes no request and can be mailed. Needs the extra: pip install '.[report]'.
    --space, --profile and --instruction-variant, given twice, are those of the predictions and of the file compared.

    Exit status: 0 written, 1 predictions rejected, 3 ground truth absent or malformed; also 3 where a screenshot is
    missing, broken or of another size: it is named, and the page is written with a blank frame for it.
    """
    _check_extra()
    limits = parse_limits(maxima)
    runs = [files, (compare,)] if compare else [files]
    given = [name for run in runs for name in run]
    check_files(given)
    if "-" in given:
        raise UsageError("score report reads its files twice, so they cannot come from stdin; save them first")
    check_outputs([out], [*given, gt])
    spaces = one_for_each("space", space, len(runs))
    profiles = one_for_each("profile", profile, len(runs))
    variants = one_for_each("instruction-variant", instruction_variant, len(runs))
    echo = FindingsEcho(show_all=show_all)
    scored: list[list[Report]] = []
    for run, own_space, own_profile, variant in zip(runs, spaces, profiles, variants, strict=True):
        request = make_request(
            run,
            benchmark=benchmark,
            gt=gt,
            data=data,
            instruction_variant=variant,
            options=Options(space=own_space, profile=own_profile, limits=limits),
        )
        reports = score_request(request)
        echo.reports(reports)
        scored.append(reports)
    made = _page(runs, _sections(runs, scored), limits, max_examples)
    faults = Findings(limits=limits)
    pictures = [] if images is None else _pictures(made, scored[0], images, image_width, faults)
    _write(made, pictures, out, assets)
    if faults.has_errors:
        echo_findings(faults, faults.counts, show_all=show_all)
        click.get_current_context().exit(GroundTruthError.exit_code)


def _check_extra() -> None:
    """The page is made with two libraries that ``score`` itself does without."""
    for library in ("jinja2", "PIL"):
        if find_spec(library) is None:
            raise UsageError("score report needs jinja2 and pillow: pip install 'gui-grounding-scorer[report]'")


def _sections(runs: Sequence[Sequence[str]], scored: Sequence[Sequence[Report]]) -> list[Section]:
    """The reports of the first run, each with that of the second one, which must be over the same examples."""
    from scorer.output.html.examples import Section

    if len(scored) == 1:
        return [Section(report, hints=_hints(report)) for report in scored[0]]
    rivals = {report.benchmark.id: report for report in scored[1]}
    for report in scored[0]:
        rival = rivals.get(report.benchmark.id)
        if rival is None:
            raise UsageError(f"{runs[1][0]} has no row of {report.benchmark.id}; compare files of the same benchmark")
        if [v.example.id for v in report.verdicts] != [v.example.id for v in rival.verdicts]:
            raise UsageError(f"the instruction variants of {report.benchmark.id} found here hold other examples")
    pairs = [(report, rivals[report.benchmark.id]) for report in scored[0]]
    return [Section(report, rival, (*_hints(report, "A: "), *_hints(rival, "B: "))) for report, rival in pairs]


def _hints(report: Report, mark: str = "") -> tuple[str, ...]:
    """What ``score`` would say of the coordinates, under a heading that says already that it is a hint."""
    return tuple(mark + line.removeprefix("hint: ") for line in hints([report]))


def _page(runs: Sequence[Sequence[str]], sections: Sequence[Section], limits: Limits, most: int | None) -> Page:
    """The page's data, with the replies that the files hold."""
    from scorer.output.html.page import File, make_page
    from scorer.output.html.replies import read_replies

    rows = [verdict.prediction for section in sections for pair in section.pairs for verdict in pair]
    replies: dict[tuple[str, int], str] = {}
    named: list[File] = []
    for role, names in zip(("predictions", "compared with"), runs, strict=False):
        for name in names:
            lines = {row.line for row in rows if row is not None and row.source == name}
            replies |= read_replies(name, lines, limits)
            named.append(File(role, os.path.basename(name), _sha256(name)))
    return make_page(named, sections, suites(section.report for section in sections), replies, limit=most)


def _sha256(name: str) -> str:
    with open(name, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _pictures(made: Page, reports: Sequence[Report], folder: str, width: int, faults: Findings) -> list[bytes]:
    """The pictures of the page's examples, with progress on stderr; what cannot be shown becomes a fault."""
    from scorer.output.html.images import ScreenshotError, convert_all, needed, place

    wanted = needed(made.examples, reports)
    pictures: list[bytes] = []
    found = convert_all(folder, [shot for shot, _ in wanted], width, alone=len(reports) == 1)
    with counting(len(wanted), "screenshots") as progress:
        for (shot, examples), result in zip(wanted, found, strict=True):
            if isinstance(result, ScreenshotError):
                also = f" and {len(examples) - 1} more" if len(examples) > 1 else ""
                report = faults.at(shorten(shot.name))
                report(messages.NO_SCREENSHOT, examples=f"{examples[0]['id']}{also}", why=result)
            else:
                place(result, examples, pictures)
            if progress is not None:
                progress.advance()
    return pictures


def _write(made: Page, pictures: Sequence[bytes], out: str, assets: str | None) -> None:
    """Write the page, its pictures into it or into a folder of their own."""
    from scorer.output.html.template import render_page

    links = _write_assets(pictures, assets, os.path.dirname(out)) if assets else []
    text = render_page(made, pictures, links).encode("utf-8", "backslashreplace")
    if out == "-":
        sys.stdout.buffer.write(text)
    else:
        replace_file(out, text)


def _write_assets(pictures: Iterable[bytes], folder: str, beside: str) -> list[str]:
    """Write pictures under names made of their content; returns their addresses as seen from the page."""
    links: list[str] = []
    for picture in pictures:
        file = os.path.join(folder, f"{hashlib.sha256(picture).hexdigest()[:20]}.webp")
        make_file(file, picture)
        links.append(quote(os.path.relpath(file, beside or ".").replace(os.sep, "/")))
    return links
