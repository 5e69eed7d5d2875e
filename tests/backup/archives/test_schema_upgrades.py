"""Archives of older versions are upgraded without changes of content."""

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import schema
from holdfast.backup.errors import ArchiveError, NotAnArchive
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import import_backups


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Unpack an archive that version 0.2.0 made of two backups, and these."""
    with tarfile.open(Path(__file__).with_name("version-1.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "chats.db"


def execute(path: Path, *statements: str) -> None:
    """Change an archive by hand."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_an_old_archive_becomes_what_an_import_makes_now(old: Path) -> None:
    """An upgraded archive has the rows of a new import of the same backups, and its file is smaller."""
    before = old.stat().st_size
    with archives.open(old, create=True) as opened:
        assert opened.connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    import_backups(old.with_name("new.db"), old.with_name("first.binproto"), old.with_name("second.binproto"))
    assert dump(old) == dump(old.with_name("new.db"))
    assert old.stat().st_size < before


def test_an_old_archive_is_brought_up_to_date_to_be_read(old: Path) -> None:
    """Opening an old archive to read upgrades it, and a backup that it already has is still recognised."""
    with archives.open(old) as opened:
        assert opened.connection.execute("PRAGMA query_only").fetchone() == (1,)
        assert opened.search("the").hits
        assert [person for person in opened.people() if person.messages]
        assert any(message.status for chat in opened.chats() for message in opened.messages(chat.id))
    with backup.open(old.with_name("first.binproto")) as source, archives.open(old, create=True) as opened:
        assert opened.add(source).known


@pytest.mark.long
def test_an_old_archive_that_nothing_can_write_is_said_to_be_old(old: Path) -> None:
    """Opening an old archive while another connection writes is an error that says it cannot be upgraded."""
    with closing(sqlite3.connect(old, isolation_level=None)) as other, other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArchiveError, match="older version and cannot be upgraded"):
            archives.open(old)
        other.execute("ROLLBACK")
    with archives.open(old) as opened:
        assert opened.chats()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER DELETE ON message BEGIN SELECT 1; END",
        "ALTER TABLE message ADD COLUMN evil TEXT AS (hex(zeroblob(99)))",
        "CREATE VIRTUAL TABLE evil USING fts5 (x)",
    ],
)
def test_what_runs_by_itself_is_refused(old: Path, statement: str) -> None:
    """Triggers, computed columns and other virtual tables are refused before the upgrade begins."""
    execute(old, statement)
    with pytest.raises(NotAnArchive):
        archives.open(old, create=True)
    with closing(sqlite3.connect(old)) as plain, plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (1,)


def test_an_upgrade_that_fails_changes_nothing(old: Path) -> None:
    """A value that no archive can have stops the upgrade, and the file stays the same byte by byte."""
    execute(old, "UPDATE message SET direction = 'sideways' WHERE id = (SELECT max(id) FROM message)")
    before = old.read_bytes()
    with pytest.raises(ArchiveError):
        archives.open(old, create=True)
    assert old.read_bytes() == before


def test_what_few_messages_have_is_kept(old: Path) -> None:
    """An upgrade keeps the SMS flag and the reason of a failed receipt, and rebuilds a lost index."""
    with closing(sqlite3.connect(old)) as plain, plain:
        (number,) = plain.execute("SELECT min(message_id) FROM send_status").fetchone()
    execute(
        old,
        f"UPDATE message SET sms = 1 WHERE id = {number}",
        "UPDATE send_status SET status = 'failed', reason = 'NETWORK', sealed_sender = NULL "
        f"WHERE message_id = {number} AND n = 0",
        "INSERT INTO message_index (message_index) VALUES ('delete-all')",
    )
    with archives.open(old) as opened:
        stored = opened.message(number)
        assert (stored.sms, stored.status) == (True, "failed")
        assert (stored.receipts[0].status, stored.receipts[0].reason) == ("failed", "NETWORK")
        assert opened.search("the").hits


def test_a_table_that_is_not_ours_is_refused(old: Path) -> None:
    """A changed constraint is refused even in a table that the upgrade does not change."""
    execute(
        old,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'kind TEXT NOT NULL', 'kind TEXT NOT NULL CHECK (kind > 7)') "
        "WHERE name = 'recipient'",
    )
    with pytest.raises(NotAnArchive, match="recipient"):
        archives.open(old, create=True)
    with closing(sqlite3.connect(old)) as plain, plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (1,)


def test_other_tables_of_somebody_stay(old: Path) -> None:
    """A table that was added by hand is kept by the upgrade."""
    execute(old, "CREATE TABLE mine (x)", "INSERT INTO mine VALUES (7)")
    with archives.open(old, create=True) as opened:
        assert opened.connection.execute("SELECT x FROM mine").fetchall() == [(7,)]
