"""Checks of the database alone."""

import sqlite3
from contextlib import closing

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.doctor import rows
from holdfast.hosting.doctor.findings import FindingKind


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_row_without_its_parent_is_found(app: App) -> None:
    """SQLite lets whoever does not ask for foreign keys write such rows."""
    with closing(sqlite3.connect(app.settings.data / "holdfast.sqlite3")) as connection:
        connection.execute("INSERT INTO collaborators (repository_id, user_id, mode) VALUES (99, 1, 1)")
        connection.commit()
    (finding,) = rows.check_integrity(app, deep=True)
    assert finding.kind is FindingKind.ROW_WITHOUT_PARENT
    assert finding.repair is None


def test_a_sound_database_is_sound(app: App) -> None:
    """In both kinds."""
    assert list(rows.check_integrity(app, deep=False)) == []
    assert list(rows.check_schema(app)) == []
    assert list(rows.check_counters(app)) == []
    assert list(rows.check_redirects(app)) == []
    assert list(rows.check_pending_updates(app)) == []
