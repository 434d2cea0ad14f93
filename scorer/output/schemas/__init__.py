"""JSON Schemas (draft 2020-12) of the files that are read and written.

They are made from the templates beside this module. A list that the code also has (codes, outcomes, spaces, benchmarks)
is a placeholder ``"@name"`` in a template and is filled in from the code, so that the two cannot differ.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, get_args

from scorer.benchmarks import BENCHMARKS, VARIANTS
from scorer.core.errors import UsageError
from scorer.core.findings import Code, Severity
from scorer.core.outcomes import OUTCOMES
from scorer.core.spaces import FRAME_PATTERN, MEANINGS, SMART_RESIZE_PATTERN

SCHEMAS = {
    "prediction": "one row of a predictions file",
    "manifest": "what a leaderboard asks about a run",
    "report": "what score --json writes",
    "findings": "the findings about a file",
    "submission": "submission.json of a bundle",
}
"""Name of a schema -> what it describes."""


def schema_text(name: str) -> str:
    """The schema of that name as JSON text. Raises UsageError, with the known names, where there is none."""
    if name not in SCHEMAS:
        raise UsageError(f'no schema "{name}"; known: {", ".join(SCHEMAS)}')
    template = resources.files("scorer.output.schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    return json.dumps(_filled(json.loads(template), _lists()), indent=2, ensure_ascii=False) + "\n"


def _lists() -> dict[str, Any]:
    """The placeholders of the templates and what replaces them."""
    spaces = [space for space in MEANINGS if ":" not in space]
    with_parameters = [pattern.replace("(", "").replace(")", "") for pattern in (FRAME_PATTERN, SMART_RESIZE_PATTERN)]
    return {
        "@codes": list(map(str, Code)),
        "@severities": list(get_args(Severity)),
        "@outcomes": list(OUTCOMES),
        "@outcome-counts": {outcome: {"$ref": "#/$defs/count"} for outcome in OUTCOMES},
        "@benchmarks": list(BENCHMARKS),
        "@variants": list(VARIANTS),
        "@variants-or-null": [*VARIANTS, None],
        "@space": f"^({'|'.join([*spaces, *with_parameters])})$",
    }


def _filled(value: Any, lists: dict[str, Any]) -> Any:
    """A value of a template with its placeholders replaced, at every depth."""
    if isinstance(value, str):
        return lists.get(value, value)
    if isinstance(value, list):
        return [_filled(entry, lists) for entry in value]
    if isinstance(value, dict):
        return {key: _filled(entry, lists) for key, entry in value.items()}
    return value
