"""Forks: concurrent creation, and the login and the parent they require."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess, WebhookOwner
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    ForkExists,
    InvalidField,
    InvalidValue,
    LoginRequired,
    MergeRefused,
    NoSuchBranch,
    NoSuchRepository,
    NotAFork,
    NotFastForward,
    PushRefused,
    RepositoryReadOnly,
)
from holdfast.hosting.lfs.store import object_key
from holdfast.hosting.services import (
    forks,
    organizations,
    ref_updates,
    repositories,
    transfers,
    users,
    webhooks,
)
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.lfs_objects import GRACE, collect_garbage
from holdfast.hosting.services.organizations import OrganizationEdit
from holdfast.hosting.services.repositories import NewRepository, RepositoryEdit
from holdfast.hosting.services.users import ProfileEdit
from holdfast.hosting.services.webhooks import NewWebhook
from holdfast.hosting.store import deliveries, lfs, protections, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.deliveries import DeliveryFilter
from holdfast.hosting.store.forks import hide_forks_of_owner
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.store.tables import users as accounts
from holdfast.hosting.store.transfers import add_transfer
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_organization, make_people, recorded_events
from tests.hosting.services.commit_helpers import commit_as, commit_request, file_change

LFS = b"*.bin filter=lfs\n"
SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


def seen(app: App, person: Account | None, repository: Repository) -> tuple[App, Actor, RepositoryAccess]:
    """Return the arguments of a service that a user or an anonymous client calls."""
    actor = ANONYMOUS if person is None else Actor(person)
    return app, actor, RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))


def test_two_forks_at_once_are_one(app: App) -> None:
    """Of two concurrent requests of one user with different names, the second finds the fork of the first."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})

    def fork(name: str) -> str:
        try:
            return forks.fork(*seen(app, bob, parent), name=name).name
        except ForkExists as error:
            return error.fork

    with ThreadPoolExecutor(2) as pool:
        names = list(pool.map(fork, ("boat", "canoe")))
    assert len({name.removeprefix("bob/") for name in names}) == 1
    assert repository_by_id(app.database, parent.id).fork_count == 1


def test_a_login_and_a_parent_are_needed(app: App) -> None:
    """An anonymous user cannot fork, and a repository that is no fork cannot be updated from its parent."""
    (ada,) = make_people(app.database, "ada")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    with pytest.raises(LoginRequired):
        forks.fork(*seen(app, None, parent))
    with pytest.raises(NotAFork):
        forks.merge_upstream(*seen(app, ada, parent), "main")


def change(app: App, repository: Repository, **columns: object) -> Repository:
    """Change columns of a repository."""
    with app.database.write() as connection:
        connection.execute(update(table).where(table.c.id == repository.id).values(**columns))
    return repository_by_id(app.database, repository.id)


def commit(app: App, repository: Repository, path: str, content: bytes = b"x") -> str:
    """Commit a file to the default branch."""
    current = repository_by_id(app.database, repository.id)
    return commit_files(app, commit_request(app, current, file_change(path, content))).commit.id


def head(app: App, repository: Repository, branch: str = "main") -> str | None:
    """Return the commit of a branch."""
    return repository_log.find_ref(app.database, repository.id, f"refs/heads/{branch}")


