"""Pull mirrors: who requests an update, which refs are mirrored, and what is stored of a failure."""

import time
from dataclasses import replace

import msgspec
import pytest
from sqlalchemy import select, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, LoginRequired, NotAMirror, RepositoryArchived
from holdfast.hosting.git.remotes import RemoteRefs
from holdfast.hosting.services import mirrors
from holdfast.hosting.services.mirrors import choose_default_branch
from holdfast.hosting.services.repositories import move_to
from holdfast.hosting.store import mirrors as store
from holdfast.hosting.store import repositories
from holdfast.hosting.store.mirrors import Mirror
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import append
from holdfast.hosting.store.tables import events
from holdfast.hosting.store.tables import mirrors as table
from holdfast.hosting.store.tables import repositories as rows
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.scenario import Scenario, make_scenario

SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)

# Nobody listens on this port.
ADDRESS = "http://127.0.0.1:1/ship"


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and a mirror that is updated every hour, and allow remotes on this machine."""
    settings = msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32", migration_timeout=60)
    made = make_scenario(replace(app, settings=settings))
    add_mirror(made.app, made.repository)
    return made


def add_mirror(app: App, repository: Repository, interval: int = 3600) -> None:
    """Make a repository a mirror."""
    with app.database.write() as connection:
        secret = app.cipher.encrypt("")
        store.add_mirror(connection, repository.id, ADDRESS, username="", secret=secret, interval=interval)


def error_and_next(scenario: Scenario) -> tuple[str, int | None]:
    """Return the stored error of the mirror, and when it is updated next."""
    with scenario.app.database.read() as connection:
        of_mirror = table.c.repository_id == scenario.repository.id
        row = connection.execute(select(table.c.last_error, table.c.next_sync_at).where(of_mirror)).one()
    return row.last_error, row.next_sync_at


@SQLITE
def test_writers_of_a_mirror_request_an_update(scenario: Scenario) -> None:
    """Readers and anonymous users do not, nobody does in an archive, nor of a repository that is no mirror."""
    with pytest.raises(LoginRequired):
        mirrors.request_sync(*scenario.caller(None))
    with pytest.raises(Forbidden):
        mirrors.request_sync(*scenario.caller(scenario.reader))
    with pytest.raises(RepositoryArchived):
        mirrors.request_sync(*scenario.caller(scenario.owner, scenario.archived()))
    assert error_and_next(scenario)[1] != int(time.time())
    mirrors.request_sync(*scenario.caller(scenario.writer))
    _, moment = error_and_next(scenario)
    assert moment is not None
    assert moment <= time.time()
    with scenario.app.database.write() as connection:
        connection.execute(table.delete())
    with pytest.raises(NotAMirror):
        mirrors.request_sync(*scenario.caller(scenario.owner))


@SQLITE
@pytest.mark.parametrize(("interval", "wait"), [(0, None), (60, 600), (3600, 3600)])
def test_a_failed_update_is_retried_after_ten_minutes_or_the_interval(
    scenario: Scenario, interval: int, wait: int | None
) -> None:
    """The error is stored; a mirror that is updated on request only is not retried."""
    app = scenario.app
    with app.database.write() as connection:
        connection.execute(update(table).values(interval=interval, next_sync_at=1))
    before = int(time.time())
    assert mirrors.sync_due(app) == 1
    error, moment = error_and_next(scenario)
    assert "the remote repository cannot be reached" in error
    if wait is None:
        assert moment is None
    else:
        assert moment is not None
        assert before + wait <= moment <= int(time.time()) + wait
    assert mirrors.sync_due(app) == 0


@SQLITE
def test_an_update_that_fails_here_says_nothing_about_the_service(scenario: Scenario) -> None:
    """An error that is not the remote's is stored without its text."""
    with scenario.app.database.write() as connection:
        connection.execute(update(table).values(remote_address="ftp://wrong", next_sync_at=1))
    assert mirrors.sync_due(scenario.app) == 1
    assert error_and_next(scenario)[0] == "the mirror could not be updated"


@SQLITE
def test_an_archived_mirror_is_not_updated(scenario: Scenario) -> None:
    """Its remote is not asked, which is no error, and it is due again after its interval."""
    with scenario.app.database.write() as connection:
        connection.execute(update(table).values(next_sync_at=1))
        connection.execute(update(rows).values(archived_at=1))
    assert mirrors.sync_due(scenario.app) == 1
    error, moment = error_and_next(scenario)
    assert (error, moment is not None and moment > time.time() + 3500) == ("", True)


