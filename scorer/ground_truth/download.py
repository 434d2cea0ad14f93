"""Getting a benchmark's data: annotations and screenshots, whole or not at all.

Pointerbench comes from its dataset on the Hugging Face Hub, whose client goes on where a download stopped; OSWorld-G is
an archive that is checked member by member and appears under its name only when all of it is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from scorer.benchmarks import BENCHMARKS, get_benchmark
from scorer.benchmarks.pointerbench import SUITE
from scorer.core.errors import GroundTruthError, needs
from scorer.ground_truth.load import find, load_benchmark

POINTERBENCH_DATASET = "WarmwindOS/pointerbench"
OSWORLD_G_ZIP = "https://github.com/xlang-ai/OSWorld-G/archive/daa6bd8e0f629f0917ad2984df930bf0bd967540.zip"
OSWORLD_G = "osworld_g"
ANNOTATIONS = "OSWorld-G.json"
MAX_UNPACKED = 8 * 2**30
"""Bytes that an archive may unpack to; the data set is far below one gigabyte."""

Say = Callable[[str], None]


def fetch_pointerbench(data: str, say: Say) -> Path:
    """Get the three subsets into ``data``/pointerbench. What is there already is not fetched again.

    Raises GroundTruthError where the dataset cannot be reached or holds something else.
    """
    with needs("huggingface-hub", "fetch"):
        from huggingface_hub import snapshot_download
    target = Path(data, SUITE)
    say(f"fetching the dataset {POINTERBENCH_DATASET} into {target}")
    try:
        snapshot_download(POINTERBENCH_DATASET, repo_type="dataset", local_dir=target)
    except Exception as error:  # the client's own, its transport's, the system's
        raise GroundTruthError(
            f"{POINTERBENCH_DATASET} could not be fetched ({error}); the same command goes on where it stopped"
        ) from None
    for benchmark in BENCHMARKS.values():
        if benchmark.suite == SUITE:
            found = find(benchmark, "", [data])
            if not found.files:
                raise GroundTruthError(f"{POINTERBENCH_DATASET} holds no {benchmark.files[''][0]} of {benchmark.id}")
            _say_loaded(benchmark.id, found.files[0], say)
    return target


def fetch_osworld_g(data: str, url: str, sha256: str | None, say: Say) -> Path:
    """Get OSWorld-G into ``data``/osworld_g, unless something is there already.

    ``url`` is a zip archive with OSWorld-G.json in any of its folders; "" stands for local data only. ``sha256`` is its
    expected digest. Raises GroundTruthError where it cannot be reached, is another file, or is no such archive; then
    nothing of it is left behind.
    """
    target = Path(data, OSWORLD_G)
    if target.is_dir() and any(target.iterdir()):
        say(f"{target} is there already; nothing is fetched")
    elif not url:
        raise GroundTruthError(f"there is no data in {target}, and without an archive's URL none is fetched")
    else:
        work = Path(data, f".{OSWORLD_G}.part")
        shutil.rmtree(work, ignore_errors=True)  # of a run that was killed
        try:
            work.mkdir(parents=True)
            archive = _download(url, sha256, work, say)
            _unpack(archive, work / OSWORLD_G / "benchmark")
            for variant in get_benchmark("osworld-g").files:
                load_benchmark("osworld-g", work / OSWORLD_G, variant=variant)
            if target.is_dir():
                target.rmdir()
            os.replace(work / OSWORLD_G, target)
        except OSError as error:
            raise GroundTruthError(f"{target}: cannot be written ({error.strerror or error})") from None
        finally:
            shutil.rmtree(work, ignore_errors=True)
    found = find(get_benchmark("osworld-g"), "original", [str(target)])
    if not found.files:
        raise GroundTruthError(f"{target} holds no {ANNOTATIONS}; empty it, and the same command fetches it")
    _say_loaded("osworld-g", found.files[0], say)
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


def _unpack(archive: Path, target: Path) -> None:
    """Write the folder of the archive that holds the annotations, after a look at every member of it."""
    try:
        with zipfile.ZipFile(archive) as packed:
            members = packed.infolist()
            for member in members:
                _check_member(member)
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise GroundTruthError(f"the archive unpacks to more than {MAX_UNPACKED} bytes; it is not unpacked")
            folders = [PurePosixPath(m.filename).parent for m in members if m.filename.split("/")[-1] == ANNOTATIONS]
            if not folders:
                raise GroundTruthError(f"the archive holds no {ANNOTATIONS}")
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


def _say_loaded(name: str, file: str, say: Say) -> None:
    """Read the annotations once, so that what was fetched is known to be usable."""
    truth = load_benchmark(name, file)
    official = ", the known official file" if truth.official else ""
    say(f"{name}: {len(truth.examples)} examples in {file}{official}")
