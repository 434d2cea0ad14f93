"""The quick way for plain rows, of which a file may have millions: columns instead of records, one byte per outcome.

A plain row gives two finite numbers under "point" to an example that asks for a point, and no other key of it changes
what it says. All other rows take the plain way in ``scorer.pipeline.scoring``, which is the reference: property tests
hold the two ways equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from scorer.core.geometry import points_in_polygon
from scorer.core.outcomes import CODES, OUTCOMES_OF_CODES
from scorer.core.records import PIXEL, Example, Prediction, RuleName, Space
from scorer.core.spaces import point_to_pixels
from scorer.pipeline.convert import convert
from scorer.pipeline.judge import POINT_RULES, is_off_screenshot, judge
from scorer.pipeline.ledger import Ledger, report_off_screenshot
from scorer.pipeline.routing import Rows
from scorer.pipeline.validate.answers import BOX_KEYS, HUGE_DIGITS, IGNORED_KEYS, POINT_KEYS
from scorer.pipeline.validate.rows import Answer

READ_BESIDE_POINT = frozenset((*POINT_KEYS, "points", *BOX_KEYS, "x", "y", "error", "refusal", *IGNORED_KEYS)) - {
    "point"
}
"""Keys that change what a point task's row says, or what is found in it."""

_CODES_OF_HITS = bytes([CODES["miss"], CODES["hit"]]).ljust(256)
_rule_of, _target_of, _size_of = attrgetter("rule"), attrgetter("target"), attrgetter("image_size")
_new = tuple.__new__  # takes half the time of calling a record's class


class SomeRows(NamedTuple):
    """Consecutive rows of one kind."""

    rows: Rows
    points: Sequence[list[float]] | None
    """[x, y] of each row, in the space of the row, where all rows are plain; else None."""
    is_bare: bool = False
    """Whether the rows have an id and a point and nothing else."""


def split(rows: Rows) -> Iterator[SomeRows]:
    """The rows in their order, parted into runs of plain ones and runs of others."""
    if not rows.ledger.is_quick:
        yield SomeRows(rows, None)
        return
    points, plain, is_bare = _plain_points(rows, rows.report.findings.limits.digits)
    if plain == len(points):
        yield SomeRows(rows, points, is_bare)  # type: ignore[arg-type]
        return
    start = 0
    for is_other, group in groupby(point is None for point in points):
        some = slice(start, start + sum(1 for _ in group))
        part = rows._replace(lines=rows.lines[some], values=rows.values[some], places=rows.places[some])
        yield SomeRows(part, None if is_other else points[some])  # type: ignore[arg-type]
        start = some.stop


def judge_plain_rows(some: SomeRows) -> None:
    """Convert and judge plain rows and keep their outcomes, all at once."""
    rows, points = some.rows, some.points or ()
    ledger, values = rows.ledger, rows.values
    examples = [ledger.examples[place] for place in rows.places]
    attempts: Sequence[int] = [1] * len(points)
    spaces: Sequence[Space] = [ledger.validator.space] * len(points)
    if some.is_bare:
        ledger.validator.uses_default = True
    else:
        attempts = [row.get("attempt", 1) for row in values]
        spaces = _spaces_of(values, ledger)
    pixels: Sequence[Sequence[float]] = points
    if set(spaces) != {PIXEL}:
        pixels = [
            (x, y) if space is PIXEL else point_to_pixels(x, y, space, example.image_size)
            for (x, y), space, example in zip(points, spaces, examples, strict=True)
        ]
    hits = judge_points(examples, pixels)
    codes = bytearray(hits).translate(_CODES_OF_HITS)
    for index in _places_off(pixels, examples):
        if not hits[index]:
            codes[index] = _judge_off(some, index, spaces[index], attempts[index])
    _keep(some, examples, spaces, attempts, codes)
    if ledger.outcomes_by_line is not None:
        ledger.outcomes_by_line.update(zip(rows.lines, map(OUTCOMES_OF_CODES.__getitem__, codes), strict=True))


def judge_points(examples: Sequence[Example], points: Sequence[Sequence[float]]) -> list[bool]:
    """Which of many points, in pixels, are right by the rules of their examples.

    ``points`` is aligned with ``examples``, in which an example may come again and again. All points at one polygon
    are judged at once.
    """
    if set(map(_rule_of, examples)) == {"point_in_bbox"}:
        boxes = map(_target_of, examples)
        return [x0 <= x <= x1 and y0 <= y <= y1 for (x, y), (x0, y0, x1, y1) in zip(points, boxes, strict=True)]
    found = [_RULES_OF_MANY[each.rule](x, y, each.target) for each, (x, y) in zip(examples, points, strict=True)]
    at_polygons: dict[str, list[int]] = {}
    for index, right in enumerate(found):
        if right is None:
            at_polygons.setdefault(examples[index].id, []).append(index)
    for indexes in at_polygons.values():
        ring = examples[indexes[0]].target
        xs, ys = [points[index][0] for index in indexes], [points[index][1] for index in indexes]
        for index, right in zip(indexes, points_in_polygon(xs, ys, ring), strict=True):
            found[index] = right
    return [right is True for right in found]


