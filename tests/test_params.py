"""--benchmark-params and the flags: AgentCompass's names and its reading of values."""

from __future__ import annotations

import pytest

from scorer.cli.selection import selection
from scorer.core.errors import UsageError
from scorer.ground_truth.load import Selection


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ("{}", Selection()),
        ('{"instruction_variant": null, "category": null, "sample_ids": null}', Selection()),
        ('{"instruction_variant": "refined"}', Selection("refined")),
        ('{"category": "refusal"}', Selection(categories=("refusal",))),
        ('{"category": ["refusal", "all"]}', Selection(categories=("refusal", "all"))),
        ('{"sample_ids": 7}', Selection(sample_ids=("7",))),
        ('{"sample_ids": [" a ", "b", "a", "", 7]}', Selection(sample_ids=("a", "b", "7"))),
        ('{"sample_ids": []}', Selection()),
    ],
)
def test_values_are_trimmed_strings_without_blanks_and_repeats(params: str, expected: Selection) -> None:
    assert selection(None, (), (), params) == expected


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object, found list"),
        ('{"limit": 5}', "unknown in --benchmark-params: limit; known: instruction_variant, category, sample_ids"),
        ('{"instruction_variant": ["refined"]}', "must be a string, found list"),
        ('{"instruction_variant": "new"}', 'unknown instruction_variant "new"'),
        ('{"category": 7}', "must be a string, found number"),
        ('{"sample_ids": [true]}', "must be a string, found boolean"),
        ('{"sample_ids": [1.5]}', "must be a string, found number"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_it_does_not_know_is_refused(params: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        selection(None, (), (), params)


def test_flags_may_hold_several_values_with_commas_and_must_not_contradict_the_params() -> None:
    assert selection("refined", ["a,b", "c"], ["x, y"], None) == Selection("refined", ("a", "b", "c"), ("x", "y"))
    assert selection("refined", (), (), '{"instruction_variant": "refined", "category": "a"}').categories == ("a",)
    with pytest.raises(UsageError, match='--sample-ids and "sample_ids" in --benchmark-params differ'):
        selection(None, (), ["x"], '{"sample_ids": ["y"]}')
