"""Ground truth: a file or a folder -> examples. All faults are listed in one error; nothing is silently dropped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from scorer.benchmarks import ID_PATTERNS, get_benchmark, osworld_g
from scorer.benchmarks.ids import benchmark_of
from scorer.core.errors import GroundTruthError, UsageError
from scorer.core.findings import Findings, write_numbers
from scorer.core.records import Benchmark, Example, GroundTruth
from scorer.files.rows import rows

ALL_CATEGORIES = "all"


class Selection(NamedTuple):
    """Which instructions and which examples of a benchmark are wanted. Empty means the default: all of them."""

    variant: str = ""
    categories: tuple[str, ...] = ()
    sample_ids: tuple[str, ...] = ()


def load_benchmark(
    name: str,
    path: str | os.PathLike[str],
    *,
    variant: str = "",
    categories: str | Sequence[str] = (),
    sample_ids: str | Sequence[str] = (),
) -> GroundTruth:
    """Load a benchmark's examples from an annotation file, or from a folder that holds it.

    ``variant`` is ``original`` or ``refined`` for OSWorld-G (default: what the file's name says, else original).
    ``categories`` and ``sample_ids`` keep only some examples, in the order of the file, so that denominators shrink.

    Raises UsageError for an unknown benchmark, variant, category or sample id, and GroundTruthError, with every
    fault by id in its ``findings``, for a file that is absent or malformed.
    """
    benchmark = get_benchmark(name)
    file = os.fspath(path)
    categories, sample_ids = ((each,) if isinstance(each, str) else each for each in (categories, sample_ids))
    if "\0" not in file and os.path.isdir(file):
        found = find(benchmark, _variant(benchmark, variant), [file])
        if isinstance(found, list):
            looked = "\n".join(f"  {place}" for place in found)
            raise GroundTruthError(f"no ground truth of {name} in {file}; looked for:\n{looked}")
        file = found
    return load_file(benchmark, file, Selection(variant, tuple(categories), tuple(map(str, sample_ids))))


def find(benchmark: Benchmark, variant: str, places: Iterable[str]) -> str | list[str]:
    """The annotation file below the first place that has it, or every path that was looked at."""
    looked: list[str] = []
    name = benchmark.files[variant]
    layouts = dict.fromkeys([*(os.path.join(folder, name) for folder in benchmark.folders), os.path.basename(name)])
    for place in places:
        for layout in layouts:
            file = os.path.normpath(os.path.join(place, layout))
            looked.append(file)
            # A subset's own folder has the same layout whichever subset it is: ask the file.
            named = layout not in (name, os.path.basename(name))
            if os.path.isfile(file) and (named or benchmark_in(file) in (benchmark.id, None)):
                return file
    return looked


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


def load_file(benchmark: Benchmark, file: str, selection: Selection) -> GroundTruth:
    """Load one annotation file; see load_benchmark."""
    variant = _variant_of_file(benchmark, file, selection.variant)
    findings = Findings()
    _check_file(file)
    try:
        with open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            records = rows(stream, file, findings, size=os.fstat(stream.fileno()).st_size, check_keys=False)
            sides, sides_sha256 = _side_files(benchmark, os.path.dirname(file))
            examples = benchmark.read(records, file, findings, benchmark.axes, sides)
    except OSError as error:
        raise _unreadable(file, error) from None
    if findings.refused or not examples:
        found = findings.summary() if findings.refused else "it has no rows"
        raise GroundTruthError(
            f"{file} is no usable ground truth of {benchmark.id}: {found}; the official file is at {benchmark.source}",
            findings,
            findings.counts,
        )
    if len(benchmark.files) > 1:
        _compare_variants(benchmark, file, examples, findings)
    official = digest in benchmark.sha256
    if benchmark.sha256 and not official:
        message = f"not the official file of {benchmark.title} (sha256 {digest[:12]}…); scored as given"
        findings.add("gt-not-official", message, file)
    chosen, filter_text = _select(benchmark, examples, selection)
    source = osworld_g.categories_source(sides) if benchmark.categories else ""
    return GroundTruth(
        benchmark,
        variant,
        tuple(chosen),
        frozenset(example.id for example in examples) - {example.id for example in chosen}
        if filter_text
        else frozenset(),
        file,
        digest,
        official,
        source,
        sides_sha256.get(source, ""),
        filter_text,
        tuple(findings),
    )


def _check_file(file: str) -> None:
    """Only regular files can be read more than once, and a pipe that nobody writes to would never end."""
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
    named = next((key for key, name in benchmark.files.items() if key and name == os.path.basename(file)), None)
    if named is None:
        return variant
    if asked and asked != named:
        raise UsageError(f"{file} holds the {named} instructions, but {asked} was asked for")
    return named


def _side_files(benchmark: Benchmark, folder: str) -> tuple[dict[str, osworld_g.SideFile], dict[str, str]]:
    """The files beside the annotations, parsed, and their digests."""
    sides: dict[str, osworld_g.SideFile] = {}
    digests: dict[str, str] = {}
    for name in osworld_g.SIDE_FILES if benchmark.categories else ():
        try:
            with open(os.path.join(folder, name), "rb") as stream:
                data = stream.read()
            value = json.loads(data.decode("utf-8-sig"))
        except FileNotFoundError:
            sides[name] = osworld_g.SideFile(None, f"{name} is not in {folder or '.'}")
        except (OSError, ValueError, RecursionError) as error:
            sides[name] = osworld_g.SideFile(None, f"{name} cannot be read ({error})")
        else:
            fault = osworld_g.check_side_file(name, value)
            sides[name] = osworld_g.SideFile(None if fault else value, fault and f"{name} is invalid: {fault}")
            digests[name] = hashlib.sha256(data).hexdigest()
    return sides, digests


def _compare_variants(benchmark: Benchmark, file: str, examples: Iterable[Example], findings: Findings) -> None:
    """Warn where the other instruction variant, if it lies beside this one, has another target for an id."""
    folder, own_name = os.path.split(file)
    if own_name not in benchmark.files.values():
        return
    targets = {example.id: example.target for example in examples}
    for name in benchmark.files.values():
        other = os.path.join(folder, name)
        if name == own_name or not os.path.isfile(other):
            continue
        sides = dict.fromkeys(osworld_g.SIDE_FILES, osworld_g.SideFile(None))
        others: list[Example] = []
        with suppress(OSError), open(other, "rb") as stream:
            records = rows(stream, other, Findings(), check_keys=False)
            others = benchmark.read(records, other, Findings(), benchmark.axes, sides)
        for example in others:
            mine = targets.get(example.id, example.target)
            if mine != example.target:
                message = (
                    f"{example.id}: {own_name} has {write_numbers(mine)}, {name} has {write_numbers(example.target)}"
                )
                findings.add("gt-variants-differ", message, file, row_id=example.id)


def _select(benchmark: Benchmark, examples: Sequence[Example], selection: Selection) -> tuple[Sequence[Example], str]:
    """The examples that the selection keeps, and how the signature names it ("" for all of them)."""
    parts: list[str] = []
    names = () if ALL_CATEGORIES in selection.categories else tuple(dict.fromkeys(selection.categories))
    for name in selection.categories:
        if name != ALL_CATEGORIES and name not in benchmark.categories:
            if not benchmark.categories:
                raise UsageError(f"{benchmark.id} cannot be filtered by category; only osworld-g can")
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
