"""A ledger -> the report of its benchmark. The ground truth is counted, not the file.

An absent answer can so only count as wrong, and never makes n smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from scorer._version import __version__
from scorer.core import messages
from scorer.core.findings import Reporter
from scorer.core.outcomes import CODES, OUTCOMES, OUTCOMES_OF_CODES, Outcome
from scorer.core.records import Example, Prediction
from scorer.core.report import Alternative, Answers, Attempts, Report
from scorer.core.signature import build, format_signature
from scorer.core.spaces import to_pixels
from scorer.pipeline.aggregate.tables import count_outcomes, no_answer_reasons, tabulate_axes, tally, total
from scorer.pipeline.judge import is_false_refusal, is_refusal, judge
from scorer.pipeline.ledger import Ledger, Verdicts


def aggregate(ledger: Ledger, report: Reporter) -> Report:
    """The report of one benchmark. What is wrong with the file as a whole is added through ``report``."""
    ground_truth, settings, validator = ledger.ground_truth, ledger.settings, ledger.validator
    benchmark, examples, codes = ground_truth.benchmark, ground_truth.examples, ledger.codes
    verdicts = Verdicts(examples, ledger.predictions, codes, ledger.verdicts)
    counts = tally(examples, map(OUTCOMES_OF_CODES.__getitem__, codes))
    _report_left_out(ledger, report)
    _report_spaces(ledger, report)
    _report_absent(ledger, [examples[place] for place in _places_of("absent", codes)], report)
    attempts = _attempts(ledger, settings.attempts, report) if settings.attempts > 1 else None
    space = validator.space if validator.uses_default or not validator.row_spaces else None
    row_spaces = tuple(sorted(validator.row_spaces))
    markers = _refusal_markers(ledger)
    refusal = settings.refusal if markers or settings.refusal == "negative-only" else ""
    signature = build(ground_truth, space, row_spaces, settings.profile, settings.attempts, __version__, refusal)
    return Report(
        benchmark=benchmark,
        variant=ground_truth.variant,
        total=total(benchmark.id, counts),
        outcomes=count_outcomes(counts),
        no_answer_reasons=no_answer_reasons(map(verdicts.__getitem__, _places_of("no_answer", codes))),
        actionable=total("actionable", counts, refusals=False) if benchmark.has_refusals else None,
        refusals=total("refusal", counts, refusals=True) if benchmark.has_refusals else None,
        false_refusals=_false_refusals(verdicts, ledger.predictions, _places_of("miss", codes)),
        tables=tabulate_axes(benchmark.axes, counts),
        space=space,
        row_spaces=row_spaces,
        profile=settings.profile,
        signature=format_signature(signature),
        ground_truth=ground_truth,
        alternatives=_alternatives(ledger),
        verdicts=verdicts,
        answers=Answers(ledger.predictions, validator.space, validator.uses_default, ledger.odd_rows),
        attempts=attempts,
        refusal_markers=markers,
    )


def _places_of(outcome: Outcome, codes: bytearray) -> Iterator[int]:
    """The places of the examples with an outcome, found without a look at the others: often there are few."""
    code = OUTCOMES_OF_CODES.index(outcome)
    place = codes.find(code)
    while place >= 0:
        yield place
        place = codes.find(code, place + 1)


def _refusal_markers(ledger: Ledger) -> dict[str, int]:
    """How many of the rows that count refuse by each marker, whether markers count or not."""
    if not ledger.validator.has_markers:
        return {}
    named = Counter(prediction.refusal for prediction in ledger.predictions if prediction and prediction.refusal)
    return dict(sorted(named.items()))


def _false_refusals(verdicts: Verdicts, predictions: Sequence[Prediction | None], misses: Iterable[int]) -> int:
    """How many answers say that a target which exists is not there."""
    return sum(
        is_false_refusal(verdicts[place])
        for place in misses
        if (prediction := predictions[place]) is not None and is_refusal(prediction.points)
    )


def _attempts(ledger: Ledger, k: int, report: Reporter) -> Attempts:
    """The figures over several attempts; their arithmetic is imported only where it is asked for."""
    from scorer.pipeline.aggregate.attempts import NO_ROW, summarize_attempts

    outcomes_of = bytes([NO_ROW, *range(len(OUTCOMES))]).ljust(256)
    codes = (bytes([code]) + ledger.later.get(place, b"") for place, code in enumerate(ledger.codes))
    attempts = summarize_attempts((each.translate(outcomes_of) for each in codes), k)
    wanted = len(ledger.examples) * k
    if attempts.observed < wanted:
        benchmark, missing = ledger.ground_truth.benchmark.id, wanted - attempts.observed
        report(messages.ABSENT_ATTEMPTS, missing=missing, wanted=wanted, benchmark=benchmark)
    return attempts


def _report_left_out(ledger: Ledger, report: Reporter) -> None:
    if ledger.left_out_rows:
        report(messages.NOT_SELECTED, rows=ledger.left_out_rows)


def _report_spaces(ledger: Ledger, report: Reporter) -> None:
    validator = ledger.validator
    spaces = validator.row_spaces | ({validator.space} if validator.uses_default else set())
    if len(spaces) > 1:
        listed = ", ".join(map(str, sorted(spaces)))
        report(messages.MIXED_SPACES, benchmark=ledger.ground_truth.benchmark.id, spaces=listed)


def _report_absent(ledger: Ledger, absent: Sequence[Example], report: Reporter) -> None:
    """One finding for all examples without a row."""
    if not absent:
        return
    n, hint = len(ledger.examples), ""
    listed = ", ".join(example.id for example in absent[:5]) + (", …" if len(absent) > 5 else "")
    if all(example.rule == "refusal" for example in absent):
        refusals = sum(example.rule == "refusal" for example in ledger.examples)
        if refusals == len(absent):
            hint = (
                f" (exactly the refusals: this looks like the {n - refusals}-row actionable subset, "
                "which cannot be ranked against full-set scores)"
            )
    benchmark = ledger.ground_truth.benchmark.id
    report(messages.ABSENT_IDS, absent=len(absent), n=n, benchmark=benchmark, listed=listed, hint=hint)


def _alternatives(ledger: Ledger) -> tuple[Alternative, ...]:
    """What the hits would be under other readings of some rows: first rows, the public scorer's, first candidates."""
    several = {
        prediction.id: prediction._replace(points=prediction.points[:1])
        for prediction in (ledger.predictions if ledger.ground_truth.benchmark.any_candidate else ())
        if prediction is not None and len(prediction.points) > 1
    }
    readings = (
        ("first_row", "had the first row counted for the {} ids given again", ledger.first),
        ("public_scorer", "with the public scorer's reading of {} rows that it misreads", ledger.public),
        ("first_candidate", "with the first candidate point alone in {} rows; the score is hit@candidates", several),
    )
    hit, places = CODES["hit"], ledger.ids.known
    found: list[Alternative] = []
    for name, reason, others in readings:
        if others:
            hits = ledger.codes.count(hit) + sum(
                _would_hit(ledger.examples[places[key]], other) - (ledger.codes[places[key]] == hit)
                for key, other in others.items()
            )
            found.append(Alternative(name, reason.format(len(others)), len(others), hits))
    return tuple(found)


def _would_hit(example: Example, other: Prediction) -> bool:
    """Whether another reading of a row would hit."""
    return judge(example, to_pixels(other, example.image_size)).outcome == "hit"
