"""`go get` meta tags, which are the same for private and missing repositories."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def site(clients: ServiceClients) -> httpx.Client:
    """Create a public and a private repository of Ada, and return an anonymous client."""
    ada = clients.user("ada")
    for name, is_private in (("ship", False), ("secret", True)):
        ada.post(
            "/user/repos",
            json={"name": name, "private": is_private, "auto_init": True, "default_branch": "trunk"},
        )
    return clients.anonymous


@pytest.mark.parametrize("path", ["ada/ship", "ada/ship/pkg/deep", "ada/ship.git"])
def test_every_path_of_a_repository_names_it(site: httpx.Client, clients: ServiceClients, path: str) -> None:
    """The import path is the host and the repository, and the source is on the default branch."""
    url = clients.service.url
    response = site.get(f"{url}/{path}", params={"go-get": "1"})
    host = url.partition("//")[2]
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert f'<meta name="go-import" content="{host}/ada/ship git {url}/ada/ship.git">' in response.text
    tree = f"{url}/ada/ship/src/branch/trunk"
    assert f'content="{host}/ada/ship _ {tree}{{/dir}} {tree}{{/dir}}/{{file}}#L{{line}}"' in response.text


def test_nothing_tells_private_repositories_from_missing_ones(site: httpx.Client, clients: ServiceClients) -> None:
    """The pages of a private and of a missing repository are the same except for the name."""
    pages = [
        site.get(f"{clients.service.url}/ada/{name}", params={"go-get": "1"}).text.replace(name, "")
        for name in ("secret", "nowhere")
    ]
    assert pages[0] == pages[1]
    assert "trunk" not in pages[0]


def test_other_requests_have_no_import_tag(site: httpx.Client, clients: ServiceClients) -> None:
    """Other queries, methods, paths and the API have no tag, and names are escaped."""
    url = clients.service.url
    for path, query in (("ada/ship", "go-get=0"), ("ada/ship", "x=go-get=1"), ("ada", "go-get=1")):
        assert "go-import" not in site.get(f"{url}/{path}?{query}").text
    assert "go-import" not in site.get("/repos/ada/ship?go-get=1").text
    assert "go-import" not in site.post(f"{url}/ada/ship?go-get=1").text
    hostile = site.get(f'{url}/a"><script>/b?go-get=1').text
    assert "<script>" not in hostile
