"""Bundles: the official rows, the claim made again, and no byte that can change unseen."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scorer.core.limits import Limits
from scorer.core.records import GroundTruth
from scorer.ground_truth.load import Selection
from scorer.ground_truth.search import Locator
from scorer.submission.bundle import write_submission
from scorer.submission.files import sums
from scorer.submission.verify import Verified, verify_bundle
from tests.conftest import DATA, FIXTURES, Score, needs_data, write_rows

BUNDLES = (FIXTURES / "submissions/pointerbench", FIXTURES / "submissions/osworld_g.zip")
MANIFEST = FIXTURES / "submissions/manifest.toml"


def load(benchmark: str, variant: str) -> GroundTruth:
    return Locator(Selection(variant), data=str(FIXTURES)).load_name(benchmark)


def verified(path: Path, **limits: int) -> Verified:
    return verify_bundle(str(path), load, limits=Limits(**limits))


def fault(path: Path, **limits: int) -> tuple[str, str, str]:
    """Code, file and message of the first finding of a bundle that does not hold."""
    bundle = verified(path, **limits)
    assert not bundle.holds
    found = next(finding for finding in bundle.findings if finding.severity == "error")
    return found.code, found.source.removeprefix(str(path)).lstrip("/"), found.message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder in the fixtures, to be spoilt."""
    return Path(shutil.copytree(BUNDLES[0], tmp_path / "bundle"))


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.name)
def test_the_bundles_in_the_fixtures_hold_with_the_hits_that_their_answers_were_made_to_have(path: Path) -> None:
    bundle = verified(path)
    assert bundle.holds, bundle.findings
    expected = {"pointerbench": [(9, 12), (14, 18), (9, 12)], "osworld_g.zip": [(16, 21)]}[path.name]
    assert [(report.total.hits, report.total.n) for report in bundle.reports] == expected
    assert bundle.manifest["model"] == "Made-up model 1"


@pytest.mark.parametrize("out", ["bundle", "bundle.zip"])
def test_predictions_in_another_space_become_official_rows_that_verify(out: str, run_score: Score) -> None:
    predictions = FIXTURES / "predictions/complete.suite.frame1280x720.jsonl"
    options = ["--space", "frame:1280x720", "--manifest", MANIFEST, "--data", FIXTURES, "--out", out]
    run = run_score("bundle", "-p", predictions, *options)
    assert run.status == 0, run.err
    assert "gt-not-official" in run.err
    assert run_score("verify", out, "--data", FIXTURES).out.startswith(
        f"holds  {out}  Made-up model 1 · pointerbench-sheets 75.00 %"
    )
    again = run_score("bundle", "-p", predictions, *options)
    assert again.status == 2
    assert "exists already" in again.err
    # The rows are pixels of 1024x768: 1280/1.25 and 720/0.9375.
    given = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()][:12]
    opened = zipfile.ZipFile(out).read if out.endswith(".zip") else lambda name: (Path(out) / name).read_bytes()
    rows = [json.loads(line) for line in opened("predictions/pointerbench-sheets.jsonl").splitlines()]
    assert [list(row) for row in rows] == [["id", "point"]] * 12
    for row, answer in zip(rows, given, strict=True):
        assert row["id"] == answer["id"]
        assert row["point"] == pytest.approx([answer["point"][0] / 1.25, answer["point"][1] / 0.9375], rel=1e-15)


def test_a_zip_and_a_folder_of_one_submission_hold_the_same_files(run_score: Score) -> None:
    predictions = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    for out in ("a.zip", "b.zip", "c"):
        assert (
            run_score("bundle", "-p", predictions, "--manifest", MANIFEST, "--data", FIXTURES, "--out", out).status == 0
        )
    assert Path("a.zip").read_bytes() == Path("b.zip").read_bytes()
    archive = zipfile.ZipFile("a.zip")
    assert archive.testzip() is None
    for name in archive.namelist():
        assert archive.read(name) == (Path("c") / name).read_bytes()


def test_predictions_that_the_strict_check_refuses_are_not_bundled(run_score: Score) -> None:
    predictions = FIXTURES / "predictions/suite.jsonl"
    run = run_score("bundle", "-p", predictions, "--manifest", MANIFEST, "--data", FIXTURES, "--out", "x")
    assert run.status == 1
    assert "absent-id" in run.err
    assert "not bundled: score check rejects the predictions" in run.err
    assert not Path("x").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "x"], "--manifest is missing; --example-manifest prints a manifest"),
        (["--manifest", MANIFEST], "--out is missing"),
        (["--manifest", "nowhere.toml", "--out", "x"], "nowhere.toml: no such file"),
        (["--manifest", MANIFEST, "--out", f"{MANIFEST}/x"], "cannot be written (File exists)"),
    ],
)
def test_what_a_bundle_needs_is_asked_for(options: list[Any], said: str, run_score: Score) -> None:
    predictions = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    run = run_score("bundle", "-p", predictions, "--data", FIXTURES, *options)
    assert run.status == 2
    assert said in run.err


