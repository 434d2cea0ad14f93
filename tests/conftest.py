"""Shared fixtures. Tests on the real data run where SCORER_DATA and SCORER_CASES name it and are skipped elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

import scorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

EXAMPLES_ON_CI = 100
"""Number of examples that hypothesis makes for a test on CI, where the test does not set another number."""

# No time limit per example, and none for making the first examples: machines differ too much in speed.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("home", _patient, max_examples=EXAMPLES_ON_CI // 4)
settings.register_profile("ci", _patient, max_examples=EXAMPLES_ON_CI, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "home")


def scaled(examples_on_ci: int) -> int:
    """The ``max_examples`` of a test that makes ``examples_on_ci`` on CI, scaled down by other profiles as usual."""
    return examples_on_ci * settings().max_examples // EXAMPLES_ON_CI


# A shell that starts the tests in the background makes them ignore SIGINT, and every command that a test starts and
# interrupts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
"""The folder that holds tests, fixtures and documents; in the test of the wheel it does not hold the package."""

PACKAGE = Path(scorer.__file__).parent
"""The folder of the package under test: in the checkout, or in site-packages where the wheel is tested."""

FIXTURES = ROOT / "fixtures"
SUBSETS = ("sheets", "text", "pro")


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).resolve() if value else None


DATA = _folder("SCORER_DATA")
CASES = _folder("SCORER_CASES")

needs_data = pytest.mark.skipif(DATA is None, reason="SCORER_DATA does not name the real data")
needs_cases = pytest.mark.skipif(
    DATA is None or CASES is None, reason="SCORER_DATA and SCORER_CASES do not name the real data and the cases"
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say that the slow tests were left out: pytest counts deselected tests only when it runs in one process."""
    if config.option.markexpr == "not slow":
        terminalreporter.write_line("Left out: the tests marked slow. To run them too: python -m pytest -m ''")


def case_rows() -> list[dict[str, Any]]:
    """The cases of the benchmarks that are scored here; none where SCORER_CASES does not name them."""
    if CASES is None:
        return []
    rows = [json.loads(line) for line in (CASES / "cases.jsonl").read_bytes().splitlines()]
    return [row for row in rows if row["benchmark"].startswith(("pointerbench", "osworld"))]


class Run(NamedTuple):
    """What a run of the command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Score = Callable[..., Run]
Ask = Callable[..., Run]


@pytest.fixture
def run_score(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Score:
    """Run the command in this process, in an empty folder and with no ground truth lying about."""
    from scorer.cli.main import main

    monkeypatch.delenv("SCORER_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    def run(*args: object) -> Run:
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(arg) for arg in args])
        captured = capfd.readouterr()
        status = exit_.value.code
        assert isinstance(status, int)
        return Run(status, captured.out, captured.err)

    return run


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run the script of a profile in this process."""
    from scorer.cli.ask import command
    from scorer.cli.main import run as run_command

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SCORER_DATA", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)

    def run(profile: str, *args: object, model: str = "a-model", data: Path = FIXTURES) -> Run:
        capfd.readouterr()
        status = run_command(["--model", model, "--data", str(data), *map(str, args)], command(profile))
        return Run(status, *capfd.readouterr())

    return run


@pytest.fixture
def in_fresh_process(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python in a process of its own, without the environment's ground truth."""
    environment = {key: value for key, value in os.environ.items() if key != "SCORER_DATA"}

    def run(*args: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *args],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=120,
            check=False,
            **keywords,
        )

    return run


def in_memory_of(mebibytes: int, command: list[str]) -> list[str]:
    """The same command with its address space limited to ``mebibytes``, so its resident memory stays below that too."""
    return ["sh", "-c", f'ulimit -v {mebibytes * 1024} && exec "$@"', "sh", *command]


@pytest.fixture(params=["orjson", "standard json"])
def json_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with each JSON parser, whatever the size of the file."""
    from scorer.files import rows as read

    if request.param == "orjson":
        pytest.importorskip("orjson")
        monkeypatch.setattr(read, "ORJSON_PAYS_FROM_BYTES", 0)
    else:
        monkeypatch.setitem(sys.modules, "orjson", None)
    return str(request.param)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium, the system's own; where there is none, tests are skipped, but never on CI."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        reason = "no Chromium found (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


@pytest.fixture
def make(run_score: Score, tmp_path: Path) -> Callable[..., Path]:
    """Write a report of predictions on the fixtures, or on other data, and return its file."""

    def run(predictions: Path, *options: object, data: Path = FIXTURES) -> Path:
        out = tmp_path / "report.html"
        made = run_score("report", "-p", predictions, "--data", data, "--out", out, *options)
        assert made.status == 0, made.err
        return out

    return run


@pytest.fixture
def visit(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open a file as a page. Whatever the page asks for, fails at or says on its console makes the test fail."""
    heard: list[str] = []
    contexts: list[BrowserContext] = []

    def run(file: Path, fragment: str = "", **settings: Any) -> Page:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("popup", lambda popup: heard.append(f"window: {popup.url}"))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(file.as_uri() + fragment)
        return page

    yield run
    for context in contexts:
        context.close()
    ours = ("data:", tmp_path.as_uri())
    assert not [each for each in heard if not each.startswith(ours)]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


SHEETS_ROW: dict[str, Any] = {
    "file_name": "0001.png",
    "id": "pbs_0001",
    "instruction": "Select B2.",
    "bbox": [10, 20, 30, 40],
    "answer_type": "point",
    "eval": {"type": "point_in_bbox", "bbox": [10, 20, 30, 40]},
    "data_type": "cell",
    "category": "cell_ref",
    "ui_style": "bare",
    "image_size": [1024, 768],
}


def subset_row(prefix: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"{prefix}_{number:04d}",
        "instruction": "Press it.",
        "bbox": [100, 200, 200, 300],
        "answer_type": "point",
        "image_size": [1024, 768],
        **fields,
    }


@pytest.fixture
def three_subsets(run_score: Score) -> Path:
    """A folder with four examples of each Pointerbench subset, in the official layout."""
    del run_score  # it has moved this test to an empty folder
    for subset, prefix in (("sheets", "pbs"), ("text", "pbt"), ("pro", "pbp")):
        folder = Path(f"pointerbench-{subset}/data/test")
        folder.mkdir(parents=True)
        axes = {"category": "cell", "ui_style": "bare", "data_type": "cell", "language": "en", "difficulty": "easy"}
        more = {"element_type": "icon", "app_category": "code", "platform": "Linux"} if subset == "pro" else axes
        rows = [subset_row(prefix, n, **more, surface=f"s{n}", app=f"App {n}") for n in range(1, 5)]
        write_rows(folder / "metadata.jsonl", rows)
    return Path()


def answers(*ids: str, point: tuple[float, float] = (150, 250)) -> Path:
    return write_rows(Path("preds.jsonl"), [{"id": name, "point": list(point)} for name in ids])
