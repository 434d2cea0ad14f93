"""The signature: what is in it, in which order, and that it reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorer.core.signature import KEYS, format_signature, parse_signature

values = st.text(st.characters(exclude_characters="|:", exclude_categories=["Cs"]), min_size=1, max_size=9)


@given(st.dictionaries(st.sampled_from(KEYS), values), values)
def test_what_is_written_reads_back(fields: dict[str, str], head: str) -> None:
    fields = {"head": head, **fields}
    assert parse_signature(format_signature(fields)) == fields


def test_keys_keep_their_order_with_the_version_last_and_unset_ones_are_left_out() -> None:
    fields = {"version": "0.1.0", "space": "pixel", "n": "500", "head": "pointerbench-text", "profile": ""}
    assert format_signature(fields) == "pointerbench-text|n:500|space:pixel|version:0.1.0"


@pytest.mark.parametrize("text", ["", "|n:1", "a|n", "a|n:", "a|:1", "a|m:1", "a|n:1|n:2", "a|version:1|n:2", "a||n:1"])
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a signature"):
        parse_signature(text)
