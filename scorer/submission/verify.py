"""Verification of a bundle: whether its predictions give the figures that it claims.

Nothing in a bundle is trusted. Its form and hashes are checked, and every figure is computed again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import IO, Any, NamedTuple

from scorer._version import __version__
from scorer.api import examine_streams
from scorer.benchmarks import BENCHMARKS
from scorer.core import messages
from scorer.core.errors import UsageError
from scorer.core.findings import Finding, Findings, Reporter, shorten, type_name
from scorer.core.limits import DEFAULT_LIMITS, Limits
from scorer.core.records import GroundTruth
from scorer.core.report import Report
from scorer.core.signature import parse_signature
from scorer.core.spaces import parse_space
from scorer.submission.bundle import CLAIMS, FORMAT, claimed, predictions_file, predictions_name, write_submission
from scorer.submission.files import SUBMISSION, SUMS, Files, digest, missing_and_unknown, open_bundle, sums
from scorer.submission.manifest import manifest_faults

LONGEST_SUBMISSION = 4 * 2**20
"""Bytes of a submission.json, which is read as a whole. One with all benchmarks has some ten thousand."""

KEYS = ("format", "scorer", "manifest", "variant", "benchmarks")
"""Keys of submission.json, all of them required."""

ORIGIN = ("space", "row_spaces", "signature")
"""Keys of "made_from", in this order: what the predictions were before they became official rows."""

Load = Callable[[str, str], GroundTruth]
"""A function of benchmark id and variant ("" for a benchmark without variants) that returns the ground truth."""


class Verified(NamedTuple):
    """The result of verifying one bundle."""

    source: str
    """Path of the bundle, as it was given."""

    holds: bool
    """Whether no finding is an error: the form, the hashes, the manifest and every claimed figure are right."""

    manifest: Mapping[str, Any]
    """The answers about the run, question -> answer; empty where they could not be read or cannot be published."""

    reports: tuple[Report, ...]
    """One report per benchmark that could be read, computed from the predictions, never taken from the claims."""

    findings: tuple[Finding, ...]
    """What was found in the bundle, in the order of the checks; of each code at most ``findings`` of ``Limits``."""

    finding_counts: Mapping[str, int]
    """Finding code -> how many there are, including those beyond the limit."""


def verify_bundle(source: str, load: Load, *, limits: Limits = DEFAULT_LIMITS) -> Verified:
    """Verify the bundle at ``source``, a folder or a zip: files, hashes, manifest, strict check, claimed figures.

    Every fault of the bundle is a finding. Raises only what ``load`` raises for the ground truth.
    """
    verifier = _Verifier(source, load, Findings(strict=True, limits=limits))
    files = open_bundle(source, verifier.findings)
    if files is not None:
        verifier.verify(files)
    findings = verifier.findings
    return Verified(
        source,
        not findings.has_errors,
        verifier.manifest,
        tuple(sorted(verifier.reports, key=lambda report: list(BENCHMARKS).index(report.benchmark.id))),
        tuple(findings),
        dict(findings.counts),
    )


class _Verifier:
    def __init__(self, source: str, load: Load, findings: Findings) -> None:
        self.source, self.load, self.findings = source, load, findings
        self.manifest: Mapping[str, Any] = {}
        self.reports: list[Report] = []

    def verify(self, files: Files) -> None:
        """Check every file that can be read, so that a fault in one file does not hide those in another."""
        submission = self._submission(files)
        benchmarks = submission.get("benchmarks", {})
        predictions = {predictions_name(name): name for name in benchmarks}
        if submission:
            missing, unknown = missing_and_unknown(files, [SUBMISSION, SUMS, *predictions])
            for name in missing:
                self._at(name)(messages.FILE_MISSING)
            for name in unknown:
                self._at(name)(messages.FILE_UNKNOWN)
        digests = self._digests({name: files[name] for name in (SUBMISSION, SUMS, *predictions) if name in files})
        for path, name in predictions.items():
            if digests.get(path):  # otherwise missing, too long or unreadable, which is a finding already
                if digests[path] != benchmarks[name].get("sha256"):
                    self._at(path)(messages.CHANGED_AFTER_BUNDLING, file=SUBMISSION)
                self._examine(files, path, name, submission, digests[path])

    def _digests(self, files: Files) -> dict[str, str]:
        """File name -> its sha256, "" for a file over the limit, after the comparison with SHA256SUMS."""
        digests: dict[str, str] = {}
        most = self.findings.limits.bundle_bytes
        for name in files:
            try:
                digests[name], size = digest(files[name], most)
            except OSError as error:
                self._at(name)(messages.BUNDLE_FILE_UNREADABLE, why=error.strerror or error)
                continue
            if size > most:
                self._at(name)(messages.BUNDLE_FILE_TOO_LONG)
                digests[name] = ""
        if SUMS not in digests:
            return digests
        expected = sums({name: value for name, value in digests.items() if name != SUMS})
        listed = _read(files[SUMS], len(expected) + 2**16)
        if listed == expected:
            return digests
        given = {line[66:]: line[:64] for line in listed.decode("utf-8", "replace").splitlines()}
        self._at(SUMS)(messages.OTHER_SUMS)
        for name, value in digests.items():
            if name in given and given[name] != value:
                self._at(name)(messages.CHANGED_OR_SUMS, file=SUMS)
        return digests

    def _submission(self, files: Files) -> dict[str, Any]:
        """The content of submission.json after the check of its form; {} where it cannot be used."""
        if SUBMISSION not in files:
            self._at(SUBMISSION)(messages.NO_SUBMISSION)
            return {}
        data = _read(files[SUBMISSION], LONGEST_SUBMISSION + 1)
        try:
            found = json.loads(data.decode()) if len(data) <= LONGEST_SUBMISSION else "longer than any bundle's"
            same = isinstance(found, dict) and write_submission(found) == data
        except (ValueError, RecursionError) as error:
            found, same = str(error), False
        if not isinstance(found, dict):
            self._at(SUBMISSION)(messages.SUBMISSION_NO_OBJECT, found=shorten(str(found)))
            return {}
        if not same:
            self._at(SUBMISSION)(messages.SUBMISSION_EDITED)
        faults = _form_faults(found)
        for fault in faults:
            self._at(SUBMISSION)(messages.SUBMISSION_FORM, fault=fault)
        if faults:
            return {}
        unfit = manifest_faults(found["manifest"])
        for fault in unfit:
            self._at(SUBMISSION)(messages.MANIFEST_ANSWER, fault=fault)
        self.manifest = {} if unfit else found["manifest"]
        return found

    def _examine(self, files: Files, path: str, name: str, submission: Mapping[str, Any], sha256: str) -> None:
        """Check one predictions file strictly, compare its figures with the claim, and check the form of its rows."""
        variant = submission["variant"] if len(BENCHMARKS[name].files) > 1 else ""
        truth = self.load(name, variant)
        place = f"{self.source}/{path}"
        limits = self.findings.limits
        limits = limits._replace(rows=min(limits.rows, len(truth.examples)))  # a row per example
        checked, reports = examine_streams([(place, files[path])], lambda _: truth, benchmark=name, limits=limits)
        self.findings.extend(checked.findings, checked.finding_counts)
        self.reports.extend(reports)
        for report in reports:
            self._compare(submission["benchmarks"][name], report)
        if checked.accepted and hashlib.sha256(b"".join(map(predictions_file, reports))).hexdigest() != sha256:
            self._at(path)(messages.ROWS_EDITED)

    def _compare(self, claim: Mapping[str, Any], report: Report) -> None:
        actual = json.loads(json.dumps(claimed(report)))
        name = report.benchmark.id
        for key in CLAIMS:
            if key == "signature":
                one, other = _without_version(claim[key]), _without_version(actual[key])
                if one != other:
                    self._at(SUBMISSION)(messages.OTHER_SIGNATURE, benchmark=name, how=_signatures_differ(one, other))
            elif _shown(claim, key) != _shown(actual, key):  # as JSON text, where 1, 1.0 and true differ
                claims, gives = shorten(_shown(claim, key)), shorten(_shown(actual, key))
                self._at(SUBMISSION)(messages.OTHER_FIGURE, benchmark=name, key=key, claims=claims, gives=gives)

    def _at(self, name: str) -> Reporter:
        """Adds findings about one file of the bundle."""
        return self.findings.at(f"{self.source}/{name}")


def _form_faults(found: Mapping[str, Any]) -> list[str]:
    """A message for each fault that makes submission.json unusable."""
    if type(found.get("format")) is not int or found["format"] != FORMAT:
        return [f'"format" is {shorten(_shown(found, "format"))}; score {__version__} reads {FORMAT}']
    faults = [f'"{shorten(str(key))}" does not belong there' for key in found if key not in KEYS]
    faults += [f'"{key}" is missing' for key in KEYS if key not in found]
    for key in ("manifest", "benchmarks"):
        if not isinstance(found.get(key), dict):
            faults.append(f'"{key}" must be an object, found {type_name(found.get(key))}')
    if not _is_version(found.get("scorer")):
        faults.append('"scorer" must be a version, as in 0.1.0')
    benchmarks = found.get("benchmarks")
    for name, claim in benchmarks.items() if isinstance(benchmarks, dict) else ():
        if name not in BENCHMARKS:
            faults.append(f"no benchmark {shorten(str(name))}; known: {', '.join(BENCHMARKS)}")
        else:
            faults += _claim_faults(name, claim)
    if benchmarks == {}:
        faults.append('"benchmarks" is empty')
    if isinstance(benchmarks, dict):
        named = [variant for name in benchmarks if name in BENCHMARKS for variant in BENCHMARKS[name].files if variant]
        if found.get("variant") not in named and (named or found.get("variant") is not None):
            wanted = " or ".join(named) or "null"
            faults.append(f'"variant" is {shorten(_shown(found, "variant"))}; it must be {wanted}')
    return faults


def _claim_faults(name: str, claim: object) -> list[str]:
    if not isinstance(claim, dict):
        return [f"{name} must be an object, found {type_name(claim)}"]
    known = ("sha256", "made_from", *CLAIMS)
    faults = [f'{name}: "{shorten(str(key))}" does not belong there' for key in claim if key not in known]
    origin = claim.get("made_from")
    if not isinstance(origin, dict) or list(origin) != list(ORIGIN):
        return [*faults, f'{name}: "made_from" must hold {", ".join(ORIGIN)}']
    space, rows = origin["space"], origin["row_spaces"]
    if not (space is None or _is_space(space)) or not isinstance(rows, list) or not all(map(_is_space, rows)):
        faults.append(f'{name}: "made_from" names a space that is none')
    elif rows != sorted(set(rows)):
        faults.append(f'{name}: the row_spaces of "made_from" are each named once, in order')
    for what, signature in (("made_from", origin["signature"]), ("signature", claim.get("signature"))):
        fields = _fields(signature)
        if fields.get("head") != name or not _is_version(fields.get("version")):
            faults.append(f"{name}: {what} holds no signature of it")
    return faults


def _is_version(value: object) -> bool:
    return (
        isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}([a-z]+[0-9]+|\.dev[0-9]+)?", value) is not None
    )


def _is_space(name: object) -> bool:
    try:
        return isinstance(name, str) and bool(parse_space(name))
    except UsageError:
        return False


def _fields(signature: object) -> dict[str, str]:
    """The fields of a signature; empty for anything that is no signature."""
    try:
        return parse_signature(signature) if isinstance(signature, str) else {}
    except ValueError:
        return {}


def _without_version(signature: object) -> dict[str, str]:
    """The fields of a signature except the version, so that a newer scorer can confirm the claim of an older one."""
    return {key: value for key, value in _fields(signature).items() if key != "version"}


def _signatures_differ(claim: Mapping[str, str], actual: Mapping[str, str]) -> str:
    keys = [key for key in actual if claim.get(key) != actual[key]]
    if "data" in keys:
        return f"made with another ground truth (data {claim.get('data', 'unknown')}, here {actual['data']})"
    return f"the signature differs in {', '.join(keys) or 'keys that are not known'}"


def _shown(found: Mapping[str, Any], key: str) -> str:
    """A value as JSON, or ``nothing``, which no JSON value gives, where the key is missing."""
    return json.dumps(found[key]) if key in found else "nothing"


def _read(opener: Callable[[], IO[bytes]], most: int) -> bytes:
    try:
        with opener() as stream:
            return stream.read(most)
    except OSError:
        return b""
