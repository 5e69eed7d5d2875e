"""Forks in the database."""

import random
from typing import Any

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.services import forks, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.storage.compaction import GRACE_SECONDS, Compactor
from holdfast.hosting.store import forks as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import make_people


def fork(app: App, person: Account, parent: Repository) -> Repository:
    """Fork a repository."""
    actor = Actor(person)
    return forks.fork(app, actor, RepositoryAccess(parent, repositories.permissions_in(app, actor, parent)))


def test_a_fork_made_during_a_compaction_has_its_packs(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packs that a compaction supersedes are kept for a fork that was created during it."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(
        app, ada, ada, NewRepository(name="ship"), {"a": random.Random(1).randbytes(300_000)}
    )
    # Now its objects are in the object store, under a key that the fork is to share.
    assert app.compactor.collect_garbage(parent.id, retention_seconds=0)
    created_repositories: list[Repository] = []
    record = Compactor._record

    def fork_first(self: Compactor, *arguments: Any) -> bool:
        created_repositories.append(fork(app, bob, parent))
        return record(self, *arguments)

    monkeypatch.setattr(Compactor, "_record", fork_first)
    assert app.compactor.collect_garbage(parent.id, retention_seconds=0)
    app.compactor.delete_superseded(now=2**40 + GRACE_SECONDS)
    branch = refs.branch(app.copies.update(created_repositories[0].id), "main")
    assert branch is not None
    assert read_commit(app.copies.update(created_repositories[0].id), branch.id).message == "Initial commit\n"


def test_forks_of_forks_are_hidden_too(app: App) -> None:
    """Hiding the forks of a repository makes its forks and their forks private, as they have its content."""
    ada, bob, cleo = make_people(app.database, "ada", "bob", "cleo")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"))
    first = fork(app, bob, parent)
    second = fork(app, cleo, first)
    with app.database.write() as connection:
        store.hide_forks(connection, parent)
    hidden = [repository_by_id(app.database, item.id).is_private for item in (parent, first, second)]
    assert hidden == [False, True, True]


def test_a_fork_is_found_by_its_owner(app: App) -> None:
    """The fork of a repository is found for its owner, and none is found for another user."""
    ada, bob = make_people(app.database, "ada", "bob")
    parent = repositories.create(app, ada, ada, NewRepository(name="ship"))
    fork(app, bob, parent)
    with app.database.read() as connection:
        assert store.find_fork(connection, parent, bob) == "ship"
        assert store.find_fork(connection, parent, ada) is None
