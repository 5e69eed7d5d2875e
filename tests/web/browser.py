"""HTTP clients that request pages as browsers do, with or without a session."""

import httpx

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api_clients import ServiceClients

__all__ = ["visitor"]


def visitor(clients: ServiceClients, name: str | None = None) -> httpx.Client:
    """Open a client that requests pages; given a name, it has a session of that user."""
    client = clients.open("", Accept="text/html,*/*")
    if name is not None:
        account = accounts.find_user(clients.database, name)
        client.cookies.set(sessions.COOKIE, sessions.start_session(clients.database, account, days=1).reveal())
    return client
