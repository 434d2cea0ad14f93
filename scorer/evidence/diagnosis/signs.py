"""Signs of errors that no other space explains: repeated answers, refusals in words, answers of another shape."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scorer.core.records import Example, Point, Prediction, Space, Verdict
from scorer.core.report import Report
from scorer.core.spaces import to_pixels
from scorer.evidence.diagnosis.evidence import Answer, corners_as_written, four_numbers
from scorer.evidence.diagnosis.records import Sign
from scorer.evidence.target import bounds, centre
from scorer.pipeline.judge import is_refusal, judge
from scorer.pipeline.validate.answers import BOX_KEYS, POINT_KEYS, TEXT_KEYS

FEW = 5
"""Fewest answers that a sign is based on: fewer may agree by chance."""
ONE_IN = 20
"""A sign is given from one answer in this many on that is repeated, or too coarse for its target."""

_REFUSAL = re.compile(
    r"\bnot (?:there|found|visible|present|available|shown|exist)|\bnon-?exist|doesn.t exist|\bno such\b|there is no\b"
    r"|(?:cannot|can.t|could ?n.t|could not|unable to) (?:be found|find|locate|see|identify)|infeasible|\bFAIL\(",
    re.IGNORECASE,
)
_REPLY_KEYS = (*POINT_KEYS, *BOX_KEYS, *TEXT_KEYS, "response", "output", "content", "reply")


def signs(report: Report, answers: Sequence[Answer], space: Space) -> Iterator[Sign]:
    """The signs of this module in the answers of a report, in a fixed order of their kinds.

    ``answers`` are those of the report that name a place. ``space`` is the space that their numbers are likely in.
    """
    yield from _off_screen(answers)
    yield from _too_coarse(answers, space)
    yield from _repeated(report)
    yield from _other_shapes(report)
    yield from _refusals_in_words(report)
    yield from _failure_markers(report)


def _off_screen(answers: Sequence[Answer]) -> Iterator[Sign]:
    """``off-screen``: answers that lie right of or below the screenshot, in pixels as declared; x and y apart."""
    for axis, name, side in ((0, "x", "wide"), (1, "y", "high")):
        beyond: list[tuple[float, Answer]] = []
        for answer in answers:
            numbers = [point[axis] for point in answer.declared.points] or [*(answer.declared.bbox or ())][axis::2]
            beyond += [(number, answer) for number in numbers[-1:] if number > answer.example.image_size[axis]]
        if beyond:
            farthest, answer = max(beyond, key=lambda entry: entry[0])
            message = f"{name} reaches {farthest:.5g} on a screenshot that is {answer.example.image_size[axis]} {side}"
            yield Sign("off-screen", len(beyond), message, tuple(entry.example.id for _, entry in beyond))


def _too_coarse(answers: Sequence[Answer], space: Space) -> Iterator[Sign]:
    """``too-coarse``: the numbers are rounded to a grid whose step, in pixels, is larger than many targets."""
    changing = [answer for answer in answers if answer.may_change]
    different = {_numbers(answer.written) for answer in changing}
    unit = _unit([number for numbers in different for number in numbers])
    if len(different) < FEW or unit is None:
        return
    skipped: list[Answer] = []
    step: Point = (0.0, 0.0)
    for answer in changing:
        x0, y0, x1, y1 = bounds(answer.example.target)
        probe = to_pixels(Prediction("", ((unit, unit),), space=space), answer.example.image_size)
        width, height = probe.points[0] if probe.points else (0.0, 0.0)
        if width > x1 - x0 or height > y1 - y0:
            skipped.append(answer)
            step = width, height
    if len(skipped) >= max(2, len(changing) / ONE_IN):
        decimals = max(0, round(-math.log10(unit)))
        kept = f"has at most {decimals} decimals" if decimals else f"is a multiple of {unit:g}"
        message = (
            f"every coordinate {kept}: as {space} a grid of {step[0]:.4g} x {step[1]:.4g} pixels, coarser than "
            f"{len(skipped)} of {len(changing)} targets"
        )
        yield Sign("too-coarse", len(skipped), message, tuple(answer.example.id for answer in skipped))


def _numbers(prediction: Prediction) -> tuple[float, ...]:
    return prediction.bbox or tuple(number for point in prediction.points for number in point)


def _unit(numbers: Sequence[float]) -> float | None:
    """The largest unit that all numbers are multiples of: 0.1, 0.01, ... or a whole number.

    None where a number is written with an exponent, or where all numbers are 0.
    """
    decimals = 0
    for number in numbers:
        text = repr(float(number))
        if "e" in text:
            return None
        decimals = max(decimals, len(text.partition(".")[2].rstrip("0")))
    if decimals:
        return 10.0**-decimals
    divisor = math.gcd(*(int(number) for number in numbers))
    return float(divisor) if divisor else None


def _repeated(report: Report) -> Iterator[Sign]:
    """The same answer to many examples. Refusals do not count, and only the first candidate point is compared.

    ``zero-answers``: (0, 0), which many parsers return when they find no coordinates. ``one-answer``: all answers are
    the same. ``repeated-answer``: many of them are.
    """
    places: dict[Point, list[Example]] = {}
    answered = 0
    for example, written in _points(report):
        answered += 1
        if not (written[0] < 0 and written[1] < 0):
            places.setdefault(written, []).append(example)
    zeros = places.pop((0.0, 0.0), [])
    if zeros:
        absent = sum(example.rule == "refusal" for example in zeros)
        message = f"{_count(len(zeros), 'answer is', 'answers are')} (0, 0), what many parsers return on a failure"
        if absent:
            message += f"; {absent} on examples without a target, where a refusal is negative in both coordinates"
        yield Sign("zero-answers", len(zeros), message, tuple(example.id for example in zeros))
    if not places:
        return
    place, examples = max(places.items(), key=lambda entry: len(entry[1]))
    shown = f"[{place[0]:g}, {place[1]:g}]"
    ids = tuple(example.id for example in examples)
    if len(examples) == answered and answered > 1:
        yield Sign("one-answer", answered, f"all {answered} answers are {shown}", ids)
    elif len(examples) >= max(FEW, answered / ONE_IN):
        message = f"{len(examples)} of {answered} answers are {shown}: a default, or a failure marker?"
        yield Sign("repeated-answer", len(examples), message, ids)


def _points(report: Report) -> Iterator[tuple[Example, Point]]:
    """Each example that was answered with a point, and its first point as it was written."""
    for verdict, written in zip(report.verdicts, report.answers.predictions, strict=True):
        if verdict.outcome in ("hit", "miss") and written is not None and written.points:
            yield verdict.example, written.points[0]


def _other_shapes(report: Report) -> Iterator[Sign]:
    """``other-shape``: answers in another shape than the example asks for, and how many would hit in the right one."""
    found: dict[str, list[tuple[Verdict, bool]]] = {}
    for verdict, written in zip(report.verdicts, report.answers.predictions, strict=True):
        row = report.answers.odd_rows.get(verdict.example.id)
        if row is None or written is None or verdict.outcome in ("run_error", "hit"):
            continue
        for shape, meant in _meant(verdict.example, row, written):
            hit = judge(verdict.example, to_pixels(meant, verdict.example.image_size)).outcome == "hit"
            found.setdefault(shape, []).append((verdict, hit))
    for shape, cases in found.items():
        what, how, fix = _SHAPES[shape]
        hits = sum(hit for _, hit in cases)
        message = f"{_count(len(cases), 'answer is', 'answers are')} {what}: {how} {hits} would hit; {fix}"
        yield Sign("other-shape", len(cases), message, tuple(verdict.example.id for verdict, _ in cases))


# Shape -> what the answers are, how they would be read, and what to write instead.
_SHAPES = {
    "box": ("a box where a point is asked for", "with its centre", 'write the centre as "point"'),
    "text": ("a text", "read as numbers", "write numbers in a JSON array [x, y]"),
    "object": ("an object", "with its x and y", "write a JSON array [x, y]"),
    "nested": ("nested one level too deep", "with the first point", "write [x, y]"),
    "sizes": ("a box with swapped corners", "as x, y, width, height", "write two corners, x0, y0, x1, y1"),
}


def _meant(example: Example, row: Mapping[str, Any], written: Prediction) -> Iterator[tuple[str, Prediction]]:
    """The shape of a row's numbers (a key of ``_SHAPES``) and the prediction that they make in the right shape."""
    if example.rule == "coverage_precision":
        box = corners_as_written(row)
        if box is not None and (box[2] < box[0] or box[3] < box[1]) and box[2] >= 0 and box[3] >= 0:
            x, y, width, height = box
            yield "sizes", written._replace(bbox=(x, y, x + width, y + height), fault=None)
        return
    for key in (*POINT_KEYS, "bbox", "box"):
        value = row.get(key)
        if value is None:
            continue
        if (numbers := four_numbers(value)) is not None:
            x0, y0, x1, y1 = numbers
            yield "box", written._replace(points=(centre((x0, y0, x1, y1)),), fault=None)
        elif isinstance(value, str):
            texts = re.findall(r"(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)", value)
            if len(texts) == 2:
                yield "text", written._replace(points=((float(texts[0]), float(texts[1])),), fault=None)
        elif isinstance(value, dict):
            if _is_point([value.get("x"), value.get("y")]):
                yield "object", written._replace(points=((float(value["x"]), float(value["y"])),), fault=None)
        elif isinstance(value, list) and len(value) == 1 and _is_point(value[0]):
            yield "nested", written._replace(points=((float(value[0][0]), float(value[0][1])),), fault=None)
        return


