"""The line that shows how far a long reading is: the real command on a real terminal, read as a terminal reads."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

from scorer import api, load_benchmark
from scorer.cli.progress import ProgressLine, ReadingLine, counting, line, total_bytes
from tests.conftest import FIXTURES, ROOT, write_rows

pyte = pytest.importorskip("pyte")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")

ROWS = 3000
LINE = re.compile(r"(?:\[[#-]+\] )? *(\d+) %  ([\d,]+) rows  ([\d.]+)/([\d.]+) ([kM]?B)(?:  [\d:]+(?: left)?)?")
AT_ONCE = "import scorer.cli.progress as p; p.SHOW_AFTER = p.EVERY = 0; from scorer.cli.main import main; main()"


class Terminal:
    """A pseudo-terminal with a command on it, and every look of the line that its cursor was on."""

    def __init__(self, columns: int = 80, environment: dict[str, str] | None = None) -> None:
        import termios

        self.screen: Any = pyte.Screen(columns, 600)
        self.stream: Any = pyte.ByteStream(self.screen)
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (600, columns))
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
        self.environment.pop("COLUMNS", None)
        self.written = b""
        self.looks: list[str] = []

    def start(self, *args: object, code: str = AT_ONCE, stdin: Any = subprocess.DEVNULL, **to: Any) -> Any:
        streams: dict[str, Any] = {"stdin": stdin, "stdout": self.slave, "stderr": self.slave, **to}
        command = [sys.executable, "-c", code, *map(str, args), "--data", str(FIXTURES)]
        process = subprocess.Popen(command, env=self.environment, **streams)
        os.close(self.slave)
        return process

    def read(self, until: str | None = None) -> list[str]:
        """What the screen shows when the command has ended, or when something that matches ``until`` is on it."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                piece = os.read(self.master, 4096)
            except OSError:  # nobody has the other end
                piece = b""
            if not piece:
                os.close(self.master)
                return self.lines()
            self.written += piece
            for part in re.split(rb"(?<=\r)", piece):
                self.stream.feed(part)
                self.looks.append(self.line())
            if until is not None and re.search(until, self.line()):
                return self.lines()
        pytest.fail("the command neither ended nor showed what it should")

    def line(self) -> str:
        cells = self.screen.buffer[self.screen.cursor.y]
        return "".join(cells[column].data for column in range(self.screen.columns)).rstrip()

    def lines(self) -> list[str]:
        found = [text.rstrip() for text in self.screen.display]
        while found and not found[-1]:
            found.pop()
        return found

    def bars(self) -> list[re.Match[str]]:
        """The line wherever a screen shows it."""
        return [found for look in self.looks if (found := LINE.fullmatch(look))]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Attempts at all examples, many blocks of them, and with findings: half of the rows have an unknown id."""
    known = [json.loads(text)["id"] for text in (FIXTURES / "predictions/text.jsonl").read_text().splitlines()][:1]
    ids = [known[0] if number % 2 else f"pbt_{number:06d}" for number in range(ROWS)]
    return write_rows(tmp_path / "p.jsonl", [{"id": each, "point": [1, 1], "note": "x" * 60} for each in ids])


def plain(*args: object, stdin: IO[bytes] | None = None) -> tuple[int, list[str], list[str]]:
    """Status and lines of stdout and stderr of the command without any terminal."""
    command = [sys.executable, "-m", "scorer", *map(str, args), "--data", str(FIXTURES)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, capture_output=True, stdin=stdin, env=environment, check=False)
    return run.returncode, run.stdout.decode().splitlines(), run.stderr.decode().splitlines()


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", [(), ("check",)], ids=["score", "check"])
def test_the_line_grows_and_nothing_of_it_remains(
    rows: Path, columns: int, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = plain(*command, rows)
    terminal = Terminal(columns)
    with open("out", "wb") as file:
        process = terminal.start(*command, rows, stdout=file)
        shown = terminal.read()
    assert process.wait() == status
    assert Path("out").read_text().splitlines() == out
    assert "".join(shown).replace(" ", "") == "".join(err).replace(" ", "")  # long findings are wrapped
    bars = terminal.bars()
    counts = [int(bar[2].replace(",", "")) for bar in bars]
    shares = [int(bar[1]) for bar in bars]
    assert counts == sorted(counts)
    assert shares == sorted(shares)
    assert 0 < counts[0] < counts[-1] == ROWS
    assert 0 < shares[0] < shares[-1] == 100
    assert float(bars[-1][4]) == pytest.approx(rows.stat().st_size / 1000, abs=0.5)
    assert ("[" in bars[0][0]) == (columns > 40)


@pytest.mark.parametrize(
    "variables", [{"TERM": "dumb"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": "xterm"}]
)
def test_carriage_returns_are_all_that_it_needs(rows: Path, variables: dict[str, str]) -> None:
    terminal = Terminal(environment=variables)
    process = terminal.start(rows)
    shown = terminal.read()
    assert process.wait() == 0
    assert terminal.bars()
    assert re.findall(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", terminal.written) == []
    assert not any(LINE.search(each) for each in shown)
    assert any(each.startswith("pointerbench-text ") for each in shown)


def test_a_table_on_the_same_terminal_starts_at_its_first_column(rows: Path) -> None:
    terminal = Terminal(400)
    process = terminal.start(rows)
    shown = terminal.read()
    assert process.wait() == 0
    _, out, err = plain(rows)
    assert shown == [each.rstrip() for each in (*err, *out)]


def test_a_refused_file_and_an_absent_truth_leave_the_message_alone(rows: Path, tmp_path: Path) -> None:
    with rows.open("a") as stream:
        stream.write('{"id": "pbt')
    terminal = Terminal(400)
    process = terminal.start(rows)
    shown = terminal.read()
    assert (process.wait(), shown) == (plain(rows)[0], plain(rows)[2])
    assert process.returncode == 1
    assert terminal.bars()
    terminal = Terminal(400)
    process = terminal.start(rows, "--gt", tmp_path / "absent")
    assert terminal.read() == plain(rows, "--gt", tmp_path / "absent")[2]
    assert process.wait() == plain(rows, "--gt", tmp_path / "absent")[0] != 0


def test_of_compressed_files_the_share_is_that_of_the_compressed_bytes(rows: Path, tmp_path: Path) -> None:
    packed = tmp_path / "p.jsonl.gz"
    noise = [{"id": f"pbt_{n:06d}", "note": os.urandom(400).hex()} for n in range(ROWS)]
    write_rows(tmp_path / "noise.jsonl", noise)
    packed.write_bytes(gzip.compress(rows.read_bytes() + (tmp_path / "noise.jsonl").read_bytes()))
    terminal = Terminal()
    process = terminal.start(packed)
    terminal.read()
    assert process.wait() == 0
    bars = terminal.bars()
    assert (float(bars[-1][4]), bars[-1][5]) == (round(packed.stat().st_size / 1e6, 2), "MB")
    assert int(bars[0][1]) < 50
    assert (bars[-1][1], bars[-1][2]) == ("100", f"{2 * ROWS:,}")


def test_several_files_have_one_share(rows: Path) -> None:
    terminal = Terminal()
    process = terminal.start(rows, rows)
    terminal.read()
    assert process.wait() == 0
    bars = terminal.bars()
    halves = {int(bar[1]) for bar in bars if bar[2] == f"{ROWS:,}"}
    assert halves == {50}
    assert (bars[-1][1], bars[-1][2]) == ("100", f"{2 * ROWS:,}")


def test_stdin_tells_its_share_if_it_is_a_file_and_else_rows_and_bytes_alone(rows: Path) -> None:
    with rows.open("rb") as stream:
        terminal = Terminal()
        process = terminal.start("-", stdin=stream)
        terminal.read()
    assert process.wait() == 0
    assert (terminal.bars()[-1][1], terminal.bars()[-1][2]) == ("100", f"{ROWS:,}")
    terminal = Terminal(40)
    process = terminal.start("-", stdin=subprocess.PIPE)
    process.stdin.write(rows.read_bytes())
    process.stdin.close()
    shown = terminal.read()
    assert process.wait() == 0
    counts = [look for look in terminal.looks if re.fullmatch(r"[\d,]+ rows  [\d.]+ kB", look)]
    assert counts[-1] == f"{ROWS:,} rows  {rows.stat().st_size / 1000:.0f} kB"
    assert not terminal.bars()
    assert not any(" rows  " in each for each in shown)


@pytest.mark.parametrize("columns", [40, 80])
def test_an_interrupt_while_it_is_up_leaves_one_word_on_a_line_of_its_own(rows: Path, columns: int) -> None:
    terminal = Terminal(columns)
    process = terminal.start("-", stdin=subprocess.PIPE)
    process.stdin.write(rows.read_bytes())
    process.stdin.flush()  # and more may come
    terminal.read(until=r"^[\d,]+ rows  [\d.]+ kB$")
    process.send_signal(signal.SIGINT)
    shown = terminal.read()
    process.stdin.close()
    assert (process.wait(), [each for each in shown if each]) == (130, ["interrupted"])


def test_below_two_seconds_and_without_a_terminal_there_is_nothing(rows: Path) -> None:
    terminal = Terminal(400)
    process = terminal.start(rows, code="from scorer.cli.main import main; main()", stdout=subprocess.PIPE)
    shown = terminal.read()
    process.communicate()
    assert process.returncode == 0
    assert shown == plain(rows)[2]
    assert not terminal.bars()
    assert terminal.written.replace(b"\r\n", b"").count(b"\r") == 0
    terminal = Terminal()
    process = terminal.start(rows, stderr=subprocess.PIPE)
    terminal.read()
    assert process.communicate()[1].decode().splitlines() == plain(rows)[2]
    assert b"\r" not in terminal.written.replace(b"\r\n", b"")


class _Screen(io.StringIO):
    """What a line writes to, of unknown width."""

    def fileno(self) -> int:
        raise OSError


def test_two_seconds_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("scorer.cli.progress.time.monotonic", lambda: now[0])
    screen = _Screen()
    progress = ReadingLine(screen, 1000)
    looks = []
    for at in (101.9, 102.0, 102.05, 102.1):
        now[0], progress.done = at, progress.done + 100
        progress(10)
        looks.append(len(screen.getvalue()))
    assert [bool(looks[0]), looks[1] > 0, looks[2] == looks[1], looks[3] > looks[2]] == [False, True, True, True]
    # 400 of 1000 bytes took 2.1 seconds, so the others will take 3.15
    assert screen.getvalue().split("\r")[-2].rstrip().endswith("] " + " 40 %  40 rows  0.40/1.00 kB  0:03 left")
    progress.clear()
    assert screen.getvalue().split("\r")[-2].strip() == ""


@pytest.mark.parametrize(
    ("rows", "done", "total", "seconds", "expected"),
    [
        (1_234_567, 123_400_000, 456_700_000, 10.0, " 27 %  1,234,567 rows  123/457 MB  0:27"),
        (20_000_000, 4_560_000_000, 4_560_000_000, 99.0, "100 %  20,000,000 rows  4.56/4.56 GB"),
        (3, 36, 72_036, 4.0, "  0 %  3 rows  0.0/72.0 kB  2:13:20"),
        (5, 0, 10, 3.0, "  0 %  5 rows  0/10 B"),
        (7, 99_900, None, 3.0, "7 rows  99.9 kB"),
        (7, 0, 0, 3.0, "7 rows  0 B"),
    ],
)
def test_forty_columns_hold_what_matters(
    rows: int, done: int, total: int | None, seconds: float, expected: str
) -> None:
    progress = ReadingLine(_Screen(), total)
    progress.rows, progress.done = rows, done
    left = seconds * (total - done) / done if total and done else None
    assert line(progress.text(), progress.share(), left, 39).split("] ")[-1] == expected


@pytest.mark.parametrize("width", range(100))
def test_no_line_is_longer_than_the_terminal_is_wide(width: int) -> None:
    assert len(line("12,345,678 rows  3.20/9.90 GB", 0.323, 18_843, width)) <= width
    assert len(line("12,345,678 rows  3.20 GB", None, None, width)) <= width


def test_work_that_was_done_before_counts_in_the_share_and_not_in_the_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("scorer.cli.progress.time.monotonic", lambda: now[0])
    screen = _Screen()
    progress = ProgressLine(screen, 100, unit="calls", done=50)
    now[0] = 110.0
    progress.remark = "  2 without an answer"
    progress.advance(10)
    # 10 calls took 10 seconds, so the 40 that are left will take 40
    assert screen.getvalue().split("\r")[-2].rstrip().endswith(" 60 %  60/100 calls  2 without an answer  0:40 left")


def test_without_a_terminal_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with counting(3, "calls") as progress:
        assert progress is None
    assert capfd.readouterr() == ("", "")


def test_a_program_is_told_the_rows_of_each_batch(rows: Path) -> None:
    truth = load_benchmark("pointerbench-text", FIXTURES)
    for call in (api.score_streams, api.check_streams):
        told: list[int] = []
        call([("p", lambda: rows.open("rb"))], lambda _: truth, progress=told.append)
        assert sum(told) == ROWS
        assert len(told) > 5


def test_a_size_is_told_for_files_alone(rows: Path, tmp_path: Path) -> None:
    assert total_bytes([str(rows), str(rows)]) == 2 * rows.stat().st_size
    assert total_bytes([str(rows), str(tmp_path / "absent")]) == rows.stat().st_size
    os.mkfifo(tmp_path / "pipe")
    assert total_bytes([str(rows), str(tmp_path / "pipe")]) is None
