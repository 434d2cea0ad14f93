"""Compressed predictions: the same rows, read as a stream; damaged and endless ones are named."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest

from scorer.core.findings import Findings
from scorer.core.limits import Limits
from scorer.files.unpack import unpacked
from tests.conftest import FIXTURES, Score

SUITE = FIXTURES / "predictions/suite.jsonl"


def _packed(kind: str, data: bytes) -> bytes:
    if kind == "gzip":
        return gzip.compress(data)
    if kind == "two members":
        return gzip.compress(data[:1000]) + gzip.compress(data[1000:])
    zstd = pytest.importorskip("compression.zstd", reason="zstd is in the standard library from Python 3.14 on")
    compressed: bytes = zstd.compress(data)
    return compressed


@pytest.mark.parametrize("kind", ["gzip", "two members", "zstd"])
def test_a_compressed_file_gives_the_report_of_the_plain_one(kind: str, run_score: Score) -> None:
    Path("p.jsonl.packed").write_bytes(_packed(kind, SUITE.read_bytes()))
    run = run_score("p.jsonl.packed", "--data", FIXTURES)
    assert run.status == 0
    assert run.out == run_score(SUITE, "--data", FIXTURES).out
    assert "p.jsonl.packed:" in run.err


def test_compressed_predictions_are_read_from_a_pipe(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scorer", "-", "--data", str(FIXTURES), "--score-only"],
        input=gzip.compress((FIXTURES / "predictions/sheets.jsonl").read_bytes()),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.stdout == b"50.00\n"


@pytest.mark.parametrize("cut", [3, 12, 200, -1])
def test_data_that_break_off_get_no_number(cut: int, run_score: Score) -> None:
    Path("p.gz").write_bytes(gzip.compress(SUITE.read_bytes())[:cut])
    run = run_score("p.gz", "--data", FIXTURES)
    assert run.status == 1
    assert "unreadable" in run.err
    assert "compress the file again" in run.err


def test_a_damaged_byte_gets_no_number(run_score: Score) -> None:
    data = bytearray(gzip.compress(SUITE.read_bytes()))
    data[len(data) // 2] ^= 255
    Path("p.gz").write_bytes(data)
    run = run_score("p.gz", "--data", FIXTURES)
    assert run.status == 1
    assert run.err.count("compress the file again") == 1


def test_what_is_compressed_twice_is_named(run_score: Score) -> None:
    Path("p.gz").write_bytes(gzip.compress(gzip.compress(SUITE.read_bytes())))
    assert "compressed twice" in run_score("p.gz", "--data", FIXTURES).err


def test_a_bomb_stops_at_its_limit() -> None:
    findings = Findings(limits=Limits(unpacked_bytes=10**6))
    stream, compressed = unpacked(io.BytesIO(gzip.compress(b"\0" * 10**8)), findings.at("bomb"))
    assert compressed
    assert sum(len(piece) for piece in iter(lambda: stream.read(2**16), b"")) <= 10**6
    assert stream.read() == b""  # and it stays at its end
    (found,) = findings
    assert "the limit of 1000000 (--max unpacked-bytes=N" in found.message


def test_plain_bytes_stay_as_they_are() -> None:
    for data in (b"", b"x", b'{"id": 1}\n' * 9):
        stream, compressed = unpacked(io.BytesIO(data), Findings().at("plain"))
        assert (stream.read(), compressed) == (data, False)
