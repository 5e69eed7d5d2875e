"""An organization with a repository, and users with different permissions who are logged in."""

from dataclasses import dataclass

import httpx

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api_clients import ServiceClients

__all__ = ["EVIL", "OrganizationFixture", "guild_in"]

# What a page must never hold as it is.
EVIL = "<script>alert(1)</script>\"'&"


@dataclass(frozen=True)
class OrganizationFixture:
    """Ada's organization with a repository: Ben may read, Cleo write, Dora administer it, and Eve neither."""

    clients: ServiceClients
    api: httpx.Client
    """Ada's, for what comes before."""

    def visit(self, name: str | None) -> httpx.Client:
        """Return a browser client with a session of a user, or without a session."""
        client = self.clients.open("", Accept="text/html")
        if name is not None:
            user = accounts.find_user(self.clients.database, name)
            token = sessions.start_session(self.clients.database, user, days=1)
            client.cookies.set(sessions.COOKIE, token.reveal())
        return client

    def statuses(self, path: str) -> dict[str, int]:
        """Return the status of a page for every user; `-` is an anonymous visitor."""
        names = ("-", "eve", "ben", "cleo", "dora", "ada", "admin")
        return {
            name: self.visit(None if name == "-" else name)
            .get(path)
            .status_code  # each with a browser of their own
            for name in names
        }


def guild_in(clients: ServiceClients) -> OrganizationFixture:
    """Create the organization of Ada, with a private repository."""
    for name in ("ada", "ben", "cleo", "dora", "eve"):
        clients.account(name)
    ada = clients.with_token(accounts.find_user(clients.database, "ada"))
    assert ada.post("/orgs", json={"username": "guild"}).status_code == 201
    ship = {"name": "ship", "auto_init": True, "private": True}
    assert ada.post("/orgs/guild/repos", json=ship).status_code == 201
    for name, mode in (("ben", "read"), ("cleo", "write"), ("dora", "admin")):
        response = ada.put(f"/repos/guild/ship/collaborators/{name}", json={"permission": mode})
        assert response.status_code == 204
    return OrganizationFixture(clients, ada)