def test_an_unfinished_manifest_is_refused(run_score: Score) -> None:
    run = run_score("bundle", "--example-manifest")
    assert run.status == 0
    Path("m.toml").write_text(run.out, encoding="utf-8")
    predictions = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    run = run_score("bundle", "-p", predictions, "--manifest", "m.toml", "--data", FIXTURES, "--out", "x")
    assert run.status == 2
    assert "zoom (the strategy of zooming in or cropping in several steps) is left out" in run.err


def test_candidates_and_failed_calls_stay_what_they_are(run_score: Score) -> None:
    source = FIXTURES / "predictions/complete.osworld_g.grid1000.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    rows[0] = {"id": rows[0]["id"], "points": [rows[0]["point"], [1, 1]], "space": "grid1000"}
    rows[1] = {"id": rows[1]["id"], "error": "HTTP 500"}
    file = write_rows(Path("p.jsonl"), rows)
    options = ["--manifest", MANIFEST, "--data", FIXTURES, "--out", "x"]
    assert run_score("bundle", "-p", file, *options).status == 0
    bundled = [json.loads(line) for line in Path("x/predictions/osworld-g.jsonl").read_text().splitlines()]
    assert [list(row) for row in bundled[:3]] == [["id", "points"], ["id", "error"], ["id", "point"]]
    (report,) = verified(Path("x")).reports
    assert (report.total.hits, report.outcomes["run_error"]) == (15, 1)


