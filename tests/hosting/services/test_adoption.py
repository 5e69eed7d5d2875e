"""Pending ref updates of earlier versions, recorded or deleted when a repository is adopted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.doctor.checks import examine
from holdfast.hosting.errors import StorageUnavailable
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.services import adoption, releases, repositories
from holdfast.hosting.services.adoption import adopt, has_happened, record_pending_updates
from holdfast.hosting.services.releases import ReleaseEdit
from holdfast.hosting.services.repositories import RepositoryEdit
from holdfast.hosting.store import migrate, pending_ref_updates
from holdfast.hosting.store.commit_keys import IdempotencyKey, find_key
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.releases import ReleaseFields
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.settings import Settings
from tests.hosting.git import oracle
from tests.hosting.old_data_folder import LOOSE, OldDataFolder, make_old_data_folder, refs_of
from tests.hosting.repository_helpers import recorded_events

ZERO = "0" * 40


@pytest.fixture
def old(settings: Settings, empty_database: Database) -> OldDataFolder:
    """Make a data folder of the last version before the repository log."""
    return make_old_data_folder(settings, empty_database)


@pytest.fixture
def app(settings: Settings, old: OldDataFolder) -> Iterator[App]:
    """Open the app with the old data folder."""
    opened = App.open(settings)
    yield opened
    opened.close()


def add_pending_update(old: OldDataFolder, update: RefUpdate, *, key: str = "", is_done: bool = False) -> None:
    """Write an update of a ref as earlier versions did before it happened, with an idempotency key."""
    with old.database.write() as connection:
        number = connection.execute(
            text(
                "INSERT INTO ref_updates (repository_id, actor_id, ref, old, new, is_done, created_at) "
                f"VALUES ({LOOSE}, :actor, :ref, :old, :new, :is_done, 1000) RETURNING id"
            ),
            {"actor": old.owner.id, "ref": update.ref, "old": update.old, "new": update.new, "is_done": is_done},
        ).scalar_one()
        if key:
            connection.execute(
                text(
                    "INSERT INTO commit_keys (repository_id, user_id, key, fingerprint, update_id, created_at) "
                    f"VALUES ({LOOSE}, :actor, :key, 'f', :number, 1000)"
                ),
                {"actor": old.owner.id, "key": key, "number": number},
            )


def pushes(app: App) -> list[tuple[str, str]]:
    """Return the kinds of the recorded events, each with its new commit."""
    return [(kind, details["after"]) for kind, details in recorded_events(app.database)]


def test_applied_updates_are_recorded_once_and_others_are_deleted(app: App, old: OldDataFolder) -> None:
    """The idempotency key of an existing commit is kept, and that of a missing one can be used again."""
    first, second, head = oracle.git(old.loose, "rev-list", "--reverse", "main").decode().split()
    add_pending_update(old, RefUpdate("refs/heads/main", first, second), key="settled", is_done=True)
    add_pending_update(old, RefUpdate("refs/heads/main", second, head), key="happened")
    add_pending_update(old, RefUpdate("refs/heads/main", second, head))
    add_pending_update(old, RefUpdate("refs/heads/main", head, "1" * 40), key="lost")
    add_pending_update(old, RefUpdate("refs/heads/new", ZERO, head))
    migrate.upgrade(old.database)
    adopt(app)
    assert pushes(app) == [("push", head)]
    assert pending_ref_updates.pending_updates(app.database) == []
    kept = repository_by_id(app.database, LOOSE)
    assert kept.pushed_at > 0
    used_keys = [
        find_key(app.database, kept, IdempotencyKey(old.owner.id, name, "f"))
        for name in ("settled", "happened", "lost")
    ]
    assert [item and item.commit_id for item in used_keys] == [second, head, None]
    adopt(app)
    assert pushes(app) == [("push", head)]
    assert list(examine(app, deep=True)) == []


def test_an_update_that_was_repeated_and_recorded_is_not_recorded_twice(app: App, old: OldDataFolder) -> None:
    """A pending update that has an event already is not recorded again."""
    first, second, _ = oracle.git(old.loose, "rev-list", "--reverse", "main").decode().split()
    add_pending_update(old, RefUpdate("refs/heads/main", first, second))
    migrate.upgrade(old.database)
    adopt(app)
    assert pushes(app) == [("push", second)]
    with old.database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO ref_updates (repository_id, ref, old, new, created_at) "
                f"VALUES ({LOOSE}, 'refs/heads/main', '{first}', '{second}', 1000)"
            )
        )
    assert record_pending_updates(app) == 0
    assert pushes(app) == [("push", second)]


def test_an_interruption_between_the_steps_loses_no_update(
    app: App, old: OldDataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interruption of the adoption the next start records the pending updates."""
    *_, second, head = oracle.git(old.loose, "rev-list", "--reverse", "main").decode().split()
    add_pending_update(old, RefUpdate("refs/heads/main", second, head))
    migrate.upgrade(old.database)

    def interrupted(app: App) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(adoption, "record_pending_updates", interrupted)
        with pytest.raises(KeyboardInterrupt):
            adopt(app)
    assert pushes(app) == []
    adopt(app)
    assert pushes(app) == [("push", head)]


