"""Migrations: agreement with the table metadata, repeated and concurrent runs, and older databases."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, Table, insert, text

from holdfast.hosting.data_folder import connect, open_database
from holdfast.hosting.errors import DatabaseError, DatabaseTooNew
from holdfast.hosting.store import accounts, commit_keys, migrate, sessions
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.full_text import SEARCH_TABLES
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.hosting.store.tables import metadata
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.migrated_schema import MigratedSchema

# The command itself, before the tests of other modules run it once for all.
UPGRADE = command.upgrade
# Foreign keys of columns that were added to a table.
ADDED_KEYS = ("head_repository_id", "source_issue_id", "source_comment_id")


@pytest.fixture(autouse=True)
def migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the migrations in every test of this module."""
    monkeypatch.setattr(command, "upgrade", UPGRADE)


@pytest.mark.parametrize("revision", ["head", "0011"])
def test_tables_of_the_tests_are_those_that_migrations_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    """A database made from the stored schema of a revision has the same definitions and rows as a migrated one."""
    monkeypatch.setattr(command, "upgrade", MigratedSchema(UPGRADE))
    contents = []
    for name in ("first", "second"):
        with open_database(Settings(data=tmp_path / name)) as database:
            assert migrate.upgrade(database, to=revision) is True
            assert migrate.upgrade(database, to=revision) is False
            assert migrate.revision(database) == (migrate.latest() if revision == "head" else revision)
            contents.append(content_of(database))
    assert len(contents[0]) > 50
    assert contents[1] == contents[0]


def content_of(database: Database) -> list[tuple[Any, ...]]:
    """Return the definitions of everything in a SQLite database, and the rows of its own tables."""
    with database.read() as connection:
        query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        made = [tuple(row) for row in connection.exec_driver_sql(query)]
        query = "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        names = sorted(connection.exec_driver_sql(query).scalars())
        rows = [(name, *row) for name in names for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"')]
    return [*made, *rows]


def test_migrating_twice_changes_nothing_the_second_time(empty_database: Database) -> None:
    """An empty database is migrated, and a migrated one is not changed again."""
    assert migrate.revision(empty_database) is None
    assert migrate.upgrade(empty_database) is True
    before = content_of(empty_database) if empty_database.is_sqlite else []
    assert migrate.upgrade(empty_database) is False
    assert migrate.revision(empty_database) == migrate.latest()
    assert before == (content_of(empty_database) if empty_database.is_sqlite else [])


def test_migrations_make_exactly_the_tables_the_code_describes(empty_database: Database) -> None:
    """The migrated schema equals the metadata, so a column missing in one of them is found."""
    migrate.upgrade(empty_database)
    with empty_database.read() as connection:
        options = {"compare_type": True, "include_name": is_described}
        context = MigrationContext.configure(connection, opts=options)
        # SQLAlchemy does not read the options of a foreign key that SQLite has in the definition of a column.
        results = [
            item
            for item in compare_metadata(context, metadata)
            if not (empty_database.is_sqlite and any(is_foreign_key(item, name) for name in ADDED_KEYS))
        ]
        assert results == []
        if empty_database.is_sqlite:
            keys = connection.execute(text("PRAGMA foreign_key_list(issues)")).mappings()
            (head,) = [key for key in keys if key["from"] == "head_repository_id"]
            assert (head["table"], head["to"], head["on_delete"]) == ("repositories", "id", "SET NULL")


def is_described(name: str | None, kind: str, _parents: object) -> bool:
    """Return whether the metadata describe it: full-text search is different in each database."""
    if kind == "table":
        return not (name or "").startswith(SEARCH_TABLES)
    return name not in {"ix_issues_search", "ix_comments_search"}


def is_foreign_key(difference: tuple[Any, ...], column: str) -> bool:
    """Return whether a difference is about the foreign key of a column."""
    kind, key = difference[0], difference[1]
    return kind in {"add_fk", "remove_fk"} and list(key.column_keys) == [column]


def test_processes_that_start_together_do_not_both_migrate(settings: Settings) -> None:
    """Of four threads with databases of their own one migrates, and the others find it done."""
    results: list[bool] = []

    def start() -> None:
        database = connect(settings)
        results.append(migrate.upgrade(database))
        database.close()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, False, False, True]


