"""The endpoint that returns the contents of several files."""

import base64
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from holdfast.hosting.api import file_contents
from holdfast.hosting.store import repositories
from tests.conftest import run_service
from tests.hosting.api.file_helpers import make_files, shape_of
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git
from tests.hosting.repository_helpers import READ, WRITE, let_in
from tests.tls import PLAIN

AT = "/repos/ada/Notes/file-contents"


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository that the tests read."""
    return make_files(clients, tmp_path)


def fetch(clients: ServiceClients, files: list[Any], **query: str) -> list[Any]:
    """Request files by GET and by POST, which must return the same."""
    got = clients.anonymous.get(AT, params={"body": json.dumps({"files": files}), **query})
    sent = clients.admin.post(AT, params=query, json={"files": files})
    assert (got.status_code, sent.status_code) == (200, 200)
    assert got.json() == sent.json()
    results: list[Any] = got.json()
    return results


def test_files_come_in_the_order_asked_for(clients: ServiceClients, git: Git) -> None:
    """Files are returned with content, and null for paths that are missing or invalid."""
    result = fetch(clients, ["run", "nothing", "README.md", ".git/config", "a/../run", "run/x", "."])
    assert [item and item["path"] for item in result] == ["run", None, "README.md", None, "run", None, None]
    assert result[2] == shape_of(
        clients,
        git,
        "README.md",
        last_commit_sha=git("rev-parse", "v1.0"),
        last_committer_date="2024-05-06T07:08:09+02:00",
        last_author_date="2024-05-06T07:08:09+02:00",
        encoding="base64",
        content=base64.b64encode(b"# Notes\n").decode(),
    )


def test_directories_have_no_content(clients: ServiceClients, git: Git) -> None:
    """A directory has no content, and the root has an empty name and path."""
    directory, root = fetch(clients, ["dir", ""])
    assert (directory["type"], directory["content"], directory["encoding"]) == ("dir", None, None)
    assert (root["name"], root["path"], root["type"]) == ("", "", "dir")
    assert root["last_commit_sha"] == git("rev-parse", "main")


def test_files_are_read_at_a_ref(clients: ServiceClients, git: Git) -> None:
    """Files are read at the ref of the query, and an unknown ref is not found."""
    (result,) = fetch(clients, ["dir/sub/file.txt"], ref="feature/x")
    assert base64.b64decode(result["content"]) == b"deep\n"
    assert result["url"].endswith("?ref=feature%2Fx")
    assert clients.admin.post(AT, params={"ref": "no"}, json={"files": ["a"]}).status_code == 404


def test_at_most_thirty_come_at_once(clients: ServiceClients, git: Git) -> None:
    """A response has at most thirty entries, and missing files count."""
    assert len(fetch(clients, ["run", "no"] * 20)) == 30


def test_the_total_size_is_limited(clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are returned until their total size reaches the limit."""
    monkeypatch.setattr(file_contents, "MOST_BYTES", 28)
    assert [item["path"] for item in fetch(clients, ["README.md", "run", "README.md"])] == ["README.md", "run"]
    monkeypatch.setattr(file_contents, "MOST_BYTES", 27)
    assert [item["path"] for item in fetch(clients, ["README.md", "run", "README.md"])] == ["README.md"]


def test_an_invalid_body_is_refused(clients: ServiceClients, git: Git) -> None:
    """The query parameter `body` must be a JSON object whose `files` are a list of texts."""
    bodies = [None, "", "nonsense", "[]", '{"files": 1}', '{"files": [1]}', '{"files": ["a"]']
    for body in bodies:
        response = clients.anonymous.get(AT, params={} if body is None else {"body": body})
        assert response.status_code == 400
        assert response.json()["message"] == "invalid body parameter"


def test_an_empty_request_returns_an_empty_list(clients: ServiceClients, git: Git) -> None:
    """GET without files returns an empty list; POST without files is refused."""
    for body in ("{}", "null", '{"files": null}', '{"files": []}', '{"other": 1}'):
        response = clients.anonymous.get(AT, params={"body": body})
        assert (response.status_code, response.json()) == (200, [])
    for sent in ("{}", '{"files": []}', '{"files": null}', ""):
        response = clients.admin.post(AT, content=sent, headers={"Content-Type": "application/json"})
        assert (response.status_code, response.json()["message"]) == (422, "[Files]: Required")


def test_a_path_with_a_nul_is_not_found(clients: ServiceClients, git: Git) -> None:
    """A path with a NUL character is null in a GET response, and refused in a POST body."""
    assert clients.anonymous.get(AT, params={"body": '{"files": ["a\\u0000b"]}'}).json() == [None]
    assert clients.admin.post(AT, json={"files": ["a\0b"]}).status_code == 422


