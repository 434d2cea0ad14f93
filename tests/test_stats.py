"""Intervals and tests against scipy, statsmodels, and plain enumeration."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy
import pytest
from scipy.stats import binomtest, norm
from scipy.stats import bootstrap as scipys_bootstrap
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from scorer.core.stats import Z_95, bootstrap, holm, mcnemar, mean_interval, pass_at_k, wilson


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


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (5, 5), (3, 14), (60, 15), (0, 30), (250, 181)])
def test_mcnemar_is_statsmodels(gained: int, lost: int) -> None:
    expected = statsmodels_mcnemar([[0, gained], [lost, 0]], exact=True).pvalue
    assert mcnemar(gained, lost) == pytest.approx(1.0 if gained + lost == 0 else expected, rel=1e-10)
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


@pytest.mark.parametrize(("gained", "lost"), [(50_400, 49_600), (100_000, 99_000), (0, 5000)])
def test_mcnemar_of_many_changes_is_scipys_binomial_test(gained: int, lost: int) -> None:
    assert mcnemar(gained, lost) == pytest.approx(binomtest(gained, gained + lost).pvalue, rel=1e-8, abs=1e-300)


def test_holm_is_statsmodels() -> None:
    generator = random.Random(1)
    for size in (1, 2, 5, 20):
        values = [generator.random() ** 3 for _ in range(size)] + [0.01, 0.01, 1.0]
        expected = multipletests(values, method="holm")[1]
        assert holm(values) == pytest.approx(list(expected), abs=1e-15)
    assert holm([]) == []


@pytest.mark.parametrize(("gained", "lost", "same"), [(60, 15, 489), (3, 1, 96), (250, 240, 10)])
def test_the_bootstrap_interval_is_scipys_within_monte_carlo_error(gained: int, lost: int, same: int) -> None:
    low, high = bootstrap({1: gained, -1: lost, 0: same}, seed=3)
    sample = numpy.array([1] * gained + [-1] * lost + [0] * same)
    expected = scipys_bootstrap(
        (sample,), numpy.mean, n_resamples=10_000, method="percentile", rng=numpy.random.default_rng(5)
    ).confidence_interval
    # The quantile of 10,000 draws has a standard error of about a twentieth of the standard error of the mean.
    tolerance = 4 * sample.std() / len(sample) ** 0.5 / 20 + 1 / len(sample)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=tolerance)


def test_the_bootstrap_of_shares_between_0_and_1_is_scipys_within_monte_carlo_error() -> None:
    counts = {0.0: 100, 0.25: 37, 1 / 3: 12, 0.5: 50, 1.0: 300}
    sample = numpy.repeat(list(counts), list(counts.values()))
    expected = scipys_bootstrap(
        (sample,), numpy.mean, n_resamples=10_000, method="percentile", rng=numpy.random.default_rng(5)
    ).confidence_interval
    tolerance = 4 * sample.std() / len(sample) ** 0.5 / 20
    assert bootstrap(counts) == pytest.approx((expected.low, expected.high), abs=tolerance)


def test_the_bootstrap_repeats_itself_and_is_exact_where_nothing_varies() -> None:
    assert bootstrap({1: 60, -1: 15, 0: 489}, seed=3) == bootstrap({0: 489, 1: 60, -1: 15}, seed=3)
    shares = {number / 97: 5 for number in range(97)}
    assert bootstrap(shares, seed=3) != bootstrap(shares, seed=4)
    assert bootstrap({0: 564}) == (0, 0)
    assert bootstrap({1: 7}) == (1, 1)
    assert bootstrap({}) == (0, 0)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_unbiased_pass_at_k_is_the_share_of_all_choices_with_a_right_one(n: int) -> None:
    for correct in range(n + 1):
        attempts = [True] * correct + [False] * (n - correct)
        for k in range(1, n + 1):
            chosen = [any(choice) for choice in combinations(attempts, k)]
            assert pass_at_k(n, correct, k) == Fraction(sum(chosen), len(chosen))


def test_the_interval_of_a_mean_is_wilsons_for_one_and_covers_what_it_promises_for_three() -> None:
    assert mean_interval([(30, 40)]) == pytest.approx(wilson(30, 40), abs=1e-12)
    assert mean_interval([]) == (0, 0)
    generator = numpy.random.default_rng(7)
    shares, sizes = numpy.array([0.8, 0.6, 0.35]), numpy.array([50, 60, 40])
    draws = generator.binomial(sizes, shares, size=(4000, 3))
    intervals = [mean_interval(list(zip(map(int, hits), map(int, sizes), strict=True))) for hits in draws]
    covered = sum(low <= shares.mean() <= high for low, high in intervals) / len(intervals)
    # Three standard errors of a share of 0.95 in 4,000 draws, and the half per cent that the method is off.
    assert covered == pytest.approx(0.95, abs=3 * (0.95 * 0.05 / 4000) ** 0.5 + 0.005)
