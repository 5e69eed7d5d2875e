"""Recently pushed branches that the home page of a repository offers to compare."""

import time

import pytest
from sqlalchemy import update

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import forks, pulls, repositories
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import NewRepository, initial_commit
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import ref_log
from holdfast.hosting.store.tables import repositories as table
from holdfast.web.code.recent_pushes import SECONDS, recent_pushes
from tests.hosting.repository_helpers import make_people
from tests.hosting.services.scenario import accessed


@pytest.fixture
def people(app: App) -> list[Account]:
    """Create the users ada and bob."""
    return make_people(app.database, "ada", "bob")


@pytest.fixture
def ship(app: App, people: list[Account]) -> Repository:
    """Create a repository of Ada with one commit on main."""
    return repositories.create(app, people[0], people[0], NewRepository(name="ship"), {"b": b"b"})


def push(app: App, ship: Repository, user: Account, *branches: str) -> None:
    """Push new branches, each in a push of its own."""
    for number, branch in enumerate(branches):
        commit, pack = initial_commit({branch: b"a"}, Signature("Ada", "ada@example.org", 1 + number))
        created = [(user.id, RefUpdate(f"refs/heads/{branch}", "0" * 40, commit))]
        with app.database.write() as connection:
            repository_log.append(connection, ship.id, created, [pack])


def offered_branches(app: App, ship: Repository, user: Account | None) -> list[str]:
    """Return the branches that are offered to a user or an anonymous visitor."""
    request = RequestContext(app, {"type": "http", "headers": []})
    if user is not None:
        request.actor = Actor(user)
    target: RepositoryAccess = accessed(app, request.actor, repository_by_id(app.database, ship.id))
    return [recent_push.address for recent_push in recent_pushes(request, target, open_latest(app, target))]


def test_a_branch_is_offered_to_the_user_who_pushed_it(app: App, ship: Repository, people: list[Account]) -> None:
    """The branch is offered neither to another user nor to a visitor."""
    ada, bob = people
    push(app, ship, ada, "fix#1")
    assert offered_branches(app, ship, ada) == ["/ada/ship/compare/main...fix%231"]
    assert offered_branches(app, ship, bob) == offered_branches(app, ship, None) == []


def test_a_branch_with_an_open_pull_request_or_without_commits_of_its_own_is_not_offered(
    app: App, ship: Repository, people: list[Account]
) -> None:
    """No pull request could be opened from such a branch."""
    ada = people[0]
    main = repository_log.find_ref(app.database, ship.id, "refs/heads/main")
    assert main is not None
    with app.database.write() as connection:
        same = [(ada.id, RefUpdate("refs/heads/same", "0" * 40, main))]
        repository_log.append(connection, ship.id, same)
    push(app, ship, ada, "fix")
    assert offered_branches(app, ship, ada) == ["/ada/ship/compare/main...fix"]
    pulls.create(app, Actor(ada), accessed(app, Actor(ada), ship), IssueDraft(title="p"), head="fix", base="main")
    assert offered_branches(app, ship, ada) == []


def test_of_several_branches_the_newest_are_offered(app: App, ship: Repository, people: list[Account]) -> None:
    """At most two branches are offered, and none that was pushed too long ago."""
    push(app, ship, people[0], "one", "two", "three")
    assert offered_branches(app, ship, people[0]) == [
        "/ada/ship/compare/main...three",
        "/ada/ship/compare/main...two",
    ]
    with app.database.write() as connection:
        long_ago = int(time.time()) - SECONDS - 60
        connection.execute(update(ref_log).values(created_at=long_ago))
    assert offered_branches(app, ship, people[0]) == []


def test_an_archived_repository_offers_nothing(app: App, ship: Repository, people: list[Account]) -> None:
    """No branch is offered in an archived repository, or in one without pull requests."""
    push(app, ship, people[0], "fix")
    assert offered_branches(app, ship, people[0]) == ["/ada/ship/compare/main...fix"]
    for columns in ({"archived_at": 1}, {"archived_at": 0, "has_pulls": False}):
        with app.database.write() as connection:
            connection.execute(update(table).where(table.c.id == ship.id).values(**columns))
        assert offered_branches(app, ship, people[0]) == []


def test_a_branch_of_a_fork_is_compared_with_its_parent(app: App, ship: Repository, people: list[Account]) -> None:
    """The default branch of a fork is offered too, since many people commit to it."""
    bob = people[1]
    fork = repositories.create(app, bob, bob, NewRepository(name="fork"))
    with app.database.write() as connection:
        connection.execute(update(table).where(table.c.id == fork.id).values(fork_of=ship.id))
    push(app, fork, bob, "main")
    assert offered_branches(app, fork, bob) == ["/ada/ship/compare/main...bob:main"]


def test_a_new_or_updated_fork_offers_nothing(app: App, ship: Repository, people: list[Account]) -> None:
    """Its branches are those of the parent; a commit that is only in the fork is offered."""
    ada, bob = people
    fork = forks.fork(app, Actor(bob), accessed(app, Actor(bob), ship))
    assert offered_branches(app, fork, bob) == []
    for repository, user in ((ship, ada), (fork, bob)):
        push(app, repository, user, "later")
    assert offered_branches(app, fork, bob) == []
    push(app, fork, bob, "mine")
    assert offered_branches(app, fork, bob) == ["/ada/ship/compare/main...bob:mine"]
