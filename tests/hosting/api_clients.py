"""People for a play: who tries what and gets what. Each is a client of the API that checks every answer."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx

from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.conftest import Service
from tests.hosting.openapi_contract import check_answer
from tests.tls import PLAIN

__all__ = ["PASSWORD", "ServiceClients", "open_world"]

PASSWORD = "a-password-for-tests"
# A busy machine is no failure.
SECONDS = 60


class ServiceClients:
    """A running service, and clients for everybody who takes part."""

    def __init__(self, service: Service, stack: ExitStack) -> None:
        self.service = service
        self.database = service.database
        self._stack = stack
        self.anonymous = self.client()
        self.admin = self.holding(accounts.find_user(self.database, "admin"))

    def client(self, **headers: str) -> httpx.Client:
        """Make a client of the API; its paths begin below `/api/v1`."""
        hooks = {"response": [check_answer]}
        made = httpx.Client(
            base_url=f"{self.service.url}/api/v1",
            headers=headers,
            event_hooks=hooks,
            timeout=SECONDS,
            verify=PLAIN,
        )
        return self._stack.enter_context(made)

    def open(self, path: str, name: str | None = None, **headers: str) -> httpx.Client:
        """Make a client below any address of the service, with somebody's password."""
        auth = None if name is None else (name, PASSWORD)
        made = httpx.Client(
            base_url=f"{self.service.url}{path}", auth=auth, headers=headers, timeout=SECONDS, verify=PLAIN
        )
        return self._stack.enter_context(made)

    def holding(self, account: Account, *scopes: str) -> httpx.Client:
        """Make a client with a new token of somebody's; all scopes unless some are named."""
        name = f"token {len(tokens.tokens_of(self.database, account, skip=0, limit=1000)[0])}"
        _, value = tokens.create_token(self.database, account, name, scopes or ("all",))
        return self.client(Authorization=f"token {value.reveal()}")

    def account(self, name: str, **columns: str | bool) -> Account:
        """Make somebody."""
        return accounts.create_user(self.database, name, Secret(PASSWORD), email=f"{name}@example.org", **columns)  # type: ignore[arg-type]

    def user(self, name: str, **columns: str | bool) -> httpx.Client:
        """Make somebody, and their client."""
        return self.holding(self.account(name, **columns))


def open_world(service: Service) -> Iterator[ServiceClients]:
    """Open a world, and close its clients afterwards."""
    with ExitStack() as stack:
        yield ServiceClients(service, stack)
