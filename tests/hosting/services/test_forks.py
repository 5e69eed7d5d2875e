"""Forks: concurrent creation, and the login and the parent they require."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import ForkExists, LoginRequired, NotAFork
from holdfast.hosting.services import forks, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import make_people


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
