"""Intervals against scipy."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest, norm

from scorer.stats import Z_95, wilson


@pytest.mark.parametrize("n", [1, 2, 3, 10, 39, 500, 564, 200_000])
def test_wilsons_interval_is_scipys(n: int) -> None:
    for hits in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
        assert wilson(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_quantile_is_scipys() -> None:
    assert pytest.approx(norm.ppf(0.975), abs=1e-15) == Z_95


def test_the_ends_are_exact_and_nothing_is_known_of_an_empty_cell() -> None:
    assert wilson(0, 54)[0] == 0
    assert wilson(54, 54)[1] == 1
    assert wilson(0, 0) == (0, 1)
