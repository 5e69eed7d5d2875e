"""Fixtures of the client tests: a service with an administrator, and users with git."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.hosting.store import accounts, tokens
from tests.compat.clients.people import Person
from tests.compat.clients.runtimes import run
from tests.conftest import ADMIN_PASSWORD, Service


@dataclass(frozen=True)
class Site:
    """The URL of the service and the credentials of its administrator."""

    service: Service
    token: str
    folder: Path

    def run(self, command: list[str]) -> str:
        """Run a client's flow as the administrator."""
        return run([*command, self.service.url, "admin", ADMIN_PASSWORD, self.token], folder=self.folder)


@pytest.fixture
def site(service: Service, tmp_path: Path) -> Site:
    """Run a service, and create a token of its administrator."""
    administrator = accounts.find_user(service.database, "admin")
    _, value = tokens.create_token(service.database, administrator, "clients", ("all",))
    folder = tmp_path / "client"
    folder.mkdir()
    return Site(service, value.reveal(), folder)


@pytest.fixture
def person(service: Service, tmp_path: Path) -> Iterator[Callable[[str], Person]]:
    """Return a function that creates a user with a git client of their own."""
    with ExitStack() as stack:

        def make(name: str) -> Person:
            created_person = Person(service, tmp_path, name)
            stack.enter_context(created_person.api)
            return created_person

        yield make
