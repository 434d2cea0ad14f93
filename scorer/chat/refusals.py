"""Markers by which a reply says that the target is not there, beside a point that is negative in both coordinates.

Free prose is no marker: a strict benchmark gives no credit for it, and its meaning would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scorer.chat.calls import Call

_PHRASE = re.compile(r"\btarget (?:is )?not[- ]existent\b", re.IGNORECASE)
_CALLS = {
    "fail": "FAIL()",
    "calluser": "call_user()",
    "reportinfeasible": "report_infeasible",
    "infeasible": "infeasible",
}


def called_marker(calls: Iterable[Call]) -> str:
    """The refusal that a call states, "" where none does: terminate with any status but success, FAIL(), ..."""
    for call in calls:
        for arguments in call.arguments:
            status = str(arguments.get("status", "")).strip().lower()
            if call.name == "terminate" and status != "success":
                return "terminate"
            if str(arguments.get("goal_status", "")).strip().lower() == "infeasible":
                return "goal_status: infeasible"
            if call.name == "fail" and arguments:
                continue  # FAIL(...) with words in it is talk about failing
            if call.name in _CALLS:
                return _CALLS[call.name]
    return ""


def written_marker(text: str) -> str:
    """The refusal that a text spells out, "" where there is none."""
    if "[INFEASIBLE]" in text:
        return "[INFEASIBLE]"
    return "target not existent" if _PHRASE.search(text) else ""
