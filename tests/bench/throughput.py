"""Time the runner against a bare loop over the same client, pair by pair, and print the ratios.

    python tests/bench/throughput.py [--runs 5] [--calls 200] [--delay 0.005]

The endpoint is a process of its own on loopback that answers after ``--delay`` seconds. The bare loop sends bodies that
are ready made and throws the answers away; the runner builds bodies, reads images and replies, and writes the file.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
SERVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.endpoint import Endpoint, completion
act = completion("pyautogui.click(x=300, y=156)")._replace(delay=float(sys.argv[2]))
with Endpoint(lambda *_: act) as endpoint:
    print(endpoint.url, flush=True)
    time.sleep(3600)
"""


def runner_seconds(url: str, calls: int, concurrency: int) -> float:
    """A whole run of the script's loop, from the first call to the closed file."""
    from scorer.inference import runner
    from scorer.inference.client import Client
    from scorer.inference.journal import Journal

    jobs = _jobs(calls)
    client = Client(url, None, attempts=3, timeout=60)
    client.ask(jobs[0].body(_url(jobs[0])), {})
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        journal = Journal(str(Path(folder) / "out.jsonl"))

        def ask(job: Any) -> dict[str, Any]:
            row: dict[str, Any] = job.row(client.ask(job.body(_url(job)), {}))
            return row

        runner.run(jobs, ask, journal.append, concurrency=concurrency)
        journal.close()
        return time.perf_counter() - start


def bare_seconds(url: str, calls: int, concurrency: int) -> float:
    """The same calls in the plainest loop, or in a pool of threads."""
    import openai

    jobs = _jobs(calls)
    bodies = [job.body(_url(job)) for job in jobs]
    client = openai.OpenAI(base_url=url, api_key="none", timeout=60)
    client.chat.completions.create(**bodies[0])
    start = time.perf_counter()
    if concurrency == 1:
        for body in bodies:
            client.chat.completions.create(**body)
    else:
        with ThreadPoolExecutor(concurrency) as pool:
            list(pool.map(lambda body: client.chat.completions.create(**body), bodies))
    return time.perf_counter() - start


def _jobs(calls: int) -> list[Any]:
    from scorer.ground_truth.load import load_benchmark
    from scorer.inference import images
    from scorer.inference.plan import Job, Plan

    truth = load_benchmark("osworld-g", ROOT / "fixtures")
    files = images.locate(truth.path, truth.examples)
    plan, count = Plan("base", "a-model", truth), len(truth.examples)
    examples = [truth.examples[number % count] for number in range(calls)]
    return [Job(plan, each, number // count + 1, files[each.image]) for number, each in enumerate(examples)]


def _url(job: Any) -> str:
    from scorer.inference import images

    return images.data_url(job.file, job.plan.sent_size(job.example))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="pairs of runs (default 5)")
    parser.add_argument("--calls", type=int, default=200, help="calls of one run (default 200)")
    parser.add_argument("--delay", type=float, default=0.005, help="seconds until the server answers (default 0.005)")
    options = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(ROOT), str(options.delay)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        for concurrency in (1, 4, 16):
            pairs = [
                (bare_seconds(url, options.calls, concurrency), runner_seconds(url, options.calls, concurrency))
                for _ in range(options.runs)
            ]
            ratios = [bare / mine for bare, mine in pairs]
            rate = options.calls / statistics.median(mine for _, mine in pairs)
            spread = f"{min(ratios):.2f} – {max(ratios):.2f}"
            print(
                f"concurrency {concurrency:3}: {statistics.median(ratios):6.1%} of the bare loop's throughput "
                f"({spread}), {rate:.0f} calls/s   target >= 90 %"
            )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
