"""Where the screenshot of an example lies. Only paths are looked at here: no picture is opened.

Image names come from annotation files, whoever wrote them, so no name leads out of the folder that is searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal, NamedTuple

from scorer.core.records import Benchmark

FOLDER = "images"
"""Screenshots lie beside the annotation file, or in a folder of this name beside it. The search has the same order."""

Reason = Literal["no-name", "leads-out", "absent"]
"""Why a screenshot has no file: the annotations name none (or a name with a NUL character, which no file has); its name
or a link leads out of the folder; or there is no such file."""


class NotFound(NamedTuple):
    """A screenshot without a file."""

    reason: Reason
    """Why there is none."""
    looked: tuple[str, ...] = ()
    """Every place that was looked at, in this order, as a path below the folder; empty unless the reason is absent."""


def find_beside(annotations: str, name: str) -> str | NotFound:
    """The file of the screenshot ``name`` beside the annotation file, or in the folder ``images`` there.

    Links are followed, also out of that folder: data folders are often made of links, to another disk or into the
    cache of a download.
    """
    return _search(os.path.dirname(annotations), name, _beside(name), follow_links=True)


def find_below(folder: str, benchmark: Benchmark, variant: str, name: str, *, alone: bool) -> str | NotFound:
    """The real path of the screenshot ``name`` in a folder that is laid out as the benchmark's data is.

    ``folder`` is a data folder, or with ``alone``, where all examples are of this one benchmark, also the benchmark's
    own folder or a bare folder of screenshots; with several benchmarks a file there could be another benchmark's of
    the same name. A link that leads out of the folder is not followed.
    """
    inner = os.path.dirname(benchmark.files[variant][0])
    parents = [os.path.join(parent, inner) for parent in benchmark.folders if parent or alone]
    places = [os.path.join(parent, place) for parent in parents for place in _beside(name)]
    if alone:
        places.append(name)
    return _search(os.path.realpath(folder), name, places, follow_links=False)


def _beside(name: str) -> tuple[str, ...]:
    return name, os.path.join(FOLDER, name)


def _search(folder: str, name: str, places: Iterable[str], *, follow_links: bool) -> str | NotFound:
    if not name or "\0" in name:
        return NotFound("no-name")
    if os.path.isabs(name) or os.path.splitdrive(name)[0] or ".." in name.replace("\\", "/").split("/"):
        return NotFound("leads-out")
    looked = tuple(dict.fromkeys(map(os.path.normpath, places)))
    for place in looked:
        file = os.path.join(folder, place)
        if not follow_links:
            file = os.path.realpath(file)
            if not file.startswith(os.path.join(folder, "")):
                return NotFound("leads-out")
        if os.path.isfile(file):
            return file
    return NotFound("absent", looked)
