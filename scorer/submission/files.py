"""The files of a bundle, in a folder or in a zip: written so that a byte tells, read so that nothing is trusted.

A zip is one that ``write_zip`` makes: members stored without compression, in order, with one date. So there is nothing
to inflate, nothing between the members, and a changed byte anywhere shows. Any other zip is refused with the reason.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from scorer.core.findings import Findings, shorten
from scorer.core.limits import reason
from scorer.files.write import make_file, whole

SUBMISSION = "submission.json"
SUMS = "SHA256SUMS"
PREDICTIONS = "predictions"

Files = Mapping[str, Callable[[], IO[bytes]]]
"""Names below the bundle, with what opens each."""

_CHUNK = 2**20
_DATE = 0x21  # 1980-01-01, the first day that a zip can tell
_MADE_BY = 0x0314  # Unix, version 2.0
_LONGEST_ZIP = 2**31
_END_BYTES, _END_MARK = 22, b"PK\x05\x06"
_MOST_MEMBERS, _LONGEST_DIRECTORY = 64, 2**16


def digest(opener: Callable[[], IO[bytes]], most: int) -> tuple[str, int]:
    """sha256 and size of a file, read up to ``most`` bytes and one."""
    sha256, size = hashlib.sha256(), 0
    with opener() as stream:
        while size <= most and (chunk := stream.read(_CHUNK)):
            sha256.update(chunk)
            size += len(chunk)
    return sha256.hexdigest(), size


def sums(digests: Mapping[str, str]) -> bytes:
    """The text of SHA256SUMS, as ``sha256sum --check`` reads it."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def write_bundle(out: str, contents: Mapping[str, bytes]) -> None:
    """Write a bundle whole or not at all: a zip where ``out`` ends in .zip, else a folder.

    Raises UsageError where ``out`` exists or cannot be written.
    """
    with whole(out) as made:
        if out.endswith(".zip"):
            with open(made, "wb") as stream:
                write_zip(stream, {name: opener_of(data) for name, data in contents.items()})
            return
        for name, data in contents.items():
            make_file(os.path.join(made, *name.split("/")), data)


def write_zip(stream: Any, files: Files) -> None:
    """Write a zip that depends on names and contents alone: stored members in order, one date, no extra fields.

    By hand, because what the library writes differs between Pythons. Source: PKWARE's APPNOTE 4.3. Raises ValueError
    for a file that the plain format cannot hold.
    """
    directory, offset = b"", 0
    for name in sorted(files):
        crc = size = 0
        for chunk in _chunks(files[name]):
            crc, size = zlib.crc32(chunk, crc), size + len(chunk)
        if offset + size > _LONGEST_ZIP:
            raise ValueError(f"{name} is too long for a zip")
        encoded = name.encode("ascii")
        fields = struct.pack("<HHHHHIIIHH", 20, 0, zipfile.ZIP_STORED, 0, _DATE, crc, size, size, len(encoded), 0)
        header = b"PK\x03\x04" + fields + encoded
        stream.write(header)
        for chunk in _chunks(files[name]):
            stream.write(chunk)
        place = struct.pack("<HHHII", 0, 0, 0, (stat.S_IFREG | 0o644) << 16, offset)
        directory += b"PK\x01\x02" + struct.pack("<H", _MADE_BY) + fields + place + encoded
        offset += len(header) + size
    stream.write(directory)
    stream.write(_END_MARK + struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), offset, 0))


