"""Several attempts: AgentCompass's avg@k and pass@k, the unbiased estimate, and intervals over examples."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipys_bootstrap

from scorer import UsageError, load_benchmark, score
from scorer.core.limits import Limits
from scorer.core.outcomes import OUTCOMES
from scorer.pipeline.aggregate.attempts import HIT, NO_ROW, RUN_ERROR, summarize_attempts
from tests.conftest import FIXTURES, Score, write_rows

MISS = OUTCOMES.index("miss")
OSWORLD = load_benchmark("osworld-g", FIXTURES)
tries = st.lists(
    st.lists(st.sampled_from(range(len(OUTCOMES))), min_size=1, max_size=6).map(tuple), min_size=1, max_size=9
)


def values(examples: Sequence[tuple[int, ...]], k: int) -> dict[str, tuple[Fraction | None, int]]:
    found = summarize_attempts(map(bytes, examples), k)
    return {series.name: (series.mean, series.evaluated) for series in found.series}


def test_the_figures_of_a_file_worked_out_by_hand() -> None:
    examples = [
        (HIT, HIT),  # 1, passed
        (HIT, MISS),  # 1/2, passed
        (MISS, RUN_ERROR),  # 0, failed: a run error is a row
        (NO_ROW, HIT),  # no average, passed
        (MISS, NO_ROW),  # no average, and whether it passes is not known
    ]
    assert values(examples, 2) == {
        "avg@2": (Fraction(1, 2), 3),
        "pass@2": (Fraction(3, 4), 4),
        "avg@2, attempts without a row wrong": (Fraction(2, 5), 5),
        "pass@2, attempts without a row wrong": (Fraction(3, 5), 5),
    }
    found = summarize_attempts(map(bytes, examples), 2)
    assert (found.most, found.observed, found.errors) == (2, 8, 1)
    assert found.consistency == (1, 1, 1)


def test_without_a_single_whole_example_there_is_no_average() -> None:
    assert values([(MISS,), (HIT,)], 2) == {
        "avg@2": (None, 0),
        "pass@2": (Fraction(1), 1),
        "avg@2, attempts without a row wrong": (Fraction(1, 4), 2),
        "pass@2, attempts without a row wrong": (Fraction(1, 2), 2),
    }


@given(tries, st.integers(2, 4))
def test_each_figure_is_the_plain_mean_of_what_its_definition_says(examples: list[tuple[int, ...]], k: int) -> None:
    padded = [(*outcomes, *[NO_ROW] * k)[:k] for outcomes in examples]
    whole = [outcomes for outcomes in padded if NO_ROW not in outcomes]
    known = [outcomes for outcomes in padded if NO_ROW not in outcomes or HIT in outcomes]
    found = values(examples, k)
    assert found[f"avg@{k}"][1] == len(whole)
    if whole:
        assert found[f"avg@{k}"][0] == sum(Fraction(outcomes.count(HIT), k) for outcomes in whole) / len(whole)
    assert found[f"pass@{k}"][1] == len(known)
    if known:
        assert found[f"pass@{k}"][0] == Fraction(sum(HIT in outcomes for outcomes in known), len(known))
    given_rows = [[outcome for outcome in outcomes if outcome != NO_ROW] for outcomes in examples]
    estimated = [outcomes for outcomes in given_rows if len(outcomes) >= k]
    unbiased = [value for name, value in found.items() if "unbiased" in name]
    assert bool(unbiased) == any(len(outcomes) > k for outcomes in given_rows)
    for mean, evaluated in unbiased:
        shares = [[HIT in chosen for chosen in combinations(outcomes, k)] for outcomes in estimated]
        assert (mean, evaluated) == (sum(Fraction(sum(s), len(s)) for s in shares) / len(estimated), len(estimated))


def test_the_interval_resamples_examples_and_not_attempts() -> None:
    # Ten examples, each right in all or in none of twenty attempts: as uncertain as ten attempts, not two hundred.
    examples = [(HIT,) * 20] * 6 + [(MISS,) * 20] * 4
    (average, *_) = summarize_attempts(map(bytes, examples), 20).series
    assert average.interval is not None
    sample = numpy.array([1.0] * 6 + [0.0] * 4)
    expected = scipys_bootstrap((sample,), numpy.mean, method="percentile", rng=numpy.random.default_rng(2))
    assert average.interval == pytest.approx(tuple(expected.confidence_interval), abs=0.11)


def _rows(*hits: str) -> list[dict[str, Any]]:
    """A row for each letter: at the first example, in attempts 1, 2, ...; h a hit, m a miss, e an error, - none."""
    answer: dict[str, dict[str, Any]] = {"h": {"point": [-1, -1]}, "m": {"point": [5, 5]}, "e": {"error": "HTTP 500"}}
    refusals = [example.id for example in OSWORLD.examples if example.rule == "refusal"]
    return [
        {"id": name, "attempt": attempt, **answer[letter]}
        for name, letters in zip(refusals, hits, strict=False)
        for attempt, letter in enumerate(letters, 1)
        if letter != "-"
    ]


def test_rows_of_attempts_are_scored_and_the_score_stays_that_of_the_first() -> None:
    report = score(OSWORLD, _rows("hmh", "mmm", "-hh", "eh-", "hhh"), attempts=3)
    assert report.total.hits == 2
    assert report.attempts is not None
    named = {series.name: (series.mean, series.evaluated, series.total) for series in report.attempts.series}
    assert named["avg@3"] == (Fraction(5, 9), 3, 21)
    assert named["pass@3"] == (Fraction(4, 5), 5, 21)
    assert report.attempts.consistency == (1, 0, 1, 1)
    assert "|attempts:3|" in report.signature
    assert score(OSWORLD, _rows("hmh")).attempts is None


def test_the_last_row_of_an_attempt_counts_and_the_others_are_listed() -> None:
    rows = [*_rows("mmm"), {**_rows("m")[0], "attempt": 2, "point": [-1, -1]}]
    report = score(OSWORLD, rows, attempts=3)
    assert report.attempts is not None
    assert report.attempts.consistency == (0, 1, 0, 0)
    assert [(p.code, p.line) for p in report.findings if p.code == "duplicate-id"] == [("duplicate-id", 4)]


def test_later_attempts_are_validated_like_the_first() -> None:
    name = OSWORLD.examples[0].id
    rows: list[dict[str, Any]] = [
        {"id": name, "point": [1, 1]},
        {"id": name, "attempt": 2, "point": [1, "x"]},
        {"id": name, "attempt": 3, "point": [5000, 5]},
        {"id": name, "attempt": 4, "point": [10, 5], "space": "frame:9x9"},
        {"id": name, "attempt": 10**6, "point": [10, 5]},
        {"id": name, "attempt": float("inf"), "point": [10, 5]},
    ]
    report = score(OSWORLD, rows, attempts=2, limits=Limits(attempts=4))
    found = [(p.line, p.code) for p in report.findings if p.line]
    assert found == [
        (2, "bad-number"),
        (3, "out-of-frame"),
        (4, "out-of-frame"),
        (5, "bad-attempt"),
        (6, "bad-attempt"),
    ]
    assert "the limit of 4 (--max attempts=N" in next(p.message for p in report.findings if p.line == 5)


@pytest.mark.usefixtures("three_subsets")
def test_the_command_prints_the_figures_and_check_reads_the_attempts(run_score: Score) -> None:
    rows = [
        {"id": f"pbs_000{number}", "attempt": attempt, "point": [150, 250 if number <= attempt else 1]}
        for number in (1, 2, 3, 4)
        for attempt in (1, 2, 3)
    ]
    write_rows(Path("a.jsonl"), rows)
    run = run_score("a.jsonl", "--attempts", "3", "--data", ".")
    assert run.status == 0
    lines = {line.split()[0]: line.split()[1:3] for line in run.out.splitlines() if line.startswith(("avg@", "pass@"))}
    # Right in 3, 2, 1 and 0 of 3 attempts.
    assert lines == {"avg@3": ["50.00", "4/4"], "pass@3": ["75.00", "4/4"]}
    assert "of 4 examples with all 3 attempts: 1 right in all, 1 in none, 2 in some" in run.out
    data = run_score("a.jsonl", "--attempts", "2", "--data", ".", "--json", "-").json
    assert (data["accuracy"], data["attempts"]["k"], data["attempts"]["most"]) == (0.25, 2, 3)
    # Of the three pairs of three attempts: right in all for 3 and 2 right, in two for 1, in none for 0.
    assert data["attempts"]["series"][-1]["name"] == "pass@2, unbiased from up to 3"
    assert data["attempts"]["series"][-1]["value"] == round((1 + 1 + 2 / 3 + 0) / 4, 4)
    assert run_score("check", "a.jsonl", "--attempts", "3", "--data", ".").status == 0
    write_rows(Path("a.jsonl"), [*rows, {"id": "pbs_0001", "attempt": 4, "point": "1, 2"}])
    assert "wrong-shape" in run_score("check", "a.jsonl", "--attempts", "3", "--data", ".").out
    assert run_score("a.jsonl", "--attempts", "0", "--data", ".").status == 2


def test_one_candidate_alone_is_named_apart_from_the_score() -> None:
    target = OSWORLD.examples[0].target
    rows = [{"id": OSWORLD.examples[0].id, "points": [[1, 1], [target[0], target[1]]]}]
    report = score(OSWORLD, rows)
    assert report.total.hits == 1
    assert [(other.name, other.rows, other.hits) for other in report.alternatives] == [("first_candidate", 1, 0)]
    assert "hit@candidates" in report.alternatives[0].reason


def test_an_attempt_below_one_is_no_number_of_attempts() -> None:
    with pytest.raises(UsageError, match="attempts must be 1 or more"):
        score(OSWORLD, [], attempts=0)
