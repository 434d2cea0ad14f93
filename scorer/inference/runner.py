"""Many calls at a time, one writer. What is asked and what is written are functions; this module only orders them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType
from typing import Any, TypeVar

Work = TypeVar("Work")
Done = TypeVar("Done")


def run(
    jobs: Iterable[Work],
    ask: Callable[[Work], Done],
    write: Callable[[Done], None],
    *,
    concurrency: int,
    on_interrupt: Callable[[], None] = lambda: None,
) -> bool:
    """Ask about every job, ``concurrency`` at a time, and write each result in this thread as it arrives.

    The first Ctrl-C sends nothing more and waits for the calls under way, whose answers are paid for; the second drops
    them. Returns whether all jobs were asked. An exception of ``ask`` is a bug and ends the run.
    """
    results: SimpleQueue[tuple[Done | None, BaseException | None]] = SimpleQueue()
    waiting, lock, stop = iter(jobs), threading.Lock(), threading.Event()
    left: list[Work] = []

    def work() -> None:
        try:
            while True:
                with lock:
                    job = next(waiting, None)
                    if job is None:
                        break
                    if stop.is_set():
                        left.append(job)
                        break
                results.put((ask(job), None))
        except BaseException as error:
            stop.set()
            results.put((None, error))
        else:
            results.put((None, None))

    # Daemons: a second Ctrl-C must not wait for a server that does not answer.
    workers = [threading.Thread(target=work, daemon=True) for _ in range(concurrency)]
    with _interrupts(stop, on_interrupt):
        for worker in workers:
            worker.start()
        running = len(workers)
        while running:
            result, error = results.get()
            if error is not None:
                raise error
            if result is None:
                running -= 1
            else:
                write(result)
    return not left


@contextmanager
def _interrupts(stop: threading.Event, on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C sets ``stop`` instead of cutting a write in two; the second one is the usual exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_number: int, _frame: FrameType | None) -> Any:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        on_interrupt()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
