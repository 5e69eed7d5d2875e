"""Fixtures of the backup tests: a small installation."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.snapshot.create import create_snapshot
from holdfast.hosting.store import accounts, hooks, organizations, tokens
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import deliveries
from holdfast.secret import Secret
from holdfast.settings import Settings


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open a host with users, an organization, a webhook, three repositories, one a fork, and a large file."""
    opened = App.open(settings)
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"), email="ada@example.org")
    acme = organizations.create_organization(database, ada, "acme")
    tokens.create_token(database, ada, "ci \u2603", ("read:user",))
    owner = hooks.HookOwner("owner", acme.id)
    columns = {"type": "gitea", "url": "https://ci.example", "content_type": "json", "events": "repository"}
    hooks.add_hook(database, owner, {**columns, "secret": opened.cipher.encrypt("hunter2"), "is_active": True})
    wanted = repositories.NewRepository
    files = {"README.md": b"# One\n", "a/b.txt": b"b\n"}
    repository = repositories.create(opened, ada, ada, wanted(name="one", description="caf\u00e9"), files)
    two = repositories.create(opened, acme, ada, wanted(name="two", default_branch="trunk"))
    gone = repositories.create(opened, ada, ada, wanted(name="gone"))
    repositories.remove(opened, gone, ada)
    with database.write() as connection:
        # A row that refers to a row with a higher id, which cannot be inserted first.
        connection.exec_driver_sql(f"UPDATE repositories SET fork_of = {two.id} WHERE id = {repository.id}")
    with database.write() as connection:
        # Stored responses may be any bytes.
        connection.execute(update(deliveries).values(answer=b"\x00\xff no text"))
    large = settings.data / "lfs" / "ab" / "cd" / ("abcd" + "0" * 60)
    large.parent.mkdir(parents=True)
    large.write_bytes(b"large")
    (settings.data / "backups").mkdir()
    (settings.data / "backups" / "chat.binproto").write_bytes(b"chat")
    yield opened
    opened.close()


@pytest.fixture
def backup(app: App, tmp_path: Path) -> Path:
    """Create a backup of the installation."""
    target = tmp_path / "backup.tar"
    create_snapshot(app.settings, target)
    return target
