"""``python -m scorer.profiles.ID``: ask a model about a benchmark and write the predictions."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

import click

from scorer.benchmarks import BENCHMARKS, SUITES, VARIANTS
from scorer.chat.request import IMAGE
from scorer.cli.console import check_files, make_locator, say, streams
from scorer.cli.main import INTERRUPTED, run
from scorer.cli.options import WITH_CATEGORIES, WITH_VARIANTS, options
from scorer.cli.progress import counting
from scorer.cli.selection import selection
from scorer.core.errors import PredictionsError, UsageError
from scorer.core.records import GroundTruth
from scorer.core.spaces import parse_space
from scorer.inference import images, request_files, runner
from scorer.inference.client import Client
from scorer.inference.journal import Journal
from scorer.inference.plan import Job, Plan
from scorer.output.text.tables import escape
from scorer.profiles import get_profile

ASKING = (
    click.option(
        "--benchmark",
        "-b",
        required=True,
        type=click.Choice([*BENCHMARKS, *SUITES]),
        help=f"What to ask about; {', '.join(SUITES)} stands for all benchmarks of the suite.",
    ),
    click.option(
        "--data", type=click.Path(), metavar="DIR", help="Folder that holds the benchmarks, with screenshots."
    ),
    click.option(
        "--gt",
        type=click.Path(),
        metavar="FILE|DIR",
        help="The annotation file or its folder. No other place is searched.",
    ),
    click.option(
        "--out", type=click.Path(dir_okay=False), metavar="FILE", help="Where the rows go, one JSON line each."
    ),
    click.option("--model", required=True, metavar="NAME", help="The model's name at the endpoint."),
    click.option(
        "--model-base-url",
        metavar="URL",
        envvar="OPENAI_BASE_URL",
        show_envvar=True,
        help="The endpoint, for example http://localhost:8000/v1.",
    ),
    click.option(
        "--model-api-key",
        metavar="KEY",
        envvar="OPENAI_API_KEY",
        show_envvar=True,
        help="Its key; never written or printed. Not needed for a server of your own.",
    ),
    click.option(
        "--model-params",
        metavar="JSON",
        help="Parameters of the request: temperature, max_tokens, extra_body, ... null leaves a default out. What the "
        "profile decides (messages, tools, tool_choice, ...) is ignored, and the rows say so.",
    ),
    click.option("--space", metavar="SPACE", help="What the numbers mean, where it is not the profile's space."),
    click.option(
        "--max-retries",
        type=click.IntRange(1),
        default=3,
        show_default=True,
        help="Attempts for one call in all, with growing pauses; a server's Retry-After is kept to.",
    ),
    click.option("--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Calls at a time."),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        default=600,
        show_default=True,
        help="Seconds for one attempt.",
    ),
    click.option(
        "--attempts",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="K",
        help="Ask each example K times.",
    ),
    click.option(
        "--instruction-variant",
        type=click.Choice(VARIANTS),
        help=f"{WITH_VARIANTS}: which instructions to ask with. Default: {VARIANTS[0]}.",
    ),
    click.option(
        "--category", multiple=True, metavar="NAME", help=f"{WITH_CATEGORIES}: only these categories, or all."
    ),
    click.option("--sample-ids", multiple=True, metavar="ID", help="Only these examples."),
    click.option("--benchmark-params", metavar="JSON", help="The last three as one object."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N examples of each benchmark."),
    click.option("--retry-errors", is_flag=True, help="Also ask again what is in --out without an answer."),
    click.option("--dry-run", is_flag=True, help="Print one request, the image left out, and send nothing."),
    click.option("--write-requests", metavar="FILE", help="Write the requests as OpenAI Batch lines and send nothing."),
    click.option(
        "--image-urls",
        type=click.Choice(["data", "file"]),
        default="data",
        show_default=True,
        help="In --write-requests: images inside the lines, or file:// paths that the engine reads.",
    ),
    click.option(
        "--batch-lines",
        type=click.IntRange(1),
        default=request_files.MAX_LINES,
        show_default=True,
        help="Most requests of a file.",
    ),
    click.option(
        "--batch-bytes",
        type=click.IntRange(1),
        default=request_files.MAX_BYTES,
        show_default=True,
        help="Most bytes of a file.",
    ),
    click.option(
        "--read-responses",
        multiple=True,
        metavar="FILE",
        type=click.Path(),
        help="Make rows of a batch engine's output instead of asking. May be repeated; further FILEs may follow.",
    ),
)


def command(profile: str) -> click.Command:
    """The command of one profile."""

    @click.command(
        f"python -m scorer.profiles.{profile.replace('.', '_')}",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    @options(ASKING)
    @click.argument("files", nargs=-1, metavar="", type=click.Path())
    def ask(**given: Any) -> int:
        return _Run(profile, **given).start()

    known = get_profile(profile)
    ask.help = (
        f"Ask a model as {known.id} about a benchmark's screenshots and write predictions that score reads.\n\n"
        f"For {known.models}. Answers are in the space {known.space}; image sent: {known.image}. Every row is "
        "written as it arrives; the same command goes on where it stopped.\n\n"
        "Exit status: 0 all asked, 1 not one call got a reply, 2 usage or unwritable output, 3 annotations or "
        "screenshots absent, 130 interrupted."
    )
    return ask


def main(profile: str) -> NoReturn:
    """Run the command of a profile and exit."""
    sys.exit(run(None, command(profile)))


class _Run:
    """One run of the command: its options, the examples they select, and what is done with them."""

    def __init__(self, profile: str, **given: Any) -> None:
        self.given = given
        files = list(given["files"])
        if files and not given["read_responses"]:
            raise click.UsageError(f"unexpected argument: {files[0]}", click.get_current_context())
        self.responses = [*given["read_responses"], *files]
        space = None if given["space"] is None else parse_space(given["space"])
        params = _object("--model-params", given["model_params"])
        self.plans = [Plan(profile, given["model"], truth, params, space) for truth in self._truths() if truth.examples]
        if not self.plans:
            raise UsageError("no example of the benchmark is among those that --sample-ids names")

    def _truths(self) -> Iterator[GroundTruth]:
        given = self.given
        chosen = selection(
            given["instruction_variant"], given["category"], given["sample_ids"], given["benchmark_params"]
        )
        locator = make_locator(chosen, given["gt"], given["data"], several=given["benchmark"] in SUITES)
        asked = SUITES.get(given["benchmark"]) or (BENCHMARKS[given["benchmark"]],)
        for benchmark in asked:
            truth = locator.load(benchmark)
            if given["instruction_variant"] and not truth.variant:
                with_variants = ", ".join(known.id for known in BENCHMARKS.values() if len(known.files) > 1)
                raise UsageError(f"--instruction-variant is for {with_variants}")
            yield truth._replace(examples=truth.examples[: given["limit"]])

    def start(self) -> int:
        """Do what the options ask for and return the exit status."""
        if self.given["dry_run"]:
            return self._show()
        if self.given["write_requests"]:
            return self._write_requests()
        if not self.given["out"]:
            raise click.UsageError("--out FILE is needed: where the rows go", click.get_current_context())
        if self.responses:
            return self._read_responses()
        return self._ask()

    def _jobs(self, *, check_images: bool = True) -> list[Job]:
        """Every call of this run in the order it is made: all first attempts before the second ones.

        Raises GroundTruthError where a screenshot is missing or is not the annotated one.
        """
        jobs: list[Job] = []
        for plan in self.plans:
            files = images.locate(plan.truth.path, plan.truth.examples) if check_images else {}
            jobs += [
                Job(plan, example, attempt, files.get(example.image, ""))
                for attempt in range(1, self.given["attempts"] + 1)
                for example in plan.truth.examples
            ]
        if not jobs:
            raise UsageError("nothing to ask: the options select no example")
        return jobs

    def _show(self) -> int:
        job = self._jobs(check_images=False)[0]
        click.echo(json.dumps(job.body(IMAGE), indent=2))
        width, height = job.plan.sent_size(job.example)
        say(f"{escape(job.example.id)}, {IMAGE} is {width}x{height} pixels, answers are read as {job.plan.space}")
        return 0

    def _write_requests(self) -> int:
        given = self.given
        written = request_files.write_requests(
            given["write_requests"],
            self._jobs(),
            image_urls=given["image_urls"],
            max_lines=given["batch_lines"],
            max_bytes=given["batch_bytes"],
        )
        for part in written:
            say(f"{part.lines} requests in {part.path}")
        return 0

    def _read_responses(self) -> int:
        check_files(self.responses)
        jobs = {request_files.custom_id(job): job for job in self._jobs(check_images=False)}
        journal = self._journal(jobs.values())
        unknown = 0
        try:
            for row in request_files.read_responses(streams(self.responses), jobs):
                if row is None:
                    unknown += 1
                elif self._is_open(journal, (row["id"], row["attempt"])):
                    journal.append(row)
        finally:
            journal.close()
        if unknown:
            say(f"{unknown} lines answer requests that this command does not make; they were left out")
        return self._finish(journal, jobs.values())

    def _ask(self) -> int:
        given = self.given
        if given["model_base_url"] is None:
            raise UsageError(
                "no endpoint: say where the model is with --model-base-url URL or $OPENAI_BASE_URL; "
                "screenshots are sent nowhere else"
            )
        client = Client(
            given["model_base_url"], given["model_api_key"], attempts=given["max_retries"], timeout=given["timeout"]
        )
        jobs = self._jobs()
        journal = self._journal(jobs)
        waiting = [job for job in jobs if self._is_open(journal, job.key)]
        errors = 0

        def ask(job: Job) -> dict[str, Any]:
            url = images.data_url(job.file, job.plan.sent_size(job.example))
            return job.row(client.ask(job.body(url), job.plan.transport))

        with counting(len(jobs), "calls", done=len(jobs) - len(waiting)) as progress:

            def write(row: dict[str, Any]) -> None:
                nonlocal errors
                journal.append(row)
                errors += bool(row.get("error"))
                if progress is not None:
                    progress.remark = f"  {errors} without an answer" if errors else ""
                    progress.advance()

            try:
                done = runner.run(waiting, ask, write, concurrency=given["concurrency"], on_interrupt=_say_interrupted)
            finally:
                journal.close()
        status = self._finish(journal, jobs)
        if not done:
            say("interrupted; the same command goes on from here")
            return INTERRUPTED
        return status

    def _journal(self, jobs: Iterable[Job]) -> Journal:
        """The file of rows. Raises UsageError where it was made by another profile or model, or with another prompt."""
        plan = self.plans[0]
        journal = Journal(self.given["out"])
        asked = {job.key: job for job in jobs}
        for key, row in journal.rows.items():
            now = {"profile": plan.profile.id, "model": plan.model}
            if key in asked:
                now["prompt"] = asked[key].plan.prompt_digest(asked[key].example)
            for name, value in now.items():
                if row.get(name) != value:
                    raise UsageError(
                        f"{self.given['out']}: {key[0]} was asked with {name} {row.get(name)}, "
                        f"now it would be {value}; give another --out, or the options that the file was made with"
                    )
        return journal

    def _is_open(self, journal: Journal, key: tuple[str, int]) -> bool:
        """Whether an example is still to be asked: it has no row or, with --retry-errors, none with an answer."""
        row = journal.rows.get(key)
        return row is None or bool(self.given["retry_errors"] and row.get("error"))

    def _finish(self, journal: Journal, jobs: Iterable[Job]) -> int:
        """Say what the file holds now. Raises PredictionsError where not one call got a reply."""
        keys = [job.key for job in jobs]
        rows = [journal.rows[key] for key in keys if key in journal.rows]
        counts = Counter(row["error"]["code"] if row.get("error") else "" for row in rows)
        errors = ", ".join(f"{code} {count}" for code, count in sorted(counts.items()) if code)
        say(
            f"{len(rows)} of {len(keys)} rows in {self.given['out']}: {counts['']} with an answer"
            + (f", {errors}; --retry-errors asks these again" if errors else "")
        )
        if rows and counts["request-failed"] == len(rows):
            raise PredictionsError(f"not one call got a reply; the first one: {rows[0]['error']['message']}")
        return 0


def _object(option: str, text: str | None) -> Mapping[str, Any]:
    """A JSON object from an option."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{option}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise UsageError(f'{option}: expected an object such as {{"temperature": 0}}')
    return value


def _say_interrupted() -> None:
    say("\ninterrupted: waiting for the calls under way; Ctrl-C again drops them")
