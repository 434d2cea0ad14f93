"""Comparisons as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scorer.evidence.compare import CellComparison, Comparison, Counts
from scorer.output.text.figures import SMALLEST, p_text, percent
from scorer.output.text.tables import axis_table, inline, is_printed, remark, remarks


def comparison_text(
    found: Comparison, names: tuple[str, str], *, table_format: str, axes: Sequence[str] = (), show_ids: bool = False
) -> str:
    """A comparison as text: both accuracies, the difference, the changes, and a table for each axis.

    ``names`` are those of the first and of the other file. ``axes`` are the names of the axes to print; without any,
    those that are not too long. ``show_ids`` adds the ids that were gained and lost.
    """
    shown = (inline(names[0], table_format), inline(names[1], table_format))
    blocks = [remarks(_head(found, shown), table_format)]
    blocks += [
        axis_table(axis, _HEADERS, [_row(cell) for cell in cells], table_format)
        for axis, cells in found.axes
        if is_printed(axis, len(cells), axes)
    ]
    if show_ids:
        for word, ids in (("gained", found.gained), ("lost", found.lost)):
            listed = ", ".join(inline(example_id, table_format) for example_id in ids)
            blocks.append(remark(f"{word}: {listed or 'none'}", table_format))
    blocks.append(remark(f"signature: {found.signature}", table_format))
    return "\n\n".join(blocks)


_HEADERS = ["n", "first %", "other %", "difference", "gained", "lost", "p", "p (Holm)"]


def _row(cell: CellComparison) -> list[str]:
    counts = cell.counts
    return [
        cell.label,
        str(counts.n),
        percent(counts.first, counts.n),
        percent(counts.other, counts.n),
        _points(counts),
        str(counts.gained),
        str(counts.lost),
        p_text(counts.p_value),
        p_text(cell.adjusted),
    ]


def _head(found: Comparison, names: tuple[str, str]) -> Iterator[str]:
    counts = found.counts
    width = max(len("difference"), len("first"), *(len(name) for name in names))
    yield f"{found.first.benchmark.id}: {names[1]} against {names[0]}"
    if found.differing:
        yield f"compared although the two were not scored alike: they differ in {', '.join(found.differing)}"
    for name, hits in zip(names, (counts.first, counts.other), strict=True):
        yield f"{name.ljust(width)}  {percent(hits, counts.n):>7} %   {hits}/{counts.n}"
    low, high = found.interval
    yield (
        f"{'difference'.ljust(width)}  {_points(counts):>7} points   95% CI {low * 100:+.1f} – {high * 100:+.1f}   "
        f"exact McNemar p {'' if counts.p_value < SMALLEST else '= '}{p_text(counts.p_value)}"
    )
    yield f"both right {counts.both} · gained {counts.gained} · lost {counts.lost} · both wrong {counts.neither}"


def _points(counts: Counts) -> str:
    """The difference in percentage points with its sign, rounded half away from zero from the exact ratio."""
    change = counts.gained - counts.lost
    sign = "+" if change > 0 else "-" if change < 0 else ""
    return sign + percent(abs(change), counts.n)
