"""A diagnosis as text. All text that comes from a file is escaped."""

from __future__ import annotations

from collections.abc import Iterator

from scorer.evidence.diagnosis.records import Diagnosis, Misses, ReadingScore, Sign
from scorer.output.text.figures import percent
from scorer.output.text.tables import escape, remark, remarks, table

MOST_SHOWN = 5
"""Upper bound on the better readings that are printed, and on the ids of a sign. The JSON data hold all of them."""


def diagnosis_text(diagnosis: Diagnosis, *, table_format: str) -> str:
    """A diagnosis as text: the better readings if there are any, the statistics of misses, the signs of errors."""
    title = f"diagnosis of {diagnosis.benchmark}: advice only, the score is not changed"
    blocks = [remark(title, table_format)]
    if diagnosis.named:
        blocks.append(_readings(diagnosis, table_format))
    blocks.append(remarks(_conclusions(diagnosis), table_format))
    if diagnosis.misses:
        blocks.append(_misses(diagnosis.misses, table_format))
    if diagnosis.signs:
        blocks.append(remarks(map(_sign, diagnosis.signs), table_format))
    return "\n\n".join(blocks)


def _readings(diagnosis: Diagnosis, table_format: str) -> str:
    headers = ["reading", "acc %", "gained", "lost", "p", "declared by"]
    rows = [[diagnosis.declared, percent(diagnosis.hits, diagnosis.n), "", "", "", "this run"]]
    rows += [
        [
            reading.name,
            percent(reading.hits, diagnosis.n),
            str(reading.gained),
            str(reading.lost),
            f"{reading.p:.1g}",
            reading.option or "no option",
        ]
        for reading in _shown(diagnosis)
    ]
    return table(headers, rows, table_format)


def _shown(diagnosis: Diagnosis) -> list[ReadingScore]:
    """The better readings that gain at least half as many hits as the likely one: others share some hits by chance."""
    first = diagnosis.named[0].gained
    return [reading for reading in diagnosis.named if 2 * reading.gained >= first][:MOST_SHOWN]


def _conclusions(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.readings:
        yield "there are no answers that could be read in another way"
        return
    sample = f" on {diagnosis.n} answers, evenly spaced" if diagnosis.sampled else ""
    tried = f"{len(diagnosis.readings)} tried{sample}; exact McNemar, Bonferroni"
    if not diagnosis.named:
        yield f"no other reading is significantly better ({tried})"
        return
    likely = diagnosis.named[0]
    yield f"likely: {likely.name} ({tried})"
    yield f"to declare it: {likely.option}" if likely.option else f"no option declares it; in the file, {likely.fix}"
    if likely.moved and likely.lean_p < likely.p:
        yield (
            f"{likely.leaning} of {likely.moved} coordinates near their targets err in the direction that it explains "
            f"(p {likely.lean_p:.1g})"
        )
    if diagnosis.fit is not None:
        for axis, scale, offset in zip("xy", *diagnosis.fit, strict=True):
            percents = _signed(100 * (scale - 1), 1)
            yield (
                f"as declared, {axis} is {scale:.4f} times that of the target ({percents} %), "
                f"offset {_signed(offset, 1)} px"
            )


def _misses(misses: tuple[Misses, ...], table_format: str) -> str:
    rows = [
        [
            each.label,
            str(each.n),
            _signed(each.dx, 1),
            _signed(each.dy, 1),
            _signed(each.dx_targets, 2),
            _signed(each.dy_targets, 2),
            percent(each.near, each.n, 1),
        ]
        for each in misses
    ]
    headers = ["targets", "misses", "dx px", "dy px", "dx sizes", "dy sizes", "near %"]
    note = "medians from the target's centre, in pixels and target sizes; near: within one target size"
    return table(headers, rows, table_format) + "\n" + remark(note, table_format)


def _sign(sign: Sign) -> str:
    ids = ", ".join(sign.ids[:MOST_SHOWN]) + (", …" if len(sign.ids) > MOST_SHOWN else "")
    return escape(f"{sign.name}: {sign.message} ({ids})" if ids else f"{sign.name}: {sign.message}")


def _signed(value: float, decimals: int) -> str:
    """A number with its sign, except for one that is rounded to zero."""
    text = f"{value:+.{decimals}f}"
    return text if float(text) else text[1:]
