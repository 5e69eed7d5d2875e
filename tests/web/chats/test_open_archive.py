"""Connections to an archive, shared by concurrent requests."""

import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.web.chats import open_archive as module
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.conftest import wait_for
from tests.web.chats.conftest import shown_in


def test_connections_are_acquired_and_released(opened: OpenArchive) -> None:
    """Concurrent readers have different connections, and a later reader reuses one of them."""
    with opened.reading() as archives, opened.reading() as other:
        assert archives is not other
        both = {id(archives), id(other)}
    with opened.reading() as again:
        assert id(again) in both


@pytest.fixture
def one_seat(archive_file: Path) -> Iterator[OpenArchive]:
    """Open the archive with one connection."""
    opens = open_archive_file(archive_file, "")._opens
    with closing(OpenArchive("one seat", opens, stamp=lambda: 0, most=1)) as archive:
        yield archive


def test_the_number_of_readers_is_limited(one_seat: OpenArchive) -> None:
    """A reader beyond the limit waits until another reader has finished."""
    read = threading.Event()

    def visit() -> None:
        with one_seat.reading():
            read.set()

    with one_seat.reading():
        thread = threading.Thread(target=visit)
        thread.start()
        assert not read.wait(0.05)
    thread.join(30)
    assert read.is_set()


def test_results_are_cached_until_the_archive_changes(tmp_path: Path) -> None:
    """An import into the archive is seen by the next request."""
    place = tmp_path / "chats.db"
    import_backups(place, write(tmp_path / "one", *copies()))
    created: list[int] = []
    with closing(open_archive_file(place, "chats.db")) as opened:

        def count() -> int:
            created.append(1)
            with opened.reading() as archive:
                return len(archive.snapshots())

        with opened.reading():
            assert [opened.cached("n", count), opened.cached("n", count)] == [1, 1]
        assert len(created) == 1
        import_backups(place, write_later(tmp_path / "two", random.Random(1), days=3))
        with opened.reading():
            assert opened.cached("n", count) == 2


def test_closing_an_archive_closes_connections_in_use(opened: OpenArchive) -> None:
    """A reader finishes with its connection, which is then closed and not kept for reuse."""
    with opened.reading() as archive:
        opened.close()
        assert archive.chats()
    wait_for(lambda: not opened._idle)
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        archive.connection.execute("SELECT 1")


@pytest.mark.parametrize(
    ("table", "column"), [("stored_message", "text"), ("snapshot", "app_version"), ("attachment", "file_name")]
)
def test_an_archive_with_values_of_wrong_types_is_reported(
    tmp_path: Path, archive_file: Path, table: str, column: str
) -> None:
    """Every page names the column with status 503; an archive made by the service is not checked."""
    shutil.copy(archive_file, tmp_path / "a.db")
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    (chat,) = connection.execute("SELECT chat_id FROM message LIMIT 1").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT, ', ') '), ') STRICT', ')') WHERE name = ?",
        (table,),
    )
    connection.close()
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    connection.execute(f"UPDATE {table} SET {column} = x'ff'")
    connection.close()
    with closing(open_archive_file(tmp_path / "a.db", "a.db")) as opened:
        for path in ("", "search", "people", "statistics", "about", f"chat/{chat}"):
            template_result = shown_in(opened, path)
            assert template_result.status == 503
            assert f"{table}.{column}" in str(template_result.values["problem"])
    with closing(open_archive_file(tmp_path / "a.db", "a.db", is_ours=True)) as opened, opened.reading():
        pass


def test_waiting_for_a_connection_times_out_with_a_message(
    one_seat: OpenArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request gets a page with status 503 while all connections are in use."""
    monkeypatch.setattr(module, "QUERY_TIMEOUT_S", 0.05)
    with one_seat.reading():
        assert shown_in(one_seat, "").status == 503
    assert shown_in(one_seat, "").status == 200