@SQLITE
def test_a_mirror_is_claimed_for_longer_than_an_update_takes(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes two git commands, each up to the timeout, and a request meanwhile is not lost."""
    app = scenario.app
    with app.database.write() as connection:
        connection.execute(update(table).values(next_sync_at=1))
    claims: list[int] = []

    def fetch(app: App, repository: Repository, mirror: Mirror) -> None:
        assert repository.id == mirror.repository_id
        _, until = error_and_next(scenario)
        claims.append((until or 0) - int(time.time()))
        store.request_sync(app.database, mirror.repository_id)
        monkeypatch.setattr(mirrors, "fetch_changes", lambda *_: claims.append(0))

    monkeypatch.setattr(mirrors, "fetch_changes", fetch)
    assert mirrors.sync_due(app) == 2
    assert 2 * 60 + 600 - 5 < claims[0] <= 2 * 60 + 600
    assert claims[1:] == [0]


@SQLITE
def test_branches_tags_and_notes_are_mirrored(scenario: Scenario) -> None:
    """Other refs, as those of pull requests, are of the service itself and stay when the remote lacks them."""
    app, repository = scenario.app, scenario.repository
    commit = add_commit(app.database, repository, "main")
    names = ("refs/tags/v1", "refs/notes/commits", "refs/pull/1/head")
    with app.database.write() as connection:
        append(connection, repository.id, [(None, RefUpdate(name, "0" * 40, commit)) for name in names], [])
    assert mirrors.mirrored_refs(app, repository) == dict.fromkeys(("refs/heads/main", *names[:2]), commit)


def apply_new_branch(scenario: Scenario) -> None:
    """Update the refs as after a fetch that began before a change of the repository."""
    app, repository = scenario.app, scenario.repository
    (commit,) = mirrors.mirrored_refs(app, repository).values()
    targets = {"refs/heads/main": commit, "refs/heads/new": commit}
    mirrors.apply(app, repository, targets, RemoteRefs(targets, "main"), app.folders.path(repository.id))


@SQLITE
def test_a_mirror_that_is_archived_while_it_is_fetched_is_not_updated(scenario: Scenario) -> None:
    """Its refs stay as they were when it was archived."""
    app, repository = scenario.app, scenario.repository
    add_commit(app.database, repository, "main")
    with app.database.write() as connection:
        connection.execute(update(rows).values(archived_at=1))
    apply_new_branch(scenario)
    assert list(mirrors.mirrored_refs(app, repository)) == ["refs/heads/main"]


@SQLITE
def test_a_mirror_that_is_transferred_while_it_is_fetched_has_events_of_its_new_owner(scenario: Scenario) -> None:
    """The webhooks of the former owner do not receive its commits."""
    app, repository = scenario.app, scenario.repository
    add_commit(app.database, repository, "main")
    with app.database.write() as connection:
        move_to(connection, repository, scenario.writer, scenario.owner, ())
    apply_new_branch(scenario)
    with app.database.read() as connection:
        owners = connection.execute(select(events.c.owner_id).where(events.c.kind == "create")).scalars().all()
    assert owners == [scenario.writer.id]


@pytest.mark.parametrize(
    ("branches", "head", "expected"),
    [
        (("main", "dev", "old"), "dev", "old"),
        (("main", "dev"), "dev", "dev"),
        (("a", "main", "master"), "gone", "main"),
        (("a", "master"), "gone", "master"),
        (("b", "a"), "", "a"),
        (("b", "a\u202e"), "", "b"),
        ((), "dev", "old"),
    ],
)
def test_the_default_branch_stays_as_long_as_it_exists(
    branches: tuple[str, ...], head: str, expected: str
) -> None:
    """Then it is that of the remote, then `main`, `master` or the first by name; a tag is no branch."""
    targets = {f"refs/heads/{name}": "1" for name in branches} | {"refs/tags/dev": "1"}
    assert choose_default_branch(targets, head, "old") == expected


@SQLITE
def test_a_mirror_without_its_repository_is_skipped(scenario: Scenario) -> None:
    """A repository that is deleted during the update is no error."""
    app = scenario.app
    mirror = Mirror(scenario.repository.id + 99, ADDRESS, "", "", 3600, 1, "")
    mirrors.sync(app, mirror)
    assert repositories.find_by_id(app.database, mirror.repository_id) is None
    assert error_and_next(scenario)[0] == ""