def _is_point(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and four_numbers([*value, 0, 0]) is not None


def _refusals_in_words(report: Report) -> Iterator[Sign]:
    """``refusal-in-words``: rows without coordinates whose text says that the target does not exist."""
    said: list[Example] = []
    for verdict in report.verdicts:
        if verdict.outcome in ("no_answer", "run_error"):
            row = report.answers.odd_rows.get(verdict.example.id, {})
            error = verdict.prediction.error if verdict.prediction is not None else None
            if _REFUSAL.search(f"{_reply(row)} {error or ''}"):
                said.append(verdict.example)
    if said:
        absent = sum(example.rule == "refusal" for example in said)
        where = f", {absent} on examples without a target" if absent else ""
        message = (
            f"{_count(len(said), 'row says', 'rows say')} in words that the target is not there{where}: "
            "a refusal counts as a point that is negative in both coordinates, as in [-1, -1]"
        )
        yield Sign("refusal-in-words", len(said), message, tuple(example.id for example in said))


def _failure_markers(report: Report) -> Iterator[Sign]:
    """``failure-marker``: answers that are negative because a parser failed, and that therefore count as refusals.

    They are found by replies that neither refuse nor hold a negative number; or, where no row has a reply, by negative
    answers that are no more frequent on examples without a target than on the others.
    """
    refusing = [
        verdict
        for verdict in report.verdicts
        if verdict.outcome in ("hit", "miss")
        and verdict.prediction is not None
        and is_refusal(verdict.prediction.points)
    ]
    replies = {v.example.id: _reply(report.answers.odd_rows.get(v.example.id, {})) for v in refusing}
    silent = [
        verdict
        for verdict in refusing
        if (reply := replies[verdict.example.id]) and not re.search(r"-\s*\d", reply) and not _REFUSAL.search(reply)
    ]
    if silent:
        message = f"{_count(len(silent), 'answer is', 'answers are')} negative, and the reply beside it does not refuse"
    else:
        refusals = sum(verdict.example.rule == "refusal" for verdict in report.verdicts)
        by_chance = len(refusing) * refusals / max(1, len(report.verdicts))
        silent = refusing if not any(replies.values()) else []
        if len(silent) < FEW or sum(verdict.outcome == "hit" for verdict in silent) > 2 * by_chance:
            return
        message = f"{len(silent)} answers are negative, no more often where the target is missing than elsewhere"
    earned = sum(verdict.outcome == "hit" for verdict in silent)
    message += (
        f" (a failure marker?); {earned} of them count{'s' if earned == 1 else ''} as a right refusal: "
        'give failed rows an "error" instead'
    )
    yield Sign("failure-marker", len(silent), message, tuple(verdict.example.id for verdict in silent))


def _reply(row: Mapping[str, Any]) -> str:
    """The texts of a row under the names that usually hold an answer or a reply, joined by spaces."""
    return " ".join(value for key in _REPLY_KEYS if isinstance(value := row.get(key), str))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
