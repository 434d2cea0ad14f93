"""The files that the works of ``ratios.py`` read, made with a fixed seed: the same bytes on every machine.

    python tests/bench/inputs.py NAME FOLDER COUNT

A script of its own, so that the memory it takes does not count in the peak of the processes that are measured later.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

SEED = 20260101
SUBSETS = {"sheets": "pbs", "text": "pbt", "pro": "pbp"}
SUITE = 500
"""Examples of each subset in the suite."""
EXAMPLES = 500
"""Examples that the files of many attempts are about."""
VERSIONS = 37
"""How many answers to an example there are in a file of many attempts; each attempt has one of them."""
FAULTY = EXAMPLES // 100

Make = Callable[[random.Random, Sequence[Any]], list[str]]
"""What makes the lines of one attempt from rows of the ground truth."""


def truth_file(folder: Path, subset: str = "sheets") -> Path:
    """The annotations of a subset in the official layout."""
    return folder / f"pointerbench-{subset}/data/test/metadata.jsonl"


def write_suite(folder: Path, count: int) -> None:
    """Three subsets of ``count`` rows, one predictions file for all and one for each."""
    rng = random.Random(SEED)
    predictions: list[str] = []
    for subset in SUBSETS:
        own = [_line({"id": row["id"], "point": _point(rng, row)}) for row in _write_truth(folder, subset, count, rng)]
        (folder / f"{subset}.jsonl").write_text("".join(own), encoding="utf-8")
        predictions += own
    rng.shuffle(predictions)
    (folder / "predictions.jsonl").write_text("".join(predictions), encoding="utf-8")


def write_large(folder: Path, count: int) -> None:
    """One subset of ``count`` rows and its predictions, in another order."""
    rng = random.Random(SEED)
    rows = _write_truth(folder, "sheets", count, rng)
    predictions = [_line({"id": row["id"], "point": _point(rng, row)}) for row in rows]
    rng.shuffle(predictions)
    (folder / "predictions.jsonl").write_text("".join(predictions), encoding="utf-8")


def write_attempts(folder: Path, rows: int) -> None:
    """``rows`` rows over the examples of one subset, attempt by attempt, and the first tenth of them."""
    attempts = rows // EXAMPLES
    with (folder / "predictions.jsonl").open("wb") as whole, (folder / "tenth.jsonl").open("wb") as tenth:
        for number, text in enumerate(_attempts(folder, attempts, _plain)):
            whole.write(text)
            if number < attempts // 10:
                tenth.write(text)


def write_mixed(folder: Path, rows: int) -> None:
    """As many rows as inference scripts write them; one in a hundred has a fault."""
    with (folder / "predictions.jsonl").open("wb") as stream:
        stream.writelines(_attempts(folder, rows // EXAMPLES, _as_scripts_write))


def write_gzip(folder: Path, rows: int) -> None:
    """The first tenth of the file of ``write_attempts``, compressed."""
    # Neither a name nor a time in the header: the bytes stay the same.
    with (
        (folder / "predictions.jsonl.gz").open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as stream,
    ):
        stream.writelines(_attempts(folder, rows // EXAMPLES // 10, _plain))


def _attempts(
    folder: Path, attempts: int, make: Callable[[random.Random, Sequence[Any]], list[str]]
) -> Iterator[bytes]:
    """The rows of each attempt as one text. They are formatted once for each version, and only numbered here: quick."""
    rng = random.Random(SEED)
    rows = _write_truth(folder, "sheets", EXAMPLES, rng)
    versions = ["".join(make(rng, rows)).encode() for _ in range(VERSIONS)]
    for attempt in range(1, attempts + 1):
        yield rng.choice(versions).replace(b'"@"', b"%d" % attempt)


def _plain(rng: random.Random, rows: Sequence[Any]) -> list[str]:
    return [_line({"id": row["id"], "attempt": "@", "point": _point(rng, row)}) for row in rows]


def _as_scripts_write(rng: random.Random, rows: Sequence[Any]) -> list[str]:
    """A row for each example, of them FAULTY with no answer, a failed call, an unknown id or the id before again."""
    written: list[dict[str, Any]] = []
    for row in rows:
        x, y = _point(rng, row)
        written.append(
            {
                "id": row["id"],
                "attempt": "@",
                "point": [x, y],
                "space": "pixel",
                "raw": f"The target is in plain view.\npyautogui.click(x={x}, y={y})",
                "latency_s": round(rng.uniform(0.2, 9.0), 3),
                "model": "a-model",
            }
        )
    for number in rng.sample(range(1, len(rows), 2), FAULTY):  # no two of them neighbours
        row, kind = written[number], rng.randrange(4)
        if kind == 0:
            del row["point"]
            row["raw"] = "I cannot find it."
        elif kind == 1:
            written[number] = {"id": row["id"], "attempt": "@", "error": "request-failed", "model": "a-model"}
        else:
            row["id"] = rows[number - 1]["id"] if kind == 2 else f"pbs_{900_000 + number}"
    return [_line(row) for row in written]


def _write_truth(folder: Path, subset: str, count: int, rng: random.Random) -> list[dict[str, Any]]:
    """Write the annotations of ``count`` examples and return what predictions are made of."""
    file = truth_file(folder, subset)
    file.parent.mkdir(parents=True)
    kept: list[dict[str, Any]] = []
    with file.open("w", encoding="utf-8") as stream:
        for number in range(count):
            row = _row(rng, SUBSETS[subset], number)
            stream.write(_line(row))
            kept.append({"id": row["id"], "bbox": row["bbox"]})
    return kept


def _row(rng: random.Random, prefix: str, number: int) -> dict[str, Any]:
    """A metadata row of the length and with the fields of an official one."""
    x, y = rng.randrange(20, 900), rng.randrange(20, 700)
    box = [x, y, x + rng.randrange(10, 100), y + rng.randrange(10, 40)]
    kind = rng.choice(["cell", "header", "edge", "corner", "relative", "color"])
    return {
        "file_name": f"{number:06d}.png",
        "id": f"{prefix}_{number:06d}",
        "instruction": f"Select the {kind} that is {rng.randrange(1000)} rows below number {number}.",
        "bbox": box,
        "point": [(box[0] + box[2]) // 2, (box[1] + box[3]) // 2],
        "answer_type": "point",
        "eval": {"type": "point_in_bbox", "bbox": box},
        "data_type": kind,
        "category": f"{kind}_{rng.randrange(3)}",
        "ui_style": rng.choice(["bare", "excel", "google_sheets", "libreoffice"]),
        "language": rng.choice(["en", "de", "fr"]),
        "image_size": [1024, 768],
    }


def _point(rng: random.Random, row: dict[str, Any]) -> list[float]:
    """An answer near the target: about half of them hit."""
    x0, y0, x1, y1 = row["bbox"]
    return [round(rng.uniform(x0 - 20, x1 + 20), 1), round(rng.uniform(y0 - 10, y1 + 10), 1)]


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"


WRITERS: dict[str, tuple[Callable[[Path, int], None], int]] = {
    "suite": (write_suite, 1100),
    "large": (write_large, 450),
    "attempts": (write_attempts, 66),
    "mixed": (write_mixed, 190),
    "gzip": (write_gzip, 2),
}
"""What writes the files of each name, and about how many bytes they take per row asked for."""


if __name__ == "__main__":
    WRITERS[sys.argv[1]][0](Path(sys.argv[2]), int(sys.argv[3]))
