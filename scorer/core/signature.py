"""One line of settings that fixes a number. Reports with equal signatures differ only where their predictions differ.

``head|key:value|...|version:X``: pairs are joined by ``|``, key and value parted by the first ``:``; keys keep the
order of KEYS, those without a value are left out. Values never hold ``|`` and never a ``:``, so parse(format(x)) == x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scorer.core.records import Example, GroundTruth, RuleName, Space

KEYS = (
    "variant",
    "n",
    "data",
    "categories",
    "filter",
    "rule",
    "cand",
    "refusal",
    "space",
    "profile",
    "attempts",
    "test",
    "seed",
    "version",
)


def build(
    ground_truth: GroundTruth,
    space: Space | None,
    row_spaces: Sequence[Space],
    profile: str,
    attempts: int,
    version: str,
    refusal: str = "",
) -> dict[str, str]:
    """The fields of a score's signature, the benchmark under ``head`` first.

    ``space`` is the space of rows that named none, None where there were no such rows; ``row_spaces`` are the spaces
    that rows named. ``refusal`` says which refusals count, "" where no row made a difference.
    """
    spaces = [_space(space)] if space is not None else []
    if row_spaces:
        spaces.append("rows=" + "+".join(map(_space, row_spaces)))
    fields = {
        "head": ground_truth.benchmark.id,
        "variant": ground_truth.variant,
        "n": str(len(ground_truth.examples)),
        "data": ground_truth.sha256[:12],
        "categories": ground_truth.categories_sha256[:12] or ground_truth.categories_source,
        "filter": ground_truth.filter,
        "rule": _rules(ground_truth.examples),
        "cand": "any" if ground_truth.benchmark.any_candidate else "",
        "refusal": refusal,
        "space": ";".join(spaces),
        "profile": profile,
        "attempts": str(attempts) if attempts > 1 else "",
        "version": version,
    }
    return {key: value for key, value in fields.items() if value}


def format_signature(fields: Mapping[str, str]) -> str:
    """Write the fields as one line."""
    pairs = [f"{key}:{fields[key]}" for key in KEYS if fields.get(key)]
    return "|".join([fields["head"], *pairs])


def parse_signature(text: str) -> dict[str, str]:
    """Read a line that format_signature wrote. Raises ValueError where it is not one."""
    head, *pairs = text.split("|")
    fields = {"head": head}
    for pair in pairs:
        key, colon, value = pair.partition(":")
        if not (colon and value) or key not in KEYS or key in fields:
            raise ValueError(f"not a signature: {pair!r} is no known key:value pair")
        fields[key] = value
    if not head or format_signature(fields) != text:
        raise ValueError("not a signature: the head is missing or the keys are out of order")
    return fields


def _space(space: Space) -> str:
    """A space without a colon in it: ``frame=1280x720``, ``smart-resize=28,3136,2109744``."""
    kind, _, parameters = str(space).partition(":")
    return f"{kind}={parameters.replace(':', ',')}" if parameters else kind


def _rules(examples: Sequence[Example]) -> str:
    """The rules in use, thresholds in brackets; every pair of thresholds that occurs is named."""
    used = {(example.rule, example.min_coverage, example.min_precision) for example in examples}
    parts: dict[RuleName, str] = {rule: rule for rule, _, _ in used}
    thresholds = sorted((coverage, precision) for rule, coverage, precision in used if rule == "coverage_precision")
    if thresholds:
        listed = ";".join(f"{_threshold(coverage)},{_threshold(precision)}" for coverage, precision in thresholds)
        parts["coverage_precision"] += f"[{listed}]"
    return "+".join(parts[rule] for rule in _RULE_ORDER if rule in parts)


def _threshold(value: float) -> str:
    """Two decimals, more only where the value has more: 0.90, 0.875."""
    return f"{value:.2f}" if round(value, 2) == value else repr(value)


_RULE_ORDER: tuple[RuleName, ...] = ("point_in_bbox", "coverage_precision", "point_in_polygon", "refusal")