def _chunks(opener: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    with opener() as source:
        while chunk := source.read(_CHUNK):
            yield chunk


class _Checksum:
    """Takes what is written and keeps its sha256; ValueError where it grows beyond ``most`` bytes."""

    def __init__(self, most: int) -> None:
        self.sha256, self.left = hashlib.sha256(), most

    def write(self, data: bytes) -> None:
        self.sha256.update(data)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("its members overlap")


@contextmanager
def opened(path: str, findings: Findings) -> Iterator[Files | None]:
    """The files of a bundle at ``path``, or None where it is none, with everything that is wrong a finding."""
    if os.path.isdir(path):
        yield _folder(path, findings)
        return
    stream = _regular_file(path, findings)
    if stream is None:
        yield None
        return
    with stream:
        yield _zip(stream, path, findings)


def _regular_file(path: str, findings: Findings) -> IO[bytes] | None:
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
        findings.add("unreadable", "neither a folder nor a regular file", path)
    except OSError as error:
        findings.add("unreadable", f"cannot be read ({error.strerror or error})", path)
    return None


def _folder(path: str, findings: Findings) -> Files | None:
    """The regular files of a folder and of its folder ``predictions``; anything else is a finding."""
    files: dict[str, Callable[[], IO[bytes]]] = {}
    for below, folder in (("", path), (f"{PREDICTIONS}/", os.path.join(path, PREDICTIONS))):
        if below and os.path.islink(folder):
            continue  # named where it was met
        try:
            with os.scandir(folder) as entries:
                for number, entry in enumerate(entries):
                    if number == _MOST_MEMBERS:
                        more = f"it holds more than {number} files; a bundle has a handful"
                        findings.add("bundle-file", more, f"{path}/{below}".rstrip("/"))
                        return None
                    name = below + entry.name
                    if entry.is_file(follow_symlinks=False):
                        files[name] = _file_opener(entry.path)
                    elif name != PREDICTIONS or not entry.is_dir(follow_symlinks=False):
                        kind = "a link" if entry.is_symlink() else "no regular file"
                        findings.add("bundle-file", f"{kind}; a bundle holds files alone", f"{path}/{name}")
        except OSError as error:
            findings.add("bundle-file", f"cannot be read ({error.strerror or error})", f"{path}/{below}".rstrip("/"))
    return files


def _zip(stream: IO[bytes], path: str, findings: Findings) -> Files | None:
    """The members of a zip that ``write_zip`` made; None, with the reason as a finding, for any other file."""
    fault = _zip_fault(stream, findings)
    if fault:
        findings.add("bundle-archive", f"{fault}; make the zip with score bundle, or verify the unpacked folder", path)
        return None
    archive = zipfile.ZipFile(stream)
    return {name: _member_opener(archive, name) for name in archive.namelist()}


def _zip_fault(stream: IO[bytes], findings: Findings) -> str:
    """Why a file is no zip of ours. The directory is measured before the library reads it."""
    size = stream.seek(0, os.SEEK_END)
    most = findings.limits.bundle_bytes
    if size > most:
        return f"it is longer, in bytes, than {reason('bundle-bytes', findings.limits)}"
    stream.seek(max(0, size - _END_BYTES))
    end = stream.read()
    if len(end) < _END_BYTES or not end.startswith(_END_MARK):
        return "not a zip, or bytes follow its end"
    members, directory, offset = struct.unpack("<HII", end[10:20])
    if members > _MOST_MEMBERS or directory > _LONGEST_DIRECTORY:
        return f"it has {members} members in a directory of {directory} bytes; a bundle has a handful"
    if offset + directory != size - _END_BYTES:  # where zip64 would hide another directory
        return "its directory does not end where the file does"
    try:
        archive = zipfile.ZipFile(stream)
        fault = next(filter(None, map(_member_fault, archive.infolist())), "")
        if not fault and len(set(archive.namelist())) < len(archive.namelist()):
            fault = "a member stands in it twice"
        if fault:
            return fault
        again = _Checksum(2 * size + _LONGEST_DIRECTORY)
        write_zip(again, {name: _member_opener(archive, name) for name in archive.namelist()})
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError, RuntimeError) as broken:
        return f"a broken zip ({shorten(str(broken))})"
    stream.seek(0)
    whole = hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        whole.update(chunk)
    if whole.digest() != again.sha256.digest():
        return "bytes of it differ from the zip that score bundle makes of its files"
    return ""


def _member_fault(member: zipfile.ZipInfo) -> str:
    name = shorten(member.filename)
    parts = member.filename.split("/")
    if member.filename.startswith("/") or "\\" in member.filename or ":" in member.filename or ".." in parts:
        return f"the member {name} leads out of the bundle"
    if stat.S_ISLNK(member.external_attr >> 16):
        return f"the member {name} is a link"
    if member.flag_bits & 1:
        return f"the member {name} is encrypted"
    if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
        return f"the member {name} is compressed, to {member.compress_size} of {member.file_size} bytes"
    return ""


def opener_of(data: bytes) -> Callable[[], IO[bytes]]:
    """What opens bytes as a file."""
    return lambda: io.BytesIO(data)


def _file_opener(path: str) -> Callable[[], IO[bytes]]:
    """Opens what was a regular file, and nothing that has become a link since."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))

    return lambda: open(path, "rb", opener=opener)


def _member_opener(archive: zipfile.ZipFile, name: str) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(name)


def missing_and_unknown(files: Files, expected: Iterable[str]) -> tuple[list[str], list[str]]:
    """The expected names that are not there, and the names that are not expected."""
    wanted = list(expected)
    return [name for name in wanted if name not in files], [name for name in files if name not in wanted]
