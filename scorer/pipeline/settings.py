"""How a run reads and scores its files: one frozen record, made from the keywords of the public functions."""

from __future__ import annotations

from typing import NamedTuple, TypedDict, get_args

from scorer.core.errors import UsageError
from scorer.core.limits import DEFAULT_LIMITS, Limits, reason
from scorer.core.records import PIXEL, Refusal, Space
from scorer.core.report import Kept
from scorer.core.spaces import parse_space
from scorer.profiles import get_profile


class Options(TypedDict, total=False):
    """The keywords of ``score``, ``check`` and their like. All may be left out."""

    space: str | Space | None
    """What the numbers of rows mean that name no space themselves. Default: the profile's space, else pixels."""
    profile: str | None
    """A model profile, as a name for its space."""
    attempts: int
    """How many attempts at each example the figures over several attempts are about. Default: 1."""
    refusal: Refusal
    """Which refusals count: ``markers`` (default) or ``negative-only``."""
    from_raw: bool
    """Whether answers are read again from the rows' ``raw`` replies, as ``profile`` does. Default: False."""
    limits: Limits
    """Bounds on what is taken from a file."""


class Settings(NamedTuple):
    """The same, checked and complete."""

    space: Space = PIXEL
    """The space of rows that name none."""
    profile: str = ""
    """The id of the profile, "" for none."""
    attempts: int = 1
    """The number of attempts that are scored."""
    refusal: Refusal = "markers"
    """Which refusals count."""
    from_raw: bool = False
    """Whether answers are read again from the rows' replies."""
    limits: Limits = DEFAULT_LIMITS
    """Bounds on what is taken from a file."""
    kept: Kept | None = None
    """What rows and later verdicts are kept in, if they are wanted."""

    @property
    def highest_attempt(self) -> int:
        """The highest attempt of a row that is taken: all are where several are scored, for the unbiased estimates."""
        return self.limits.attempts if self.attempts > 1 else 1


def make_settings(options: Options) -> Settings:
    """Check the options. Raises UsageError for a name that does not exist and a number that is not allowed."""
    limits = options.get("limits", DEFAULT_LIMITS)
    attempts, refusal = options.get("attempts", 1), options.get("refusal", "markers")
    space, profile = options.get("space"), options.get("profile")
    from_raw = options.get("from_raw", False)
    if attempts < 1:
        raise UsageError(f"attempts must be 1 or more, found {attempts}")
    if attempts > limits.attempts:
        raise UsageError(f"{attempts} attempts are more than {reason('attempts', limits)}")
    if refusal not in get_args(Refusal):
        raise UsageError(f'unknown reading of refusals "{refusal}"; known: {", ".join(get_args(Refusal))}')
    if from_raw and profile is None:
        raise UsageError("reading raw replies needs --profile ID, which says how they are written")
    by_profile = get_profile(profile).space if profile is not None else PIXEL
    own = by_profile if space is None else parse_space(str(space))
    return Settings(own, profile or "", attempts, refusal, from_raw, limits)
