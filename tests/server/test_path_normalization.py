"""Repeated slashes in the path of a request."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import Service
from tests.hosting.api_clients import ServiceClients, open_clients
from tests.hosting.git_client import Git

# What happens before any database is asked.
pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def clients(service: Service) -> Iterator[ServiceClients]:
    """Run a service in which Ada has a repository with a file in a folder."""
    for clients in open_clients(service):
        ada = clients.user("ada")
        assert ada.post("/user/repos", json={"name": "ship", "auto_init": True}).status_code == 201
        written(ada, "docs/plan.txt", "on main")
        yield clients


def written(client: httpx.Client, path: str, text: str, **body: str) -> None:
    """Write a file."""
    content = b64encode(text.encode()).decode()
    response = client.post(f"/repos/ada/ship/contents/{path}", json={"content": content, **body})
    assert response.status_code == 201, response.text


def get(clients: ServiceClients, path: str, **headers: str) -> httpx.Response:
    """Send a request whose path the client leaves as it is."""
    request = httpx.Request("GET", clients.service.url, headers=headers)
    request.url = request.url.copy_with(raw_path=path.encode())
    with httpx.Client(timeout=60) as client:
        return client.send(request)


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/version",
        "/api//v1/version",
        "/api/v1//version",
        "////api////v1////version////",
        "//healthz",
        "//swagger.v1.json",
        "//api//docs",
        "//login",
        "//",
        "//ada//ship",
        "/ada/ship//src//branch//main//docs//plan.txt",
        "//ada/ship/raw/branch/main//docs/plan.txt",
        "//ada/ship.git//info/refs?service=git-upload-pack",
        "//ada/ship.git/info//lfs/locks",
        "/api/v1//repos/ada/ship//contents//docs//plan.txt",
        "/api/v1/repos/ada/ship/git//trees/main",
    ],
)
def test_repeated_slashes_count_as_one(clients: ServiceClients, path: str) -> None:
    """Repeated slashes are ignored in paths of the API, git, LFS, the pages and the fixed endpoints."""
    response, single = get(clients, path), get(clients, re.sub("/+", "/", path))
    assert response.status_code == 200
    assert response.content == single.content


def test_urls_in_responses_have_single_slashes(clients: ServiceClients) -> None:
    """The link to the next page has the normalized path."""
    for number in range(3):
        clients.admin.post("/admin/users/ada/repos", json={"name": f"boat-{number}"})
    link = get(clients, "//api/v1//users/ada/repos?limit=2").headers["link"]
    assert f"<{clients.service.url}/api/v1/users/ada/repos?limit=2&page=2>" in link


def test_a_query_is_not_changed(clients: ServiceClients) -> None:
    """Repeated slashes in the query string are kept."""
    response = get(clients, "/api/v1//repos/ada/ship/contents?ref=feature//x")
    assert response.status_code == 404
    assert "feature//x" in response.json()["message"]


@pytest.mark.parametrize(
    "path", ["feature//x/docs/plan.txt", "feature%2F%2Fx/docs/plan.txt", "/feature/x//docs/plan.txt"]
)
@pytest.mark.parametrize("below", ["/api/v1/repos/ada/ship/raw/", "/ada/ship/raw/branch/"])
def test_a_doubled_slash_never_names_another_file(clients: ServiceClients, below: str, path: str) -> None:
    """A branch whose name has a slash is found before a folder of the same name on the default branch."""
    ada = clients.admin
    written(ada, "feature/x/docs/plan.txt", "a folder on main")
    branch = {"new_branch_name": "feature/x", "old_ref_name": "main"}
    assert ada.post("/repos/ada/ship/branches", json=branch).status_code == 201
    written(ada, "docs/only.txt", "x", branch="feature/x")
    response = get(clients, f"{below}{path.replace('plan', 'only')}")
    assert (response.status_code, response.text) == (200, "x")
    assert get(clients, below + path).text == "on main"


def test_an_escaped_slash_stays_in_its_segment(clients: ServiceClients) -> None:
    """An escaped slash does not separate segments, so that such a path gets 404."""
    assert get(clients, "/api/v1/repos/ada%2Fship").status_code == 404
    assert get(clients, "/%2Fapi/v1/version").status_code == 404


def test_git_and_lfs_work_with_a_doubled_slash(clients: ServiceClients, tmp_path: Path) -> None:
    """A clone, a push, and the upload and download of an LFS object work with a URL that has doubled slashes."""
    git = Git(tmp_path / "work")
    token = clients.admin.headers["authorization"].removeprefix("token ")
    address = clients.service.url.replace("://", f"://admin:{token}@") + "//ada//ship.git"
    git("clone", "-q", address, ".")
    git.commit("docs/new.txt", "new")
    git("push", "-q")
    assert get(clients, "/ada/ship/raw/branch/main/docs/new.txt").text == "new"
    path = f"//ada//ship.git//info//lfs//objects//{hashlib.sha256(b'large').hexdigest()}"
    with httpx.Client(base_url=clients.service.url, auth=("admin", token)) as lfs:
        assert lfs.put(f"{clients.service.url}{path}//5", content=b"large").status_code == 200
        assert lfs.get(f"{clients.service.url}{path}").content == b"large"
