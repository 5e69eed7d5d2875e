"""Fixtures: a public and a private repository of Ada, a writer, a reader, and their browser sessions."""

import re
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

__all__ = ["AT", "HOSTILE_TEXT", "IssueSite", "listed_titles"]

AT = "/ada/ship"
# Markup, a character that reverses the text after it, and a word without a place to break it.
HOSTILE_TEXT = '<script>alert("1")</script> \u202e ' + "unbroken" * 24


@dataclass(frozen=True)
class IssueSite:
    """A public and a private repository of Ada, and the users Bob, who may write, and Eve, who may read."""

    clients: ServiceClients
    people: dict[str, Account]
    ship: Repository
    secret: Repository

    def browser(self, name: str | None = None) -> httpx.Client:
        """Return an HTTP client with the session of a user, or without one."""
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


def listed_titles(response: httpx.Response) -> list[str]:
    """Return the titles in a page's list of issues or pull requests."""
    assert response.status_code == 200, response.text
    return re.findall(r'<a class="title"[^>]*><bdi>(.*?)</bdi>', response.text)


@pytest.fixture
def clients(service: Service) -> Iterator[ServiceClients]:
    """Run a service."""
    yield from open_clients(service)


@pytest.fixture
def site(clients: ServiceClients) -> IssueSite:
    """Create the users and the repositories."""
    names = ("ada", "bob", "eve")
    people = dict(zip(names, make_people(clients.database, *names), strict=True))
    ship = make_repository(clients.database, people["ada"])
    let_in(clients.database, ship, people["bob"], WRITE)
    return IssueSite(
        clients, people, ship, make_repository(clients.database, people["ada"], "secret", is_private=True)
    )
