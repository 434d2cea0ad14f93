"""JSON Schemas (draft 2020-12) of what is read and written, as files beside this one."""

from __future__ import annotations

from importlib import resources

from scorer.core.errors import UsageError

SCHEMAS = {
    "prediction": "one row of a predictions file",
    "manifest": "what a leaderboard asks about a run",
    "report": "what score --json writes",
    "findings": "the findings about a file",
    "submission": "submission.json of a bundle",
}
"""Name -> what it describes."""


def schema_text(name: str) -> str:
    """The schema of that name as JSON text. Raises UsageError, naming the known ones, where there is none."""
    if name not in SCHEMAS:
        raise UsageError(f'no schema "{name}"; known: {", ".join(SCHEMAS)}')
    return resources.files("scorer.output.schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
