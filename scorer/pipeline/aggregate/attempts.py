"""Outcomes of several attempts at each example -> avg@k, pass@k, and how often an example goes both ways.

The meanings are AgentCompass's: an example counts in avg@k when all of its first k attempts have a row, and in pass@k
when one of them is right or all have a row. What failed or could not be read is a row, and wrong. Intervals resample
examples, never attempts: attempts at one example are not independent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from scorer.core.outcomes import OUTCOMES
from scorer.core.report import Attempts, Series
from scorer.core.stats import bootstrap, pass_at_k

HIT, RUN_ERROR, NO_ROW = (OUTCOMES.index(outcome) for outcome in ("hit", "run_error", "absent"))

Outcomes = bytes
"""Outcomes of one example by attempt, as positions in OUTCOMES."""


class _Count(NamedTuple):
    """How many of an example's first k attempts have a row, are right and failed; and of all of them."""

    rows: int
    right: int
    errors: int
    given: int
    ever_right: int


def summarize_attempts(examples: Iterable[Outcomes], k: int) -> Attempts:
    """Every figure over ``k`` attempts; where there are more, also the unbiased estimate from all of them.

    Invariant: each series has ``evaluated`` <= ``total``, the number of examples; what is not evaluated is in no mean.
    """
    tally = Counter(_count(outcomes, k) for outcomes in examples)
    total = sum(tally.values())
    means: Counter[Fraction] = Counter()
    any_right: Counter[Fraction] = Counter()
    strict: Counter[Fraction] = Counter()
    strict_any: Counter[Fraction] = Counter()
    unbiased: Counter[Fraction] = Counter()
    consistency: Counter[int] = Counter()
    observed = errors = most = 0
    for (rows, right, failed, given, ever_right), count in tally.items():
        whole = rows == k
        observed += rows * count
        errors += failed * count
        strict[Fraction(right, k)] += count
        strict_any[Fraction(bool(right))] += count
        if whole:
            means[Fraction(right, k)] += count
            consistency[right] += count
        if right or whole:
            any_right[Fraction(bool(right))] += count
        most = max(most, given)
        if given >= k:
            unbiased[pass_at_k(given, ever_right, k)] += count
    series = [_series(f"avg@{k}", means, total), _series(f"pass@{k}", any_right, total)]
    if means.total() < total:
        series.append(_series(f"avg@{k}, attempts without a row wrong", strict, total))
        series.append(_series(f"pass@{k}, attempts without a row wrong", strict_any, total))
    if most > k:
        series.append(_series(f"pass@{k}, unbiased from up to {most}", unbiased, total))
    return Attempts(k, most, observed, errors, tuple(series), tuple(consistency[right] for right in range(k + 1)))


def _count(outcomes: Outcomes, k: int) -> _Count:
    first = outcomes[:k]
    given = len(outcomes) - outcomes.count(NO_ROW)
    return _Count(
        len(first) - first.count(NO_ROW), first.count(HIT), first.count(RUN_ERROR), given, outcomes.count(HIT)
    )


def _series(name: str, values: Counter[Fraction], total: int) -> Series:
    evaluated = values.total()
    if not evaluated:
        return Series(name, None, 0, total, None)
    mean = sum((value * count for value, count in values.items()), Fraction()) / evaluated
    return Series(name, mean, evaluated, total, bootstrap({float(value): count for value, count in values.items()}))