def _spoil(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


@pytest.mark.parametrize("name", ["submission.json", "SHA256SUMS", "predictions/pointerbench-text.jsonl"])
def test_any_changed_byte_of_a_file_of_a_folder_fails_with_the_file_named(name: str, folder: Path) -> None:
    data = (folder / name).read_bytes()
    for position in {0, len(data) - 1, *random.Random(name).sample(range(len(data)), 25)}:
        (folder / name).write_bytes(_spoil(data, position))
        bundle = verified(folder)
        assert not bundle.holds, position
        assert f"{folder}/{name}" in {finding.source for finding in bundle.findings if finding.severity == "error"}
    (folder / name).write_bytes(data)
    assert verified(folder).holds


def test_any_changed_byte_of_a_file_in_a_zip_fails(tmp_path: Path) -> None:
    data = BUNDLES[1].read_bytes()
    spoilt = tmp_path / "spoilt.zip"
    archive = zipfile.ZipFile(BUNDLES[1])
    for name in archive.namelist():
        content = archive.read(name)
        start = data.index(content)
        for position in sorted({0, len(content) - 1, *random.Random(name).sample(range(len(content)), 60)}):
            spoilt.write_bytes(_spoil(data, start + position))
            code, _, message = fault(spoilt)
            assert (code, name in message) == ("bundle-archive", True), position


def _edited(folder: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """The bundle of somebody who changes submission.json and makes its checksums anew."""
    submission = json.loads((folder / "submission.json").read_bytes())
    edit(submission)
    (folder / "submission.json").write_bytes(write_submission(submission))
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_bytes(sums({path.relative_to(folder).as_posix(): _sha(path) for path in files}))
    return folder


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _set(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(submission: dict[str, Any]) -> None:
        place: Any = submission
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return edit


SHEETS = ("benchmarks", "pointerbench-sheets")


def _signature(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def edit(submission: dict[str, Any]) -> None:
        claim = submission["benchmarks"]["pointerbench-sheets"]
        assert old in claim["signature"]
        claim["signature"] = claim["signature"].replace(old, new)

    return edit


@pytest.mark.parametrize(
    ("edit", "code", "said"),
    [
        (
            _set(*SHEETS, "hits", value=10),
            "bundle-claim",
            "pointerbench-sheets: hits claims 10, the predictions give 9",
        ),
        (_set(*SHEETS, "accuracy", value=0.7501), "bundle-claim", "accuracy claims 0.7501, the predictions give 0.75"),
        (_set(*SHEETS, "n", value=12.0), "bundle-claim", "n claims 12.0"),
        (_set(*SHEETS, "tables", "category", "cells", value=[]), "bundle-claim", "tables claims"),
        (_signature("data:ef1bb3afaa5b", "data:000000000000"), "bundle-claim", "another ground truth (data 0000"),
        (_signature("rule:point_in_bbox", "rule:refusal"), "bundle-claim", "the signature differs in rule"),
        (_signature("|version:0.1.0", ""), "bundle-form", "signature holds no signature of it"),
        (_set(*SHEETS, "signature", value="x"), "bundle-form", "signature holds no signature of it"),
        (
            _set(*SHEETS, "made_from", "signature", value={"a": [1]}),
            "bundle-form",
            "made_from holds no signature of it",
        ),
        (
            _set(*SHEETS, "made_from", "row_spaces", value=["pixel", "pixel"]),
            "bundle-form",
            "each named once, in order",
        ),
        (_set(*SHEETS, "made_from", "row_spaces", value=["pixel", None]), "bundle-form", "names a space that is none"),
        (
            _set(*SHEETS, "actionable", value=None),
            "bundle-claim",
            "actionable claims null, the predictions give nothing",
        ),
        (_set(*SHEETS, "actionable", value="nothing"), "bundle-claim", 'actionable claims "nothing", the predictions'),
        (lambda s: s["benchmarks"]["pointerbench-sheets"].pop("n"), "bundle-claim", "n claims nothing"),
        (_set("scorer", value="999 \x1b[31m"), "bundle-form", '"scorer" must be a version'),
        (_set("format", value=True), "bundle-form", '"format" is true'),
        (lambda submission: submission.pop("variant"), "bundle-form", '"variant" is missing'),
        (_set(*SHEETS, "sha256", value="0" * 64), "bundle-hash", "is not the one in submission.json"),
        (_set(*SHEETS, "made_from", "space", value="norm"), "bundle-form", "names a space that is none"),
        (_set(*SHEETS, "made_from", value=None), "bundle-form", '"made_from" must hold'),
        (_set(*SHEETS, "more", value=1), "bundle-form", '"more" does not belong there'),
        (_set(*SHEETS, value=1), "bundle-form", "must be an object, found number"),
        (_set("benchmarks", "screenspot", value={}), "bundle-form", "no benchmark screenspot; known:"),
        (_set("benchmarks", value={}), "bundle-form", '"benchmarks" is empty'),
        (_set("benchmarks", value=[]), "bundle-form", '"benchmarks" must be an object, found list'),
        (_set("variant", value="refined"), "bundle-form", '"variant" is "refined"; it must be null'),
        (_set("format", value=2), "bundle-form", '"format" is 2'),
        (_set("note", value="x"), "bundle-form", '"note" does not belong there'),
        (_set("manifest", "zoom", value=""), "bundle-manifest", "zoom (the strategy of zooming"),
        (_set("manifest", value=[]), "bundle-form", '"manifest" must be an object'),
    ],
)
def test_a_claim_that_was_changed_and_hashed_anew_is_named(
    edit: Callable[[dict[str, Any]], None], code: str, said: str, folder: Path
) -> None:
    found, _, message = fault(_edited(folder, edit))
    assert (found, said in message) == (code, True), (found, message)


def test_a_version_of_the_scorer_may_differ_where_the_figures_do_not(folder: Path) -> None:
    def edit(submission: dict[str, Any]) -> None:
        claim = submission["benchmarks"]["pointerbench-pro"]
        claim["signature"] = claim["signature"].replace("version:0.1.0", "version:0.0.9")

    assert verified(_edited(folder, edit)).holds


def test_predictions_changed_and_hashed_anew_are_caught_by_the_claim(folder: Path) -> None:
    path = folder / "predictions/pointerbench-sheets.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(['{"id": "pbs_9001", "point": [1, 1]}', *lines[1:]]) + "\n", encoding="utf-8")
    bundle = verified(_edited(folder, lambda s: s["benchmarks"]["pointerbench-sheets"].update(sha256=_sha(path))))
    assert [p.message for p in bundle.findings][:2] == [
        "pointerbench-sheets: accuracy claims 0.75, the predictions give 0.6667",
        "pointerbench-sheets: hits claims 9, the predictions give 8",
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b'"pbs_9001", ', b'"pbs_9001", "note": "x", '),
        lambda data: b"".join(sorted(data.splitlines(keepends=True), reverse=True)),
        gzip.compress,
    ],
    ids=["a field", "the order", "compressed"],
)
def test_rows_in_another_form_than_the_official_one_are_named(change: Callable[[bytes], bytes], folder: Path) -> None:
    path = folder / "predictions/pointerbench-sheets.jsonl"
    path.write_bytes(change(path.read_bytes()))
    found = fault(_edited(folder, lambda s: s["benchmarks"]["pointerbench-sheets"].update(sha256=_sha(path))))
    assert found[:2] == ("bundle-form", "predictions/pointerbench-sheets.jsonl")
    assert "make the bundle again" in found[2]


def test_rows_that_the_strict_check_refuses_fail_by_line(folder: Path) -> None:
    path = folder / "predictions/pointerbench-sheets.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pbs_9002"', '"pbs_9001"'), encoding="utf-8")
    bundle = verified(folder)
    found = {(p.code, p.source.removeprefix(f"{folder}/"), p.line) for p in bundle.findings if p.severity == "error"}
    assert ("duplicate-id", "predictions/pointerbench-sheets.jsonl", 2) in found
    assert ("absent-id", "predictions/pointerbench-sheets.jsonl", 0) in found


@pytest.mark.parametrize("name", ["submission.json", "SHA256SUMS", "predictions/pointerbench-pro.jsonl"])
def test_a_missing_file_is_named(name: str, folder: Path) -> None:
    (folder / name).unlink()
    sources = {p.source.removeprefix(f"{folder}/") for p in verified(folder).findings if "is missing" in p.message}
    assert sources == {name}


def test_what_does_not_belong_to_a_bundle_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (folder / "README").write_text("hello", encoding="utf-8")
    assert fault(folder)[:2] == ("bundle-file", "README")
    (folder / "README").unlink()
    (folder / "deeper").mkdir()
    assert fault(folder)[:2] == ("bundle-file", "deeper")
    (folder / "deeper").rmdir()
    (folder / "predictions/pointerbench-pro.jsonl").unlink()
    (folder / "predictions/pointerbench-pro.jsonl").symlink_to(tmp_path / "secret")
    code, name, message = fault(folder)
    assert (code, name) == ("bundle-file", "predictions/pointerbench-pro.jsonl")
    assert "a link" in message
    (folder / "predictions/pointerbench-pro.jsonl").unlink()
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(folder / "predictions")
    (folder / "predictions").symlink_to(tmp_path / "elsewhere")
    assert fault(folder)[:2] == ("bundle-file", "predictions")


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'{"a": NaN}', b"[" * 100_000, b"\xff", b'{"a": 1}', b'{"format": 1, "format": 1}']
)
def test_a_submission_that_is_none_says_so(content: bytes, folder: Path) -> None:
    (folder / "submission.json").write_bytes(content)
    assert fault(folder)[:2] == ("bundle-form", "submission.json")


