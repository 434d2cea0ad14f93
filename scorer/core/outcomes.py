"""What can become of an example. Every outcome stays in the denominator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Outcome = Literal["hit", "miss", "no_answer", "run_error", "absent"]

MEANINGS: Mapping[Outcome, str] = {
    "hit": "the answer satisfies the rule",
    "miss": "it does not",
    "no_answer": "a row without usable geometry for what the example asks",
    "run_error": "the row has an `error`; it scores 0 whatever else it carries",
    "absent": "the example has no row",
}
"""Every outcome and what it means."""

OUTCOMES: tuple[Outcome, ...] = tuple(MEANINGS)
"""All outcomes, in the order in which they are printed."""

CODES: Mapping[Outcome, int] = {outcome: code for code, outcome in enumerate(OUTCOMES, 1)}
"""Outcomes as bytes, of which a run may keep millions. 0 stands for no row."""

OUTCOMES_OF_CODES: tuple[Outcome, ...] = ("absent", *OUTCOMES)
"""The outcome of each code."""