@SQLITE
def test_a_fork_has_what_its_parent_has_but_no_issues(app: App) -> None:
    """It points to the same commits, its events are recorded, and its owner has no second fork."""
    ada, bob = make_people(app.database, "ada", "bob")
    new = NewRepository(name="ship", description="A ship", default_branch="trunk")
    parent = repositories.create(app, ada, ada, new, {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    assert (fork.full_name, fork.description, fork.default_branch) == ("bob/ship", "A ship", "trunk")
    assert (fork.fork_of, fork.is_private, fork.is_empty, fork.has_issues) == (parent.id, False, False, False)
    assert head(app, fork, "trunk") == head(app, parent, "trunk") is not None
    assert repository_by_id(app.database, parent.id).fork_count == 1
    assert [kind for kind, _ in recorded_events(app.database)][-2:] == ["repository", "fork"]
    with pytest.raises(ForkExists) as excinfo:
        forks.fork(*seen(app, bob, parent), name="boat")
    assert excinfo.value.fork == "bob/ship"
    with pytest.raises(InvalidField):
        forks.fork(*seen(app, ada, parent), name="x" * 101)


@SQLITE
def test_a_private_repository_is_forked_by_its_readers_and_stays_private(app: App) -> None:
    """Others do not fork it, and its collaborators have the same access to the fork."""
    ada, bob, eve, mia = make_people(app.database, "ada", "bob", "eve", "mia")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship", is_private=True), {"a": b"a"})
    let_in(app.database, parent, bob, READ)
    let_in(app.database, parent, mia, WRITE)
    with pytest.raises(Forbidden):
        forks.fork(*seen(app, eve, parent))
    fork = forks.fork(*seen(app, bob, parent))
    assert fork.is_private
    modes = {user.name: seen(app, user, fork)[2].permissions.mode for user in (ada, bob, mia, eve)}
    parent_modes = {user.name: seen(app, user, parent)[2].permissions.mode for user in (ada, bob, mia, eve)}
    assert modes["mia"] == parent_modes["mia"] == WRITE
    assert modes["eve"] == 0
    for user, count in ((ada, 1), (bob, 1), (eve, 0), (None, 0)):
        listed = forks.list_forks(app, seen(app, user, fork)[1], seen(app, ada, parent)[2], skip=0, limit=9)
        assert listed.total == count


def test_a_repository_that_became_private_meanwhile_has_no_public_fork(app: App) -> None:
    """The fork of a reader is private, and others get none, although it was public when their request began."""
    ada, bob, eve = make_people(app.database, "ada", "bob", "eve")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    let_in(app.database, parent, bob, READ)
    bobs, eves = seen(app, bob, parent), seen(app, eve, parent)
    repositories.edit(*seen(app, ada, parent), RepositoryEdit(is_private=True))
    assert forks.fork(*bobs).is_private
    with pytest.raises(Forbidden):
        forks.fork(*eves)
    assert repository_by_id(app.database, parent.id).fork_count == 1


def test_a_fork_waits_for_a_change_of_the_visibility_of_its_parents_owner(app: App) -> None:
    """That change hides the forks that exist; one that is created at the same moment is private too."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    let_in(app.database, parent, bob, READ)
    request = seen(app, bob, parent)
    with ThreadPoolExecutor(1) as pool:
        with app.database.write() as connection:
            connection.execute(update(accounts).where(accounts.c.id == ada.id).values(visibility="private"))
            hide_forks_of_owner(connection, ada)
            forked = pool.submit(forks.fork, *request)
            wait([forked], timeout=0.5)
            assert not forked.done()
        assert forked.result().is_private


def test_a_fork_knows_its_branches_if_the_parent_was_pushed_to_meanwhile(app: App) -> None:
    """The number of branches and the default branch are those of the content that is copied."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"))
    request = seen(app, bob, parent)
    commit_as(app, parent, ada, "Begin", branch="trunk")
    fork = forks.fork(*request)
    assert (fork.default_branch, fork.is_empty, fork.branch_count) == ("trunk", False, 1)
    assert head(app, fork, "trunk") is not None


@SQLITE
def become_private(app: App, way: str, owner: Account, organization: Account, repository: Repository) -> None:
    """Hide the owner of a repository, or transfer it to an owner who is hidden."""
    if way == "organization":
        target = organizations.access_in(app, Actor(owner), organization)
        organizations.edit(app, Actor(owner), target, OrganizationEdit(visibility="private"))
    elif way == "user":
        users.edit_profile(app, Actor(owner), ProfileEdit(visibility="private"))
    else:
        hidden = make_organization(app.database, "hidden", owner, visibility="private")
        transfers.start(*seen(app, owner, repository), hidden.name)


