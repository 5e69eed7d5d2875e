"""Checks of database rows and encrypted secrets."""

import sqlite3
from contextlib import closing

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk, rows
from holdfast.hosting.doctor.checks import examine, repair
from holdfast.hosting.doctor.findings import FindingKind
from holdfast.hosting.store import accounts, hooks, two_factor
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.hooks import HookOwner


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_row_without_its_parent_is_found(app: App) -> None:
    """SQLite allows such rows on a connection that does not enable foreign keys, and no repair is offered."""
    with closing(sqlite3.connect(app.settings.data / "holdfast.sqlite3")) as connection:
        connection.execute("INSERT INTO collaborators (repository_id, user_id, mode) VALUES (99, 1, 1)")
        connection.commit()
    (finding,) = rows.check_integrity(app, deep=True)
    assert finding.kind is FindingKind.ROW_WITHOUT_PARENT
    assert finding.repair is None


def test_an_intact_database_has_no_findings(app: App) -> None:
    """The checks of integrity, schema, counters and redirects find nothing in a new database."""
    assert list(rows.check_integrity(app, deep=False)) == []
    assert list(rows.check_schema(app)) == []
    assert list(rows.check_counters(app)) == []
    assert list(rows.check_redirects(app)) == []


def add_hook(app: App, **columns: str) -> int:
    """Create a system webhook."""
    needed = {"type": "gitea", "url": "https://ci.example", "content_type": "json", "events": "push"}
    return hooks.add_hook(app.database, HookOwner("service"), {**needed, **columns}).id


def test_secrets_that_can_be_opened_are_no_finding(app: App) -> None:
    """Webhooks without secrets, and webhooks whose secrets can be decrypted, are no finding."""
    add_hook(app)
    assert list(rows.check_secrets(app)) == []
    add_hook(app, secret=app.cipher.encrypt("x"), authorization=app.cipher.encrypt("y"))
    assert list(rows.check_secrets(app)) == []


def test_a_secret_of_another_key_is_found(app: App) -> None:
    """The finding names the webhook and has no repair, because only a person can bring the key back."""
    app.cipher.encrypt("makes the key")
    number = add_hook(app, authorization="gAAAAAnonsense")
    add_hook(app, secret=app.cipher.encrypt("x"))
    (finding,) = rows.check_secrets(app)
    assert (finding.kind, finding.where, finding.repair) == (FindingKind.SEAL, f"webhook {number}", None)


def test_a_second_factor_of_another_key_is_found(app: App) -> None:
    """The finding names the user whose second factor cannot be decrypted."""
    admin = accounts.find_user(app.database, "admin")
    two_factor.start(app.database, admin, app.cipher.encrypt("x"))
    assert list(rows.check_secrets(app)) == []
    two_factor.start(app.database, admin, "gAAAAAnonsense")
    (finding,) = rows.check_secrets(app)
    assert (finding.kind, finding.where) == (FindingKind.SEAL, "second factor of admin")


def test_a_missing_key_is_reported_once(app: App) -> None:
    """A missing key is one finding for all secrets, and no new key is created, as it could decrypt none."""
    for _ in range(2):
        add_hook(app, secret=app.cipher.encrypt("x"))
    path = app.settings.data / KEY_FILE
    path.unlink()
    fresh = App.open(app.settings)
    results = [finding for finding in examine(fresh) if finding.kind is FindingKind.KEY]
    fresh.close()
    assert [finding.where for finding in results] == [str(path)]
    assert not path.exists()


def test_the_permissions_of_a_readable_key_are_repaired(app: App) -> None:
    """A key that other users can read is a finding, because it decrypts all secrets."""
    app.cipher.encrypt("makes the key")
    path = app.settings.data / KEY_FILE
    path.chmod(0o644)
    (finding,) = disk.check_permissions(app)
    assert (finding.kind, finding.where) == (FindingKind.PERMISSIONS, str(path))
    assert repair(finding)
    assert path.stat().st_mode & 0o777 == 0o600
