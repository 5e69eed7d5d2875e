"""The health check and its gauges."""

import time
from pathlib import Path

from sqlalchemy import insert, text

from holdfast.hosting.app import App
from holdfast.hosting.services import health
from holdfast.hosting.services.health import folder_problem, problems
from holdfast.hosting.store import deliveries
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import events, hooks
from holdfast.settings import Settings


def test_a_new_service_is_healthy(settings: Settings, database: Database) -> None:
    """The check of a new service finds no problem and leaves no file in the data folder."""
    settings.data.mkdir(exist_ok=True)
    host = App.open(settings)
    before = sorted(path.name for path in settings.data.iterdir() if not path.name.startswith("holdfast.sqlite3-"))
    assert problems(host) == {}
    after = sorted(path.name for path in settings.data.iterdir() if not path.name.startswith("holdfast.sqlite3-"))
    assert before == after
    host.close()


def test_a_database_without_tables_is_not_ready(settings: Settings, empty_database: Database) -> None:
    """The problem names the revision of the database and the expected one."""
    settings.data.mkdir(exist_ok=True)
    host = App.open(settings)
    assert problems(host)["migrations"].startswith("at nothing, but this version expects")
    host.close()


def test_an_unreadable_database_is_reported(settings: Settings, database: Database) -> None:
    """An error of the database driver is reported as a problem of the database or of its migrations."""
    settings.data.mkdir(exist_ok=True)
    host = App.open(settings)
    with database.write() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        connection.execute(text("CREATE VIEW alembic_version AS SELECT no_such.x FROM (SELECT 1 AS x) AS no_such"))
    results = problems(host)
    assert set(results) <= {"database", "migrations"}
    assert results
    host.close()


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """The message for a folder that cannot be written to has the error of the operating system."""
    assert folder_problem(tmp_path) == ""
    assert folder_problem(tmp_path / "none") == "cannot be written to: No such file or directory"


def test_pending_deliveries_are_reported(settings: Settings, database: Database) -> None:
    """The gauges have the number of pending deliveries and the age of the oldest one."""
    host = App.open(settings)
    assert [gauge.value for gauge in health.gauges(host)] == [0, 0]
    with database.write() as connection:
        row = {"scope": "system", "type": "gitea", "url": "http://x", "content_type": "json", "events": "push"}
        hook = connection.execute(insert(hooks).returning(hooks.c.id), row).scalar_one()
        happened = {"kind": "push", "created_at": 1}
        for age in (10, 100, 50):
            event = connection.execute(insert(events).returning(events.c.id), happened).scalar_one()
            deliveries.queue_for_hooks(connection, [hook], event, "push", now=int(time.time()) - age)
    length, waited = (gauge.value for gauge in health.gauges(host))
    assert length == 3
    assert 100 <= waited < 130
    host.close()