@SQLITE
@pytest.mark.parametrize("way", ["organization", "user", "transfer"])
def test_forks_become_private_with_the_owner_of_their_parent(app: App, way: str) -> None:
    """Whatever hides a repository hides its forks and theirs, and no other repository."""
    ada, bob, cid = make_people(app.database, "ada", "bob", "cid")
    crew = make_organization(app.database, "crew", ada)
    parent = repositories.create(app, ada if way == "user" else crew, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    below = forks.fork(*seen(app, cid, fork))
    other = repositories.create(app, bob, bob, NewRepository(name="other"))
    become_private(app, way, ada, crew, parent)
    hidden = [repository_by_id(app.database, number).is_private for number in (fork.id, below.id, other.id)]
    assert hidden == [True, True, False]


@SQLITE
def test_an_accepted_transfer_to_a_hidden_owner_hides_the_forks(app: App) -> None:
    """The forks stay public while the transfer is pending."""
    ada, bob = make_people(app.database, "ada", "bob")
    (eve,) = make_people(app.database, "eve", visibility="private")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    add_transfer(app.database, parent, ada, eve)
    assert not repository_by_id(app.database, fork.id).is_private
    transfers.accept(*seen(app, eve, parent))
    assert repository_by_id(app.database, fork.id).is_private


def test_an_organization_owns_the_forks_of_those_who_may_create_repositories_there(app: App) -> None:
    """Other users are refused, and an organization they cannot see does not exist for them."""
    ada, bob = make_people(app.database, "ada", "bob")
    make_organization(app.database, "fleet", ada)
    make_organization(app.database, "secret", ada, visibility="private")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    with pytest.raises(Forbidden):
        forks.fork(*seen(app, bob, parent), organization="fleet")
    for name in ("secret", "nowhere"):
        with pytest.raises(InvalidValue, match=f"there is no organization {name}"):
            forks.fork(*seen(app, bob, parent), organization=name)
    assert forks.fork(*seen(app, ada, parent), organization="fleet").full_name == "fleet/ship"
    assert forks.fork(*seen(app, ada, parent), organization="secret").owner.name == "secret"
    assert forks.fork(*seen(app, bob, parent)).owner == bob
    hidden = make_organization(app.database, "hidden", ada, visibility="private")
    public = repositories.create(app, hidden, ada, NewRepository(name="boat"), {"a": b"a"})
    assert forks.fork(*seen(app, ada, public)).is_private


@SQLITE
def test_a_branch_is_updated_from_the_parent(app: App) -> None:
    """A fast-forward moves it to the parent's commit; a merge has both parents, and keeps both changes."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    assert forks.merge_upstream(*seen(app, bob, fork), "main") == "up-to-date"
    theirs = commit(app, parent, "oar")
    assert forks.merge_upstream(*seen(app, bob, fork), "main", ff_only=True) == "fast-forward"
    assert head(app, fork) == theirs
    theirs, ours = commit(app, parent, "mast"), commit(app, fork, "sail")
    with pytest.raises(NotFastForward):
        forks.merge_upstream(*seen(app, bob, fork), "main", ff_only=True)
    assert head(app, fork) == ours
    assert forks.merge_upstream(*seen(app, bob, fork), "") == "merge"
    merged = head(app, fork)
    assert merged is not None
    repo = app.copies.open(fork)
    text = repo.read(merged, "commit").decode()
    assert [line[7:] for line in text.splitlines() if line.startswith("parent ")] == [ours, theirs]
    assert text.endswith("\n\nMerge branch 'main' of ada/ship into main\n")
    assert "author bob <" in text
    assert forks.merge_upstream(*seen(app, bob, fork), "main") == "up-to-date"
    commit(app, parent, "oar", b"oak")
    ours = commit(app, fork, "oar", b"ash")
    with pytest.raises(MergeRefused):
        forks.merge_upstream(*seen(app, bob, fork), "main")
    assert head(app, fork) == ours


@SQLITE
def test_an_update_by_a_merge_is_a_push(app: App) -> None:
    """The rules of the branch apply to the merge commit, and webhooks receive it and the commits of the parent."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    commit(app, fork, "sail")
    theirs = commit(app, parent, "mast")
    protections.create_protection(app.database, fork, "main", ProtectionRule(protected_file_patterns="oar"))
    arguments = seen(app, bob, fork)
    hook = webhooks.create(
        app,
        arguments[1],
        WebhookOwner(arguments[2]),
        NewWebhook(type="gitea", url="https://ci.example", content_type="json", is_active=True, events=("push",)),
    )
    with pytest.raises(PushRefused, match="Not allowed to push"):
        forks.merge_upstream(*arguments, "main")
    (rule,) = protections.protections_of(app.database, fork)
    protections.change_protection(
        app.database, fork, rule, ProtectionRule(enable_push=True, protected_file_patterns="oar")
    )
    with capture_logs() as logged:
        assert forks.merge_upstream(*arguments, "main") == "merge"
    assert [event["event"] for event in logged if event["log_level"] == "warning"] == []
    (delivery, *_), _ = deliveries.deliveries_of(app.database, hook.id, DeliveryFilter(), skip=0, limit=9)
    stored_delivery = deliveries.find_delivery(app.database, hook.id, delivery.uuid)
    body = json.loads(deliveries.payload_of(app.database, stored_delivery))
    assert (body["after"], body["total_commits"]) == (head(app, fork), 2)
    assert body["commits"][1]["id"] == theirs
    commit(app, parent, "oar")
    with pytest.raises(PushRefused, match="protected from changing file oar"):
        forks.merge_upstream(*arguments, "main")


@SQLITE
def test_the_default_branch_follows_that_of_the_parent(app: App) -> None:
    """Where the parent has no branch of the name, only the default branch is updated, from that of the parent."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    app.copies.update(fork.id)
    first = head(app, parent)
    assert first is not None
    with app.database.write() as connection:
        repository_log.append(
            connection,
            fork.id,
            [(None, RefUpdate(f"refs/heads/{name}", "0" * 40, first)) for name in ("own", "other")],
            [],
        )
    theirs = commit(app, parent, "oar")
    fork = change(app, fork, default_branch="own")
    assert forks.merge_upstream(*seen(app, bob, fork), "own") == "fast-forward"
    assert (head(app, fork, "own"), head(app, fork)) == (theirs, first)
    for missing in ("other", "nowhere"):
        with pytest.raises(NoSuchBranch):
            forks.merge_upstream(*seen(app, bob, fork), missing)


@SQLITE
def test_only_writers_who_read_the_parent_update_a_fork(app: App) -> None:
    """Readers and anonymous users do not, nobody does in an archive, nor from a parent that became private."""
    ada, bob, eve = make_people(app.database, "ada", "bob", "eve")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(*seen(app, bob, parent))
    before = head(app, fork)
    commit(app, parent, "oar")
    with pytest.raises(LoginRequired):
        forks.merge_upstream(*seen(app, None, fork), "main")
    with pytest.raises(Forbidden):
        forks.merge_upstream(*seen(app, eve, fork), "main")
    archived = change(app, fork, archived_at=1)
    with pytest.raises(RepositoryReadOnly):
        forks.merge_upstream(*seen(app, bob, archived), "main")
    fork = change(app, fork, archived_at=0)
    change(app, parent, is_private=True)
    with pytest.raises(NoSuchRepository):
        forks.merge_upstream(*seen(app, bob, fork), "main")
    assert head(app, fork) == before


def test_an_lfs_object_of_a_parent_that_is_deleted_meanwhile_stays_in_the_fork(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion and a garbage collection may come between reading the links of the parent and the merge."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"), {".gitattributes": LFS})
    fork = forks.fork(*seen(app, bob, parent))
    commit(app, parent, "hull.bin", b"oak")
    path = app.settings.data / object_key(sha256(b"oak").hexdigest())
    os.utime(path, (1, 1))
    with app.database.write() as connection:
        lfs.delete_expired_leases(app.database, connection, now=time.time() + 2 * GRACE)
    update_refs = ref_updates.update_refs

    def delete_then_update(*arguments: Any, **named: Any) -> None:
        repositories.remove(app, parent, ada)
        collect_garbage(app)
        update_refs(*arguments, **named)

    monkeypatch.setattr(ref_updates, "update_refs", delete_then_update)
    assert forks.merge_upstream(*seen(app, bob, fork), "main") == "fast-forward"
    assert lfs.linked_sizes(app.database, fork, [path.name]) == {path.name: 3}
    assert path.read_bytes() == b"oak"
