"""CSV files as tables."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.web.code.csv_table import LONGEST_CELL, MOST_COLUMNS, ROWS, CsvTable, is_csv, read_table
from tests.hosting.api_clients import ServiceClients

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def table_of(text: str, name: str = "a.csv", first: int = 1) -> CsvTable:
    """Read a table that is valid."""
    csv_table = read_table(name, text, first)
    assert csv_table is not None
    return csv_table


@given(st.lists(st.lists(words, min_size=2, max_size=5), min_size=1, max_size=8))
def test_written_csv_is_parsed(rows: list[list[str]]) -> None:
    """Quotes, line breaks and delimiters in cells are parsed, and short rows are padded with empty cells."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    # Only the first line tells the delimiter: it must have more commas than anything else.
    if any(char in "".join(rows[0]) for char in ';\t|\n\r,"'):
        return
    csv_table = table_of(file.getvalue())
    width = max(map(len, rows))
    assert [csv_table.header, *csv_table.rows] == [[*row, *[""] * (width - len(row))] for row in rows]


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("a.csv", "a;b\n1;2,5\n", [["1", "2,5"]]),
        ("a.CSV", "a|b\n1|2\n", [["1", "2"]]),
        ("a.tsv", "a\tb,c\n1\t2\n", [["1", "2"]]),
        ("a.csv", "a,b\n\n1,2\n\n", [["1", "2"]]),
        ("a.csv", "a,b", []),
    ],
)
def test_the_delimiter_is_the_one_of_the_header(name: str, text: str, rows: list[list[str]]) -> None:
    """The delimiter is a comma, semicolon, tab or bar, and empty lines are no rows."""
    assert table_of(text, name).rows == rows


@pytest.mark.parametrize("text", ["", "\n\n", "only words\nand more\n", 'a,b\n1,"' + "x" * 200_000])
def test_an_invalid_table_is_shown_as_text(text: str) -> None:
    """A file with one column, without content or with an endless quoted cell is no table."""
    assert read_table("a.csv", text, 1) is None


def test_a_page_is_bounded() -> None:
    """A page is limited in rows, columns and cell length, and the pages together have every row once."""
    wide = ",".join(f"c{number}" for number in range(MOST_COLUMNS + 5))
    csv_table = table_of("\n".join([wide, "x" * 1000 + ",y", *["1,2"] * (2 * ROWS)]))
    assert (len(csv_table.header), csv_table.hidden_columns, len(csv_table.rows)) == (MOST_COLUMNS, 5, ROWS)
    assert csv_table.rows[0][0] == "x" * LONGEST_CELL + "…"
    assert (csv_table.first, csv_table.last, csv_table.before, csv_table.after) == (1, ROWS, None, ROWS + 1)
    text = "a,b\n" + "".join(f"{number},x\n" for number in range(1, 2 * ROWS + 4))
    starts, numbers, page = [], [], table_of(text)
    for _ in range(3):
        starts.append(page.first)
        numbers += [row[0] for row in page.rows]
        if page.after is not None:
            page = table_of(text, first=page.after)
    assert page.after is None
    assert (starts, page.before) == ([1, ROWS + 1, 2 * ROWS + 1], ROWS + 1)
    assert numbers == [str(number) for number in range(1, 2 * ROWS + 4)]
    assert table_of(text, first=10**9).first == 2 * ROWS + 3
    assert table_of(text, first=-4).first == 1


def test_names_of_tables() -> None:
    """A table is recognised by its extension, in upper or lower case."""
    assert [is_csv(name) for name in ("a.csv", "A.TSV", "csv", "a.csv.txt")] == [True, True, False, False]


def test_the_page_of_a_file_has_a_table_and_its_source(clients: ServiceClients) -> None:
    """Cells are escaped, and the source view has no table."""
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "data", "auto_init": True}).status_code == 201
    content = "bmFtZSxub3RlCkFkYSw8Yj5ib2xkPC9iPgo="  # name,note / Ada,<b>bold</b>
    assert ada.post("/repos/ada/data/contents/people.csv", json={"content": content}).status_code == 201
    browser = clients.open("", Accept="text/html")
    page = browser.get("/ada/data/src/branch/main/people.csv").text
    source = browser.get("/ada/data/src/branch/main/people.csv?view=source").text
    assert "<td>Ada</td><td>&lt;b&gt;bold&lt;/b&gt;</td>" in page
    assert '<th scope="col">name</th>' in page
    assert "Ada,&lt;b&gt;bold&lt;/b&gt;" in re.sub("</?span[^>]*>", "", source)
    assert '<th scope="col">name</th>' not in source
    assert "<td>Ada</td>" not in source
    assert "Preview" in source
