"""Clients of a running service for tests; each checks responses against the OpenAPI document."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import httpx

from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.conftest import Service
from tests.hosting.openapi_contract import check_response
from tests.tls import PLAIN

__all__ = ["PASSWORD", "ServiceClients", "open_clients"]

PASSWORD = "a-password-for-tests"
# A busy machine is no failure.
SECONDS = 60


class ServiceClients:
    """A running service, and HTTP clients for its users."""

    def __init__(self, service: Service, stack: ExitStack) -> None:
        self.service = service
        self.database = service.database
        self._stack = stack
        self._tokens = Counter[int]()
        self.anonymous = self.client()
        self.admin = self.with_token(accounts.find_user(self.database, "admin"))

    def client(self, **headers: str) -> httpx.Client:
        """Create a client whose base URL is `/api/v1`."""
        hooks = {"response": [check_response]}
        created_client = httpx.Client(
            base_url=f"{self.service.url}/api/v1",
            headers=headers,
            event_hooks=hooks,
            timeout=SECONDS,
            verify=PLAIN,
            trust_env=False,
        )
        return self._stack.enter_context(created_client)

    def open(self, path: str, name: str | None = None, **headers: str) -> httpx.Client:
        """Create a client with any base path and, given a name, a password."""
        auth = None if name is None else (name, PASSWORD)
        client = httpx.Client(
            base_url=f"{self.service.url}{path}",
            auth=auth,
            headers=headers,
            timeout=SECONDS,
            verify=PLAIN,
            trust_env=False,
        )
        return self._stack.enter_context(client)

    def with_token(self, account: Account, *scopes: str) -> httpx.Client:
        """Create a client with a new access token of an account; with all scopes by default."""
        name = f"token {self._tokens[account.id]}"
        self._tokens[account.id] += 1
        _, value = tokens.create_token(self.database, account, name, scopes or ("all",))
        return self.client(Authorization=f"token {value.reveal()}")

    def account(self, name: str, **columns: str | bool) -> Account:
        """Create a user."""
        return accounts.create_user(self.database, name, Secret(PASSWORD), email=f"{name}@example.org", **columns)  # type: ignore[arg-type]  # columns of several types

    def user(self, name: str, **columns: str | bool) -> httpx.Client:
        """Create a user and their client."""
        return self.with_token(self.account(name, **columns))


def open_clients(service: Service) -> Iterator[ServiceClients]:
    """Open clients of a service, and close them afterwards."""
    with ExitStack() as stack:
        yield ServiceClients(service, stack)
