"""The nine model profiles: the space in which each family of endpoints answers. The ids never change.

What a profile asks and how its replies are read is in its module, which is loaded only when it is needed. A new profile
is a module beside this one and its line in the table below.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from scorer.core.errors import UsageError
from scorer.core.records import PIXEL, Space


class Profile(NamedTuple):
    """One family of endpoints."""

    id: str
    """The name on the command line."""
    space: Space
    """What the coordinates of its replies mean."""
    image: str
    """The image that the model gets, in words."""
    models: str
    """The models that it is for, in words."""


_GRID = Space("grid1000")
_PROFILES = (
    Profile("base", PIXEL, "original", "any model that answers in pixels of the image it was sent"),
    Profile("claude", Space("frame", (1280, 720)), "resized to exactly 1280x720", "Claude"),
    Profile("gpt", Space("grid1000-or-pixel"), "original", "GPT with a prompt that asks for 0..999"),
    Profile("internvl3.5", Space("fraction-or-pixel"), "original", "InternVL 3.5"),
    Profile("qwen3vl", _GRID, "original", "Qwen3-VL and later; not Qwen2.5-VL"),
    Profile("glm", _GRID, "original", "GLM-4.5V, GLM-4.1V, AutoGLM"),
    Profile("gemini3", _GRID, "original", "Gemini"),
    Profile("scalecua", Space("smart-resize", (28, 3136, 2109744)), "original", "ScaleCUA"),
    Profile("kimik25", Space("fraction-or-pixel"), "original", "Kimi K2.5, Kimi-VL"),
)

PROFILES: dict[str, Profile] = {profile.id: profile for profile in _PROFILES}


def get_profile(profile_id: str) -> Profile:
    """Raises UsageError, naming the known ids, where there is no such profile."""
    try:
        return PROFILES[profile_id]
    except KeyError:
        known = ", ".join(PROFILES)
        raise UsageError(f'unknown profile "{profile_id}"; known: {known}') from None


def profile_module(profile_id: str) -> Any:
    """The module of a profile: ``build_request(task)`` and ``GRAMMAR``. Raises UsageError as get_profile does."""
    return import_module(f"scorer.profiles.{get_profile(profile_id).id.replace('.', '_')}")
