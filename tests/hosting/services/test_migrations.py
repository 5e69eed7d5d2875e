"""Migrations of repositories: what a new repository has of the remote one, and what a failure leaves."""

import time
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest
from sqlalchemy import select

from holdfast.hosting.access import Actor, WebhookOwner
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    NoSuchMigration,
    NoSuchRepository,
    RemoteFailed,
)
from holdfast.hosting.git.remotes import GitRemote
from holdfast.hosting.services import migrations, webhooks
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.migration_imports import ImportParts
from holdfast.hosting.services.migrations import NewMigration
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.services.webhooks import NewWebhook
from holdfast.hosting.store import accounts, hooks, labels, lfs, mirrors, repositories, subscriptions, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.hooks import HookOwner
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.hosting.api_clients import PASSWORD
from tests.hosting.repository_helpers import (
    READ,
    add_commit,
    let_in,
    make_people,
    make_repository,
    recorded_events,
)
from tests.hosting.services.commit_helpers import commit_request, file_change
from tests.hosting.services.scenario import accessed
from tests.shared_server import SharedServer

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)

# Nobody listens on this port.
NOWHERE = "http://127.0.0.1:1/ada/ship"


@pytest.fixture
def app(app: App) -> App:
    """Let repositories be migrated from this machine."""
    return replace(app, settings=msgspec.structs.replace(app.settings, migration_allowed_hosts="loopback"))


@pytest.fixture
def ada(app: App) -> Account:
    """Create a user with a password."""
    return accounts.create_user(app.database, "ada", Secret(PASSWORD), email="ada@example.org")


@pytest.fixture
def ship(app: App, ada: Account) -> Repository:
    """Create a private repository of Ada's with the branches main and trunk, whose default branch is trunk."""
    made = make_repository(app.database, ada, "ship", is_private=True)
    add_commit(app.database, made, "main", "trunk")
    with app.database.write() as connection:
        repositories.change_repository(connection, made, default_branch="trunk", is_empty=False)
    return repositories.repository_by_id(app.database, made.id)


@pytest.fixture
def source(settings: Settings, ship: Repository, shared_server: SharedServer) -> Iterator[NewMigration]:
    """Serve the repository, and describe its migration."""
    with shared_server.serving(build(settings)) as url:
        yield NewMigration(
            address=f"{url}/ada/{ship.name}.git", name="copy", credentials=Credentials("ada", PASSWORD)
        )


def migrate(app: App, user: Account, new: NewMigration) -> Repository:
    """Migrate a repository to one of the user's own."""
    return migrations.migrate(app, Actor(user), user, new)


def test_a_migrated_repository_is_writable_and_has_the_refs_of_the_remote(
    app: App, ada: Account, source: NewMigration
) -> None:
    """The default branch is that of the remote, though there is a branch main."""
    made = migrate(app, ada, replace(source, description="Sails", is_private=True))
    assert (made.name, made.description, made.is_private, made.is_mirror) == ("copy", "Sails", True, False)
    assert (made.default_branch, made.branch_count, made.is_empty, made.size > 0) == ("trunk", 2, False, True)
    assert (made.has_issues, made.has_pulls) == (True, True)
    migration = mirrors.find_migration(app.database, made.id)
    assert migration is not None
    assert migration.status == "done"
    assert made.id in app.pushed
    commit_files(app, commit_request(app, made, file_change("mast", b"fir\n")))


