"""The records of annotation files -> examples. All faults are reported, and nothing is silently dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from scorer.core import messages
from scorer.core.findings import Reporter, shorten
from scorer.core.records import (
    UNKNOWN_LABEL,
    Axis,
    Benchmark,
    Example,
    Labels,
    Notes,
    ReadLabels,
    Record,
    Rows,
    SideFile,
)


class ExampleReader:
    """Reads the annotation files of one benchmark, one after the other, into ``examples``."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.examples: list[Example] = []
        self._records: list[Record] = []
        self._entries: dict[str, int] = {}
        self._count = 0
        self._read_labels = label_reader(benchmark.axes)

    def read(self, rows: Rows, report: Reporter) -> None:
        """Add the examples of one file; whatever is wrong with a record becomes a finding."""
        read_record, read_labels, entries = self.benchmark.read_record, self._read_labels, self._entries
        keeps_records = self.benchmark.categorize is not None
        notes: Notes = []
        for entry, (line, record) in enumerate(rows, self._count + 1):
            self._count = entry
            try:
                example = read_record(record, read_labels, notes)
            except ValueError as fault:
                _report_fault(record, entry, fault, report.at(line))
                continue
            first = entries.setdefault(example.id, entry)
            if first != entry:
                self._report_again(example, first, entry, report.at(line, example.id))
                continue
            self.examples.append(example)
            if keeps_records:
                self._records.append(record)
            if notes or not example.instruction or _is_outside(example):
                _report_oddities(example, notes, report.at(line, example.id))
                notes.clear()

    def categorize(self, sides: Mapping[str, SideFile], report: Reporter) -> None:
        """Give the examples their cells of the axis ``category`` from the side files, if the benchmark has any."""
        if self.benchmark.categorize is None:
            return
        pairs = list(zip(self._records, self.examples, strict=True))
        categories = self.benchmark.categorize(pairs, sides, report)
        place = [axis.name for axis in self.benchmark.axes].index("category")
        self.examples = [
            example._replace(labels=(*labels[:place], categories[example.id], *labels[place + 1 :]))
            for example in self.examples
            if (labels := example.labels)
        ]

    def _report_again(self, example: Example, first: int, entry: int, report: Reporter) -> None:
        earlier = next(known for known in self.examples if known.id == example.id)
        boxes = "the same box" if earlier.target == example.target else "different boxes"
        report(messages.RECORD_AGAIN, example=example.id, first=first, entry=entry, boxes=boxes)


def label_reader(axes: Sequence[Axis]) -> ReadLabels:
    """What gives a record its cells. Records with the same fields share one tuple: there are few combinations."""
    fields = [axis.field or axis.name for axis in axes]
    combinations: dict[tuple[object, ...], Labels] = {}
    keys = fields * 2 if len(fields) == 1 else fields  # of a single key itemgetter would make no tuple
    every_key: Callable[[Record], tuple[object, ...]] = itemgetter(*keys) if keys else lambda _: ()

    def read(record: Record) -> Labels:
        try:
            return combinations[every_key(record)]
        except (KeyError, TypeError):  # of a new combination, a missing field, or a list
            values = tuple(map(record.get, fields))
        labels: Labels = tuple(_cells(value, axis) for value, axis in zip(values, axes, strict=True))
        if all(type(value) is str for value in values):  # a string equals nothing but itself
            labels = combinations.setdefault(every_key(record), labels)
        return labels

    return read


def _cells(value: object, axis: Axis) -> tuple[str, ...]:
    """The cells of one axis: those of a list where an example may count in several, else a single one."""
    if axis.overlapping:
        return tuple(dict.fromkeys(map(_label, value if isinstance(value, list) else ()))) or (UNKNOWN_LABEL,)
    return (_label(value),)


def _label(value: object) -> str:
    return value if isinstance(value, str) else UNKNOWN_LABEL if value is None else shorten(repr(value))


def _is_outside(example: Example) -> bool:
    """Whether a target reaches outside its screenshot."""
    target, (width, height) = example.target, example.image_size
    if len(target) == 4:
        x0, y0, x1, y1 = target
        return x0 < 0 or y0 < 0 or x1 > width or y1 > height
    xs, ys = target[0::2], target[1::2]
    return bool(target) and (min(xs) < 0 or min(ys) < 0 or max(xs) > width or max(ys) > height)


def _report_oddities(example: Example, notes: Notes, report: Reporter) -> None:
    """Report what deserves a warning in a record that is scored as given."""
    if _is_outside(example):
        width, height = example.image_size
        shape = "bbox" if len(example.target) == 4 else "polygon"
        report(messages.TARGET_OUTSIDE, example=example.id, shape=shape, width=width, height=height)
    if not example.instruction:
        report(messages.NO_INSTRUCTION, example=example.id)
    for message, values in notes:
        report(message, example=example.id, **values)  # type: ignore[arg-type]


def _report_fault(record: Record, entry: int, fault: ValueError, report: Reporter) -> None:
    name = record.get("id")
    known = name if isinstance(name, str) else ""
    place = report.at(report.line, known)
    place(messages.UNUSABLE_RECORD, record=f"id {known}" if known else f"entry {entry}", fault=fault)
