"""A repository with an owner, a writer and a reader, for tests of services."""

from dataclasses import dataclass

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.store import repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_people, make_repository

__all__ = ["Caller", "Scenario", "accessed", "make_scenario"]

Caller = tuple[App, Actor, RepositoryAccess]
"""The first three arguments of a service."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Each actor, and a repository as that actor sees it."""

    app: App
    repository: Repository
    owner: Account
    writer: Account
    reader: Account

    def caller(self, user: Account | None, repository: Repository | None = None) -> Caller:
        """Return the arguments of a service that a user or an anonymous client calls."""
        actor = ANONYMOUS if user is None else Actor(user)
        return self.app, actor, accessed(self.app, actor, repository or self.repository)

    def archived(self) -> Repository:
        """Create an archived repository of the owner."""
        return make_repository(self.app.database, self.owner, "archived", archived_at=1)


def accessed(app: App, actor: Actor, repository: Repository) -> RepositoryAccess:
    """Return a repository and what an actor may do there."""
    user = actor.user
    grants = () if user is None else repositories.grants_of(app.database, user, repository)
    return RepositoryAccess(repository, access.repository_access(actor, repository, grants))


def make_scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    owner, writer, reader = make_people(app.database, "ada", "bob", "eve")
    ship = make_repository(app.database, owner, "ship", is_private=True)
    let_in(app.database, ship, writer, WRITE)
    let_in(app.database, ship, reader, READ)
    return Scenario(app, ship, owner, writer, reader)
