"""Getting a benchmark's data, annotations and screenshots: whole or not at all.

A dataset comes through the client of the Hugging Face Hub, which goes on where a download stopped. An archive is
checked member by member, and its folder appears under its name only when all of it is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from scorer.benchmarks import BENCHMARKS, SUITES
from scorer.core.errors import GroundTruthError, needs
from scorer.core.records import Benchmark, HubDataset, ZipArchive
from scorer.ground_truth.load import find, load_benchmark

MAX_UNPACKED = 8 * 2**30
"""Upper bound on the bytes that an archive unpacks to. The largest known one has far below one gigabyte."""

Say = Callable[[str], None]
"""Tells the user in one line what is being done."""


def fetchable() -> dict[str, tuple[Benchmark, ...]]:
    """What can be fetched: suites, and benchmarks outside of one, by name -> the benchmarks that they consist of."""
    alone = {known.id: (known,) for known in BENCHMARKS.values() if not known.suite}
    return {name: members for name, members in (SUITES | alone).items() if members[0].download is not None}


def fetch(name: str, data: str, say: Say, *, url: str | None = None, sha256: str | None = None) -> Path:
    """Get what ``name`` stands for below the folder ``data``; returns its folder. What is there is not fetched again.

    ``url`` is another archive than the benchmark's, for benchmarks that come as an archive; "" stands for local data
    only. ``sha256`` is the digest that the archive must have. Raises GroundTruthError where the data cannot be reached
    or are something else; of an archive, nothing is then left behind.
    """
    members = fetchable()[name]
    match members[0].download:
        case HubDataset(dataset):
            return _fetch_dataset(dataset, members, data, say)
        case ZipArchive(official):
            return _fetch_archive(members[0], official if url is None else url, sha256, data, say)
        case _:
            raise GroundTruthError(f"{name} cannot be fetched; its files are at {members[0].source}")


def _fetch_dataset(dataset: str, members: Sequence[Benchmark], data: str, say: Say) -> Path:
    with needs("huggingface-hub", "fetch"):
        from huggingface_hub import snapshot_download
    target = Path(data, members[0].suite or members[0].id)
    say(f"fetching the dataset {dataset} into {target}")
    try:
        snapshot_download(dataset, repo_type="dataset", local_dir=target)
    except Exception as error:  # the client's own, its transport's, the system's
        raise GroundTruthError(
            f"{dataset} could not be fetched ({error}); the same command goes on where it stopped"
        ) from None
    for benchmark in members:
        names = next(iter(benchmark.files.values()))
        found = find(benchmark, next(iter(benchmark.files)), [data])
        if not found.files:
            raise GroundTruthError(f"{dataset} holds no {names[0]} of {benchmark.id}")
        _say_loaded(benchmark, found.files, say)
    return target


def _fetch_archive(benchmark: Benchmark, url: str, sha256: str | None, data: str, say: Say) -> Path:
    folder = benchmark.folders[0]
    top = folder.split("/")[0]
    annotations = next(iter(benchmark.files.values()))[0]
    target = Path(data, top)
    if target.is_dir() and any(target.iterdir()):
        say(f"{target} is there already; nothing is fetched")
    elif not url:
        raise GroundTruthError(f"there is no data in {target}, and without an archive's URL none is fetched")
    else:
        work = Path(data, f".{top}.part")
        shutil.rmtree(work, ignore_errors=True)  # of a run that was killed
        try:
            work.mkdir(parents=True)
            archive = _download(url, sha256, work, say)
            _unpack(archive, annotations, work / folder)
            for variant in benchmark.files:
                load_benchmark(benchmark.id, work / top, variant=variant)
            if target.is_dir():
                target.rmdir()
            os.replace(work / top, target)
        except OSError as error:
            raise GroundTruthError(f"{target}: cannot be written ({error.strerror or error})") from None
        finally:
            shutil.rmtree(work, ignore_errors=True)
    found = find(benchmark, next(iter(benchmark.files)), [str(target)])
    if not found.files:
        raise GroundTruthError(f"{target} holds no {annotations}; empty it, and the same command fetches it")
    _say_loaded(benchmark, found.files, say)
    return target


def _download(url: str, sha256: str | None, folder: Path, say: Say) -> Path:
    """The archive, whole and with the digest it should have."""
    with needs("pooch", "fetch"):
        import pooch
    pooch.get_logger().setLevel("ERROR")
    say(f"fetching {url}")
    try:
        file = Path(pooch.retrieve(url, sha256 and f"sha256:{sha256}", fname="archive.zip", path=folder))
    except Exception as error:  # of whatever protocol the URL names
        raise GroundTruthError(f"{url} could not be fetched ({error})") from None
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    say(f"sha256 {digest}" + ("" if sha256 else " (not checked: give --dataset-sha256 to check it)"))
    return file


def _unpack(archive: Path, annotations: str, target: Path) -> None:
    """Write the folder of the archive that holds the annotations, after a look at every member of it."""
    try:
        with zipfile.ZipFile(archive) as packed:
            members = packed.infolist()
            for member in members:
                _check_member(member)
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise GroundTruthError(f"the archive unpacks to more than {MAX_UNPACKED} bytes; it is not unpacked")
            folders = [PurePosixPath(m.filename).parent for m in members if m.filename.split("/")[-1] == annotations]
            if not folders:
                raise GroundTruthError(f"the archive holds no {annotations}")
            for member in members:
                path = PurePosixPath(member.filename)
                if folders[0] in path.parents and not member.is_dir():
                    place = target / path.relative_to(folders[0])
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with packed.open(member) as source, place.open("wb") as out:
                        shutil.copyfileobj(source, out)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise GroundTruthError(f"the archive cannot be unpacked ({error})") from None


def _check_member(member: zipfile.ZipInfo) -> None:
    """No member may lie outside the folder that it is unpacked into, nor lead out of it."""
    name = member.filename
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in path.parts[0] or "\0" in name:
        raise GroundTruthError(f"the archive has a member outside its own folder ({name}); it is not unpacked")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise GroundTruthError(f"the archive has a member that is no plain file ({name}); it is not unpacked")


def _say_loaded(benchmark: Benchmark, files: Sequence[str], say: Say) -> None:
    """Read the annotations once, so that what was fetched is known to be usable."""
    truth = load_benchmark(benchmark.id, files[0] if len(files) == 1 else os.path.commonpath(files))
    official = ", the known official file" if truth.official else ""
    say(f"{benchmark.id}: {len(truth.examples)} examples in {truth.path}{official}")
