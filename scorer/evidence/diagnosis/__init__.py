"""What may be wrong with a file that scored low: other readings of its numbers, how its misses miss, signs of trouble.

Everything here is advice beside a score that stays as it is. A reading is always one of the whole file; a better one is
named where an exact test, corrected for all readings tried, says that it is no accident, and otherwise none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from scorer.core.report import Report
from scorer.core.stats import mcnemar
from scorer.evidence.diagnosis.evidence import (
    CLOSE,
    Answer,
    Lean,
    Trial,
    answers_of,
    as_declared,
    bonferroni_divisor,
    gained_and_lost,
    lean,
    nearer_and_farther,
    under,
)
from scorer.evidence.diagnosis.fit import fit_as_declared, free_readings
from scorer.evidence.diagnosis.misses import miss_statistics
from scorer.evidence.diagnosis.mixed import mixed_readings
from scorer.evidence.diagnosis.readings import Reading, common_readings, rarer_readings
from scorer.evidence.diagnosis.records import Diagnosis, Fit, Misses, ReadingScore, Sign
from scorer.evidence.diagnosis.signs import signs

__all__ = ["Diagnosis", "Fit", "Misses", "ReadingScore", "Sign", "diagnose", "hints"]

MOST_LOOKED_AT = 5000
MOST_FOR_A_HINT = 256
"""Of more examples than this, evenly spaced ones are looked at."""
LEVEL = 0.05
"""The level of the tests of hits, for all readings together."""
LEVEL_OF_LEANS = 0.001
"""The level of the tests of leans, for all readings together: a model may lean a little by itself."""
LEVEL_OF_A_HINT = 1e-5
"""The level of the tests behind a hint, for all readings together: it comes unasked."""
LEAST_SHIFT = 0.1
"""A reading that moves the typical answer by less than this part of its target explains nothing by a lean."""


class Compared(NamedTuple):
    """A reading's trial with its changes against the declared one."""

    trial: Trial
    gained: int
    lost: int
    lean: Lean

    @property
    def hits(self) -> int:
        return sum(self.trial.hits)

    @property
    def p(self) -> float:
        return mcnemar(self.gained, self.lost)


def diagnose(report: Report) -> Diagnosis:
    """Try the other readings on a report's answers and look for signs of trouble. The report stays as it is."""
    answers = answers_of(report, MOST_LOOKED_AT)
    declared = _declared(report, answers)
    frames = {answer.example.image_size for answer in answers}
    boxes = any(answer.declared.bbox is not None for answer in answers)
    space = report.answers.space
    readings = (*common_readings(space, frames, boxes=boxes), *rarer_readings(space, frames))
    trials = (under(reading, answers) for reading in readings)
    found = [_compare(declared, trial) for trial in _distinct(declared, trials)]
    fitted = [_compare(declared, trial)._replace(lean=Lean()) for trial in free_readings(frames, answers)]
    ranked = _likely_first(_better(declared, [*found, *fitted]), fitted)
    likely = ranked[0].trial if ranked else declared
    is_linear = bool(ranked) and any(each.hits >= 0.9 * ranked[0].hits for each in fitted)
    fit = fit_as_declared(answers) if is_linear else None
    if likely.reading not in [each.trial.reading for each in fitted]:
        # What has a name needs no fitted numbers beside it.
        ranked, fitted = [each for each in ranked if each not in fitted], []
    others = sorted((each for each in (*found, *fitted) if each not in ranked), key=lambda each: -each.hits)
    sampled = len(report.verdicts) > MOST_LOOKED_AT
    n, hits = (len(answers), sum(declared.hits)) if sampled else (report.total.n, report.total.hits)
    return Diagnosis(
        report.benchmark.id,
        declared.reading.name,
        n,
        hits,
        sampled,
        tuple(_score(each, report, hits, better=each in ranked) for each in (*ranked, *others)),
        fit,
        tuple(miss_statistics(answers)),
        (
            *mixed_readings(answers, declared, [each.trial for each in found], likely),
            *signs(report, answers, likely.reading.space),
        ),
    )