def test_a_repository_that_is_not_adopted_keeps_what_is_pending(app: App, old: OldDataFolder) -> None:
    """Pending updates of a repository whose folder is missing are recorded once the folder is back."""
    *_, second, head = oracle.git(old.loose, "rev-list", "--reverse", "main").decode().split()
    add_pending_update(old, RefUpdate("refs/heads/main", second, head))
    migrate.upgrade(old.database)
    away = old.loose.rename(old.loose.with_name("away"))
    adopt(app)
    assert [pending_update.update.new for pending_update in pending_ref_updates.pending_updates(app.database)] == [
        head
    ]
    away.rename(old.loose)
    adopt(app)
    assert pushes(app) == [("push", head)]


def test_a_closing_keyword_of_what_happened_closes_its_issue(app: App, old: OldDataFolder) -> None:
    """A pending update that reached the default branch closes the issue that its commit message names."""
    with old.database.write() as connection:
        connection.execute(
            text(f"INSERT INTO issues (repository_id, number, title) VALUES ({LOOSE}, 1, 'It leaks')")
        )
        connection.execute(text(f"UPDATE repositories SET last_issue = 1, open_issues = 1 WHERE id = {LOOSE}"))
    before = oracle.line(old.loose, "rev-parse", "main")
    head = oracle.commit(old.loose, {b"a.txt": b"pumped\n"}, message=b"closes #1\n")
    add_pending_update(old, RefUpdate("refs/heads/main", before, head))
    migrate.upgrade(old.database)
    adopt(app)
    with app.database.read() as connection:
        assert connection.execute(text("SELECT is_closed FROM issues")).scalar_one()


# The old and the new commit of an update, where its ref is, and whether the update happened.
UPDATES: list[tuple[str | None, str | None, str | None, bool]] = [
    ("first", "second", "second", True),
    ("first", "second", "third", True),
    ("first", "second", "first", False),
    ("first", "second", None, False),
    ("first", "second", "side", False),
    ("second", "first", "third", False),
    ("third", "first", "first", True),
    (None, "first", "third", True),
    (None, "second", "side", False),
    ("first", None, None, True),
    ("first", None, "first", False),
    ("first", "first", "first", False),
    # The service stopped before the objects were there, and the ref went on.
    ("first", "missing", "third", False),
]


def test_the_ref_tells_whether_an_update_happened(tmp_path: Path) -> None:
    """A pending update was applied if its ref is at the new commit, or at a descendant of it.

    A branch that went on from the old commit was not reset to an earlier one.
    """
    folder = oracle.new_repository(tmp_path / "ship.git")
    first, second, third = (oracle.commit(folder, {b"a.txt": text}) for text in (b"0", b"1", b"2"))
    side = oracle.commit(folder, {b"side": b"s"}, branch="side", parents=[first])
    ids = {"first": first, "second": second, "third": third, "side": side, "missing": "7" * 40, None: ZERO}
    for name in ("first", "second", "third", "side"):
        oracle.git(folder, "update-ref", f"refs/heads/at-{name}", ids[name])
    repo = open_repository(folder)
    for before, after, at, happened in UPDATES:
        update = RefUpdate(f"refs/heads/at-{at or 'nothing'}", ids[before], ids[after])
        assert has_happened(repo, update) is happened, (before, after, at)


def test_the_default_branch_of_a_repository_that_is_not_adopted_is_not_changed(
    app: App, old: OldDataFolder
) -> None:
    """The new version would replace the damaged folder, which is the only copy, by an empty repository."""
    commit = oracle.line(old.loose, "rev-parse", "main~1")
    lost = old.loose / "objects" / commit[:2] / commit[2:]
    content = lost.read_bytes()
    lost.unlink()
    migrate.upgrade(old.database)
    adopt(app)
    before = refs_of(old.loose)
    owner = Actor(old.owner)
    target = repositories.show(app, owner, LOOSE)
    with pytest.raises(StorageUnavailable, match="not adopted"):
        repositories.edit(app, owner, target, RepositoryEdit(description="x", default_branch="fix"))
    repository = repositories.edit(app, owner, target, RepositoryEdit(website="https://ship.example"))
    assert (repository.version, repository.default_branch) == (NOT_ADOPTED, "main")
    assert (repository.description, repository.website) == ("", "https://ship.example")
    assert refs_of(app.copies.update(LOOSE).folder) == before
    lost.write_bytes(content)
    adopt(app)
    assert list(examine(app, deep=True)) == []


@pytest.mark.parametrize("tag", ["v1", "v9"])
def test_a_release_of_a_repository_that_is_not_adopted_is_refused_with_the_cause(
    app: App, old: OldDataFolder, tag: str
) -> None:
    """Also one of an existing tag: the tags are not in the database. A draft can be saved."""
    commit = oracle.line(old.loose, "rev-parse", "main~1")
    (old.loose / "objects" / commit[:2] / commit[2:]).unlink()
    migrate.upgrade(old.database)
    adopt(app)
    owner = Actor(old.owner)
    target = repositories.show(app, owner, LOOSE)
    draft = releases.create(app, owner, target, ReleaseFields(tag_name=tag, is_draft=True))
    with pytest.raises(StorageUnavailable, match="not adopted"):
        releases.edit(app, owner, target, draft, ReleaseEdit(is_draft=False))
    assert releases.find(app, target, draft.id) == draft
