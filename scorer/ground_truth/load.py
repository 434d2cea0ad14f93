"""Ground truth: annotation files or a folder -> examples. All faults are listed in one error."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scorer.benchmarks import ID_PATTERNS, get_benchmark
from scorer.benchmarks.ids import benchmark_of
from scorer.core import messages
from scorer.core.errors import GroundTruthError, UsageError
from scorer.core.findings import Findings, Reporter, write_numbers
from scorer.core.records import Benchmark, Example, GroundTruth, SideFile
from scorer.files.source import file_source
from scorer.ground_truth.records import ExampleReader

ALL_CATEGORIES = "all"


class Selection(NamedTuple):
    """Which instructions and which examples of a benchmark are wanted. Empty means the default: all of them."""

    variant: str = ""
    """The instruction variant."""
    categories: tuple[str, ...] = ()
    """Only examples of these categories; ``all`` stands for all of them."""
    sample_ids: tuple[str, ...] = ()
    """Only the examples of these ids."""


class Found(NamedTuple):
    """The annotation files of a benchmark, or where they were looked for."""

    files: tuple[str, ...]
    """The files of one variant; empty where they are nowhere."""
    looked_for: tuple[str, ...]
    """Every path that was tried."""


def load_benchmark(
    name: str,
    path: str | os.PathLike[str],
    *,
    variant: str = "",
    categories: str | Sequence[str] = (),
    sample_ids: str | Sequence[str] = (),
) -> GroundTruth:
    """Load a benchmark's examples from an annotation file, or from a folder that holds it.

    ``variant`` is the instruction variant, for benchmarks that have several (default: what the file's name says, else
    the first one). ``categories`` and ``sample_ids`` keep only some examples, in the order of the file, so that
    denominators shrink.

    Raises UsageError for an unknown benchmark, variant, category or sample id, and GroundTruthError, with every
    fault by id in its ``findings``, for a file that is absent or malformed.
    """
    benchmark = get_benchmark(name)
    file = os.fspath(path)
    categories, sample_ids = ((each,) if isinstance(each, str) else each for each in (categories, sample_ids))
    files: tuple[str, ...] = (file,)
    if "\0" not in file and os.path.isdir(file):
        files, looked_for = find(benchmark, _variant(benchmark, variant), [file])
        if not files:
            looked = "\n".join(f"  {place}" for place in looked_for)
            raise GroundTruthError(f"no ground truth of {name} in {file}; looked for:\n{looked}")
    return load_files(benchmark, files, Selection(variant, tuple(categories), tuple(map(str, sample_ids))))


def find(benchmark: Benchmark, variant: str, places: Iterable[str]) -> Found:
    """The annotation files of a variant below the first of some places that has them."""
    looked_for: list[str] = []
    names = benchmark.files[variant]
    layouts = [[os.path.join(folder, name) for name in names] for folder in benchmark.folders]
    layouts.append([os.path.basename(name) for name in names])
    tried = dict.fromkeys(tuple(map(os.path.normpath, layout)) for layout in layouts)
    plain = {tuple(map(os.path.normpath, names)), tuple(map(os.path.basename, names))}
    for place in places:
        for layout in tried:
            files = tuple(os.path.normpath(os.path.join(place, name)) for name in layout)
            looked_for.append(files[0])
            # Benchmarks may have the same layout below their own folder, so that the file itself has to tell.
            tells = layout not in plain
            if all(map(os.path.isfile, files)) and (tells or benchmark_in(files[0]) in (benchmark.id, None)):
                return Found(files, tuple(looked_for))
    return Found((), tuple(looked_for))


def benchmark_in(file: str) -> str | None:
    """The benchmark whose ids the start of an annotation file shows, None if none does."""
    _check_file(file)
    try:
        with open(file, "rb") as stream:
            start = stream.read(8192).decode("utf-8", "replace")
    except OSError as error:
        raise _unreadable(file, error) from None
    _, key, rest = start.partition('"id"')
    quoted = rest.split('"', 2) if key else []
    return benchmark_of(quoted[1], ID_PATTERNS) if len(quoted) == 3 else None


def load_files(benchmark: Benchmark, files: Sequence[str], selection: Selection) -> GroundTruth:
    """Load the annotation files of one variant; see load_benchmark."""
    variant = _variant_of_file(benchmark, files[0], selection.variant)
    path = files[0] if len(files) == 1 else os.path.commonpath(files)
    findings = Findings()
    report = findings.at(path)
    reader = ExampleReader(benchmark)
    for file in files:
        _check_file(file)
        reader.read(file_source(file).rows(findings, check_keys=False), findings.at(file))
    sides, digests = _side_files(benchmark, os.path.dirname(files[0]))
    reader.categorize(sides, report)
    examples = reader.examples
    if findings.has_errors or not examples:
        found = findings.summary() if findings.has_errors else "it has no rows"
        raise GroundTruthError(
            f"{path} is no usable ground truth of {benchmark.id}: {found}; the official file is at {benchmark.source}",
            findings,
            findings.counts,
        )
    _compare_variants(benchmark, files, examples, report)
    digest = _digest(files)
    official = digest in benchmark.sha256
    if benchmark.sha256 and not official:
        report(messages.NOT_OFFICIAL, title=benchmark.title, digest=digest[:12])
    chosen, filter_text = _select(benchmark, examples, selection)
    left_out = {example.id for example in examples} - {example.id for example in chosen} if filter_text else ()
    source = next((name for name, side in sides.items() if side.value is not None), "none") if sides else ""
    return GroundTruth(
        benchmark,
        variant,
        tuple(chosen),
        frozenset(left_out),
        path,
        digest,
        official,
        source,
        digests.get(source, ""),
        filter_text,
        tuple(findings),
    )


def _digest(files: Sequence[str]) -> str:
    """The SHA-256 of a file, or that of the digests of several."""
    digests: list[str] = []
    for file in files:
        try:
            with open(file, "rb") as stream:
                digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
        except OSError as error:
            raise _unreadable(file, error) from None
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _check_file(file: str) -> None:
    """Only regular files can be read more than once, and a pipe into which nothing is written would never end."""
    if "\0" in file or not os.path.isfile(file):
        found = "there is no such file" if "\0" in file or not os.path.exists(file) else "it is no regular file"
        raise GroundTruthError(f"{file}: cannot be read ({found})")


def _unreadable(file: str, error: OSError) -> GroundTruthError:
    return GroundTruthError(f"{file}: cannot be read ({error.strerror or error})")


def _variant(benchmark: Benchmark, variant: str) -> str:
    """The variant asked for, or the benchmark's first one."""
    if not variant:
        return next(iter(benchmark.files))
    if variant not in benchmark.files:
        known = ", ".join(filter(None, benchmark.files)) or "none"
        raise UsageError(f'{benchmark.id} has no instruction variant "{variant}"; known: {known}')
    return variant


