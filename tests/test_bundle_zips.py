"""Zips as bundles: any writer of stored members is accepted, every other zip is a finding; nothing is inflated."""

from __future__ import annotations

import io
import random
import shutil
import stat
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from scorer.submission.files import write_zip
from tests.conftest import CASES, needs_cases
from tests.test_submission import BUNDLES, fault, verified

FIXTURE = BUNDLES[1].read_bytes()
HEADER, ENTRY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
"""Signatures of a member's header, of an entry of the directory, and of the end record."""


def _contents() -> dict[str, bytes]:
    with zipfile.ZipFile(BUNDLES[1]) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


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


def _zip64_in_a_comment() -> bytes:
    """A small directory that ends where the file does, with a zip64 record that names fifty thousand entries.

    The record and its locator are the comment of the only entry, so they stand where a library looks for them.
    """
    entries = (ENTRY + bytes(24) + b"\x01\0" + bytes(16) + b"x") * 50_000
    comment = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 50_000, 50_000, len(entries), 0)
    comment += b"PK\x06\x07" + struct.pack("<IQI", 0, len(entries) + 47, 1)
    entry = ENTRY + bytes(24) + struct.pack("<HHH", 1, 0, len(comment)) + bytes(12) + b"x" + comment
    return entries + entry + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(entries), 0)


def _patched(place: int, form: str, value: int, signature: bytes = ENTRY, data: bytes = FIXTURE) -> bytes:
    """A zip with one number changed, ``place`` bytes behind the first ``signature``."""
    changed = bytearray(data)
    struct.pack_into(form, changed, data.index(signature) + place, value)
    return bytes(changed)


def _overstated() -> bytes:
    """Directory and header agree that the first member is larger than the zip."""
    data = FIXTURE
    for signature, place in ((HEADER, 18), (HEADER, 22), (ENTRY, 20), (ENTRY, 24)):
        data = _patched(place, "<I", 10**7, signature, data)
    return data


def _overlapping() -> bytes:
    """A member that contains the next one, so that the sizes of both add up to more than the file."""
    inner = _member("b", b"x" * 1000)
    header, entry = inner[: inner.index(ENTRY)], inner[inner.index(ENTRY) : inner.index(END)]
    outer = _member("a", header)
    data = outer[: outer.index(ENTRY)]
    directory = outer[outer.index(ENTRY) : outer.index(END)] + entry[:42] + struct.pack("<I", 31) + entry[46:]
    return data + directory + END + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(directory), len(data), 0)


def _flags(bit: int, signature: bytes) -> bytes:
    return _patched(8 if signature == ENTRY else 6, "<H", bit, signature)


ZIPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "upwards": (lambda: _member("../x"), "leads out of the bundle"),
    "upwards inside": (lambda: _member("predictions/../../x"), "leads out of the bundle"),
    "upwards at the end of a long name": (lambda: _member("x" * 100 + "\\.."), "leads out of the bundle"),
    "absolute": (lambda: _member("/etc/x"), "leads out of the bundle"),
    "windows": (lambda: _member("C:\\x"), "leads out of the bundle"),
    "link": (lambda: _member("x", b"/etc/passwd", mode=stat.S_IFLNK | 0o777), "is a link"),
    "encrypted": (lambda: _flags(1, ENTRY), "is encrypted"),
    "strongly encrypted": (lambda: _flags(0x40, ENTRY), "is encrypted"),
    "patch data": (lambda: _flags(0x20, ENTRY), "a broken zip"),
    "bomb": (lambda: _member("x", b"\0" * 2**28, zipfile.ZIP_DEFLATED), "is compressed, to "),
    "compressed, said to be stored": (
        lambda: _patched(10, "<H", 0, data=_member("x", bytes(99), zipfile.ZIP_DEFLATED)),
        "is compressed, to ",
    ),
    "stored, said to be compressed": (lambda: _patched(8, "<H", 8, HEADER), "differs from its entry in the directory"),
    "larger than the zip": (_overstated, "reaches into what follows it"),
    "members that overlap": (_overlapping, "the member a reaches into what follows it"),
    "a member in the directory": (lambda: _patched(42, "<I", FIXTURE.index(ENTRY)), "reaches into what follows it"),
    "a member behind the end": (lambda: _patched(42, "<I", 2**32 - 2), "reaches into what follows it"),
    "a long extra field": (lambda: _patched(28, "<H", 2**16 - 1, HEADER), "reaches into what follows it"),
    "another size in the header": (lambda: _patched(22, "<I", 5, HEADER), "differs from its entry in the directory"),
    "another crc in the header": (lambda: _patched(14, "<I", 5, HEADER), "differs from its entry in the directory"),
    "encrypted by its header": (lambda: _flags(1, HEADER), "differs from its entry in the directory"),
    "another name in the header": (lambda: FIXTURE.replace(b"SHA256SUMS", b"SHA256SUNS", 1), "a broken zip"),
    "another content": (lambda: FIXTURE.replace(b'"format": 1', b'"format": 2', 1), "a broken zip"),
    "a name that is not UTF-8": (
        lambda: _patched(8, "<H", 0x800).replace(b"SHA256SUMS", b"SHA256SUM\xff"),
        "a broken zip",
    ),
    "a version to come": (lambda: _patched(6, "<H", 99), "a broken zip"),
    "many members": (_many_members, "20000 members"),
    "more members than stated": (lambda: _patched(10, "<H", 2, END), "lists 3 members, its end states 2"),
    "no zip": (lambda: b"hello", "not a zip"),
    "empty": (lambda: b"", "not a zip"),
    "a comment": (lambda: _patched(20, "<H", 1, END) + b"x", "not a zip, or bytes follow its end"),
    "a comment that is not there": (lambda: _patched(20, "<H", 1, END), "not a zip, or bytes follow its end"),
    "bytes behind": (lambda: FIXTURE + b"x", "not a zip, or bytes follow its end"),
    "bytes before": (lambda: b"x" + FIXTURE, "its directory does not end where the file does"),
    "cut": (lambda: FIXTURE[2000:], "its directory does not end where the file does"),
    "damaged inside": (lambda: FIXTURE.replace(HEADER, b"PK\x03\x05", 1), "a broken zip"),
    "a second directory": (_zip64, "its directory does not end where the file does"),
    "a second directory in a comment": (_zip64_in_a_comment, "a zip64 record follows it"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_a_zip_of_anything_but_stored_members_is_rejected_with_the_reason_and_the_next_step(
    name: str, tmp_path: Path
) -> None:
    make, said = ZIPS[name]
    path = tmp_path / "x.zip"
    path.write_bytes(make())
    code, _, message = fault(path)
    assert code == "bundle-archive"
    assert said in message
    assert "make the zip with score bundle, or without compression (zip -0), or verify the unpacked folder" in message
    assert list(tmp_path.iterdir()) == [path]


@needs_cases
def test_a_member_that_is_longer_than_its_zip_is_a_finding() -> None:
    assert CASES is not None
    code, _, message = fault(CASES / "attack/c1_member_longer_than_zip.zip")
    assert (code, "submission.json reaches into what follows it" in message) == ("bundle-archive", True)


@pytest.mark.parametrize(
    "error",
    [
        zipfile.BadZipFile("Bad CRC-32"),
        struct.error("unpack requires a buffer"),
        EOFError(),
        NotImplementedError("compression type 99"),
        OSError(22, "Invalid argument"),
        RuntimeError("File is encrypted"),
        ValueError("negative seek value"),
        OverflowError("Python int too large to convert to C long"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("method", ["__init__", "read"])
def test_whatever_the_library_raises_is_a_finding(
    method: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(zipfile.ZipFile, method, broken)
    code, _, message = fault(BUNDLES[1])
    assert (code, message.startswith(f"a broken zip ({error}"), "()" in message) == ("bundle-archive", True, False)


@pytest.mark.parametrize("name", _contents())
def test_a_zip_that_is_made_again_with_another_content_is_caught_by_the_hashes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    contents = _contents()
    for position in (0, len(contents[name]) // 2, len(contents[name]) - 1):
        data = bytearray(contents[name])
        data[position] ^= 1
        write_zip(str(path), {**contents, name: bytes(data)})
        bundle = verified(path)
        assert not bundle.holds
        hashes = {finding.source for finding in bundle.findings if finding.code == "bundle-hash"}
        assert f"{path}/{name}" in hashes or name == "submission.json"
        assert f"{path}/SHA256SUMS" in hashes


def _written(contents: Iterable[tuple[zipfile.ZipInfo | str, bytes]], out: io.BytesIO) -> None:
    with zipfile.ZipFile(out, "w") as archive:
        for member, data in contents:
            archive.writestr(member, data)


class _Pipe(io.BytesIO):
    """A stream that cannot seek, so that a writer puts checksum and sizes behind each member."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise OSError("a pipe")

    tell = seek


def _of_another_date_mode_and_order() -> bytes:
    out = io.BytesIO()
    members = [(zipfile.ZipInfo(name, (2024, 2, 29, 12, 0, 0)), data) for name, data in _contents().items()]
    for member, _ in members:
        member.external_attr, member.create_system = (stat.S_IFREG | 0o600) << 16, 0
    _written(reversed(members), out)
    return out.getvalue()


def _with_extra_fields_and_comments() -> bytes:
    out = io.BytesIO()
    members = [(zipfile.ZipInfo(name), data) for name, data in _contents().items()]
    for member, _ in members:
        member.extra, member.comment = b"UT\x05\0\x03\0\0\0\0", b"a comment"
    _written(members, out)
    return out.getvalue()


def _through_a_pipe() -> bytes:
    out = _Pipe()
    _written(_contents().items(), out)
    return out.getvalue()


def _with_bytes_between_members() -> bytes:
    """A removed member stays in the file; only its entry in the directory is gone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("removed", b"y" * 100)
        for name, data in _contents().items():
            archive.writestr(name, data)
        archive.filelist.pop(0)
    return out.getvalue()


def _with_an_entry_for_the_folder() -> bytes:
    out = io.BytesIO()
    _written([("predictions/", b""), *_contents().items()], out)
    return out.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        _of_another_date_mode_and_order,
        _with_extra_fields_and_comments,
        _through_a_pipe,
        _with_bytes_between_members,
        _with_an_entry_for_the_folder,
    ],
)
def test_stored_members_of_any_writer_are_a_bundle(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(make())
    assert path.read_bytes() != FIXTURE
    bundle = verified(path)
    assert bundle.holds, bundle.findings
    assert [(report.total.hits, report.total.n) for report in bundle.reports] == [(16, 21)]


@pytest.mark.skipif(shutil.which("zip") is None, reason="Info-ZIP's zip is not installed")
@pytest.mark.parametrize(
    ("options", "holds"), [("-0r x.zip .", True), ("-0rXD x.zip .", True), ("-0r - .", True), ("-r x.zip .", False)]
)
def test_a_zip_by_info_zip_is_a_bundle_where_it_does_not_compress(options: str, holds: bool, tmp_path: Path) -> None:
    for name, data in _contents().items():
        (tmp_path / "b" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "b" / name).write_bytes(data)
    run = subprocess.run(["zip", *options.split()], cwd=tmp_path / "b", capture_output=True, check=True)
    if "-0r -" in options:
        (tmp_path / "b/x.zip").write_bytes(run.stdout)
    bundle = verified(tmp_path / "b/x.zip")
    assert bundle.holds is holds, bundle.findings
    assert holds or "is compressed, to " in bundle.findings[0].message


def test_a_zip_cut_anywhere_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    lengths = {*range(len(FIXTURE) - 400, len(FIXTURE)), *random.Random(1).sample(range(len(FIXTURE)), 100)}
    for length in sorted(lengths):
        path.write_bytes(FIXTURE[:length])
        assert fault(path)[0] == "bundle-archive", length


def test_any_changed_byte_outside_of_the_files_in_a_zip_is_a_finding_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    held = 0
    for position in [*range(40), *range(FIXTURE.index(ENTRY), len(FIXTURE))]:
        for value in (0, 1, 255, FIXTURE[position] ^ 1):
            path.write_bytes(FIXTURE[:position] + bytes([value]) + FIXTURE[position + 1 :])
            bundle = verified(path)
            if bundle.holds:
                held += 1
                assert [(report.total.hits, report.total.n) for report in bundle.reports] == [(16, 21)]
                assert bundle.manifest["model"] == "Made-up model 1"
            else:
                assert {finding.code for finding in bundle.findings} <= {"bundle-archive", "bundle-file"}, position
    assert held  # a date, or the permissions of a file


def test_a_written_zip_is_one_for_the_library_and_depends_on_names_and_contents_alone() -> None:
    contents = {"b/c.jsonl": b"x" * 3_000_000, "a": b"", "Z": b"\0\xff"}
    written = []
    for names in (["b/c.jsonl", "a", "Z"], ["Z", "a", "b/c.jsonl"]):
        out = io.BytesIO()
        write_zip(out, {name: contents[name] for name in names})
        written.append(out.getvalue())
    assert written[0] == written[1]
    archive = zipfile.ZipFile(io.BytesIO(written[0]))
    assert archive.testzip() is None
    assert {member.filename: archive.read(member) for member in archive.infolist()} == contents
    assert all(member.date_time == (1980, 1, 1, 0, 0, 0) for member in archive.infolist())
    assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
    assert all(member.external_attr >> 16 == stat.S_IFREG | 0o644 for member in archive.infolist())


def test_every_python_writes_the_zip_in_the_fixtures_byte_for_byte() -> None:
    out = io.BytesIO()
    write_zip(out, _contents())
    assert out.getvalue() == FIXTURE


def test_a_member_twice_is_rejected(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("x", "2")
    (tmp_path / "x.zip").write_bytes(out.getvalue())
    assert "a member is listed twice" in fault(tmp_path / "x.zip")[2]


def test_members_that_are_no_files_of_a_bundle_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    write_zip(str(path), {"README": b"x"})
    assert fault(path)[:2] == ("bundle-file", "submission.json")
    for name in ("README", "predictions/deeper/x", "submission.json ", "submission.jsonl"):
        write_zip(str(path), {**_contents(), name: b"x"})
        assert fault(path)[:2] == ("bundle-file", name)


def test_a_name_is_not_cut_at_a_zero_byte(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    write_zip(str(path), {**_contents(), "SHA256SUMS?x": b"x"})
    path.write_bytes(path.read_bytes().replace(b"SHA256SUMS?x", b"SHA256SUMS\0x"))
    assert fault(path)[:2] == ("bundle-file", "SHA256SUMS\0x")
