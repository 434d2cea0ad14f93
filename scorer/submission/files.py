"""Writing and reading the files of a bundle, which is a folder or a zip.

A zip is accepted when its members are stored without compression, so that nothing is ever inflated. The names in it are
only compared with the expected names, never used as paths. The contents are proven by hashes in
``scorer.submission.verify``, in the same way for a folder and for a zip.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO

from scorer.core import messages
from scorer.core.findings import Findings, shorten
from scorer.core.limits import Limits, reason
from scorer.files.write import make_file, whole

SUBMISSION = "submission.json"
SUMS = "SHA256SUMS"
PREDICTIONS = "predictions"

Files = Mapping[str, Callable[[], IO[bytes]]]
"""The files of a bundle: name relative to the bundle, with "/" between folders -> a function that opens the file."""

_CHUNK = 2**20  # bytes read at once while a file is hashed

_MAX_FILES = 64
"""Files in one folder of a bundle, or members of a zip. A bundle has one per benchmark and two more."""

_MAX_DIRECTORY = 2**16
"""Bytes of a zip's central directory, which zipfile reads as a whole. A member takes about 100 of them."""

# The records of a zip that are checked here because zipfile trusts them. Source: PKWARE's APPNOTE,
# sections 4.3.7 (header of a member), 4.3.15 (locator of a zip64 directory) and 4.3.16 (end record).
_END = struct.Struct("<4s6xHIIH")  # signature, number of members, size and offset of the directory, size of a comment
_END_SIGNATURE = b"PK\x05\x06"
_ZIP64_LOCATOR_BYTES = 20
_ZIP64_LOCATOR_SIGNATURE = b"PK\x06\x07"
_HEADER = struct.Struct("<6xHH4xIIIHH")  # flags, method, crc, compressed and plain size, sizes of name and extra field

_ENCRYPTED = 0x41  # flag bits 0 and 6: encryption, strong encryption
_VALUES_FOLLOW = 0x08  # flag bit 3: a zero for crc or size means that the value follows the member

