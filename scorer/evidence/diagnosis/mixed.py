"""Files joined from two sets of answers in two conventions: one part hits as declared, the other part otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from scorer.core.records import Size
from scorer.core.stats import mcnemar
from scorer.evidence.diagnosis.evidence import CLOSE, Answer, Trial
from scorer.evidence.diagnosis.records import Sign
from scorer.pipeline.judge import judge

LEVEL = 0.001
"""Significance level of the tests, for all readings together. It is low because a mixed file is rare."""
FEWEST = 5
"""Fewest answers in each of the two parts."""
LEAST_SHARE = 0.02
"""Smallest share of all answers that each of the two parts has."""


def mixed_readings(
    answers: Sequence[Answer], declared: Trial, trials: Sequence[Trial], likely: Trial
) -> Iterator[Sign]:
    """The sign ``mixed-readings``, once for each part: the answers that hit only as declared, and those that hit only
    under another reading. An answer of a part is more than CLOSE target sizes off under the reading of the other part.

    Both parts have to be larger than chance explains: by chance, an answer hits its own target under the other reading
    no more often than the target of another example on a screenshot of the same size. And the ``likely`` reading must
    not explain both parts. ``trials`` are the other readings of the ``answers``, ``declared`` is the scored one.
    """
    parts = [(trial, _only(answers, declared, trial), _only(answers, trial, declared)) for trial in trials]
    parts = [part for part in parts if part[1] and part[2]]
    if not parts:
        return
    trial, others, ours = max(parts, key=lambda part: min(len(part[1]), len(part[2])))
    enough = max(FEWEST, LEAST_SHARE * len(answers))
    explained = {answer.example.id for answer, hit in zip(answers, likely.hits, strict=True) if hit}
    unexplained = sum(answer.example.id not in explained for answer in (*others, *ours))
    if min(len(others), len(ours), unexplained) < enough:
        return
    level = LEVEL / len(trials)
    if max(_chance(answers, declared, trial), _chance(answers, trial, declared)) > level:
        return
    for name, part in ((f"{declared.reading.name}, as declared", ours), (trial.reading.name, others)):
        message = f"{len(part)} answers hit only as {name}"
        if part is others:
            message += '; were two files joined? A row may name its space in "space"'
        yield Sign("mixed-readings", len(part), message, tuple(answer.example.id for answer in part))


def _only(answers: Sequence[Answer], one: Trial, other: Trial) -> list[Answer]:
    """The answers that are far off under ``one`` and hit under ``other``."""
    rows = zip(answers, one.hits, one.errors, other.hits, strict=True)
    return [answer for answer, hit, error, hits in rows if hits and not hit and math.hypot(*error) > CLOSE]


def _chance(answers: Sequence[Answer], one: Trial, other: Trial) -> float:
    """The probability of the hits under ``other`` among the answers that are far off under ``one``, by chance alone.

    Each of these answers is also judged by the target of the next example on a screenshot of the same size. The two
    results are compared with the exact McNemar test; 1 where own targets are not hit more often than foreign ones.
    """
    far: dict[Size, list[int]] = {}
    for position, (answer, error) in enumerate(zip(answers, one.errors, strict=True)):
        if math.hypot(*error) > CLOSE:
            far.setdefault(answer.example.image_size, []).append(position)
    own = foreign = 0
    for positions in far.values():
        for position, neighbour in zip(positions, [*positions[1:], positions[0]], strict=True):
            hit = other.hits[position]
            would_hit = judge(answers[neighbour].example, other.pixels[position]).outcome == "hit"
            own += hit and not would_hit
            foreign += would_hit and not hit
    return mcnemar(own, foreign) if own > foreign else 1.0
