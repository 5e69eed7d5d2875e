"""Collaborators: permissions and validation."""

from collections.abc import Callable

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidValue,
    LoginRequired,
    NoSuchAccount,
    OwnerIsNoCollaborator,
    Permission,
)
from holdfast.hosting.services import collaborators, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_people


@pytest.fixture
def owner(app: App) -> Actor:
    """Return the owner of the repository."""
    return Actor(accounts.find_user(app.database, "admin"))


@pytest.fixture
def repository(app: App, owner: Actor) -> Repository:
    """Create a public repository."""
    assert owner.user is not None
    return repositories.create(app, owner.user, owner.user, NewRepository(name="notes"))


def target_of(app: App, actor: Actor, repository: Repository) -> RepositoryAccess:
    """Return the repository with what an actor may do there."""
    return RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))


def test_only_administrators_of_the_repository_manage_collaborators(
    app: App, owner: Actor, repository: Repository
) -> None:
    """Anonymous users have to log in, and readers and writers may only read their own permission."""
    reader, writer = (Actor(user) for user in make_people(app.database, "rea", "wri"))
    collaborators.add(app, owner, target_of(app, owner, repository), "wri")

    def calls(actor: Actor) -> list[Callable[[], object]]:
        target = target_of(app, actor, repository)
        return [
            lambda: collaborators.list_all(app, actor, target, skip=0, limit=10),
            lambda: collaborators.is_collaborator(app, actor, target, "rea"),
            lambda: collaborators.add(app, actor, target, "rea"),
            lambda: collaborators.remove(app, actor, target, "rea"),
            lambda: collaborators.permission_of(app, actor, target, "admin"),
        ]

    for call in calls(ANONYMOUS):
        with pytest.raises(LoginRequired):
            call()
    for actor in (reader, writer):
        missing = []
        for call in calls(actor):
            with pytest.raises(Forbidden) as excinfo:
                call()
            missing.append(excinfo.value.permission)
        assert missing == [*([Permission.ADMIN] * 4), Permission.OWN_PERMISSION]
    target = target_of(app, reader, repository)
    assert collaborators.permission_of(app, reader, target, "Rea") == (reader.user, Mode.READ)
    assert not collaborators.is_collaborator(app, owner, target_of(app, owner, repository), "rea")


def test_a_collaborator_is_added_changed_and_removed(app: App, owner: Actor, repository: Repository) -> None:
    """A collaborator has write access unless the request names another permission."""
    rea = accounts.create_user(app.database, "rea", Secret("a long password"))
    target = target_of(app, owner, repository)
    for permission, mode in (("", Mode.WRITE), ("read", Mode.READ), ("admin", Mode.ADMIN)):
        collaborators.add(app, owner, target, "REA", permission)
        assert collaborators.permission_of(app, owner, target, "rea") == (rea, mode)
    listed = collaborators.list_all(app, owner, target, skip=0, limit=10)
    assert (listed.accounts, listed.total) == ([rea], 1)
    collaborators.remove(app, owner, target, "rea")
    assert not collaborators.is_collaborator(app, owner, target, "rea")


def test_invalid_collaborators_are_refused(app: App, owner: Actor, repository: Repository) -> None:
    """Unknown users, unknown permissions and the owner of the repository are refused."""
    target = target_of(app, owner, repository)
    with pytest.raises(NoSuchAccount, match="nobody"):
        collaborators.add(app, owner, target, "nobody")
    with pytest.raises(OwnerIsNoCollaborator):
        collaborators.add(app, owner, target, "admin")
    with pytest.raises(InvalidValue, match="Permission"):
        collaborators.add(app, owner, target, "admin", "king")
