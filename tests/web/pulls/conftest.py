"""Fixtures: a repository with a branch to merge, its owner, a writer and a reader."""

import base64
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor

__all__ = ["AT", "PullSite"]

AT = "/ada/tides"
TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@dataclass(frozen=True)
class PullSite:
    """Ada's repository `tides`, in which bob may write, with a branch `fix` that changes a line of `a.txt`."""

    clients: ServiceClients
    api: dict[str, httpx.Client]

    def browser(self, name: str | None = None) -> httpx.Client:
        """Return a browser client with a session of a user, or without a session."""
        return visitor(self.clients, name)

    def put(self, path: str, text: str, branch: str, *, new_branch: str = "", repo: str = "ada/tides") -> None:
        """Commit a file as ada."""
        api = self.api["ada"]
        body: dict[str, Any] = {
            "content": base64.b64encode(text.encode()).decode(),
            "message": f"Write {path}",
            "branch": branch,
        }
        if new_branch:
            body["new_branch"] = new_branch
        found_response = api.get(f"/repos/{repo}/contents/{path}", params={"ref": branch})
        if found_response.status_code == 200:
            response = api.put(
                f"/repos/{repo}/contents/{path}", json={**body, "sha": found_response.json()["sha"]}
            )
        else:
            response = api.post(f"/repos/{repo}/contents/{path}", json=body)
        assert response.status_code in {200, 201}, response.text

    def open_pull(self, **fields: object) -> dict[str, Any]:
        """Open a pull request from `fix` into `main` as ada."""
        body = {"title": "Fix the tide", "head": "fix", "base": "main", "body": "It was *low*.", **fields}
        response = self.api["ada"].post("/repos/ada/tides/pulls", json=body)
        assert response.status_code == 201, response.text
        return dict(response.json())


@pytest.fixture
def site(clients: ServiceClients) -> PullSite:
    """Make the people and the repository."""
    api = {name: clients.with_token(clients.account(name)) for name in ("ada", "bob", "eve")}
    assert api["ada"].post("/user/repos", json={"name": "tides"}).status_code == 201
    permission = {"permission": "write"}
    assert api["ada"].put("/repos/ada/tides/collaborators/bob", json=permission).status_code == 204
    pull_site = PullSite(clients, api)
    pull_site.put("a.txt", TEXT, "main")
    pull_site.put("a.txt", TEXT.replace("line 10\n", "line ten\n"), "main", new_branch="fix")
    return pull_site
