"""Unknown routes, wrong methods, and endpoints that read an unusual repository."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from holdfast.hosting.git.program import run
from tests.conftest import Service
from tests.hosting.api.odd_repository import FILES, make_odd_repository
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import address


def test_an_unknown_route_is_a_404_of_the_api(service: Service) -> None:
    """The API answers with JSON that names the route, not with a page."""
    with service.client() as client:
        response = client.get("/api/v1/nothing")
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("application/json")
    assert "/api/v1/nothing" in response.json()["message"]


def test_a_wrong_method_is_a_405(service: Service) -> None:
    """A known path with a method that it does not have gives 405."""
    with service.client() as client:
        assert client.post("/api/v1/version").status_code == 405


@pytest.fixture
def odd(clients: ServiceClients, tmp_path: Path) -> dict[str, str]:
    """Push a repository of unusual objects, and return its refs."""
    clients.account("ada")
    response = clients.anonymous.post("/user/repos", json={"name": "odd"}, auth=("ada", PASSWORD))
    assert response.status_code == 201
    source = tmp_path / "source.git"
    run(None, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(source))
    refs = make_odd_repository(source)
    there = address(clients.service.url, "ada", PASSWORD, "ada/odd")
    run(source, "push", "--quiet", "--mirror", there)
    run(None, "clone", "--quiet", "--mirror", there, str(tmp_path / "clone.git"))
    assert run(tmp_path / "clone.git", "for-each-ref") == run(source, "for-each-ref")
    return refs


def addresses(refs: dict[str, str]) -> Iterator[str]:
    """Return the paths of every endpoint and page that reads git, for all files and refs of the repository."""
    chosen = [ref for ref in refs if not ref.startswith(("refs/heads/odd-", "refs/notes/"))]
    names = [quote(ref.split("/", 2)[2].encode(errors="surrogateescape")) for ref in chosen]
    folders = ("", "padded-folder", "new%0Afolder", "empty")
    files = [quote(name) for name in (*FILES, b"padded.txt", b"group-writable.txt", b"run.sh", b"link", b"module")]
    paths = [*folders, *files, *(f"new%0Afolder/{name}" for name in files[:3]), "absent", ".gitmodules"]
    api, page = "/api/v1/repos/ada/odd", "/ada/odd"
    some = ["empty", *names[2:6]]
    for path in paths:
        yield f"{api}/contents/{path}"
        yield f"{api}/contents-ext/{path}?includes=file_content,lfs_metadata,commit_metadata,commit_message"
        yield f"{api}/raw/{path}"
        yield f"{api}/media/{path}"
        yield f"{api}/commits?path={path}&limit=5"
        yield f"{api}/editorconfig/{path}"
        for kind in ("src", "raw", "media", "blame", "commits"):
            yield f"{page}/{kind}/branch/main/{path}"
    for name in names:
        yield f"{api}/branches/{name}"
        yield f"{api}/tags/{name}"
        yield f"{api}/contents?ref={name}"
        yield f"{api}/commits?sha={name}&limit=3"
        yield f"{api}/git/refs/heads/{name}"
        yield f"{api}/git/refs/tags/{name}"
        yield f"{api}/git/commits/{name}"
        yield f"{api}/git/trees/{name}?recursive=1"
        yield f"{page}/src/tag/{name}"
        yield f"{page}/src/branch/{name}"
    for name in some:
        yield f"{api}/archive/{name}.tar.gz"
        yield f"{api}/archive/{name}.zip"
        yield f"{api}/compare/main...{name}"
        yield f"{page}/compare/main...{name}"
        yield f"{page}/commits/branch/{name}"
    for at in {*refs.values()}:
        yield f"{api}/git/commits/{at}"
        yield f"{api}/git/commits/{at}.diff"
        yield f"{api}/git/commits/{at}.patch"
        yield f"{api}/git/trees/{at}?recursive=1"
        yield f"{api}/git/blobs/{at}"
        yield f"{api}/git/tags/{at}"
        yield f"{page}/commit/{at}"
    for rest in ("", "/branches", "/tags", "/git/refs", "/commits", "/contents", "/languages", "/releases"):
        yield f"{api}{rest}"
    for rest in ("", "/branches", "/tags", "/compare", "/issues", "/settings/branches"):
        yield f"{page}{rest}"


def test_every_endpoint_answers_for_an_unusual_repository(clients: ServiceClients, odd: dict[str, str]) -> None:
    """Unusual modes, names, tags, dates and encodings cause no server error."""
    client = clients.open("", "ada")
    results = {address: client.get(address).status_code for address in addresses(odd)}
    assert {address: status for address, status in results.items() if status >= 500} == {}
    assert results["/api/v1/repos/ada/odd/contents/padded.txt"] == 200
    assert results["/api/v1/repos/ada/odd/contents/new%0Afolder"] == 200
    assert results["/ada/odd/src/branch/main/padded-folder"] == 200
    listed = client.get("/api/v1/repos/ada/odd/branches?limit=50").json()
    assert {branch["name"] for branch in listed} >= {"main", "empty", "\N{SNOWMAN}"}
    assert not any("changes" in branch["name"] for branch in listed)
