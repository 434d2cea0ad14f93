"""What may be wrong with a file that scored low: the space of its numbers, the direction of its misses, other signs.

A diagnosis is advice and never changes the score. It reads the whole file in other ways and calls a reading better only
where an exact test, corrected for all readings tried, says that chance does not explain the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from scorer.core.records import Size
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
"""Upper bound on the examples that a diagnosis looks at, evenly spaced ones of a larger benchmark: bounds its time."""
MOST_FOR_A_HINT = 256
"""The same bound for a hint. It is smaller because a score looks for hints without being asked."""
LEVEL = 0.05
"""Significance level of the tests of hits, for all readings together."""
LEVEL_OF_LEANS = 0.001
"""Significance level of the tests of error directions, for all readings together.

It is lower than LEVEL because a model may have a small systematic error of another cause.
"""
LEVEL_OF_A_HINT = 1e-5
"""Significance level of the tests behind a hint, for all readings together. It is low because hints come unasked."""
LEAST_SHIFT = 0.1
"""Smallest median shift, in target sizes, of a reading that may be called better by the direction of errors.

The direction of a smaller shift says nothing: any small systematic error of a model would agree with it or against it.
"""


class Compared(NamedTuple):
    """The trial of another reading, compared with the declared one."""

    trial: Trial
    """The answers under this reading."""
    gained: int
    """Answers that hit only under this reading."""
    lost: int
    """Answers that hit only as declared."""
    lean: Lean
    """The direction of the declared errors, compared with the shift of this reading."""

    @property
    def hits(self) -> int:
        """The answers that hit under this reading."""
        return sum(self.trial.hits)

    @property
    def p(self) -> float:
        """The exact McNemar test of ``gained`` against ``lost``, two-sided."""
        return mcnemar(self.gained, self.lost)


def diagnose(report: Report) -> Diagnosis:
    """Read a report's answers in other ways and look for signs of errors. The report itself is not changed.

    Of more than MOST_LOOKED_AT examples, evenly spaced ones are looked at.
    """
    answers = answers_of(report, MOST_LOOKED_AT)
    declared = _declared(report, answers)
    frames = _frames(answers)
    readings = (*_common(report, answers), *rarer_readings(report.answers.space, frames))
    found = _compare_all(declared, readings, answers)
    fitted = [_compare(declared, trial)._replace(lean=Lean()) for trial in free_readings(frames, answers)]
    ranked = _likely_first(_better(declared, [*found, *fitted]), fitted)
    likely = ranked[0].trial if ranked else declared
    # A scale and an offset explain the answers where a fitted reading gets nearly the hits of the likely one.
    is_linear = bool(ranked) and any(each.hits >= 0.9 * ranked[0].hits for each in fitted)
    fit = fit_as_declared(answers) if is_linear else None
    if likely.reading not in [each.trial.reading for each in fitted]:
        # The likely reading is not a fitted one: fitted numbers beside it would only confuse.
        ranked, fitted = [each for each in ranked if each not in fitted], []
    others = sorted((each for each in (*found, *fitted) if each not in ranked), key=lambda each: -each.hits)
    sampled = len(report.verdicts) > MOST_LOOKED_AT
    n, hits = (len(answers), sum(declared.hits)) if sampled else (report.total.n, report.total.hits)
    return Diagnosis(
        benchmark=report.benchmark.id,
        declared=declared.reading.name,
        n=n,
        hits=hits,
        sampled=sampled,
        readings=tuple(_score(each, report, hits, better=each in ranked) for each in (*ranked, *others)),
        fit=fit,
        misses=tuple(miss_statistics(answers)),
        signs=(
            *mixed_readings(answers, declared, [each.trial for each in found], likely),
            *signs(report, answers, likely.reading.space),
        ),
    )


def hints(reports: Iterable[Report]) -> list[str]:
    """One line for each reading that is almost certainly the right one, with the benchmarks that it applies to.

    Of more than MOST_FOR_A_HINT examples of a benchmark, evenly spaced ones are looked at. Only common readings are
    tried.
    """
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
    """The common reading that is almost certainly right: it also has to gain more than four hits for each one lost."""
    found = _compare_all(_declared(report, answers), _common(report, answers), answers)
    certain = [each for each in found if each.gained > 4 * each.lost and each.p * len(found) <= LEVEL_OF_A_HINT]
    return _likely_first(certain)[0] if certain else None


def _frames(answers: Iterable[Answer]) -> set[Size]:
    """The sizes of the screenshots that were answered."""
    return {answer.example.image_size for answer in answers}


def _common(report: Report, answers: Sequence[Answer]) -> Iterator[Reading]:
    """The common readings of a report's answers."""
    boxes = any(answer.declared.bbox is not None for answer in answers)
    return common_readings(report.answers.space, _frames(answers), boxes=boxes)


