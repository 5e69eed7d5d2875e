"""Export to CSV: texts round-trip, and no spreadsheet evaluates them."""

import csv
import re
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.csv_files import escape_formulas, write_csv

STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def read(folder: Path, name: str, encoding: str) -> list[dict[str, str]]:
    """Read a table as any program would."""
    files = [folder / f"{name}.csv"] if (folder / f"{name}.csv").exists() else sorted((folder / name).glob("*"))
    rows: list[dict[str, str]] = []
    for path in files:
        with path.open(encoding=encoding, newline="") as source:
            rows += csv.DictReader(source, strict=True)
    return rows


def test_plain_files_hold_every_text_as_it_is(hostile: Archive, tmp_path: Path) -> None:
    """Texts in plain CSV files, which are for programs, equal those of the archive."""
    write_csv(hostile, tmp_path / "out", ChatSelection(), plain=True)
    texts = {int(row["id"]): row["text"] for row in read(tmp_path / "out", "messages", "utf-8")}
    expected = dict(hostile.connection.execute("SELECT id, coalesce(text, '') FROM message"))
    assert texts == expected


def test_no_cell_begins_as_a_formula(hostile: Archive, tmp_path: Path) -> None:
    """No cell of any table begins like a formula, and the texts differ by apostrophes only."""
    write_csv(hostile, tmp_path / "out", ChatSelection())
    expected = dict(hostile.connection.execute("SELECT id, coalesce(text, '') FROM message"))
    seen = 0
    for name in sorted({path.stem if path.is_file() else path.name for path in (tmp_path / "out").iterdir()}):
        if name.startswith("."):
            continue
        for row in read(tmp_path / "out", name, "utf-8-sig"):
            for cell in row.values():
                assert not cell.startswith(STARTS)
                seen += cell.startswith("'=")
    assert seen > 10
    for row in read(tmp_path / "out", "messages", "utf-8-sig"):
        assert row["text"].replace("'", "") == expected[int(row["id"])].replace("'", "")


def test_no_spreadsheet_that_cuts_elsewhere_finds_a_formula(hostile: Archive, tmp_path: Path) -> None:
    """No cell begins like a formula if a spreadsheet splits lines at semicolons or tabs."""
    write_csv(hostile, tmp_path / "out", ChatSelection())
    paths = list((tmp_path / "out").rglob("*.csv"))
    assert len(paths) > 10
    for path in paths:
        for cell in re.split(r"[;\t\r\n]", path.read_text("utf-8-sig")):
            assert not re.match(r"[ \"]*([=@]|[+-][^,\"]*[(|!\[{&])", cell), cell


@given(text=st.text(st.sampled_from("=+-@;\t\r\n' \"a(|![")))
@example("=1")
@example("a;=cmd|x")
@example("a;-)")
@example("a;-1+")
def test_guarding_only_adds_apostrophes(text: str) -> None:
    """The guard adds apostrophes only, and no formula is left at the start or behind a separator."""
    guard = escape_formulas(text)
    assert guard.replace("'", "") == text.replace("'", "")
    assert not guard.startswith(STARTS)
    assert not re.search(r"(^|[;\t\r\n])[ \"]*([=@]|[+-][^;\t\r\n]*[(|!\[\"])", guard)


@pytest.mark.parametrize("sign", list("=@+-\uff1d\uff20\uff0b\uff0d"))
def test_full_width_signs_begin_a_formula_too(sign: str) -> None:
    """Full-width signs are escaped like ASCII ones, at the start and behind a separator.

    East Asian spreadsheets read them as the start of a formula.
    """
    assert escape_formulas(f"{sign}1+1") == f"'{sign}1+1"
    assert escape_formulas(f"  {sign}1") == f"'  {sign}1"
    assert escape_formulas(f"a;{sign}cmd(1)") == f"a;'{sign}cmd(1)"


def test_harmless_texts_stay_as_they_are() -> None:
    """Lists, smileys and sums inside of a text are no formulas."""
    for text in ("hello", "a;-)", "list:\n- one\n- two", "1 + 1 = 2", "mail@example.org", "it's", ""):
        assert escape_formulas(text) == text


def test_files_begin_with_what_spreadsheets_know_utf8_by(opened: Archive, tmp_path: Path) -> None:
    """CSV files begin with a byte order mark, plain ones do not, and lines end in CRLF as in RFC 4180."""
    write_csv(opened, tmp_path / "for-people", ChatSelection())
    write_csv(opened, tmp_path / "plain", ChatSelection(), plain=True)
    paths = list((tmp_path / "plain").rglob("*.csv"))
    assert len(paths) > 10
    for path in paths:
        data = path.read_bytes()
        other = (tmp_path / "for-people" / path.relative_to(tmp_path / "plain")).read_bytes()
        assert data.endswith(b"\r\n")
        assert not data.startswith(b"\xef\xbb\xbf")
        assert other.startswith(b"\xef\xbb\xbf")


def test_duckdb_reads_a_folder(opened: Archive, tmp_path: Path) -> None:
    """DuckDB reads all messages, and detects timestamps and booleans."""
    write_csv(opened, tmp_path / "out", ChatSelection())
    table = duckdb.sql(f"SELECT id, sent, sms, direction FROM read_csv('{tmp_path}/out/messages/*.csv')")
    assert table is not None
    assert [str(kind) for kind in table.types] == ["BIGINT", "TIMESTAMP", "BOOLEAN", "VARCHAR"]
    assert len(table.fetchall()) == 400


def test_a_second_export_writes_nothing(opened: Archive, tmp_path: Path) -> None:
    """A second CSV export of the same archive leaves all files unchanged."""
    first = write_csv(opened, tmp_path / "out", ChatSelection())
    second = write_csv(opened, tmp_path / "out", ChatSelection())
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)
