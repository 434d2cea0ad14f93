"""The public Pointerbench scorer (warmwindOS/pointerbench at 2a112ed) as the oracle: its verdicts and its reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scorer import load_benchmark, score
from scorer.output.data import report_json
from tests.conftest import CASES, DATA, Score, needs_cases, needs_data

PARITY = sorted((CASES / "parity").glob("*.report.json")) if CASES else []


@needs_cases
@pytest.mark.usefixtures("json_parser")
@pytest.mark.parametrize("report", PARITY or [Path("absent")], ids=lambda path: path.name.split(".")[0])
def test_every_verdict_and_every_report_key_is_the_public_scorers(report: Path) -> None:
    assert DATA is not None
    name = report.name.removesuffix(".report.json")
    expected = json.loads(report.read_text())
    hits = json.loads(report.with_name(f"{name}.hits.json").read_text())
    predictions = next(p for s in ("jsonl", "json") if (p := report.with_name(f"{name}.{s}")).exists())
    truth = load_benchmark(f"pointerbench-{name.split('_')[0]}", DATA)

    result = score(truth, predictions)

    assert truth.official
    assert [v.example.id for v in result.verdicts if v.outcome == "hit"] == sorted(hits)
    mine = report_json(result)
    assert {key: mine[key] for key in expected} == expected


@needs_cases
def test_there_are_six_parity_files() -> None:
    assert len(PARITY) == 6


@needs_cases
def test_the_command_prints_the_same_report(run_score: Score) -> None:
    assert CASES is not None
    assert DATA is not None
    run = run_score("--predictions", CASES / "parity/text_11_001.jsonl", "--data", DATA, "--json", "-")
    expected = json.loads((CASES / "parity/text_11_001.report.json").read_text())
    assert run.status == 0
    assert {key: run.json[key] for key in expected} == expected


MAI_UI: dict[str, dict[str, Any]] = {
    # shared/cases/README.md: the right scores of a public run of MAI-UI-8B, by OSWorld-G's own rules.
    "original": {
        "hits": (359, 564),
        "box_type": {"bbox": (323, 470), "polygon": (36, 40), "refusal": (0, 54)},
        "category": {
            "text_matching": (198, 261),
            "element_recognition": (223, 330),
            "layout_understanding": (173, 253),
            "fine_grained_manipulation": (82, 149),
            "refusal": (0, 54),
        },
    },
    "refined": {
        "hits": (404, 564),
        "box_type": {"bbox": (365, 470), "polygon": (39, 40), "refusal": (0, 54)},
        "category": {
            "text_matching": (210, 261),
            "element_recognition": (255, 330),
            "layout_understanding": (203, 253),
            "fine_grained_manipulation": (85, 149),
            "refusal": (0, 54),
        },
    },
}


@needs_data
@pytest.mark.parametrize("variant", MAI_UI)
def test_a_real_models_run_on_osworld_g(variant: str) -> None:
    assert DATA is not None
    truth = load_benchmark("osworld-g", DATA, variant=variant)
    result = score(truth, DATA / f"predictions/mai_ui_8b.osworld_g_{variant}.jsonl")
    expected = MAI_UI[variant]
    assert (result.total.hits, result.total.n) == expected["hits"]
    assert result.actionable is not None
    assert (result.actionable.hits, result.actionable.n) == (expected["hits"][0], 510)
    tables = {table.axis.name: {cell.label: (cell.hits, cell.n) for cell in table.cells} for table in result.tables}
    assert tables["box_type"] == expected["box_type"]
    assert tables["category"] == expected["category"]


@needs_data
def test_the_real_record_with_an_empty_instruction_is_kept_with_a_warning() -> None:
    assert DATA is not None
    truth = load_benchmark("osworld-g", DATA, variant="refined")
    assert len(truth.examples) == 564
    assert [p.id for p in truth.findings if p.code == "gt-empty-instruction"] == ["9bQOfLzvdu-0"]


@needs_data
def test_sets_of_real_data_that_are_complete_load_without_a_finding() -> None:
    assert DATA is not None
    assert load_benchmark("osworld-g", DATA, variant="original").findings == ()
    for subset in ("sheets", "text", "pro"):
        truth = load_benchmark(f"pointerbench-{subset}", DATA)
        assert (truth.findings, len(truth.examples), truth.official) == ((), 500, True)
