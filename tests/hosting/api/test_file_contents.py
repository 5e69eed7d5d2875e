"""Many files in one answer."""

import base64
import json
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
def git(world: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository the tests look at."""
    return make_files(world, tmp_path)


def shown(world: ServiceClients, files: list[Any], **query: str) -> list[Any]:
    """Ask for some files in both ways, which must agree."""
    got = world.anonymous.get(AT, params={"body": json.dumps({"files": files}), **query})
    sent = world.admin.post(AT, params=query, json={"files": files})
    assert (got.status_code, sent.status_code) == (200, 200)
    assert got.json() == sent.json()
    found: list[Any] = got.json()
    return found


def test_files_come_in_the_order_asked_for(world: ServiceClients, git: Git) -> None:
    """Whole, and null where that cannot be done."""
    found = shown(world, ["run", "nothing", "README.md", ".git/config", "a/../run", "run/x", "."])
    assert [one and one["path"] for one in found] == ["run", None, "README.md", None, "run", None, None]
    assert found[2] == shape_of(
        world,
        git,
        "README.md",
        last_commit_sha=git("rev-parse", "v1.0"),
        last_committer_date="2024-05-06T07:08:09+02:00",
        last_author_date="2024-05-06T07:08:09+02:00",
        encoding="base64",
        content=base64.b64encode(b"# Notes\n").decode(),
    )


def test_directories_have_no_content(world: ServiceClients, git: Git) -> None:
    """The root has no name either."""
    directory, root = shown(world, ["dir", ""])
    assert (directory["type"], directory["content"], directory["encoding"]) == ("dir", None, None)
    assert (root["name"], root["path"], root["type"]) == ("", "", "dir")
    assert root["last_commit_sha"] == git("rev-parse", "main")


def test_a_ref_is_looked_at(world: ServiceClients, git: Git) -> None:
    """As everywhere."""
    (found,) = shown(world, ["dir/sub/file.txt"], ref="feature/x")
    assert base64.b64decode(found["content"]) == b"deep\n"
    assert found["url"].endswith("?ref=feature%2Fx")
    assert world.admin.post(AT, params={"ref": "no"}, json={"files": ["a"]}).status_code == 404


def test_at_most_thirty_come_at_once(world: ServiceClients, git: Git) -> None:
    """Nulls count; the caller asks again for the rest."""
    assert len(shown(world, ["run", "no"] * 20)) == 30


def test_what_is_too_large_together_is_cut(
    world: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the limit, not beyond."""
    monkeypatch.setattr(file_contents, "MOST_BYTES", 28)
    assert [one["path"] for one in shown(world, ["README.md", "run", "README.md"])] == ["README.md", "run"]
    monkeypatch.setattr(file_contents, "MOST_BYTES", 27)
    assert [one["path"] for one in shown(world, ["README.md", "run", "README.md"])] == ["README.md"]


def test_a_body_that_is_none_is_refused(world: ServiceClients, git: Git) -> None:
    """In the query it must be JSON, with a list of texts."""
    bodies = [None, "", "nonsense", "[]", '{"files": 1}', '{"files": [1]}', '{"files": ["a"]']
    for body in bodies:
        answer = world.anonymous.get(AT, params={} if body is None else {"body": body})
        assert answer.status_code == 400
        assert answer.json()["message"] == "invalid body parameter"


def test_no_files_are_no_files(world: ServiceClients, git: Git) -> None:
    """In a query; a body must have some."""
    for body in ("{}", "null", '{"files": null}', '{"files": []}', '{"other": 1}'):
        answer = world.anonymous.get(AT, params={"body": body})
        assert (answer.status_code, answer.json()) == (200, [])
    for sent in ("{}", '{"files": []}', '{"files": null}', ""):
        answer = world.admin.post(AT, content=sent, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["message"]) == (422, "[Files]: Required")


def test_a_nul_is_in_no_path(world: ServiceClients, git: Git) -> None:
    """Nothing is found in a query, and a body is refused."""
    assert world.anonymous.get(AT, params={"body": '{"files": ["a\\u0000b"]}'}).json() == [None]
    assert world.admin.post(AT, json={"files": ["a\0b"]}).status_code == 422


def test_posting_takes_permission_to_write(world: ServiceClients, git: Git) -> None:
    """Though it only reads; the other way does not."""
    guest, helper = world.account("guest"), world.account("helper")
    repository = repositories.find_repository(world.database, "ada", "Notes")
    let_in(world.database, repository, guest, READ)
    let_in(world.database, repository, helper, WRITE)
    answer = world.anonymous.post(AT, json={"files": ["run"]})
    assert (answer.status_code, answer.json()["message"]) == (401, "token is required")
    answer = world.holding(guest).post(AT, json={"files": ["run"]})
    assert answer.status_code == 403
    assert answer.json()["message"] == "user should have a permission to write to a repo"
    assert world.holding(guest).post(AT, json={}).status_code == 403
    assert world.holding(helper).post(AT, json={"files": ["run"]}).status_code == 200
    assert world.holding(helper, "read:repository").post(AT, json={"files": ["run"]}).status_code == 403
    assert world.holding(guest).get(AT, params={"body": "{}"}).status_code == 200


def test_an_empty_repository_has_no_files(world: ServiceClients) -> None:
    """Nor a default branch."""
    world.account("ada")
    world.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    assert world.anonymous.get(AT, params={"body": '{"files": ["a"]}'}).status_code == 404


def test_a_setting_lets_readers_post(world: ServiceClients, git: Git) -> None:
    """Then whoever may read the files may send a long list of them; nobody still has to say who they are."""
    relaxed = msgspec.structs.replace(world.service.settings, posted_reads_need_write=False)
    guest = world.user("guest")
    assert guest.post(AT, json={"files": ["run"]}).status_code == 403
    for other in run_service(relaxed, world.database):
        at = f"{other.url}/api/v1{AT}"
        found = httpx.post(at, json={"files": ["run"]}, headers=guest.headers, verify=PLAIN)
        assert (found.status_code, found.json()[0]["path"]) == (200, "run")
        assert httpx.post(at, json={"files": ["run"]}, verify=PLAIN).status_code == 401
