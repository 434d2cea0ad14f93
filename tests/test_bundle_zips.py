"""Zips of another make than ours: each refused with the reason, nothing inflated, nothing unpacked."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scorer.submission.files import opener_of, write_zip
from tests.test_submission import BUNDLES, fault


def _member(name: str, data: bytes = b"x", kind: int = zipfile.ZIP_STORED, mode: int = stat.S_IFREG | 0o644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = mode << 16, kind
        archive.writestr(info, data)
    return out.getvalue()


def _many_members() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_000):
            archive.writestr(str(number), "")
    return out.getvalue()


def _zip64() -> bytes:
    """Fifty thousand entries behind a directory that says it has one."""
    entry = b"PK\x01\x02" + bytes(24) + b"\x01\0" + bytes(16) + b"x"
    entries = entry * 50_000
    large = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 50_000, 50_000, len(entries), 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(entries), 1)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), 0, 0)
    return entries + large + locator + end


ZIPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "upwards": (lambda: _member("../x"), "leads out of the bundle"),
    "upwards inside": (lambda: _member("predictions/../../x"), "leads out of the bundle"),
    "absolute": (lambda: _member("/etc/x"), "leads out of the bundle"),
    "windows": (lambda: _member("C:\\x"), "leads out of the bundle"),
    "link": (lambda: _member("x", b"/etc/passwd", mode=stat.S_IFLNK | 0o777), "is a link"),
    "bomb": (lambda: _member("x", b"\0" * 2**28, zipfile.ZIP_DEFLATED), "is compressed, to "),
    "many members": (_many_members, "20000 members"),
    "no zip": (lambda: b"hello", "not a zip"),
    "empty": (lambda: b"", "not a zip"),
    "bytes behind": (lambda: BUNDLES[1].read_bytes() + b"x", "not a zip, or bytes follow its end"),
    "bytes before": (lambda: b"x" + BUNDLES[1].read_bytes(), "its directory does not end where the file does"),
    "another maker": (lambda: _member("submission.json", b"{}", mode=stat.S_IFREG | 0o600), "bytes of it differ"),
    "cut": (lambda: BUNDLES[1].read_bytes()[2000:], "its directory does not end where the file does"),
    "damaged inside": (lambda: BUNDLES[1].read_bytes().replace(b"PK\x03\x04", b"PK\x03\x05", 1), "a broken zip"),
    "a second directory": (_zip64, "its directory does not end where the file does"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_a_zip_of_another_make_is_refused_with_the_reason_and_the_next_step(name: str, tmp_path: Path) -> None:
    make, said = ZIPS[name]
    path = tmp_path / "x.zip"
    path.write_bytes(make())
    code, _, message = fault(path)
    assert code == "bundle-archive"
    assert said in message
    assert "make the zip with score bundle, or verify the unpacked folder" in message
    assert list(tmp_path.iterdir()) == [path]


def test_a_zip_of_ours_is_one_for_the_library_and_depends_on_names_and_contents_alone() -> None:
    contents = {"b/c.jsonl": b"x" * 3_000_000, "a": b"", "Z": b"\0\xff"}
    written = []
    for names in (["b/c.jsonl", "a", "Z"], ["Z", "a", "b/c.jsonl"]):
        out = io.BytesIO()
        write_zip(out, {name: opener_of(contents[name]) for name in names})
        written.append(out.getvalue())
    assert written[0] == written[1]
    archive = zipfile.ZipFile(io.BytesIO(written[0]))
    assert archive.testzip() is None
    assert {member.filename: archive.read(member) for member in archive.infolist()} == contents
    assert all(member.date_time == (1980, 1, 1, 0, 0, 0) for member in archive.infolist())
    assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())


def test_a_member_twice_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("x", "2")
    (tmp_path / "x.zip").write_bytes(out.getvalue())
    assert "a member stands in it twice" in fault(tmp_path / "x.zip")[2]


def test_a_zip_of_our_make_that_holds_no_bundle_says_what_is_missing(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as stream:
        write_zip(stream, {"README": lambda: io.BytesIO(b"x")})
    assert fault(tmp_path / "x.zip")[:2] == ("bundle-file", "submission.json")
