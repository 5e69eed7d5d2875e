"""Resolution of revisions: branches, tags and commit ids."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRevision
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.revisions import open_git, open_latest, resolve_commit
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.scenario import accessed

NONE = "0" * 40


@pytest.fixture
def target(app: App) -> RepositoryAccess:
    """Make a repository with one commit on main."""
    user = find_user(app.database, "admin")
    ship = repositories.create(app, user, user, NewRepository(name="ship"), {"a.txt": b"one\n"})
    return accessed(app, Actor(user), ship)


def add_ref(app: App, target: RepositoryAccess, ref: str, commit: str) -> None:
    """Add a ref."""
    with app.database.write() as connection:
        repository_log.append(connection, target.repository.id, [(None, RefUpdate(ref, NONE, commit))])


def test_every_name_of_a_commit_is_resolved(app: App, target: RepositoryAccess) -> None:
    """An empty name is the default branch, and the id of a commit can be abbreviated."""
    main = resolve_commit(open_git(app, target), target, "")
    add_ref(app, target, "refs/tags/v1", main)
    repo = open_latest(app, target)
    for name in ("main", "refs/heads/main", "v1", "refs/tags/v1", main, main[:10]):
        assert resolve_commit(repo, target, name) == main, name


def test_a_tag_comes_before_a_branch_of_its_name(app: App, target: RepositoryAccess) -> None:
    """The short name is that of the tag, and the full name of the branch resolves to the branch."""
    main = resolve_commit(open_git(app, target), target, "main")
    other = add_commit(app.database, target.repository, "v1")
    add_ref(app, target, "refs/tags/v1", main)
    repo = open_latest(app, target)
    assert other != main
    assert resolve_commit(repo, target, "v1") == main
    assert resolve_commit(repo, target, "refs/heads/v1") == other


@pytest.mark.parametrize("name", ["gone", "refs/heads/gone", "1" * 40, "1" * 8, "--all", "main^{tree}", "a b"])
def test_an_unknown_revision_is_an_error(app: App, target: RepositoryAccess, name: str) -> None:
    """Options of git and expressions for trees are no revisions either."""
    with pytest.raises(NoSuchRevision):
        resolve_commit(open_git(app, target), target, name)


def test_an_empty_repository_has_no_default_branch(app: App) -> None:
    """An empty repository can be opened, but its default branch resolves to no commit."""
    user = find_user(app.database, "admin")
    empty = accessed(app, Actor(user), repositories.create(app, user, user, NewRepository(name="empty")))
    with pytest.raises(NoSuchRevision):
        resolve_commit(open_git(app, empty), empty, "")


def test_the_latest_version_may_be_newer_than_the_target(app: App, target: RepositoryAccess) -> None:
    """A branch that was added after the repository was read is found in the latest version."""
    open_git(app, target)
    added = add_commit(app.database, target.repository, "new")
    assert resolve_commit(open_latest(app, target), target, "new") == added
