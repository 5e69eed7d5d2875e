"""Releases: permissions, and transactions of a release and its tag."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs
from sqlalchemy import select, update

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidField,
    LoginRequired,
    NoSuchRelease,
    NoSuchRevision,
    ReleaseTaken,
    RepositoryArchived,
    TagInUse,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import branches, ref_updates, releases, repositories
from holdfast.hosting.services.branches import NewTag
from holdfast.hosting.services.releases import ReleaseEdit
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import releases as store
from holdfast.hosting.store import repositories as stored_repositories
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.releases import ReleaseFields
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import events
from holdfast.hosting.store.tables import releases as releases_table
from tests.hosting.repository_helpers import READ, let_in, make_people
from tests.hosting.services.scenario import Caller, accessed

ONE = ReleaseFields(tag_name="v1")


@pytest.fixture
def ship(app: App) -> Repository:
    """Create a repository with one commit."""
    ada = find_user(app.database, "admin")
    return repositories.create(app, ada, ada, NewRepository(name="ship"), {"a.txt": b"one\n"})


def caller(app: App, actor: Actor, ship: Repository) -> Caller:
    """Return the arguments of a service that an actor calls."""
    return app, actor, accessed(app, actor, ship)


def test_only_those_who_may_write_releases_change_them(app: App, ship: Repository) -> None:
    """The service itself refuses readers, anonymous users and archived repositories.

    Readers do not find drafts, and releases that are disabled cannot be read.
    """
    ada = caller(app, Actor(ship.owner), ship)
    release = releases.create(*ada, ONE)
    draft = releases.create(*ada, ReleaseFields(tag_name="v2", is_draft=True))
    (eve,) = make_people(app.database, "eve")
    let_in(app.database, ship, eve, READ)
    calls: list[Callable[[Caller], object]] = [
        lambda who: releases.create(*who, ReleaseFields(tag_name="v3")),
        lambda who: releases.edit(*who, release, ReleaseEdit(name="x")),
        lambda who: releases.delete(*who, release),
    ]
    archived = structs.replace(ship, archived_at=1)
    for call in calls:
        with pytest.raises(Forbidden):
            call(caller(app, Actor(eve), ship))
        with pytest.raises(LoginRequired):
            call(caller(app, ANONYMOUS, ship))
        with pytest.raises(RepositoryArchived):
            call(caller(app, Actor(ship.owner), archived))
    target = accessed(app, Actor(eve), ship)
    assert releases.find(app, target, release.id) == release
    with pytest.raises(NoSuchRelease):
        releases.find(app, target, draft.id)
    with pytest.raises(NoSuchRelease):
        releases.find_tagged(app, target, "v2")
    off = accessed(app, Actor(ship.owner), structs.replace(ship, has_releases=False))
    with pytest.raises(Forbidden):
        releases.find(app, off, release.id)


def test_a_release_that_fails_creates_no_tag(app: App, ship: Repository) -> None:
    """The tag and the release are one transaction, so a conflicting draft or an unknown target leaves no tag."""
    ada = caller(app, Actor(ship.owner), ship)
    releases.create(*ada, ReleaseFields(tag_name="v1", is_draft=True))
    with pytest.raises(ReleaseTaken):
        releases.create(*ada, ONE, tag_message="annotated")
    with pytest.raises(NoSuchRevision):
        releases.create(*ada, ReleaseFields(tag_name="v2", target="nowhere"))
    repo = open_latest(app, ada[2])
    assert refs.tag(repo, "v1") is None
    assert refs.tag(repo, "v2") is None


def test_of_concurrent_requests_for_one_release_one_succeeds(app: App, ship: Repository) -> None:
    """Of four requests one creates the release, and the others fail with a conflict."""
    ada = caller(app, Actor(ship.owner), ship)

    def attempt(_: int) -> str:
        try:
            releases.create(*ada, ONE)
        except HostingError as error:
            return type(error).__name__
        return "created"

    with ThreadPoolExecutor(4) as pool:
        results = sorted(pool.map(attempt, range(4)))
    assert results.count("created") == 1
    assert set(results) <= {"created", "ReleaseTaken", "RefMoved"}
    now = stored_repositories.repository_by_id(app.database, ship.id)
    assert now.release_count == 1


def test_deleting_a_tag_withdraws_its_release_only(app: App, ship: Repository) -> None:
    """The release of a tag that a push deletes becomes a draft, and other releases stay published."""
    ada = caller(app, Actor(ship.owner), ship)
    for tag in ("v1", "v2"):
        releases.create(*ada, ReleaseFields(tag_name=tag))
    branches.create(*ada, "v2x", "main")
    branches.delete(*ada, "v2x")
    with pytest.raises(TagInUse):
        branches.delete_tag(*ada, "v1")
    ref = branches.find_tag(open_latest(app, ada[2]), "v1")
    deletion = RefUpdate("refs/tags/v1", ref.id, ref_updates.zero_id(ship))
    ref_updates.update_refs(app, ship, ship.owner, [deletion])
    found_releases, _ = store.releases_of(app.database, ship, is_draft=None, is_prerelease=None, skip=0, limit=10)
    assert [(item.tag_name, item.is_draft) for item in found_releases] == [("v2", False), ("v1", True)]


def test_an_imported_release_beyond_the_limits_can_be_edited(app: App, ship: Repository) -> None:
    """Imports have no limits, so what an edit leaves as it is may be longer; a new value may not."""
    ada = caller(app, Actor(ship.owner), ship)
    release = releases.create(*ada, ONE)
    body, name = "x" * (2**20 + 1), "n" * 256
    with app.database.write() as connection:
        connection.execute(update(releases_table).values(body=body, name=name, target="t" * 256))
    imported = releases.find(app, ada[2], release.id)
    edited = releases.edit(*ada, imported, ReleaseEdit(is_prerelease=True, body=body, name=name))
    assert (edited.is_prerelease, edited.body, edited.name) == (True, body, name)
    for changes in (ReleaseEdit(body=body + "x"), ReleaseEdit(name=name + "n"), ReleaseEdit(target="u" * 256)):
        with pytest.raises(InvalidField):
            releases.edit(*ada, imported, changes)


@pytest.mark.parametrize("drafted", [True, False])
def test_a_release_that_is_published_has_its_tag(
    app: App, ship: Repository, monkeypatch: pytest.MonkeyPatch, *, drafted: bool
) -> None:
    """A tag that is deleted after it was found, before the release is written, is created again."""
    ada = caller(app, Actor(ship.owner), ship)
    branches.create_tag(*ada, NewTag(name="v1"))
    draft = releases.create(*ada, ReleaseFields(tag_name="v1", is_draft=True)) if drafted else None
    found = refs.tag

    def find_and_delete(repo: Repo, name: str) -> refs.Ref | None:
        ref = found(repo, name)
        monkeypatch.setattr(refs, "tag", found)
        assert ref is not None
        deletion = RefUpdate(f"refs/tags/{name}", ref.id, ref_updates.zero_id(ship))
        ref_updates.update_refs(app, ship, ship.owner, [deletion])
        return ref

    monkeypatch.setattr(refs, "tag", find_and_delete)
    if draft is None:
        release = releases.create(*ada, ONE)
    else:
        release = releases.edit(*ada, draft, ReleaseEdit(is_draft=False))
    assert not release.is_draft
    assert repository_log.find_ref(app.database, ship.id, "refs/tags/v1") is not None


def test_an_edit_keeps_what_another_request_has_changed(app: App, ship: Repository) -> None:
    """A draft that is published while its notes are edited stays published, and is published once."""
    ada = caller(app, Actor(ship.owner), ship)
    draft = releases.create(*ada, ReleaseFields(tag_name="v1", name="One", is_draft=True))
    assert not releases.edit(*ada, draft, ReleaseEdit(is_draft=False)).is_draft
    edited = releases.edit(*ada, draft, ReleaseEdit(body="Tides"))
    assert (edited.is_draft, edited.name, edited.body) == (False, "One", "Tides")
    again = releases.edit(*ada, draft, ReleaseEdit(is_draft=False, name="Two"))
    assert (again.name, again.body, again.published_at) == ("Two", "Tides", edited.published_at)
    with app.database.read() as connection:
        details = connection.execute(select(events.c.details).where(events.c.kind == "release")).scalars().all()
    assert [json.loads(text)["action"] for text in details] == ["published", "updated", "updated"]


def test_a_release_that_was_deleted_meanwhile_is_not_found(app: App, ship: Repository) -> None:
    """The second of two deletions, and an edit, find no release, and record no event."""
    ada = caller(app, Actor(ship.owner), ship)
    release = releases.create(*ada, ONE)
    releases.delete(*ada, release)
    with pytest.raises(NoSuchRelease):
        releases.delete(*ada, release)
    with pytest.raises(NoSuchRelease):
        releases.edit(*ada, release, ReleaseEdit(name="Two"))
    with app.database.read() as connection:
        kinds = connection.execute(select(events.c.details).where(events.c.kind == "release")).scalars().all()
    assert [json.loads(text)["action"] for text in kinds] == ["published", "deleted"]
