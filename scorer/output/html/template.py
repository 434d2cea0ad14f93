"""The page's data and pictures -> one HTML file. All text from files is escaped, and only the page's script can run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from scorer.output.html.page import Page
from scorer.output.text.figures import percent

STYLES = ("page.css", "examples.css")
"""The style sheets of the page, joined in this order."""
SCRIPTS = ("draw.js", "detail.js", "page.js")
"""The parts of the page's script, joined in this order."""


def render_page(page: Page, pictures: Sequence[bytes], links: Sequence[str] = ()) -> str:
    """The page as HTML.

    ``pictures`` are WebP files, in the order of the numbers that the examples name. Where they are files beside the
    page, ``links`` holds their addresses and no picture is embedded. The content security policy forbids all requests
    and allows scripts and styles only by their hashes, so that text from a file could not run even if it were not
    escaped.
    """
    environment = Environment(
        loader=PackageLoader("scorer.output.html", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["percent"] = percent
    environment.filters["fragment"] = partial(quote, safe="", errors="replace")
    environment.filters["breakable"] = _breakable
    script, style = _joined(SCRIPTS), _joined(STYLES)
    policy = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data: 'self' file:" if links else "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    embedded = [] if links else [base64.b64encode(picture).decode("ascii") for picture in pictures]
    return environment.get_template("page.html").render(
        page=page,
        data={"examples": page.examples, "pictures": list(links)},
        pictures=embedded,
        script=Markup(script),
        style=Markup(style),
        policy="; ".join(policy),
        cells=_cells(page.examples),
    )


def _joined(names: Iterable[str]) -> str:
    """Several assets as one text, exactly as it is between the tags: the hash in the policy depends on every byte."""
    folder = files("scorer.output.html") / "assets"
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _breakable(text: str) -> Markup:
    """A name in HTML that a browser may break after its underscores and nowhere else."""
    return Markup("_<wbr>").join(text.split("_"))


def _hash(text: str) -> str:
    """The source expression of a script or style in a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _cells(examples: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """The values of each axis for the filters: axis -> label -> number of examples."""
    found: dict[str, dict[str, int]] = {}
    for data in examples:
        for axis, label in data["labels"]:
            counts = found.setdefault(axis, {})
            counts[label] = counts.get(label, 0) + 1
    return found