def test_a_repository_is_read_only_while_it_is_migrated(
    app: App, ada: Account, source: NewMigration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may push to it, or open an issue under a number that is still to be imported."""
    fetch_content = migrations.fetch_content
    seen = []

    def fetch(app: App, user: Account, repository: Repository, remote: GitRemote) -> None:
        seen.append((repository.is_mirror, repository.has_issues, repository.has_pulls))
        fetch_content(app, user, repository, remote)

    monkeypatch.setattr(migrations, "fetch_content", fetch)
    migrate(app, ada, source)
    assert seen == [(True, False, False)]


def test_a_migrated_repository_begins_like_other_new_ones(app: App, ada: Account, source: NewMigration) -> None:
    """Its creator watches it, it has the default webhooks, and its creation is an event."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    wanted = NewWebhook(type="gitea", url="https://ci.example/h", content_type="json")
    webhooks.create(app, admin, WebhookOwner(None), wanted)
    made = migrate(app, ada, source)
    assert subscriptions.since(app.database, "watch", made, ada) is not None
    assert hooks.hooks_of(app.database, HookOwner("repository", made.id), skip=0, limit=5)[1] == 1
    assert "repository" in {kind for kind, _ in recorded_events(app.database)}


def test_a_mirror_keeps_its_credentials_and_interval(app: App, ada: Account, source: NewMigration) -> None:
    """It stays read-only, and is not updated at once: it was just fetched."""
    before = int(time.time())
    made = migrate(app, ada, replace(source, is_mirror=True, mirror_interval="12h"))
    assert (made.is_mirror, made.has_issues, made.has_pulls) == (True, True, True)
    assert made.mirrored_at >= before
    with app.database.read() as connection:
        row = connection.execute(select(tables.mirrors)).one()
    assert (row.remote_address, row.username, row.interval) == (source.address, "ada", 12 * 3600)
    assert app.cipher.decrypt(row.secret) == PASSWORD


def test_the_interval_of_what_is_no_mirror_does_not_matter(app: App, ada: Account, source: NewMigration) -> None:
    """That of a mirror is checked before the remote repository is asked."""
    assert not migrate(app, ada, replace(source, mirror_interval="soon")).is_mirror
    with pytest.raises(InvalidValue):
        migrate(app, ada, replace(source, address=NOWHERE, name="b", is_mirror=True, mirror_interval="soon"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a" * 101},
        {"description": "a" * 10_000},
        {"credentials": Credentials("a" * 2049, "b")},
        {"credentials": Credentials("a", "b" * 2049)},
    ],
)
def test_fields_are_checked_before_the_remote_repository_is_asked(
    app: App, ada: Account, wrong: dict[str, object]
) -> None:
    """What is too long, or empty, is refused as in other requests."""
    given = {"address": NOWHERE, "name": "copy", "credentials": Credentials(), **wrong}
    with pytest.raises(InvalidField):
        migrate(app, ada, NewMigration(**given))  # type: ignore[arg-type]  # the values have the types of the fields


def test_secrets_may_have_2048_characters(app: App, ada: Account) -> None:
    """The remote repository is asked with them."""
    for credentials in (Credentials("a" * 2048, "b"), Credentials("a", "b" * 2048)):
        with pytest.raises(RemoteFailed, match="cannot be reached"):
            migrate(app, ada, NewMigration(address=NOWHERE, name="copy", credentials=credentials))


def test_a_failed_migration_leaves_nothing(app: App, ada: Account, source: NewMigration) -> None:
    """The name is free again, and so are the slots of the user."""
    for _ in range(3):
        with pytest.raises(RemoteFailed):
            migrate(app, ada, replace(source, service="github", parts=ImportParts(labels=True)))
        with pytest.raises(NoSuchRepository):
            repositories.find_repository(app.database, "ada", "copy")
    assert migrate(app, ada, source).name == "copy"


def test_only_requested_parts_are_imported_from_an_api(
    app: App, ada: Account, ship: Repository, source: NewMigration
) -> None:
    """Without a service there is no API to ask, whatever parts are requested."""
    with app.database.write() as connection:
        labels.add_labels_to(connection, ship.id, [("bug", "d73a4a", "", False)])
    wanted = ImportParts(labels=True)
    for name, more, expected in (
        ("none", {}, []),
        ("no-parts", {"service": "gitea"}, []),
        ("no-service", {"parts": wanted}, []),
        ("both", {"service": "gitea", "parts": wanted}, ["bug"]),
    ):
        made = migrate(app, ada, replace(source, name=name, **more))
        assert [label.name for label in labels.labels_usable(app.database, made, limit=5)] == expected


def test_lfs_objects_come_from_the_address_that_git_lfs_derives(
    app: App, ada: Account, ship: Repository, source: NewMigration
) -> None:
    """They are fetched on request only, with or without the suffix of the repository."""
    pointer = FileContent(b"film").pointer(app)
    lfs.link(app.database, ship, pointer.oid, pointer.size)
    commit_files(app, commit_request(app, ship, file_change("film", pointer.format()), branch="trunk"))
    plain = source.address.removesuffix(".git")
    for name, address, with_lfs in (("a", source.address, False), ("b", source.address, True), ("c", plain, True)):
        made = migrate(app, ada, replace(source, name=name, address=address, with_lfs=with_lfs))
        assert lfs.has_links(app.database, made) is with_lfs


def test_an_empty_repository_stays_empty(app: App, ada: Account, source: NewMigration) -> None:
    """It has no branch, and the first push decides."""
    make_repository(app.database, ada, "void")
    made = migrate(app, ada, replace(source, address=source.address.replace("ship", "void")))
    assert (made.is_empty, made.is_mirror, made.branch_count, made.id in app.pushed) == (True, False, 0, False)


def test_the_progress_is_shown_to_those_who_read_the_code(app: App, ada: Account) -> None:
    """A repository that was not migrated has none."""
    (eve, bob) = make_people(app.database, "eve", "bob")
    made = make_repository(app.database, ada, "copy", is_private=True)
    let_in(app.database, made, bob, READ)
    with pytest.raises(NoSuchMigration):
        migrations.show_progress(app, accessed(app, Actor(ada), made))
    with app.database.write() as connection:
        mirrors.add_migration(connection, made.id, ada.id, "git")
    assert migrations.show_progress(app, accessed(app, Actor(bob), made)).phase == "git"
    with pytest.raises(Forbidden):
        migrations.show_progress(app, accessed(app, Actor(eve), made))


def test_an_interrupted_migration_is_deleted_when_it_can_no_longer_run(app: App, ada: Account) -> None:
    """Every git command, the import and the LFS objects may each take as long as the setting says."""
    left, done = (make_repository(app.database, ada, name) for name in ("left", "done"))
    with app.database.write() as connection:
        for repository in (left, done):
            mirrors.add_migration(connection, repository.id, ada.id, "git")
        mirrors.set_progress(connection, done.id, status="done", phase="")
    progress = mirrors.find_migration(app.database, left.id)
    assert progress is not None
    last = progress.updated_at + 4 * app.settings.migration_timeout + 3600
    assert migrations.remove_abandoned(app) == migrations.remove_abandoned(app, now=last) == 0
    assert migrations.remove_abandoned(app, now=last + 1) == 1
    assert migrations.remove_abandoned(app, now=last + 1) == 0
    assert repositories.find_repository(app.database, "ada", "done").id == done.id
