"""``score fetch`` against servers on loopback: a hub's dataset and an archive, whole, broken and hostile."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from scorer.ground_truth.load import load_benchmark
from tests.conftest import FIXTURES, Score

COMMIT = "a" * 40
DATASET = "WarmwindOS/pointerbench"
InFreshProcess = Callable[..., "subprocess.CompletedProcess[str]"]


class Files:
    """Files on loopback, also as a hub's dataset; ``cut`` gives some only half, once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.gone = False
        self.asked: list[tuple[str, str, str]] = []
        files = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(body=False)

            def do_GET(self) -> None:
                self._answer(body=True)

            def _answer(self, *, body: bool) -> None:
                path = self.path.partition("?")[0]
                span = self.headers.get("Range", "")
                files.asked.append((self.command, path, span))
                data = None if files.gone else files.find(path)
                if data is None:
                    self.send_error(404)
                    return
                start = int(span[6:].rstrip("-") or 0) if span.startswith("bytes=") else 0
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(data) - start))
                self.send_header("Content-Type", "application/json" if path.startswith("/api") else "application/zip")
                self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
                self.send_header("X-Repo-Commit", COMMIT)
                self.send_header("Accept-Ranges", "bytes")
                self.end_headers()
                if body and path in files.cut:
                    files.cut.discard(path)
                    self.wfile.write(data[start : (start + len(data)) // 2])
                    self.close_connection = True
                elif body:
                    self.wfile.write(data[start:])

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def find(self, path: str) -> bytes | None:
        """The content behind a path: a file, or what a hub's API says of the dataset."""
        api = f"/api/datasets/{DATASET}"
        if path == f"{api}/revision/main":
            siblings = [{"rfilename": name} for name in self.files]
            return json.dumps({"id": DATASET, "sha": COMMIT, "siblings": siblings}).encode()
        if path.startswith(f"{api}/tree/"):
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for name, data in self.files.items()
            ]
            return json.dumps(tree).encode()
        for prefix in (f"/datasets/{DATASET}/resolve/{COMMIT}/", "/"):
            name = path.removeprefix(prefix)
            if path.startswith(prefix) and name in self.files:
                return self.files[name]
        return None


@pytest.fixture
def server() -> Iterator[Files]:
    files = Files()
    yield files
    files.server.shutdown()
    files.server.server_close()


def archive(names: dict[str, bytes] | None = None, prefix: str = "OSWorld-G-daa6bd8/benchmark/") -> bytes:
    """The fixture data set as the official repository's archive would hold it, with further members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("OSWorld-G-daa6bd8/README.md", "not wanted")
        folder = FIXTURES / "osworld_g/benchmark"
        for file in sorted(folder.rglob("*.*")):
            packed.writestr(prefix + file.relative_to(folder).as_posix(), file.read_bytes())
        for name, data in (names or {}).items():
            packed.writestr(name, data)
    return stream.getvalue()


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("prefix", ["OSWorld-G-daa6bd8/benchmark/", ""])
def test_osworld_g_is_unpacked_and_scores(run_score: Score, tmp_path: Path, server: Files, prefix: str) -> None:
    server.files["data.zip"] = archive(prefix=prefix)
    (tmp_path / "osworld_g").mkdir()  # empty: as good as absent
    digest = hashlib.sha256(server.files["data.zip"]).hexdigest()
    options = ["--data", tmp_path, "--dataset-zip-url", f"{server.url}/data.zip"]
    run = run_score("fetch", "osworld-g", *options)
    assert run.status == 0, run.err
    assert run.out.strip() == str(tmp_path / "osworld_g")
    assert digest in run.err
    assert "21 examples" in run.err
    assert files_below(tmp_path / "osworld_g/benchmark") >= files_below(FIXTURES / "osworld_g/benchmark")
    own = FIXTURES / "osworld_g/benchmark/images/FIXSHOT001.png"
    assert (tmp_path / "osworld_g/benchmark/images/FIXSHOT001.png").read_bytes() == own.read_bytes()
    score = run_score(FIXTURES / "predictions/osworld_g.jsonl", "--data", tmp_path, "--score-only")
    assert score.out.strip() == "42.86"

    before = len(server.asked)
    again = run_score("fetch", "osworld-g", *options)
    assert (again.status, "is there already; nothing is fetched" in again.err) == (0, True)
    assert len(server.asked) == before


def test_the_digest_is_checked(run_score: Score, tmp_path: Path, server: Files) -> None:
    server.files["data.zip"] = archive()
    options = ["fetch", "osworld-g", "--data", tmp_path, "--dataset-zip-url", f"{server.url}/data.zip"]
    wrong = run_score(*options, "--dataset-sha256", "0" * 64)
    assert wrong.status == 3
    assert "could not be fetched" in wrong.err
    right = run_score(*options, "--dataset-sha256", hashlib.sha256(server.files["data.zip"]).hexdigest())
    assert right.status == 0


def _symlink() -> bytes:
    stream = io.BytesIO(archive())
    with zipfile.ZipFile(stream, "a") as packed:
        link = zipfile.ZipInfo("OSWorld-G-daa6bd8/benchmark/images/link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "/etc/passwd")
    return stream.getvalue()


def _huge() -> bytes:
    """An archive whose directory promises more than any disk holds."""
    data = archive({"zeros": b"0"})
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"zeros"))
    return data[: at + 24] + (0xFFFFFFF0).to_bytes(4, "little") + data[at + 28 :]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (archive({"../../evil.txt": b"x"}), "outside its own folder (../../evil.txt)"),
        (archive({"/etc/evil": b"x"}), "outside its own folder (/etc/evil)"),
        (archive({"a\\..\\evil": b"x"}), "outside its own folder"),
        (archive({"C:/evil": b"x"}), "outside its own folder (C:/evil)"),
        (_symlink(), "no plain file"),
        (archive()[:-200], "cannot be unpacked"),
        (b"<html>not found</html>", "cannot be unpacked"),
        (archive({"x/OSWorld-G.json": b"[]"}, prefix="y/")[:0] + b"PK\x05\x06" + bytes(18), "holds no OSWorld-G.json"),
        (None, "could not be fetched"),
    ],
)
def test_what_is_no_archive_of_it_leaves_nothing_behind(
    run_score: Score, tmp_path: Path, server: Files, data: bytes | None, words: str
) -> None:
    if data is not None:
        server.files["data.zip"] = data
    folder = tmp_path / "data"
    run = run_score("fetch", "osworld-g", "--data", folder, "--dataset-zip-url", f"{server.url}/data.zip")
    assert run.status == 3
    assert words in run.err
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "evil.txt").exists()


def test_an_archive_that_would_fill_the_disk_is_not_unpacked(
    run_score: Score, tmp_path: Path, server: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scorer.ground_truth.download.MAX_UNPACKED", 2**32 - 100)
    server.files["data.zip"] = _huge()
    run = run_score("fetch", "osworld-g", "--data", tmp_path / "d", "--dataset-zip-url", f"{server.url}/data.zip")
    assert (run.status, "unpacks to more than" in run.err) == (3, True)


def test_a_damaged_member_leaves_nothing_behind(run_score: Score, tmp_path: Path, server: Files) -> None:
    data = bytearray(archive())
    at = data.index(b"FIXSHOT003.png") + 60
    data[at : at + 4] = b"\0\0\0\0"
    server.files["data.zip"] = bytes(data)
    folder = tmp_path / "data"
    run = run_score("fetch", "osworld-g", "--data", folder, "--dataset-zip-url", f"{server.url}/data.zip")
    assert run.status == 3
    assert list(folder.iterdir()) == []


def test_what_a_killed_run_left_is_cleared_away(run_score: Score, tmp_path: Path, server: Files) -> None:
    (tmp_path / ".osworld_g.part/osworld_g").mkdir(parents=True)
    server.files["data.zip"] = archive()
    run = run_score("fetch", "osworld-g", "--data", tmp_path, "--dataset-zip-url", f"{server.url}/data.zip")
    assert run.status == 0
    assert not (tmp_path / ".osworld_g.part").exists()


def test_local_data_only(run_score: Score, tmp_path: Path) -> None:
    run = run_score("fetch", "osworld-g", "--data", tmp_path, "--dataset-zip-url", "")
    assert (run.status, "none is fetched" in run.err) == (3, True)
    assert run_score("fetch", "osworld-g", "--data", FIXTURES, "--dataset-zip-url", "").status == 0
    (tmp_path / "osworld_g").mkdir()
    (tmp_path / "osworld_g/notes.txt").write_text("x")
    run = run_score("fetch", "osworld-g", "--data", tmp_path)
    assert (run.status, "holds no OSWorld-G.json" in run.err) == (3, True)


OLD_HUB = tuple(map(int, version("huggingface-hub").split(".")[:2])) < (1, 20)
"""Whether the client of the hub gives up when a connection is cut, so that the next run has to resume."""


def _hub(in_fresh_process: InFreshProcess, server: Files, data: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: the hub's client reads its endpoint when it is imported."""
    code = (
        "import os, sys\n"
        f"os.environ.update(HF_ENDPOINT={server.url!r}, HF_HUB_DISABLE_XET='1', HF_HUB_DISABLE_TELEMETRY='1')\n"
        f"os.environ['HF_HOME'] = {str(data.parent / 'hf')!r}\n"
        "from scorer.cli.main import main\n"
        "main(['fetch', 'pointerbench', '--data', sys.argv[1]])\n"
    )
    return in_fresh_process("-c", code, str(data))


def test_pointerbench_comes_from_the_hub_and_goes_on_after_a_cut(
    in_fresh_process: InFreshProcess, server: Files, tmp_path: Path
) -> None:
    root = FIXTURES / "pointerbench"
    paths = [path for path in root.rglob("*.*") if path.is_file()]
    server.files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    big = "pointerbench-pro/data/test/9001.png"
    server.files[big] += os.urandom(24_000_000)  # more than twice the client's blocks
    server.cut = {f"/datasets/{DATASET}/resolve/{COMMIT}/{big}"}
    run = _hub(in_fresh_process, server, tmp_path / "data")
    if run.returncode and OLD_HUB:
        assert "the same command goes on where it stopped" in run.stderr
        run = _hub(in_fresh_process, server, tmp_path / "data")
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    target = tmp_path / "data/pointerbench"
    for name, data in server.files.items():
        assert (target / name).read_bytes() == data
    assert OLD_HUB or any(span.startswith("bytes=") for _, path, span in server.asked if path.endswith(big))
    assert len(load_benchmark("pointerbench-text", tmp_path / "data").examples) == 18
    assert "pointerbench-sheets: 12 examples" in run.stderr

    pictures = sum(path.endswith(".png") and method == "GET" for method, path, _ in server.asked)
    assert _hub(in_fresh_process, server, tmp_path / "data").returncode == 0
    assert sum(path.endswith(".png") and method == "GET" for method, path, _ in server.asked) == pictures


def test_a_hub_without_the_dataset_and_one_with_another(
    in_fresh_process: InFreshProcess, server: Files, tmp_path: Path
) -> None:
    server.files = {"README.md": b"nothing here"}
    run = _hub(in_fresh_process, server, tmp_path / "data")
    assert (run.returncode, "holds no data/test/metadata.jsonl of pointerbench-sheets" in run.stderr) == (3, True)
    server.gone = True
    run = _hub(in_fresh_process, server, tmp_path / "other")
    assert (run.returncode, "could not be fetched" in run.stderr) == (3, True)


def test_without_the_extra_the_next_step_is_named(
    run_score: Score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for package, arguments in (("pooch", ["osworld-g"]), ("huggingface_hub", ["pointerbench"])):
        monkeypatch.setitem(sys.modules, package, None)
        run = run_score("fetch", *arguments, "--data", tmp_path / package)
        assert (run.status, "'gui-grounding-scorer[fetch]'" in run.err) == (2, True)


def test_a_folder_that_cannot_be_made_is_said(run_score: Score, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    run = run_score("fetch", "osworld-g", "--data", tmp_path / "file/data")
    assert (run.status, "cannot be made" in run.err) == (2, True)
