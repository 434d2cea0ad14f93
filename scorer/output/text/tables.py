"""Tables, and the lines between them, in any of tabulate's formats. Texts are escaped for the format.

The default format is drawn here, character for character as tabulate draws it, because importing tabulate takes longer
than scoring a benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scorer.core.errors import UsageError
from scorer.core.records import Axis

DEFAULT_FORMAT = "simple"
"""The format that needs no tabulate."""

# Formats by how texts are escaped in them.
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
    """Raise UsageError, with the known formats, where there is no table format of that name."""
    if name == DEFAULT_FORMAT:
        return
    from tabulate import tabulate_formats

    if name not in tabulate_formats:
        raise UsageError(f'unknown table format "{name}"; known: {", ".join(tabulate_formats)}')


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], table_format: str, *, left: int = 1) -> str:
    """A table of strings in a format. The first ``left`` columns are aligned to the left, the others to the right."""
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


def is_printed(axis: Axis, cells: int, chosen: Sequence[str]) -> bool:
    """Whether the table of an axis with that many cells is printed.

    Where axes were ``chosen`` by name, those; otherwise those with at most ``print_up_to`` cells.
    """
    return axis.name in chosen if chosen else axis.print_up_to is None or cells <= axis.print_up_to


def axis_table(axis: Axis, headers: Sequence[str], rows: Sequence[Sequence[str]], table_format: str) -> str:
    """A table with a row for each cell of an axis, and a note where the axis is overlapping.

    ``headers`` are those after the first one, which is the name of the axis.
    """
    text = table([axis.name, *headers], rows, table_format)
    if not axis.overlapping:
        return text
    note = "overlapping: one example may count in several rows, so they do not add up to n"
    return f"{text}\n{remark(note, table_format)}"


def listing(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in plain text without lines between its parts. All columns are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (headers, *rows)]
    return "\n".join(map(str.rstrip, lines))


def remarks(lines: Iterable[str], table_format: str) -> str:
    """Lines of text beside a table, each as a remark."""
    return "\n".join(remark(line, table_format) for line in lines)


def remark(line: str, table_format: str) -> str:
    """A line of text beside a table: a paragraph in HTML, a comment in LaTeX and TSV, and plain in other formats."""
    if table_format in _HTML:
        return f"<p>{_html(line)}</p>"
    if table_format in _LATEX:
        return f"% {line}"
    if table_format == "tsv":
        return f"# {line}"
    return line


def inline(text: str, table_format: str) -> str:
    """A text from a file that becomes a part of a remark, escaped as far as ``remark`` does not do it.

    ``remark`` escapes HTML, and the comments of LaTeX and TSV have no markup.
    """
    return escape(text) if table_format in (*_HTML, *_LATEX, "tsv") else cell(text, table_format)


def escape(text: str) -> str:
    """Make all characters visible that a terminal acts on or hides: they become ``\\x1b``, ``\\u202e``, ``\\ud800``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def cell(text: str, table_format: str) -> str:
    """Escape the text of a cell. In ``html`` and ``latex`` tabulate escapes markup itself, in their raw forms not."""
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
    # tabulate makes a column at least two characters wider than its header.
    widths = [max(width, len(header) + 2) for width, header in zip(widths, rows[0], strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