def _plain_points(rows: Rows, digits: int) -> tuple[list[list[float] | None], int, bool]:
    """The point of each plain row, None for others; how many are plain; whether all have an id and a point alone."""
    asks_box, validator = rows.ledger.asks_box, rows.ledger.validator
    highest, spaces = validator.attempts, validator.named_spaces
    found: list[list[float] | None] = []
    add, whole = found.append, 10 ** min(digits, HUGE_DIGITS)
    bound = float(whole)  # each kind of number has its own bound: mixed comparisons take several times as long
    plain = bare = 0
    for row, place in zip(rows.values, rows.places, strict=True):
        try:
            x, y = point = row["point"]
        except (KeyError, TypeError, ValueError):
            add(None)
            continue
        # The bounds are false for NaN and infinities.
        if (
            type(point) is not list  # two bytes are numbers too
            or not (-bound < x < bound if type(x) is float else type(x) is int and -whole < x < whole)
            or not (-bound < y < bound if type(y) is float else type(y) is int and -whole < y < whole)
            or asks_box[place]
        ):
            add(None)
        elif len(row) == 2:
            bare += 1
            plain += 1
            add(point)
        else:
            attempt, named = row.get("attempt", 1), row.get("space")
            is_plain = (
                type(attempt) is int
                and 1 <= attempt <= highest
                and (named is None or (type(named) is str and named in spaces))
                and ((len(row) == 3 and "attempt" in row) or READ_BESIDE_POINT.isdisjoint(row))
            )
            plain += is_plain
            add(point if is_plain else None)
    return found, plain, bare == len(found)


def _spaces_of(values: Sequence[dict[str, Any]], ledger: Ledger) -> list[Space]:
    """The space of each row; the spaces that rows name were met before."""
    validator = ledger.validator
    names = [row.get("space") for row in values]
    known = {name: validator.space if name is None else validator.named_spaces[name] for name in dict.fromkeys(names)}
    for name, space in known.items():
        validator.note_space(name, space)
    return [known[name] for name in names]


def _places_off(points: Sequence[Sequence[float]], examples: Sequence[Example]) -> list[int]:
    """Where among many points, in pixels, one is not on its screenshot: a refusal, not a number, or outside."""
    pairs = enumerate(zip(points, map(_size_of, examples), strict=True))
    return [place for place, ((x, y), (width, height)) in pairs if not (0 <= x <= width and 0 <= y <= height)]


def _judge_off(some: SomeRows, index: int, space: Space, attempt: int) -> int:
    """The code of a row that is no hit and not on its screenshot, with what is to be reported of it."""
    rows, (x, y) = some.rows, (some.points or ())[index]
    example = rows.ledger.examples[rows.places[index]]
    report = rows.report.at(rows.lines[index], example.id)
    prediction = Prediction(example.id, ((x, y),), None, space, attempt=attempt, line=report.line, source=report.source)
    verdict = judge(example, convert(prediction, example.image_size, report))
    if verdict.outcome == "miss" and is_off_screenshot(verdict):
        report_off_screenshot(verdict, report)
    return CODES[verdict.outcome]


def _keep(
    some: SomeRows, examples: Sequence[Example], spaces: Sequence[Space], attempts: Sequence[int], codes: bytearray
) -> None:
    """Keep the predictions of first attempts and the codes of all."""
    rows = some.rows
    ledger, report, source = rows.ledger, rows.report, rows.report.source
    predictions, kept_codes, later = ledger.predictions, ledger.codes, ledger.later
    columns = zip(rows.places, rows.lines, some.points or (), examples, spaces, attempts, codes, strict=True)
    for index, (place, line, (x, y), example, space, attempt, code) in enumerate(columns):
        if attempt > 1:
            others = later.get(place)
            if others is not None and len(others) == attempt - 2:
                others.append(code)
            else:
                ledger.keep_later(place, attempt, code, report.at(line, example.id))
            continue
        kept_codes[place] = code
        fields = example.id, ((x, y),), None, space, None, None, 1, line, source, ""
        prediction = _new(Prediction, fields)
        refuses = x < 0 > y
        if predictions[place] is None and not refuses:
            predictions[place] = prediction
        else:
            row = report.at(line, example.id)
            ledger.keep_answer(place, rows.values[index], Answer(prediction), row, odd=refuses)
            ledger.verdicts.pop(place, None)


def _is_judged_later(*_: object) -> None:
    """In place of a rule that many points are judged by at once."""


def _is_no_box(*_: object) -> bool:
    """In place of the rule that reads no point."""
    return False


_RULES_OF_MANY: Mapping[RuleName, Callable[[float, float, tuple[float, ...]], bool | None]] = {
    **POINT_RULES,
    "point_in_polygon": _is_judged_later,
    "coverage_precision": _is_no_box,
}
