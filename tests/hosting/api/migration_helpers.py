"""Helpers for migrations and mirrors: a sample history, its refs, and requests to migrate it."""

from pathlib import Path
from typing import Any

import httpx

from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address

__all__ = ["migrate", "push_sample_history", "remote_refs"]


def push_sample_history(clients: ServiceClients, tmp_path: Path, name: str = "ship") -> Git:
    """Push a history with branches, tags and notes to a repository of Ada's, and return the working copy."""
    work = Git(tmp_path / "work")
    work("init", "--quiet", "--initial-branch=trunk")
    (work.folder / "hull.txt").write_text("wood\n")
    work("add", ".")
    work("commit", "--quiet", "-m", "Hull")
    work("branch", "café")
    work("tag", "light")
    work("tag", "-a", "v1", "-m", "One")
    work("notes", "add", "-m", "noted")
    work("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, f"ada/{name}"))
    work("push", "--quiet", "origin", "refs/heads/*", "refs/tags/*", "refs/notes/*")
    return work


def remote_refs(work: Git, clients: ServiceClients, repository: str, name: str = "ada") -> str:
    """List the refs of a repository as git sees them."""
    return work("ls-remote", address(clients.service.url, name, PASSWORD, repository))


def migrate(client: httpx.Client, clients: ServiceClients, **body: Any) -> httpx.Response:
    """Ask the service to migrate ada/ship from itself, as `copy` unless the body says otherwise."""
    given = {"clone_addr": f"{clients.service.url}/ada/ship.git", "repo_name": "copy", **body}
    return client.post("/repos/migrate", json=given)