def hints(reports: Iterable[Report]) -> list[str]:
    """One line for each reading that is near certain to be the right one, with the benchmarks that it is of."""
    found: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        answers = answers_of(report, MOST_FOR_A_HINT)
        likely = _near_certain(report, answers)
        if likely is not None:
            reading = likely.trial.reading
            before = likely.hits - likely.gained + likely.lost
            told = f"{likely.hits} of {len(answers)} answers of {report.benchmark.id} hit ({before} as declared)"
            found.setdefault((reading.name, _option(reading, report) or reading.fix), []).append(told)
    return [
        f"hint: read as {name}, {', '.join(told)}: {how}; --diagnose shows more" for (name, how), told in found.items()
    ]


def _near_certain(report: Report, answers: Sequence[Answer]) -> Compared | None:
    declared = _declared(report, answers)
    frames = {answer.example.image_size for answer in answers}
    boxes = any(answer.declared.bbox is not None for answer in answers)
    readings = common_readings(report.answers.space, frames, boxes=boxes)
    found = [_compare(declared, trial) for trial in _distinct(declared, (under(each, answers) for each in readings))]
    certain = [each for each in found if each.gained > 4 * each.lost and each.p * len(found) <= LEVEL_OF_A_HINT]
    return _likely_first(certain)[0] if certain else None


def _declared(report: Report, answers: Sequence[Answer]) -> Trial:
    space = report.answers.space
    name = str(space) if report.answers.uses_default else "as the rows say"
    return as_declared(answers, Reading(name, space))


def _distinct(declared: Trial, trials: Iterable[Trial]) -> Iterator[Trial]:
    """Trials that differ from the declared one and from all before them; two names for the same pixels are one."""
    known = {_pixels(declared)}
    for trial in trials:
        pixels = _pixels(trial)
        if pixels not in known:
            known.add(pixels)
            yield trial


def _pixels(trial: Trial) -> tuple[object, ...]:
    """What tells trials apart; spaces that divide and multiply in another order differ in the last bits."""
    return trial.hits, tuple((round(x, 6), round(y, 6)) for x, y in trial.errors)


def _compare(declared: Trial, trial: Trial) -> Compared:
    return Compared(trial, *gained_and_lost(declared.hits, trial.hits), lean(declared, trial))


def _better(declared: Trial, compared: Sequence[Compared]) -> list[Compared]:
    """The readings that are significantly better, by their hits or by the way the errors lean, in the given order."""
    tests = bonferroni_divisor([(each.gained, each.lost) for each in compared], LEVEL)
    # Which readings are close enough to lean at all is asked of their shifts alone, not of how the errors fall.
    leaning = [each for each in compared if LEAST_SHIFT <= each.lean.typical <= CLOSE]
    better: list[Compared] = []
    for each in compared:
        if each.gained > each.lost and each.p * tests <= LEVEL:
            better.append(each)
        elif each in leaning and each.lean.p * len(leaning) <= LEVEL_OF_LEANS:
            nearer, farther = nearer_and_farther(each.trial, declared)
            if nearer > farther and each.gained and (each.gained >= each.lost or each.p > LEVEL):
                better.append(each)
    return better


def _likely_first(better: Sequence[Compared], fitted: Sequence[Compared] = ()) -> list[Compared]:
    """By hits, but first the most usual one of those that the answers cannot tell from the best.

    A fitted one has to win by hits: it comes nearer by itself, wherever a model leans a little.
    """
    ranked = sorted(better, key=lambda each: -each.hits)
    for each in better:
        if not _is_worse(each, ranked[0], by_hits_alone=ranked[0] in fitted and each not in fitted):
            ranked.remove(each)
            return [each, *ranked]
    return ranked


def _is_worse(one: Compared, best: Compared, *, by_hits_alone: bool) -> bool:
    if mcnemar(*gained_and_lost(one.trial.hits, best.trial.hits)) <= LEVEL:
        return True
    if by_hits_alone:
        return False
    nearer, farther = nearer_and_farther(best.trial, one.trial)
    return nearer > farther and mcnemar(nearer, farther) <= LEVEL / 5


def _score(each: Compared, report: Report, declared_hits: int, *, better: bool) -> ReadingScore:
    reading = each.trial.reading
    return ReadingScore(
        reading.name,
        declared_hits + each.gained - each.lost,
        each.gained,
        each.lost,
        each.p,
        each.lean.leaning,
        each.lean.moved,
        each.lean.p,
        better,
        _option(reading, report),
        reading.fix,
    )


def _option(reading: Reading, report: Report) -> str:
    """What declares a reading: the option, or each row's own field where the rows have it."""
    if reading.option and not report.answers.uses_default:
        return f'"space": "{reading.space}" in the rows'
    return reading.option