def test_posting_requires_write_access(clients: ServiceClients, git: Git) -> None:
    """POST requires write access although it only reads; GET does not."""
    guest, helper = clients.account("guest"), clients.account("helper")
    repository = repositories.find_repository(clients.database, "ada", "Notes")
    let_in(clients.database, repository, guest, READ)
    let_in(clients.database, repository, helper, WRITE)
    response = clients.anonymous.post(AT, json={"files": ["run"]})
    assert (response.status_code, response.json()["message"]) == (401, "token is required")
    response = clients.with_token(guest).post(AT, json={"files": ["run"]})
    assert response.status_code == 403
    assert response.json()["message"] == "user should have a permission to write to a repo"
    assert clients.with_token(guest).post(AT, json={}).status_code == 403
    assert clients.with_token(helper).post(AT, json={"files": ["run"]}).status_code == 200
    assert clients.with_token(helper, "read:repository").post(AT, json={"files": ["run"]}).status_code == 403
    assert clients.with_token(guest).get(AT, params={"body": "{}"}).status_code == 200


def test_an_empty_repository_has_no_files(clients: ServiceClients) -> None:
    """Files of an empty repository are not found, because its default branch does not exist."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    assert clients.anonymous.get(AT, params={"body": '{"files": ["a"]}'}).status_code == 404


def test_a_setting_lets_readers_post(clients: ServiceClients, git: Git) -> None:
    """If the setting permits it, readers may use POST; anonymous clients still get 401."""
    relaxed = msgspec.structs.replace(clients.service.settings, posted_reads_need_write=False)
    guest = clients.user("guest")
    assert guest.post(AT, json={"files": ["run"]}).status_code == 403
    for other in run_service(relaxed, clients.database):
        at = f"{other.url}/api/v1{AT}"
        response = httpx.post(at, json={"files": ["run"]}, headers=guest.headers, verify=PLAIN)
        assert (response.status_code, response.json()[0]["path"]) == (200, "run")
        assert httpx.post(at, json={"files": ["run"]}, verify=PLAIN).status_code == 401


def test_a_large_response_is_the_same_as_a_small_one(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is streamed, with the same headers but its length."""
    files = ["run", "nothing", "dir", "link", "large.bin", "lib", "README.md"]
    whole = clients.anonymous.get(AT, params={"body": json.dumps({"files": files})})
    monkeypatch.setattr(file_contents, "IN_MEMORY", 20)
    streamed = clients.anonymous.get(AT, params={"body": json.dumps({"files": files})})
    assert fetch(clients, files) == streamed.json() == whole.json()
    assert "content-length" not in streamed.headers
    for name in ("content-type", "x-total-count", "cache-control", "access-control-expose-headers"):
        assert streamed.headers[name] == whole.headers[name]


@pytest.mark.long
def test_the_contents_of_one_file_at_a_time_are_in_memory(clients: ServiceClients, git: Git) -> None:
    """A response may have 100 MiB, which several requests together would need at once."""
    for number in range(12):
        (git.folder / f"{number}.bin").write_bytes(os.urandom(2**20) * 3)
    git("add", "-A")
    git("commit", "-q", "-m", "large")
    # Random bytes have no deltas, which git would look for until it has compared all files.
    git("-c", "pack.window=0", "push", "-q", "origin", "main")
    body = json.dumps({"files": [f"{number}.bin" for number in range(12)]})
    size = 0
    tracemalloc.start()
    try:
        with (
            clients.service.client() as client,
            client.stream("GET", f"/api/v1{AT}", params={"body": body}) as response,
        ):
            for piece in response.iter_raw():
                size += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 12 * 4 * 2**20
    assert peak < 30 * 2**20


def test_a_symbolic_link_with_a_long_target_is_not_read_as_a_whole(clients: ServiceClients, git: Git) -> None:
    """Only the beginning of its target is shown; git stores any content as one."""
    long = git.folder / "long"
    long.write_bytes(b"x" * 12 * 2**20)
    blob = git("hash-object", "-w", "long")
    long.unlink()
    git("update-index", "--add", "--cacheinfo", f"120000,{blob},long")
    git("commit", "-q", "-m", "long")
    git("push", "-q", "origin", "main")
    tracemalloc.start()
    try:
        (entry,) = fetch(clients, ["long"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (entry["type"], entry["target"], entry["size"]) == ("symlink", "x" * 1024, 12 * 2**20)
    assert peak < 8 * 2**20
