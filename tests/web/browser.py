"""People looking at pages: browsers with somebody's session, as tests use them."""

import httpx

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api_clients import ServiceClients

__all__ = ["visitor"]


def visitor(clients: ServiceClients, name: str | None = None) -> httpx.Client:
    """Open a browser of sorts: it asks for pages, and holds somebody's session when a name is given."""
    client = clients.open("", Accept="text/html,*/*")
    if name is not None:
        account = accounts.find_user(clients.database, name)
        client.cookies.set(sessions.COOKIE, sessions.start_session(clients.database, account, days=1).reveal())
    return client
