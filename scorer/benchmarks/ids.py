"""The ids of a benchmark, and the explanation of an id that is not among them.

An unknown id is never repaired. The message names the nearest one, and the row does not count.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from scorer.core.findings import shorten
from scorer.core.records import Example

MAX_NEAREST = 20
"""Upper bound on the unknown ids that are compared with every known id, which is slow. For later ones only exact rules
are tried."""


class Ids:
    """The ids of one benchmark: those of its examples, and those that a filter left out."""

    def __init__(
        self,
        benchmark: str,
        examples: Sequence[Example],
        left_out: Collection[str],
        example: str,
        patterns: Mapping[str, re.Pattern[str]],
    ) -> None:
        """``example`` is one id, for messages; ``patterns`` are the id patterns of all benchmarks by their ids."""
        self.benchmark = benchmark
        self.examples = examples
        self.known = dict(zip(map(attrgetter("id"), examples), range(len(examples)), strict=True))
        """Id -> the position of its example in ``examples``."""
        self.left_out = left_out
        self.example = example
        self.patterns = patterns
        self.others: Counter[str] = Counter()
        """Benchmark -> how many unknown ids looked like ids of it."""
        self._compared = 0
        self._folded: dict[str, str] | None = None
        self._images: dict[str, str | None] | None = None

    def unknown(self, row_id: str) -> str:
        """The message for an id that is not known, with its likely cause."""
        plain = re.fullmatch(r"\S+", row_id)
        shown = f"unknown id {shorten(row_id)}" if plain else f'unknown id "{shorten(row_id)}"'
        padded = self._zero_padded(row_id)
        if padded is not None:
            return f"{shown} (ids are zero-padded: {padded})"
        if re.fullmatch(r"[0-9]+", row_id):
            return f"{shown} (ids are strings like {self.example})"
        name = re.split(r"[/\\]", row_id)[-1]
        stem = name.rpartition(".")[0]
        if stem:
            meant = stem if stem in self.known else self._zero_padded(stem) or self._of_image(name)
            shows = f"did you mean {meant}?" if meant else f"ids look like {self.example}"
            return f"{shown} (a file name? {shows})"
        other = benchmark_of(row_id, self.patterns)
        if other is not None and other != self.benchmark:
            self.others[other] += 1
            return f"{shown} (it looks like an id of {other})"
        nearest = self._nearest(row_id)
        return f"{shown} (did you mean {nearest}?)" if nearest else f"{shown} (ids look like {self.example})"

    def _zero_padded(self, row_id: str) -> str | None:
        """The known id with the same prefix and the same number."""
        match = re.fullmatch(r"(.{0,100}?)([0-9]{1,20})", row_id, re.DOTALL)
        example = re.fullmatch(r"(.*?)([0-9]+)", self.example)
        if match is None or example is None or match[1] != example[1]:
            return None
        candidate = f"{example[1]}{int(match[2]):0{len(example[2])}d}"
        return candidate if candidate in self.known and candidate != row_id else None

    def _of_image(self, name: str) -> str | None:
        """The id of the one example that is asked on this screenshot."""
        if self._images is None:
            self._images = {}
            for example in self.examples:
                self._images[example.image] = None if example.image in self._images else example.id
        return self._images.get(name)

    def _nearest(self, row_id: str) -> str | None:
        if self._folded is None:
            self._folded = {_fold(known): known for known in self.known}
        if (same := self._folded.get(_fold(row_id))) is not None:
            return same
        self._compared += 1
        if self._compared > MAX_NEAREST or len(row_id) > 200:
            return None
        matches = difflib.get_close_matches(row_id, self.known, n=1, cutoff=0.8)
        return matches[0] if matches else None


def benchmark_of(row_id: str, patterns: Mapping[str, re.Pattern[str]]) -> str | None:
    """The benchmark whose ids look like this one."""
    return next((name for name, pattern in patterns.items() if pattern.fullmatch(row_id)), None)


def resembled_benchmark(row_id: str, examples: Mapping[str, str]) -> str | None:
    """The benchmark whose ids begin with the same letters before a separator as this one, in whatever case."""
    start = re.match(r"\W*([a-z]+)[\W_]*[0-9]", row_id.casefold()[:100])
    prefixes = {example.partition("_")[0]: name for name, example in examples.items() if "_" in example}
    return prefixes.get(start[1]) if start else None


def _fold(row_id: str) -> str:
    return re.sub(r"[\W_]+", "", row_id.casefold())
