"""``score`` itself: files in, reports out. What only some runs need is imported when a run needs it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from scorer.api import diagnose, hints, suites
from scorer.benchmarks import BENCHMARKS, get_benchmark
from scorer.cli.console import check_axes, check_files, check_outputs, make_locator, open_input, say, write_json
from scorer.cli.options import parse_limits
from scorer.cli.scoring import FindingsEcho, Request, score_request
from scorer.cli.selection import selection
from scorer.core.errors import UsageError
from scorer.core.records import Refusal
from scorer.core.report import Kept, Report, Suite
from scorer.output.text.report import report_text, score_only_text, suite_text
from scorer.output.text.tables import check_format, escape
from scorer.pipeline.settings import Options
from scorer.profiles import get_profile, profile_module

if TYPE_CHECKING:
    from scorer.evidence.diagnosis.records import Diagnosis


def system_prompt(profile: str | None, benchmark: str | None) -> str:
    """The prompt that a profile asks a point with, or else the prompt that a benchmark recommends.

    The instruction is left open. Without a benchmark it is the first one that recommends a prompt.
    """
    recommending = next(known for known in BENCHMARKS.values() if known.prompt)
    asked = recommending if benchmark is None else get_benchmark(benchmark)
    if profile is None:
        return (asked if asked.prompt else recommending).prompt
    from scorer.chat.request import Task, prompt_text

    known = get_profile(profile)
    is_resized = known.space.kind == "frame"
    width, height = known.space.parameters if is_resized else recommending.image_size or (0, 0)
    own = asked.prompt if benchmark is not None else ""
    return prompt_text(profile_module(profile).build_request(Task("{instruction}", (width, height), prompt=own)))


def score_files(
    *,
    predictions: tuple[str, ...],
    more: list[str],
    benchmark: str | None,
    gt: str | None,
    data: str | None,
    space: str | None,
    profile: str | None,
    instruction_variant: str | None,
    maxima: tuple[str, ...],
    attempts: int,
    aggregation_mode: str | None,
    category_hierarchy: str | None,
    category: tuple[str, ...],
    sample_ids: tuple[str, ...],
    benchmark_params: str | None,
    json_path: str | None,
    details: str | None,
    output_dir: str | None,
    by: tuple[str, ...],
    table_format: str,
    diagnosing: bool,
    paper_label: str | None,
    score_only: bool,
    from_raw: bool,
    refusal: Refusal,
    show_all: bool,
    show_system_prompt: bool,
) -> list[Report]:
    """Score files, print or write what is asked for, and say on stderr what was found. Returns the reports."""
    del show_system_prompt
    check_format(table_format)
    files = [*predictions, *more]
    check_files(files, predictions)
    _check_formats(json_path, details, score_only=score_only)
    check_outputs((json_path, details), [*files, gt, category_hierarchy])
    aggregated, tree = _aggregation(aggregation_mode, category_hierarchy)
    kept = None if output_dir is None else Kept({}, {})
    chosen = selection(instruction_variant, category, sample_ids, benchmark_params)
    options = Options(
        space=space,
        profile=profile,
        attempts=attempts,
        limits=parse_limits(maxima),
        refusal=refusal,
        from_raw=from_raw,
    )
    locator = make_locator(chosen, gt, data, several=benchmark is None)
    reports = score_request(Request(files, locator, benchmark, options, json_path), kept=kept)
    reports = list(map(aggregated, reports))
    check_axes(by, reports)
    if instruction_variant and not any(report.variant for report in reports):
        raise UsageError(f"--instruction-variant is for {', '.join(_with_variants())}, and no row is of it")
    found = suites(reports)
    FindingsEcho(show_all=show_all).reports(reports)
    diagnoses = [diagnose(report) for report in reports] if diagnosing else []
    if not diagnosing:
        for line in hints(reports):
            say(escape(line))
    if json_path is not None:
        from scorer.output.data import attach, reports_json

        result = reports_json(reports, found)
        attach(result, diagnoses)
        write_json(json_path, [result])
    if details is not None:
        from scorer.output.data import details as detail_rows

        write_json(details, (row for report in reports for row in detail_rows(report)), lines=True)
    if output_dir is not None and kept is not None:
        from scorer.output.run_folder.folder import write_runs

        write_runs(output_dir, reports, kept, aggregation_mode, tree)
    if score_only:
        click.echo(score_only_text(reports, found))
    elif "-" not in (json_path, details):
        if paper_label is not None:
            blocks = _rows_of_papers(reports, found, paper_label, table_format)
        else:
            blocks = _blocks(reports, found, diagnoses, table_format, by)
        click.echo("\n\n".join(blocks))
    return reports


def _with_variants() -> list[str]:
    return [known.id for known in BENCHMARKS.values() if len(known.files) > 1]


def _rows_of_papers(reports: Sequence[Report], found: Sequence[Suite], label: str, table_format: str) -> list[str]:
    from scorer.output.text.paper import paper_tables

    return paper_tables(reports, found, label, table_format)


def _blocks(
    reports: Sequence[Report],
    found: Sequence[Suite],
    diagnoses: Sequence[Diagnosis],
    table_format: str,
    axes: Sequence[str],
) -> list[str]:
    """What is printed: each report, the suites, and the diagnoses, if they were asked for."""
    blocks = [report_text(report, table_format=table_format, axes=axes) for report in reports]
    blocks += [suite_text(suite, table_format=table_format) for suite in found]
    if diagnoses:
        from scorer.output.text.diagnosis import diagnosis_text

        blocks += [diagnosis_text(each, table_format=table_format) for each in diagnoses]
    return blocks


def _aggregation(mode: str | None, hierarchy: str | None) -> tuple[Callable[[Report], Report], Any]:
    """What adds to a report the figure that is asked for, if any is, and the tree as it was given.

    The arithmetic is imported only then.
    """
    if mode is None and hierarchy is None:
        return lambda report: report, None
    from scorer.evidence.category_tree import aggregate, read_hierarchy

    tree, given = None, None
    if hierarchy is not None:
        check_files([hierarchy])
        with open_input(hierarchy) as stream:
            data = stream.read()
        tree, given = read_hierarchy(data, hierarchy), json.loads(data.decode("utf-8-sig"))
    return lambda report: report._replace(aggregation=aggregate(report, mode, tree)), given


def _check_formats(json_path: str | None, details: str | None, *, score_only: bool) -> None:
    """One thing on stdout, and each file written once."""
    if score_only and "-" in (json_path, details):
        raise UsageError("--score-only and --json - or --details - would mix on stdout; write one of them to a file")
    if json_path == details == "-":
        raise UsageError("--json - and --details - would mix on stdout; write one of them to a file")
    if json_path and details and json_path != "-" and os.path.realpath(json_path) == os.path.realpath(details):
        raise UsageError(f"--json and --details would both write {json_path}")
