"""The ref log, and restoring branches from it."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import AccessDenied, NoSuchLogEntry, NoSuchObject, PushRefused
from holdfast.hosting.services import branches, ref_log, repositories
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.repositories import NewRepository, permissions_in
from holdfast.hosting.store import accounts, protections
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.secret import Secret
from tests.hosting.services.commit_helpers import commit_request, file_change


@pytest.fixture
def actor(app: App) -> Actor:
    """Return the administrator."""
    return Actor(accounts.find_user(app.database, "admin"))


@pytest.fixture
def target(app: App, actor: Actor) -> RepositoryAccess:
    """Make a repository with one commit."""
    assert actor.user is not None
    repository = repositories.create(app, actor.user, actor.user, NewRepository(name="boats"), {"a": b"a"})
    return access_to(app, actor, repository)


def access_to(app: App, actor: Actor, repository: store.Repository) -> RepositoryAccess:
    """Return what an actor may do in a repository as it is now."""
    found_repository = store.repository_by_id(app.database, repository.id)
    return RepositoryAccess(found_repository, permissions_in(app, actor, found_repository))


def commit(app: App, target: RepositoryAccess) -> str:
    """Commit a file to the default branch, and return the commit."""
    return commit_files(app, commit_request(app, target.repository, file_change("b", b"b"))).commit.id


def test_the_ref_log_lists_every_update_newest_first(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Each entry has the kind of the update, its actor, and the old and new commit.

    The log can be limited to one ref.
    """
    first = ref_log.list_entries(app, target)[0][0].update.new
    second = commit(app, target)
    target = access_to(app, actor, target.repository)
    branches.create(app, actor, target, "topic", first)
    target = access_to(app, actor, target.repository)
    branches.delete(app, actor, target, "topic")
    target = access_to(app, actor, target.repository)
    entries, total = ref_log.list_entries(app, target)
    assert total == 4
    assert [(entry.kind, entry.update.ref) for entry in entries] == [
        ("delete", "refs/heads/topic"),
        ("create", "refs/heads/topic"),
        ("update", "refs/heads/main"),
        ("create", "refs/heads/main"),
    ]
    assert [entry.version for entry in entries] == sorted((entry.version for entry in entries), reverse=True)
    assert entries[0].update.old == first
    assert entries[2].update.new == second
    assert {entry.actor.name for entry in entries if entry.actor} == {"admin"}
    assert [entry.is_restorable for entry in entries] == [True, False, True, False]
    of_topic, count = ref_log.list_entries(app, target, ref="refs/heads/topic", skip=1, limit=5)
    assert (count, [entry.kind for entry in of_topic]) == (2, ["create"])


def test_a_deleted_branch_is_restored(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """A deleted branch is restored to its last commit, and the restoration is an entry of the log."""
    first = ref_log.list_entries(app, target)[0][0].update.new
    branches.create(app, actor, target, "topic", first)
    target = access_to(app, actor, target.repository)
    branches.delete(app, actor, target, "topic")
    target = access_to(app, actor, target.repository)
    deleted = ref_log.list_entries(app, target)[0][0]
    restored = ref_log.restore(app, actor, target, deleted.version)
    assert (restored.ref, restored.new, restored.creates) == ("refs/heads/topic", first, True)
    target = access_to(app, actor, target.repository)
    assert branches.find(app.copies.open(target.repository), target, "topic").id == first
    assert ref_log.list_entries(app, target)[0][0].kind == "create"


def test_a_branch_is_set_back_after_garbage_collection(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Within the retention time garbage collection keeps the commits that the log names.

    After it the entry cannot be restored.
    """
    first = ref_log.list_entries(app, target)[0][0].update.new
    second = commit(app, target)
    target = access_to(app, actor, target.repository)
    newest = ref_log.list_entries(app, target)[0][0]
    ref_log.restore(app, actor, target, newest.version)
    target = access_to(app, actor, target.repository)
    forced = ref_log.list_entries(app, target)[0][0]
    assert (forced.kind, forced.update.old, forced.update.new) == ("force-update", second, first)
    assert app.compactor.collect_garbage(target.repository.id, retention_seconds=3600)
    app.copies.discard(target.repository.id)
    ref_log.restore(app, actor, target, forced.version)
    target = access_to(app, actor, target.repository)
    assert branches.find(app.copies.open(target.repository), target, "main").id == second
    ref_log.restore(app, actor, target, newest.version)
    target = access_to(app, actor, target.repository)
    assert app.compactor.collect_garbage(target.repository.id, retention_seconds=-3600)
    app.copies.discard(target.repository.id)
    with pytest.raises(NoSuchObject, match="is not kept any more"):
        ref_log.restore(app, actor, target, forced.version)
    assert not ref_log.list_entries(app, target)[0][0].is_restorable


def test_an_invalid_restore_is_refused(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Unknown entries, creations, protected branches and users without write access are refused."""
    with pytest.raises(NoSuchLogEntry):
        ref_log.restore(app, actor, target, 1000)
    with pytest.raises(NoSuchLogEntry):
        ref_log.restore(app, actor, target, ref_log.list_entries(app, target)[0][0].version)
    commit(app, target)
    target = access_to(app, actor, target.repository)
    version = ref_log.list_entries(app, target)[0][0].version
    protections.create_protection(app.database, target.repository, "main", ProtectionRule())
    with pytest.raises(PushRefused):
        ref_log.restore(app, actor, target, version)
    accounts.create_user(app.database, "reader", Secret("a-password-for-tests"))
    reader = Actor(accounts.find_user(app.database, "reader"))
    with pytest.raises(AccessDenied):
        ref_log.restore(app, reader, access_to(app, reader, target.repository), version)
