"""``--benchmark-params`` and the flags that say the same, brought together into one selection.

Names and meanings are those of AgentCompass: null means the default, sample ids are strings or whole numbers, trimmed,
blanks dropped, repeated ones counted once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from scorer.benchmarks import VARIANTS
from scorer.core.errors import UsageError
from scorer.core.findings import type_name
from scorer.ground_truth.load import Selection

KNOWN = ("instruction_variant", "category", "sample_ids")


def selection(
    variant: str | None, categories: Iterable[str], sample_ids: Iterable[str], params: str | None
) -> Selection:
    """What the flags and the JSON of ``--benchmark-params`` select together.

    Raises UsageError for JSON that is none, an unknown name, a value of the wrong type, or a value that contradicts
    its flag.
    """
    given = _parse(params) if params is not None else {}
    flags: dict[str, tuple[str, ...]] = {
        "instruction_variant": (variant,) if variant else (),
        "category": _listed(categories),
        "sample_ids": _listed(sample_ids),
    }
    for name, values in given.items():
        if values and flags[name] and values != flags[name]:
            flag = "--" + name.replace("_", "-")
            raise UsageError(f'{flag} and "{name}" in --benchmark-params differ; give one of them')
        flags[name] = flags[name] or values
    return Selection(next(iter(flags["instruction_variant"]), ""), flags["category"], flags["sample_ids"])


def _parse(params: str) -> dict[str, tuple[str, ...]]:
    try:
        given = json.loads(params)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--benchmark-params is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise UsageError(f"--benchmark-params must be an object, found {type_name(given)}")
    unknown = [name for name in given if name not in KNOWN]
    if unknown:
        raise UsageError(f"unknown in --benchmark-params: {', '.join(unknown)}; known: {', '.join(KNOWN)}")
    values = {name: _values(name, value) for name, value in given.items()}
    for variant in values.get("instruction_variant", ()):
        if variant not in VARIANTS:
            raise UsageError(f'unknown instruction_variant "{variant}"; known: {", ".join(VARIANTS)}')
    return values


def _values(name: str, value: Any) -> tuple[str, ...]:
    """One value or a list of them as trimmed strings; null is none."""
    if value is None:
        return ()
    values = value if isinstance(value, list) and name != "instruction_variant" else [value]
    for entry in values:
        number = name == "sample_ids" and type(entry) is int
        if not isinstance(entry, str) and not number:
            raise UsageError(f"{name} in --benchmark-params must be a string, found {type_name(entry)}")
    return _unique(str(entry) for entry in values)


def _listed(values: Iterable[str]) -> tuple[str, ...]:
    """Values of a repeatable flag, each possibly several with commas between."""
    return _unique(part for value in values for part in value.split(","))


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (value.strip() for value in values))))