def test_a_file_over_the_limit_of_a_bundle_is_named_with_the_limit(folder: Path) -> None:
    _, _, message = fault(folder, bundle_bytes=1000)
    assert "the limit of 1000 (--max bundle-bytes=N" in message
    assert "the limit of 1000 (--max bundle-bytes=N" in fault(BUNDLES[1], bundle_bytes=1000)[2]


def test_verify_prints_a_line_for_each_bundle_and_the_exit_status_says_whether_all_hold(
    run_score: Score, tmp_path: Path
) -> None:
    assert run_score("verify", *BUNDLES, "--data", FIXTURES).status == 0
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"x")
    run = run_score("verify", *BUNDLES, bad, "--data", FIXTURES)
    assert run.status == 1
    assert [line.split()[0] for line in run.out.splitlines()] == ["holds", "holds", "fails"]
    assert "bundle-archive" in run.err
    data = run_score("verify", bad, BUNDLES[1], "--data", FIXTURES, "--json", "-").json
    assert (data["all_hold"], [bundle["holds"] for bundle in data["bundles"]]) == (False, [False, True])
    assert data["bundles"][1]["benchmarks"]["osworld-g"]["hits"] == 16
    assert run_score("verify", BUNDLES[0], "--data", tmp_path).status == 3
    run = run_score("verify", tmp_path / "nowhere", BUNDLES[1], "--data", FIXTURES)
    assert [line.split()[0] for line in run.out.splitlines()] == ["fails", "holds"]
    assert "cannot be read (No such file or directory)" in run.out


@needs_data
@pytest.mark.parametrize(("variant", "hits"), [("original", 359), ("refined", 404)])
def test_a_real_models_file_makes_a_bundle_that_holds(variant: str, hits: int, run_score: Score) -> None:
    assert DATA is not None
    file = DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    plain = write_rows(Path("p.jsonl"), [{"id": r["id"], "point": r["point"]} for r in rows])
    options = ["--instruction-variant", variant, "--manifest", MANIFEST, "--data", DATA, "--out", "x.zip"]
    run = run_score("bundle", "-p", plain, *options)
    assert run.status == 0, run.err
    data = run_score("verify", "x.zip", "--data", DATA, "--json", "-").json["bundles"][0]
    assert data["holds"] is True
    assert data["benchmarks"]["osworld-g"]["hits"] == hits
    assert data["benchmarks"]["osworld-g"]["variant"] == variant