def test_a_database_of_a_newer_version_is_left_alone(empty_database: Database) -> None:
    """A database of a newer version raises DatabaseTooNew and keeps its revision."""
    migrate.upgrade(empty_database)
    with empty_database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseTooNew, match="newer Holdfast"):
        migrate.upgrade(empty_database)
    assert migrate.revision(empty_database) == "9999"


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    """A database file with other content raises DatabaseError with a message."""
    (tmp_path / "holdfast.sqlite3").write_bytes(b"not a database at all, but long enough to look at" * 50)
    database = Database.in_folder(tmp_path)
    with pytest.raises(DatabaseError, match="not a Holdfast database"):
        migrate.upgrade(database)
    database.close()


def test_ref_updates_of_earlier_versions_are_cleared(empty_database: Database) -> None:
    """The migration deletes recorded updates, and keeps their idempotency keys and all pending updates."""
    migrate.upgrade(empty_database, to="0006")
    ada = accounts.create_user(empty_database, "ada", Secret("long enough"))
    with empty_database.write() as connection:
        ship = connection.execute(
            text(
                "INSERT INTO repositories (owner_id, name, folded_name, default_branch) "
                "VALUES (:owner, 'ship', 'ship', 'main') RETURNING id"
            ),
            {"owner": ada.id},
        ).scalar_one()
        numbers = {}
        for name, is_done in (("settled", True), ("open", False), ("keyed", True)):
            numbers[name] = connection.execute(
                text(
                    "INSERT INTO ref_updates (repository_id, actor_id, ref, old, new, is_done) "
                    "VALUES (:ship, :ada, :ref, :old, :new, :is_done) RETURNING id"
                ),
                {
                    "ship": ship,
                    "ada": ada.id,
                    "ref": f"refs/heads/{name}",
                    "old": "0" * 40,
                    "new": "1" * 40,
                    "is_done": is_done,
                },
            ).scalar_one()
        connection.execute(
            text(
                "INSERT INTO commit_keys (repository_id, user_id, key, fingerprint, update_id, created_at) "
                "VALUES (:ship, :ada, 'k', 'f', :number, 1)"
            ),
            {"ship": ship, "ada": ada.id, "number": numbers["keyed"]},
        )
    migrate.upgrade(empty_database)
    with empty_database.read() as connection:
        left = set(connection.execute(text("SELECT ref FROM ref_updates")).scalars())
    assert left == {"refs/heads/open"}
    repository = repository_by_id(empty_database, ship)
    assert repository.version == NOT_ADOPTED
    used_key = commit_keys.find_key(empty_database, repository, commit_keys.IdempotencyKey(ada.id, "k", "f"))
    assert used_key == commit_keys.UsedKey("f", "refs/heads/keyed", "1" * 40)


def test_an_older_data_folder_is_brought_up_to_date_with_what_is_in_it(empty_database: Database) -> None:
    """A user of the first schema keeps the password, the role and the session after the migration."""
    migrate.upgrade(empty_database, to="0001")
    token, now = Secret("a session from then"), int(time.time())
    with empty_database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO users (name, folded_name, full_name, password_hash, is_admin, created_at)"
                " VALUES ('Ada', 'ada', 'Ada Byron', :hash, true, 1)"
            ),
            {"hash": accounts.hasher.hash("long enough")},
        )
        connection.execute(
            text("INSERT INTO sessions SELECT :token, id, 1, :until FROM users"),
            {"token": sessions.hashed(token), "until": now + 100},
        )
    assert migrate.upgrade(empty_database) is True
    ada = accounts.check_password(empty_database, "ada", Secret("long enough"))
    assert ada is not None
    assert (ada.name, ada.is_admin, ada.is_active, ada.visibility) == ("Ada", True, True, "public")
    assert sessions.user_of(empty_database, token) == ada


