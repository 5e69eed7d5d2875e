"""Counts of contributors, in the request or in the background."""

import pytest

from holdfast.hosting.access import NOTHING, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, GitDamaged
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.git.contributors import ContributorList
from holdfast.hosting.services import contributors, repositories
from holdfast.hosting.services.repositories import NewRepository, initial_commit
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import make_people

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


def make(app: App, name: str = "ship") -> Repository:
    """Make a repository with one commit whose contributors are not counted yet."""
    (ada,) = make_people(app.database, f"ada-{name}")
    repository = repositories.create(app, ada, ada, NewRepository(name=name), {"a.py": b"x"})
    app.pushed.clear()
    return repository_by_id(app.database, repository.id)


def push(app: App, repository: Repository, name: str) -> None:
    """Replace the default branch by a commit of another author."""
    commit, pack = initial_commit({"a.py": b"y"}, Signature(name, f"{name}@example.org", 1))
    old = repository_log.find_ref(app.database, repository.id, "refs/heads/main")
    with app.database.write() as connection:
        repository_log.append(
            connection, repository.id, [(None, RefUpdate("refs/heads/main", old or "", commit))], [pack]
        )


def list_contributors(app: App, repository: Repository) -> list[str]:
    """Return the names of the listed contributors."""
    now = repository_by_id(app.database, repository.id)
    target = RepositoryAccess(now, repositories.permissions_in(app, Actor(now.owner), now))
    repo = app.copies.open(now)
    head = refs.resolve(repo, "", now.default_branch)
    assert head is not None
    contributor_list = contributors.list_contributors(app, target, repo, head.commit)
    return [item.name for item in contributor_list.first]


def test_a_short_history_is_counted_at_once(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contributors of a short history are counted in the request, once for each push."""
    ship = make(app)
    assert list_contributors(app, ship) == ["ada-ship"]
    push(app, ship, "eve")
    assert list_contributors(app, ship) == ["eve"]
    monkeypatch.setattr(contributors, "count_contributors", None)
    assert list_contributors(app, ship) == ["eve"]
    assert app.pushed == set()


def test_a_long_history_is_counted_in_the_background(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for the contributors of a long history queues the count and returns the previous result.

    A repository that nobody asked for is not counted.
    """
    monkeypatch.setattr(contributors, "SHORT_HISTORY", 0)
    ship = make(app)
    contributors.count(app, ship.id)
    assert app.contributors == {}
    assert (list_contributors(app, ship), app.pushed) == ([], {ship.id})
    contributors.count(app, ship.id)
    app.pushed.clear()
    assert (list_contributors(app, ship), app.pushed) == (["ada-ship"], set())
    push(app, ship, "eve")
    assert (list_contributors(app, ship), app.pushed) == (["ada-ship"], {ship.id})
    contributors.count(app, ship.id)
    assert list_contributors(app, ship) == ["eve"]
    monkeypatch.setattr(contributors, "count_contributors", None)
    contributors.count(app, ship.id)


def test_repositories_that_cannot_be_counted_are_skipped(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that git cannot read has no contributors, and a deleted repository is no error."""
    monkeypatch.setattr(contributors, "SHORT_HISTORY", 0)
    ship = make(app)
    list_contributors(app, ship)

    def fail(*_: object) -> ContributorList:
        raise GitDamaged("shortlog failed")

    with monkeypatch.context() as patch:
        patch.setattr(contributors, "count_contributors", fail)
        contributors.count(app, ship.id)
    assert list_contributors(app, ship) == []
    repositories.delete(app, Actor(ship.owner), repository_access(app, ship))
    contributors.count(app, ship.id)


def repository_access(app: App, repository: Repository) -> RepositoryAccess:
    """Return a repository as its owner sees it."""
    return RepositoryAccess(repository, repositories.permissions_in(app, Actor(repository.owner), repository))


def test_the_size_of_the_cache_is_limited(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository that was requested first is evicted from the cache."""
    monkeypatch.setattr(contributors, "MOST_REPOSITORIES", 2)
    created_repositories = [make(app, name) for name in ("one", "two", "three")]
    for repository in created_repositories:
        list_contributors(app, repository)
    assert list(app.contributors) == [created_repositories[1].id, created_repositories[2].id]


def test_contributors_require_read_access_to_code(app: App) -> None:
    """An actor without access to the code is refused."""
    ship = make(app)
    with pytest.raises(Forbidden):
        contributors.list_contributors(app, RepositoryAccess(ship, NOTHING), app.copies.open(ship), "0" * 40)
