"""The raw URLs of files."""

from pathlib import Path

import httpx
import pytest

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api.file_helpers import LARGE, OID, POINTER, commit_all, make_files
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.conftest import clients
from tests.hosting.git_client import Git

__all__ = ["clients"]

AT = "/ada/Notes"


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository the tests look at."""
    return make_files(clients, tmp_path)


def test_every_url_in_an_api_response_works(clients: ServiceClients, git: Git) -> None:
    """The URLs of files, directories and commits work for branches, a tag and a commit."""
    site = clients.open("")
    for ref in ("main", "feature/x", "v1.0", git("rev-parse", "v1.0")):
        for path in ("README.md", "dir/100% näme?.txt", "dir/sub/file.txt"):
            result = clients.anonymous.get(
                f"/repos/ada/Notes/contents/{path.replace('%', '%25').replace('?', '%3F')}", params={"ref": ref}
            ).json()
            assert result["type"] == "file", result
            got = site.get(result["download_url"])
            assert (got.status_code, got.headers["etag"]) == (200, f'"{result["sha"]}"')
            assert site.get(result["html_url"]).status_code == 200
        for entry in clients.anonymous.get("/repos/ada/Notes/contents", params={"ref": ref}).json():
            if entry["html_url"]:
                assert site.get(entry["html_url"]).status_code == 200
    commit = clients.anonymous.get("/repos/ada/Notes/commits").json()[0]
    response = site.get(commit["html_url"])
    assert response.status_code == 200
    assert "second" in response.text


def test_content_equals_that_of_the_api(clients: ServiceClients, git: Git) -> None:
    """Content and headers equal those of the API; ranges, HEAD and If-None-Match are supported."""
    site = clients.open("")
    response, other = site.get(f"{AT}/raw/branch/main/run"), clients.anonymous.get("/repos/ada/Notes/raw/run")
    volatile = {"date", "x-request-id", "referrer-policy"}
    assert {k: v for k, v in response.headers.items() if k not in volatile} == {
        k: v for k, v in other.headers.items() if k not in volatile
    }
    assert response.content == other.content
    assert site.get(f"{AT}/raw/tag/v1.0/README.md", headers={"Range": "bytes=2-6"}).content == b"Notes"
    received_response = site.get(f"{AT}/raw/branch/main/run", headers={"If-None-Match": response.headers["etag"]})
    assert received_response.status_code == 304
    assert site.head(f"{AT}/raw/branch/main/run").headers["content-length"] == response.headers["content-length"]


def test_lfs_pointers_are_resolved(clients: ServiceClients, git: Git) -> None:
    """The `media` URL serves the LFS object, and the `raw` URL the pointer."""
    clients.open("/ada/Notes.git/info/lfs", "ada").put(f"/objects/{OID}/{len(LARGE)}", content=LARGE)
    site = clients.open("")
    assert site.get(f"{AT}/media/branch/main/large.bin").content == LARGE
    assert site.get(f"{AT}/raw/branch/main/large.bin").text == POINTER


def test_files_are_inert_and_names_are_escaped(clients: ServiceClients, git: Git) -> None:
    """Names, contents and commit messages are escaped, and pages have a restrictive policy."""
    evil = "<script>alert(1)</script>"
    (git.folder / "<b>.html").write_text(evil)
    commit = commit_all(git, evil)
    git("push", "-q", "origin", "main")
    site = clients.open("")
    for path in ("/src/branch/main/%3Cb%3E.html", "/src/branch/main/", f"/commit/{commit}"):
        response = site.get(AT + path)
        assert response.status_code == 200
        assert evil not in response.text
        assert "<b>" not in response.text
        assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "&lt;script&gt;" in site.get(f"{AT}/src/branch/main/%3Cb%3E.html").text


def test_an_unknown_file_is_not_found(clients: ServiceClients, git: Git) -> None:
    """Unknown refs, paths and commits have status 404, and a page when HTML is accepted."""
    site = clients.open("")
    for path in (
        *("/raw/branch/nowhere/run", "/raw/branch/main/nothing", "/raw/branch/main/dir", "/raw/other/main/run"),
        *("/raw/tag/main/run", "/media/commit/main/run", "/src/branch/nowhere", "/src/branch/main/nothing"),
        *("/src/branch/main/lib", "/commit/nonsense", f"/commit/{'e' * 40}", "/src/branch/main/.git"),
    ):
        assert site.get(AT + path).status_code == 404, path
        response = site.get(AT + path, headers={"Accept": "text/html,*/*"})
        assert response.status_code == 404
        assert "not found" in response.text
    assert site.get("/nobody/nothing/raw/branch/main/a").status_code == 404


def test_a_private_repository_is_for_those_who_may_read_it(clients: ServiceClients, tmp_path: Path) -> None:
    """The owner reads files with a session cookie or a password; visitors and other users get status 404."""
    make_files(clients, tmp_path, private=True)
    stranger = clients.account("stranger")
    paths = ("/raw/branch/main/run", "/media/branch/main/run", "/src/branch/main/run", "/src/branch/main/")
    cookies = {
        name: {sessions.COOKIE: sessions.start_session(clients.database, account, days=1).reveal()}
        for name, account in (("ada", accounts.find_user(clients.database, "ada")), ("stranger", stranger))
    }
    for path in paths:
        address = f"{clients.service.url}{AT}{path}"
        assert httpx.get(address).status_code == 404
        assert httpx.get(address, cookies=cookies["stranger"]).status_code == 404
        assert httpx.get(address, cookies=cookies["ada"]).status_code == 200
        assert httpx.get(address, auth=("ada", PASSWORD)).status_code == 200


def test_a_renamed_repository_is_found_by_its_old_name(clients: ServiceClients, git: Git) -> None:
    """The old URL redirects permanently to the new one."""
    renamed = clients.anonymous.patch("/repos/ada/Notes", json={"name": "Letters"}, auth=("ada", PASSWORD))
    assert renamed.status_code == 200
    response = clients.open("").get(f"{AT}/raw/branch/main/run")
    assert response.status_code == 301
    assert response.headers["location"] == f"{clients.service.url}/ada/Letters/raw/branch/main/run"


def test_the_older_address_of_a_file_is_redirected(clients: ServiceClients, git: Git) -> None:
    """The URL redirects to the one with the kind of the ref, and an unknown ref is not found."""
    site = clients.open("")
    commit = git("rev-parse", "v1.0")
    for ref, kind in (("main", "branch"), ("feature/x", "branch"), ("v1.0", "tag"), (commit, "commit")):
        response = site.get(f"{AT}/raw/{ref}/dir/sub/file.txt")
        assert response.status_code == 303
        assert response.headers["location"] == f"{AT}/raw/{kind}/{ref}/dir/sub/file.txt"
        assert site.get(response.headers["location"]).status_code == 200
    assert site.get(f"{AT}/raw/nowhere/dir/sub/file.txt").status_code == 404


def test_archives_have_addresses_on_the_website(clients: ServiceClients, git: Git) -> None:
    """Archives equal those of the API; an unknown ref has status 404 and an unknown format 400."""
    site = clients.open("")
    for name in ("main.zip", "feature/x.tar.gz", "v1.0.tar.gz", f"{git('rev-parse', 'v1.0')}.zip"):
        response = site.get(f"{AT}/archive/{name}")
        assert (response.status_code, response.content) == (
            200,
            clients.anonymous.get(f"/repos/ada/Notes/archive/{name}").content,
        )
        assert response.headers["content-disposition"].startswith("attachment;")
    assert site.get(f"{AT}/archive/main.bundle").content.startswith(b"# v2 git bundle")
    assert site.get(f"{AT}/archive/nowhere.zip").status_code == 404
    assert site.get(f"{AT}/archive/main.rar").status_code == 400