def add_row(connection: Connection, table: str, **given: str | int) -> None:
    """Add a row to a table as it is in the database, with an empty value where one is required."""
    found_metadata = Table(table, MetaData(), autoload_with=connection, resolve_fks=False)
    needed = [one for one in found_metadata.columns if not (one.nullable or one.server_default or one.primary_key)]
    empty = {item.name: item.type.python_type() for item in needed}
    connection.execute(insert(found_metadata).values({**empty, **given}))


def test_notifications_stay_when_those_about_repositories_are_added(empty_database: Database) -> None:
    """The migration keeps notifications, and they are still deleted with their issue."""
    migrate.upgrade(empty_database, to="0024")
    with empty_database.write() as connection:
        add_row(connection, "users", name="ada")
        add_row(connection, "repositories", owner_id=1, name="ship")
        add_row(connection, "issues", repository_id=1, number=1, author_id=1)
        add_row(connection, "notifications", user_id=1, repository_id=1, issue_id=1, status="pinned")
    migrate.upgrade(empty_database)
    result = text("SELECT issue_id, status FROM notifications")
    with empty_database.write() as connection:
        assert [tuple(row) for row in connection.execute(result)] == [(1, "pinned")]
        connection.execute(text("DELETE FROM issues"))
        assert connection.execute(result).all() == []


def test_labels_on_issues_have_the_state_of_the_issue_after_the_upgrade(empty_database: Database) -> None:
    """The migration copies what lists by label need from the issues."""
    migrate.upgrade(empty_database, to="0032")
    with empty_database.write() as connection:
        add_row(connection, "users", name="ada")
        for name in ("ship", "boat"):
            add_row(connection, "repositories", owner_id=1, name=name, folded_name=name)
        add_row(connection, "labels", repository_id=1, name="bug")
        for number, is_closed in ((1, False), (2, True)):
            columns = {"repository_id": number, "number": 1, "is_closed": is_closed, "is_pull": is_closed}
            add_row(connection, "issues", **columns, created_at=70 + number)
            add_row(connection, "issue_labels", issue_id=number, label_id=1)
    migrate.upgrade(empty_database)
    copied = text(
        "SELECT issue_id, repository_id, is_pull, is_closed, created_at FROM issue_labels ORDER BY issue_id"
    )
    with empty_database.read() as connection:
        rows = [tuple(row) for row in connection.execute(copied)]
    assert rows == [(1, 1, False, False, 71), (2, 2, True, True, 72)]


def test_copies_of_default_webhooks_are_recognised_after_the_upgrade(empty_database: Database) -> None:
    """By the ciphertext of their original, or by that of other copies if it is gone; others are not."""
    migrate.upgrade(empty_database, to="0033")
    hook = {"type": "gitea", "url": "https://ci.example/h", "content_type": "json", "events": "push"}
    with empty_database.write() as connection:
        add_row(connection, "users", name="ada")
        for name in ("ship", "boat"):
            add_row(connection, "repositories", owner_id=1, name=name, folded_name=name)
        add_row(connection, "hooks", scope="default", authorization="kept", **hook)
        for number, header in ((1, "kept"), (1, "gone"), (2, "gone"), (2, "own"), (1, ""), (2, "")):
            add_row(connection, "hooks", scope="repository", repository_id=number, authorization=header, **hook)
    migrate.upgrade(empty_database)
    inherited = text('SELECT id, "authorization" FROM hooks WHERE inherits_header ORDER BY id')
    with empty_database.read() as connection:
        rows = [tuple(row) for row in connection.execute(inherited)]
    assert rows == [(2, "kept"), (3, "gone"), (4, "gone")]