def _variant_of_file(benchmark: Benchmark, file: str, asked: str) -> str:
    """The variant that a file holds: official names decide, any other file holds what was asked for."""
    variant = _variant(benchmark, asked)
    name = os.path.basename(file)
    named = next((key for key, names in benchmark.files.items() if key and name in map(os.path.basename, names)), None)
    if named is None:
        return variant
    if asked and asked != named:
        raise UsageError(f"{file} holds the {named} instructions, but {asked} was asked for")
    return named


def _side_files(benchmark: Benchmark, folder: str) -> tuple[dict[str, SideFile], dict[str, str]]:
    """The files beside the annotations, parsed, and their digests."""
    sides: dict[str, SideFile] = {}
    digests: dict[str, str] = {}
    for name, fault_of in benchmark.side_files.items():
        try:
            with open(os.path.join(folder, name), "rb") as stream:
                data = stream.read()
            value = json.loads(data.decode("utf-8-sig"))
        except FileNotFoundError:
            sides[name] = SideFile(None, f"{name} is not in {folder or '.'}")
        except (OSError, ValueError, RecursionError) as error:
            sides[name] = SideFile(None, f"{name} cannot be read ({error})")
        else:
            fault = fault_of(value)
            sides[name] = SideFile(None if fault else value, fault and f"{name} is invalid: {fault}")
            digests[name] = hashlib.sha256(data).hexdigest()
    return sides, digests


def _compare_variants(
    benchmark: Benchmark, files: Sequence[str], examples: Iterable[Example], report: Reporter
) -> None:
    """Warn where another instruction variant, if it lies beside this one, has another target for an id."""
    folder, own_name = os.path.split(files[0])
    if len(benchmark.files) < 2 or own_name not in [names[0] for names in benchmark.files.values()]:
        return
    targets = {example.id: example.target for example in examples}
    for names in benchmark.files.values():
        others = [os.path.join(folder, name) for name in names]
        if names[0] == own_name or not all(map(os.path.isfile, others)):
            continue
        reader, ignored = ExampleReader(benchmark), Findings()
        for other in others:
            reader.read(file_source(other).rows(ignored, check_keys=False), ignored.at(other))
        for example in reader.examples:
            mine = targets.get(example.id, example.target)
            if mine != example.target:
                place = report.at(0, example.id)
                place(
                    messages.VARIANTS_DIFFER,
                    example=example.id,
                    file=own_name,
                    mine=write_numbers(mine),
                    other_file=names[0],
                    others=write_numbers(example.target),
                )


def _select(benchmark: Benchmark, examples: Sequence[Example], selection: Selection) -> tuple[Sequence[Example], str]:
    """The examples that the selection keeps, and how the signature names it ("" for all of them)."""
    parts: list[str] = []
    names = () if ALL_CATEGORIES in selection.categories else tuple(dict.fromkeys(selection.categories))
    for name in selection.categories:
        if name != ALL_CATEGORIES and name not in benchmark.categories:
            if not benchmark.categories:
                raise UsageError(f"{benchmark.id} cannot be filtered by category")
            known = ", ".join((*benchmark.categories, ALL_CATEGORIES))
            raise UsageError(f'{benchmark.id} has no category "{name}"; known: {known}')
    if names:
        axis = [axis.name for axis in benchmark.axes].index("category")
        examples = [example for example in examples if not set(names).isdisjoint(example.labels[axis])]
        parts.append("category=" + "+".join(sorted(names)))
    if selection.sample_ids:
        wanted = dict.fromkeys(selection.sample_ids)
        present = {example.id for example in examples}
        missing = [name for name in wanted if name not in present]
        if missing:
            listed = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
            where = f" in category {'+'.join(names)}" if names else ""
            raise UsageError(f"{benchmark.id} has no example{where} with the sample id: {listed}")
        examples = [example for example in examples if example.id in wanted]
        digest = hashlib.sha256("\n".join(sorted(wanted)).encode("utf-8", "surrogatepass")).hexdigest()
        parts.append(f"sample_ids={len(wanted)}@{digest[:12]}")
    return examples, ",".join(parts)
