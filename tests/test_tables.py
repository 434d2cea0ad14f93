"""Tables: the default form against tabulate itself, the escapes against parsers of each markup."""

from __future__ import annotations

import csv
import io
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabulate import __version__ as tabulate_version
from tabulate import tabulate, tabulate_formats

from scorer.core.errors import UsageError
from scorer.output.text.tables import check_format, escape, listing, remark, table

HOSTILE = '<script>alert("&")</script>|\x1b[31m\u202e_*`[x](y)\\ %$#{}~^\t\nline'
plain = st.text("abcXYZ019 .%_-", max_size=9).map(str.strip)


@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(plain, min_size=n, max_size=n), min_size=2, max_size=6)),
    st.integers(1, 2),
)
def test_the_default_table_is_drawn_as_tabulate_draws_it(cells: list[list[str]], left: int) -> None:
    align = ["left"] * left + ["right"] * (len(cells[0]) - left)
    expected = tabulate(cells[1:], cells[0], tablefmt="simple", disable_numparse=True, colalign=align)
    drawn = table(cells[0], cells[1:], "simple", left=left)
    assert [line.rstrip() for line in drawn.split("\n")] == [line.rstrip() for line in expected.split("\n")]


@pytest.mark.parametrize("name", tabulate_formats)
def test_every_format_of_tabulate_draws_a_table_with_hostile_cells_and_an_empty_one(name: str) -> None:
    check_format(name)
    drawn = table(["axis", "n"], [[HOSTILE, "1"], ["1e3", "12.50"]], name)
    assert "12.50" in drawn
    assert "1e3" in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    # Before 0.10 tabulate left the header of an empty table out in HTML and in two formats of wikis.
    assert "axis" in table(["axis", "n"], [], name) or tabulate_version.startswith("0.9.")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match='unknown table format "markdown"; known: '):
        check_format("markdown")


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", ["html", "unsafehtml"])
def test_html_holds_the_cells_as_text_and_no_tag_of_theirs(name: str) -> None:
    parser = _Texts()
    parser.feed(table(["axis", "n"], [[HOSTILE, "1"]], name) + remark(HOSTILE, name))
    parser.close()
    assert parser.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert escape(HOSTILE) in "".join(parser.texts)


@pytest.mark.parametrize("name", ["github", "pipe"])
def test_a_markdown_row_keeps_its_number_of_cells_and_its_markup_is_inert(name: str) -> None:
    row = table(["axis", "n"], [[HOSTILE, "1"]], name).splitlines()[2]
    bare = row.replace("\\\\", "").replace("\\|", "").replace("\\<", "").replace("\\`", "").replace("\\*", "")
    assert bare.count("|") == 3
    assert not set("<`*") & set(bare)
    assert "cell_ref" in table(["axis", "n"], [["cell_ref", "1"]], name)


@pytest.mark.parametrize("name", ["latex", "latex_raw", "latex_booktabs", "latex_longtable"])
def test_latex_specials_are_commands_or_escaped(name: str) -> None:
    row = next(line for line in table(["axis", "n"], [["%$#&_{}~^\\<", "1"]], name).splitlines() if "\\%" in line)
    assert row.replace("\\\\", "").count("&") - row.count("\\&") == 1
    assert row.index("\\%") < row.index("\\$") < row.index("\\#")
    assert "\\textbackslash" in row or "{\\textbackslash}" in row


def test_tabs_cannot_add_a_column_to_tsv() -> None:
    drawn = table(["axis", "n"], [[HOSTILE, "1"]], "tsv")
    rows = list(csv.reader(io.StringIO(drawn), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [len(row) for row in rows] == [2, 2]
    assert remark("note", "tsv") == "# note"
    assert remark("note", "latex") == "% note"
    assert remark("note", "github") == "note"


@given(st.text())
def test_nothing_that_a_terminal_acts_on_or_hides_is_left_after_escaping(text: str) -> None:
    shown = escape(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    shown.encode("utf-8")  # no lone surrogate is left
    if all(unicodedata.category(c)[0] in "LNPS" or c == " " for c in text):
        assert shown == text


def test_a_listing_is_aligned_to_the_left() -> None:
    assert listing(["a", "b"], [["xx", "y"]]) == "a   b\nxx  y"
