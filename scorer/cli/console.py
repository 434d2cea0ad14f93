"""What all commands do with files and the terminal: open inputs, guard outputs, write results and findings."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from typing import IO, Any

import click

from scorer.benchmarks import GROUND_TRUTH_NAMES
from scorer.core.errors import GroundTruthError, PredictionsError, UsageError
from scorer.core.findings import Finding
from scorer.core.records import GroundTruth
from scorer.core.report import Report
from scorer.ground_truth.load import Selection
from scorer.ground_truth.search import ENVIRONMENT, Locator
from scorer.output.text.findings import finding_lines

Streams = list[tuple[str, Callable[[], IO[bytes]]]]


def make_locator(chosen: Selection, gt: str | None, data: str | None, *, several: bool = False) -> Locator:
    """Where ground truth is looked for: the options, else the environment, the current folder, the per-user folder."""
    return Locator(
        chosen,
        gt=gt,
        data=data,
        environment=os.environ.get(ENVIRONMENT, ""),
        current="",
        app_folder=click.get_app_dir("score"),
        several=several,
    )


def load_variant(gt: str | None, data: str | None) -> Callable[[str, str], GroundTruth]:
    """Loads a benchmark in a variant ("" where it has none), each once, and says what was found in its files."""

    @lru_cache
    def load(benchmark: str, variant: str) -> GroundTruth:
        truth = make_locator(Selection(variant), gt, data).load_name(benchmark)
        echo_findings(truth.findings, {}, show_all=False)
        return truth

    return load


def streams(files: Iterable[str]) -> Streams:
    """Names for messages, each with what opens the file; - is stdin."""
    return [(name if name != "-" else "<stdin>", partial(open_input, name)) for name in files]


@contextmanager
def reading(files: Sequence[str]) -> Iterator[tuple[Streams, Callable[[int], object] | None]]:
    """The ``streams`` of files, and a function to be called with the number of rows after each block.

    Where stderr is a terminal, a line shows after two seconds how far the reading is. It is gone when the reading ends.
    """
    opened = streams(files)
    if not sys.stderr.isatty():
        yield opened, None
        return
    from scorer.cli.progress import ReadingLine, total_bytes

    progress = ReadingLine(sys.stderr, total_bytes(files))
    try:
        yield [(name, partial(progress.counted, opener)) for name, opener in opened], progress
    finally:
        progress.clear()


def open_input(name: str) -> IO[bytes]:
    """A binary stream of a file, or of stdin for -."""
    return open(0, "rb", closefd=False) if name == "-" else open(name, "rb")


def check_files(files: Iterable[str], named: Iterable[str] | None = None) -> None:
    """Raise click.UsageError for a file that is missing or is a folder. A missing one that is not among the files
    ``named`` by an option may be a misspelt command."""
    context = click.get_current_context()
    if not files:
        raise click.UsageError("no predictions: give a file, as in --predictions preds.jsonl, or - for stdin", context)
    for name in files:
        if name != "-" and not os.path.exists(name):
            commands = ""
            if named is not None and name not in named and isinstance(context.command, click.Group):
                commands = f", and no such command (known: {', '.join(context.command.list_commands(context))})"
            raise click.UsageError(f"{name}: no such file{commands}", context)
        if os.path.isdir(name):
            raise click.UsageError(f"{name} is a folder; name the files in it", context)


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None], *, folders: Iterable[str] = ()) -> None:
    """Raise UsageError where an output would overwrite an input, under whatever name, or another output.

    ``folders`` are inputs as a whole, so that no output may lie in them.
    """
    read = [name for name in inputs if name]
    whole = [os.path.join(os.path.realpath(folder), "") for folder in folders if os.path.isdir(folder)]
    written: dict[str, str] = {}
    for output in outputs:
        if not output or output == "-":
            continue
        real = os.path.realpath(output)
        if real in written:
            raise UsageError(f"two outputs would both write {output}")
        written[real] = output
        if any(_is_same(name, output) for name in read) or any(map(real.startswith, whole)):
            raise UsageError(f"{output} would overwrite what is read")
        if os.path.exists(output) and os.path.basename(real) in GROUND_TRUTH_NAMES:
            raise UsageError(f"{output} would overwrite a file with the name of a ground truth")


def _is_same(name: str, output: str) -> bool:
    """Whether an input, stdin for -, and an output are one file."""
    try:
        found = os.fstat(0) if name == "-" else os.stat(name)
        return stat.S_ISREG(found.st_mode) and os.path.samestat(found, os.stat(output))
    except OSError:  # one of them is not there
        return False


def check_axes(by: Iterable[str], reports: Iterable[Report]) -> None:
    """Raise UsageError for an axis that none of the reports has."""
    known = dict.fromkeys(axis_table.axis.name for report in reports for axis_table in report.tables)
    for name in by:
        if name not in known:
            raise UsageError(f'no axis "{name}"; known here: {", ".join(known)}')


def one_for_each(name: str, values: Sequence[str], files: int) -> list[str | None]:
    """The value of a repeatable option for each file: none, one for all, or one for each. Raises UsageError."""
    if len(values) not in (0, 1, files):
        raise UsageError(f"--{name} is given {len(values)} times for {files} files; give it once or once per file")
    return list(values) if len(values) == files else [values[0] if values else None] * files


@contextmanager
def rejection_written(json_path: str | None) -> Iterator[None]:
    """Write why a run is rejected to the JSON path, so that an older report there is not taken for its result."""
    try:
        yield
    except (PredictionsError, GroundTruthError) as rejected:
        if json_path is not None:
            from scorer.output.data import rejection_json

            write_json(json_path, [rejection_json(rejected)])
        raise


def write_json(path: str, values: Iterable[Any], *, lines: bool = False) -> None:
    """Write JSON values, each indented, or each on one line."""
    from jsonlines import Writer

    from scorer.output.data import dump

    dumps = partial(dump, indent=None if lines else 2)
    if path == "-":
        Writer(sys.stdout, dumps=dumps).write_all(values)
        return
    try:
        with open(path, "w", encoding="ascii", newline="\n") as stream:
            Writer(stream, dumps=dumps).write_all(values)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def write_text(path: str, text: str) -> None:
    """Write a text with a line end behind it; - is stdout."""
    if path == "-":
        click.echo(text)
        return
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text + "\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def echo_findings(findings: Iterable[Finding], counts: Mapping[str, int], *, show_all: bool) -> None:
    """Write findings to stderr, one line each."""
    for line in finding_lines(findings, counts, show_all=show_all):
        say(line)


def say(line: str) -> None:
    """Write a line to stderr. A failure to do so is ignored, because the result can still be written."""
    with suppress(OSError):
        click.echo(line, err=True)