def _compare_all(declared: Trial, readings: Iterable[Reading], answers: Sequence[Answer]) -> list[Compared]:
    """Every reading that gives other pixels than those before it, compared with the declared one."""
    trials = (under(reading, answers) for reading in readings)
    return [_compare(declared, trial) for trial in _distinct(declared, trials)]


def _declared(report: Report, answers: Sequence[Answer]) -> Trial:
    space = report.answers.space
    name = str(space) if report.answers.uses_default else "as the rows say"
    return as_declared(answers, Reading(name, space))


def _distinct(declared: Trial, trials: Iterable[Trial]) -> Iterator[Trial]:
    """The trials whose pixels differ from the declared ones and from those of every trial before."""
    known = {_pixels(declared)}
    for trial in trials:
        pixels = _pixels(trial)
        if pixels not in known:
            known.add(pixels)
            yield trial


def _pixels(trial: Trial) -> tuple[object, ...]:
    """A key that is equal for trials with the same pixels, up to rounding in the last bits."""
    return trial.hits, tuple((round(x, 6), round(y, 6)) for x, y in trial.errors)


def _compare(declared: Trial, trial: Trial) -> Compared:
    return Compared(trial, *gained_and_lost(declared.hits, trial.hits), lean(declared, trial))


def _better(declared: Trial, compared: Sequence[Compared]) -> list[Compared]:
    """The readings that are significantly better, by their hits or by the direction of errors, in the given order."""
    tests = bonferroni_divisor([(each.gained, each.lost) for each in compared], LEVEL)
    # Which readings are tested by direction depends on their shifts alone. If it depended on the errors too, the number
    # of tests to correct for would depend on their results.
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
    """The better readings by falling hits, but first the likely one.

    The likely one is the first of ``better``, whose order is that of frequency, that is not significantly worse than
    the one with the most hits. Where that one is fitted it has to be better in hits, not only nearer to the targets:
    a fit comes nearer to them wherever a model has a small systematic error.
    """
    ranked = sorted(better, key=lambda each: -each.hits)
    for each in better:
        if not _is_worse(each, ranked[0], by_hits_alone=ranked[0] in fitted and each not in fitted):
            ranked.remove(each)
            return [each, *ranked]
    return ranked


def _is_worse(one: Compared, best: Compared, *, by_hits_alone: bool) -> bool:
    """Whether a reading is significantly worse than the best one, by hits or by the distances to the targets."""
    if mcnemar(*gained_and_lost(one.trial.hits, best.trial.hits)) <= LEVEL:
        return True
    if by_hits_alone:
        return False
    nearer, farther = nearer_and_farther(best.trial, one.trial)
    return nearer > farther and mcnemar(nearer, farther) <= LEVEL / 5


def _score(each: Compared, report: Report, declared_hits: int, *, better: bool) -> ReadingScore:
    reading = each.trial.reading
    return ReadingScore(
        name=reading.name,
        hits=declared_hits + each.gained - each.lost,
        gained=each.gained,
        lost=each.lost,
        p=each.p,
        leaning=each.lean.leaning,
        moved=each.lean.moved,
        lean_p=each.lean.p,
        better=better,
        option=_option(reading, report),
        fix=reading.fix,
    )


def _option(reading: Reading, report: Report) -> str:
    """What declares a reading: an option, or the field ``space`` in the rows where all of them have it; else ""."""
    if reading.option and not report.answers.uses_default:
        return f'"space": "{reading.space}" in the rows'
    return reading.option
