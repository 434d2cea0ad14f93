"""Tables and the lines between them, in any of tabulate's formats. Cells are escaped for the format.

The default format is drawn here, character for character as tabulate draws it: importing tabulate takes longer than
scoring a benchmark does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scorer.core.errors import UsageError

DEFAULT_FORMAT = "simple"

_HTML = ("html", "unsafehtml")
_LATEX = ("latex", "latex_raw", "latex_booktabs", "latex_longtable")
_MARKDOWN = ("github", "pipe", "youtrack")
_PIPES = ("jira", "asciidoc", "textile", "moinmoin", "orgtbl")
_MARKDOWN_ACTIVE = r"[\\`*<>\[\]|~&$]|(?<![^\W_])_|_(?![^\W_])"
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def check_format(name: str) -> None:
    """Raises UsageError, naming the known ones, for a table format that does not exist."""
    if name == DEFAULT_FORMAT:
        return
    from tabulate import tabulate_formats

    if name not in tabulate_formats:
        raise UsageError(f'unknown table format "{name}"; known: {", ".join(tabulate_formats)}')


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], table_format: str, *, left: int = 1) -> str:
    """A table of strings: the first ``left`` columns to the left, the others to the right."""
    cells = [[cell(text, table_format) for text in row] for row in (headers, *rows)]
    if table_format == DEFAULT_FORMAT:
        return _simple(cells, left)
    if table_format == "tsv":  # tabulate pads its cells, which no reader of the format expects
        return "\n".join("\t".join(row) for row in cells)
    from tabulate import tabulate

    align = (*["left"] * left, *["right"] * (len(headers) - left))
    return str(
        tabulate(
            cells[1:],
            headers=cells[0],
            tablefmt=table_format,
            disable_numparse=True,
            colalign=align if rows else None,
        )
    )


def listing(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text without rules, all to the left."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (headers, *rows)]
    return "\n".join(map(str.rstrip, lines))


def remark(line: str, table_format: str) -> str:
    """A line of text beside a table, in a form that the format's readers skip or show as text."""
    if table_format in _HTML:
        return f"<p>{_html(line)}</p>"
    if table_format in _LATEX:
        return f"% {line}"
    if table_format == "tsv":
        return f"# {line}"
    return line


def inline(text: str, table_format: str) -> str:
    """A text from a file within such a line; HTML is escaped with the line, and a comment holds no markup."""
    return escape(text) if table_format in (*_HTML, *_LATEX, "tsv") else cell(text, table_format)


def escape(text: str) -> str:
    """Make every character visible that a terminal would act on or hide: ``\\x1b``, ``\\u202e``, ``\\ud800``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def cell(text: str, table_format: str) -> str:
    """Escape a cell, leaving to tabulate what it escapes itself (html and latex, not their raw forms)."""
    text = escape(text)
    if table_format == "unsafehtml":
        return _html(text)
    if table_format == "latex_raw":
        return "".join(_LATEX_SPECIAL.get(character, character) for character in text)
    if table_format in _MARKDOWN:
        return re.sub(_MARKDOWN_ACTIVE, r"\\\g<0>", text)
    if table_format == "mediawiki":
        return "".join(f"&#{ord(c)};" if c in "|[]{}'" else c for c in _html(text))
    if table_format in _PIPES:
        return text.replace("|", "\\|")
    return text


def _html(text: str) -> str:
    from html import escape as escape_html

    return escape_html(text)


def _simple(rows: list[list[str]], left: int) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # tabulate keeps two columns free beside a header.
    widths = [max(width, len(header) + 2) for width, header in zip(widths, rows[0], strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
