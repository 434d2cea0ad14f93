"""Whole processes, timed in rounds: what is compared runs back to back, as a noisy machine disturbs all of it alike.

Neither pyperf nor pytest-benchmark does this: both finish all runs of one command before those of the next.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

Commands = Sequence[Sequence[str]]
"""One work: the commands that are run one after another."""


class Cost(NamedTuple):
    """Wall seconds and peak resident MiB of finished processes."""

    seconds: float
    mebibytes: float


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end, its output thrown away. Ends the program where the command fails.

    The peak of a process is at least that of its parent, on Linux also after exec: callers have to stay small.
    """
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")[-2000:]
            raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}\n{said}")
    return Cost(seconds, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))


def run_all(commands: Commands) -> Cost:
    """Run commands one after another: their seconds together, and the highest of their peaks."""
    costs = [run(command) for command in commands]
    return Cost(sum(cost.seconds for cost in costs), max(cost.mebibytes for cost in costs))


def rounds(contestants: Sequence[Commands], runs: int, *, warm_up: bool) -> list[list[Cost]]:
    """The costs of each contestant in each of ``runs`` rounds; every round runs all of them, in this order."""
    if warm_up:
        for commands in contestants:
            run_all(commands)
    return [[run_all(commands) for commands in contestants] for _ in range(runs)]
