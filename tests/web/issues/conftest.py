"""A harbour with people in it: who owns it, who may write, who may only read, and who is not known."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from holdfast.hosting.store import issues, sessions
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue, NewIssue
from holdfast.hosting.store.repositories import Repository
from tests.conftest import Service
from tests.hosting.api_clients import ServiceClients, open_clients
from tests.hosting.repository_helpers import WRITE, let_in, make_people, make_repository

__all__ = ["AT", "IssueSite"]

AT = "/ada/ship"


@dataclass(frozen=True)
class IssueSite:
    """Ada's public repository and her private one, and everybody who comes by."""

    clients: ServiceClients
    people: dict[str, Account]
    ship: Repository
    secret: Repository

    def browser(self, name: str | None = None) -> httpx.Client:
        """Open a browser that somebody is logged in with."""
        created = self.clients.open("", Accept="text/html")
        if name is not None:
            session = sessions.start_session(self.clients.database, self.people[name], days=1)
            created.cookies.set(sessions.COOKIE, session.reveal())
        return created

    def issue(self, title: str, body: str = "", *, secret: bool = False, author: str = "ada") -> Issue:
        """Open an issue."""
        place = self.secret if secret else self.ship
        wanted = NewIssue(title=title, body=body)
        return issues.open_issue(self.clients.database, place, self.people[author], wanted)


@pytest.fixture
def clients(service: Service) -> Iterator[ServiceClients]:
    """Run a service."""
    yield from open_clients(service)


@pytest.fixture
def harbour(clients: ServiceClients) -> IssueSite:
    """Create the users and the repositories."""
    names = ("ada", "bob", "eve")
    people = dict(zip(names, make_people(clients.database, *names), strict=True))
    ship = make_repository(clients.database, people["ada"])
    let_in(clients.database, ship, people["bob"], WRITE)
    return IssueSite(
        clients, people, ship, make_repository(clients.database, people["ada"], "secret", is_private=True)
    )