_ZIP_ERRORS = (zipfile.BadZipFile, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""What zipfile raises for a damaged zip. RuntimeError includes NotImplementedError, ValueError UnicodeDecodeError."""


class _RejectedError(Exception):
    """A zip that is not accepted as a bundle, with the reason as its message."""


def digest(opener: Callable[[], IO[bytes]], most: int) -> tuple[str, int]:
    """The sha256 of a file in hex and its size in bytes. At most one chunk beyond ``most`` bytes is read.

    Where the size is greater than ``most``, the sha256 covers only what was read. Raises OSError.
    """
    sha256, size = hashlib.sha256(), 0
    with opener() as stream:
        while size <= most and (chunk := stream.read(_CHUNK)):
            sha256.update(chunk)
            size += len(chunk)
    return sha256.hexdigest(), size


def sums(digests: Mapping[str, str]) -> bytes:
    """The content of SHA256SUMS, as ``sha256sum --check`` reads it. ``digests``: file name -> sha256 in hex."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def write_bundle(out: str, contents: Mapping[str, bytes]) -> None:
    """Write a bundle completely or not at all: a zip where ``out`` ends in .zip, else a folder.

    Raises UsageError where ``out`` exists or cannot be written.
    """
    with whole(out) as made:
        if out.endswith(".zip"):
            write_zip(made, contents)
            return
        for name, data in contents.items():
            make_file(os.path.join(made, *name.split("/")), data)


def write_zip(out: str | IO[bytes], contents: Mapping[str, bytes]) -> None:
    """Write a zip of stored members whose bytes depend on the names and contents alone. Raises OSError."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the earliest date of the format
            member.create_system = 3  # Unix, also when written on Windows
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(member, contents[name])


def open_bundle(path: str, findings: Findings) -> Files | None:
    """The files of the bundle at ``path``, a folder or a zip; None where they cannot be listed.

    Everything that is wrong becomes a finding. A zip is read into memory, at most ``bundle_bytes`` of ``Limits``.
    """
    if os.path.isdir(path):
        return _folder(path, findings)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            findings.at(path)(messages.NO_FILE_OR_FOLDER)
            return None
        with open(path, "rb") as stream:
            return _zip(stream, path, findings)
    except OSError as error:
        findings.at(path)(messages.CANNOT_BE_READ, why=error.strerror or error)
        return None


def _folder(path: str, findings: Findings) -> Files | None:
    """The regular files of a folder and of its folder ``predictions``; anything else is a finding."""
    files: dict[str, Callable[[], IO[bytes]]] = {}
    for below, folder in (("", path), (f"{PREDICTIONS}/", os.path.join(path, PREDICTIONS))):
        if below and os.path.islink(folder):
            continue  # a finding already, as an entry of the folder above
        try:
            with os.scandir(folder) as entries:
                for number, entry in enumerate(entries):
                    if number == _MAX_FILES:
                        findings.at(f"{path}/{below}".rstrip("/"))(messages.TOO_MANY_FILES, most=number)
                        return None
                    name = below + entry.name
                    if entry.is_file(follow_symlinks=False):
                        files[name] = _file_opener(entry.path)
                    elif name != PREDICTIONS or not entry.is_dir(follow_symlinks=False):
                        kind = "a link" if entry.is_symlink() else "no regular file"
                        findings.at(f"{path}/{name}")(messages.NO_PLAIN_FILE, kind=kind)
        except OSError as error:
            place = f"{path}/{below}".rstrip("/")
            findings.at(place)(messages.BUNDLE_FILE_UNREADABLE, why=error.strerror or error)
    return files


def _zip(stream: IO[bytes], path: str, findings: Findings) -> Files | None:
    """The members of a zip, or None with the reason as a finding."""
    try:
        return {name: opener_of(data) for name, data in _read_zip(stream, findings.limits).items()}
    except _RejectedError as rejected:
        fault = str(rejected)
    except _ZIP_ERRORS as broken:
        fault = f"a broken zip ({shorten(str(broken) or 'it ends within a member')})"
    findings.at(path)(messages.NO_BUNDLE_ZIP, fault=fault)
    return None


def _read_zip(stream: IO[bytes], limits: Limits) -> dict[str, bytes]:
    """Member name -> content. Raises _RejectedError, and the errors of zipfile for a damaged zip.

    Bytes outside of the members, such as extra fields of another writer, are accepted: no content includes them.
    """
    stated, directory = _end_record(stream, limits)
    archive = zipfile.ZipFile(stream)
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    if len(members) != stated:
        raise _RejectedError(f"its directory lists {len(members)} members, its end states {stated}")
    for member in members:
        _check_member(member)
    # orig_filename is the name in the zip; filename ends at a zero byte and may be replaced by an extra field.
    if len({member.orig_filename for member in members}) < len(members):
        raise _RejectedError("a member is listed twice")
    _check_layout(stream, members, directory)
    contents = {member.orig_filename: archive.read(member) for member in members}
    if contents.get(f"{PREDICTIONS}/") == b"":  # the folder itself, which zip -r stores as an empty member
        del contents[f"{PREDICTIONS}/"]
    return contents


def _end_record(stream: IO[bytes], limits: Limits) -> tuple[int, int]:
    """How many members a zip states, and the offset of its directory in bytes: the bounds of what zipfile will read.

    Raises _RejectedError where the file or the directory is too large, or where anything but the end record follows
    the directory. A zip64 record would make zipfile read another directory than the one measured here.
    """
    size = stream.seek(0, os.SEEK_END)
    if size > limits.bundle_bytes:
        raise _RejectedError(f"it is longer, in bytes, than {reason('bundle-bytes', limits)}")
    stream.seek(max(0, size - _END.size - _ZIP64_LOCATOR_BYTES))
    tail = stream.read(_ZIP64_LOCATOR_BYTES + _END.size)
    before, end = tail[: -_END.size], tail[-_END.size :]
    signature, members, directory, offset, comment = _END.unpack(end.rjust(_END.size, b"\0"))
    if signature != _END_SIGNATURE or comment:
        raise _RejectedError("not a zip, or bytes follow its end")
    if members > _MAX_FILES or directory > _MAX_DIRECTORY:
        raise _RejectedError(f"it has {members} members in a directory of {directory} bytes; a bundle has a handful")
    if offset + directory != size - _END.size or before.startswith(_ZIP64_LOCATOR_SIGNATURE):
        raise _RejectedError("its directory does not end where the file does, or a zip64 record follows it")
    return members, offset


def _check_member(member: zipfile.ZipInfo) -> None:
    """Raise _RejectedError where an entry of the directory is not a plain stored file."""
    full, name = member.orig_filename, shorten(member.orig_filename)
    if full.startswith("/") or "\\" in full or ":" in full or ".." in full.split("/"):
        raise _RejectedError(f"the member {name} leads out of the bundle")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise _RejectedError(f"the member {name} is a link")
    if member.flag_bits & _ENCRYPTED:
        raise _RejectedError(f"the member {name} is encrypted")
    if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
        raise _RejectedError(f"the member {name} is compressed, to {member.compress_size} of {member.file_size} bytes")


def _check_layout(stream: IO[bytes], members: Sequence[zipfile.ZipInfo], directory: int) -> None:
    """Raise _RejectedError where members overlap, or where the header before a member contradicts the directory.

    ``members`` are in order of their offset; ``directory`` is the offset of the central directory. zipfile compares
    only the names of header and directory, and older versions of it read members that overlap.
    """
    for member, end in zip(members, [*(after.header_offset for after in members[1:]), directory], strict=True):
        name = shorten(member.orig_filename)
        room = end - member.header_offset - _HEADER.size - member.file_size  # for the name and the extra field
        if room < 0:
            raise _RejectedError(f"the member {name} reaches into what follows it")
        stream.seek(member.header_offset)
        listed = [member.CRC, member.compress_size, member.file_size]
        flags, method, *stated, name_size, extra_size = _HEADER.unpack(stream.read(_HEADER.size))
        if name_size + extra_size > room:
            raise _RejectedError(f"the member {name} reaches into what follows it")
        if flags & _VALUES_FOLLOW:  # as a writer that cannot seek leaves them
            stated = [value or entry for value, entry in zip(stated, listed, strict=True)]
        if method != zipfile.ZIP_STORED or flags & _ENCRYPTED or stated != listed:
            raise _RejectedError(f"the header of the member {name} differs from its entry in the directory")


def opener_of(data: bytes) -> Callable[[], IO[bytes]]:
    """A function that opens ``data`` as a binary file."""
    return lambda: io.BytesIO(data)


def _file_opener(path: str) -> Callable[[], IO[bytes]]:
    """A function that opens a regular file, and raises OSError if a link has taken its place in the meantime."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))

    return lambda: open(path, "rb", opener=opener)


def missing_and_unknown(files: Files, expected: Iterable[str]) -> tuple[list[str], list[str]]:
    """The expected names that are not among the files, and the names of files that are not expected."""
    wanted = list(expected)
    return [name for name in wanted if name not in files], [name for name in files if name not in wanted]
