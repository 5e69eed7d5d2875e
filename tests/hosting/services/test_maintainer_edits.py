"""Maintainer edits of pull requests from forks, updates from the base, and LFS objects."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.store import lfs
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.repositories import find_repository
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import WRITE, let_in

PULL = "/repos/ada/ship/pulls/1"


def write(client: httpx.Client, repository: str, branch: str, path: str, content: bytes = b"x") -> httpx.Response:
    """Commit a new file to a branch."""
    body = {"content": b64encode(content).decode(), "branch": branch}
    return client.post(f"/repos/{repository}/contents/{path}", json=body)


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository, and return her client."""
    client = clients.user("ada")
    assert client.post("/user/repos", json={"name": "ship", "auto_init": True}).status_code == 201
    return client


@pytest.fixture
def bob(clients: ServiceClients, ada: httpx.Client) -> httpx.Client:
    """Let Bob fork it and open a pull request from a branch of the fork, which maintainers may edit."""
    del ada
    client = clients.user("bob")
    assert client.post("/repos/ada/ship/forks", json={}).status_code == 202
    response = client.post("/repos/bob/ship/branches", json={"new_branch_name": "fix", "old_branch_name": "main"})
    assert response.status_code == 201, response.text
    assert write(client, "bob/ship", "fix", "hull.txt").status_code == 201
    new = {"title": "Fix", "head": "bob:fix", "base": "main", "allow_maintainer_edit": True}
    assert client.post("/repos/ada/ship/pulls", json=new).status_code == 201
    return client


def test_a_maintainer_of_the_base_commits_to_the_head_branch(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """A maintainer of the base may commit to the head branch in the fork, and to no other branch.

    That ends when the author withdraws the permission or closes the pull request; only the author may change it.
    """
    eve = clients.user("eve")
    assert write(ada, "bob/ship", "fix", "mast.txt").status_code == 201
    assert write(ada, "bob/ship", "main", "mast.txt").status_code == 403
    branching = {"content": "eA==", "branch": "fix", "new_branch": "other"}
    assert ada.post("/repos/bob/ship/contents/keel.txt", json=branching).status_code == 403
    assert write(eve, "bob/ship", "fix", "sail.txt").status_code == 403
    # Only the author decides about it.
    assert ada.patch(PULL, json={"allow_maintainer_edit": False}).status_code == 403
    assert ada.patch(PULL, json={"allow_maintainer_edit": True, "title": "Fix it"}).status_code == 201
    assert bob.patch(PULL, json={"allow_maintainer_edit": False}).status_code == 201
    assert write(ada, "bob/ship", "fix", "flag.txt").status_code == 403
    assert bob.patch(PULL, json={"allow_maintainer_edit": True}).status_code == 201
    assert write(ada, "bob/ship", "fix", "flag.txt").status_code == 201
    assert bob.patch(PULL, json={"state": "closed"}).status_code == 201
    assert write(ada, "bob/ship", "fix", "bell.txt").status_code == 403


def test_only_writers_of_a_fork_allow_maintainer_edits(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """The permission has an effect only while the author of the pull request may write to the fork."""
    assert bob.patch(PULL, json={"state": "closed"}).status_code == 201
    new = {"title": "Mine", "head": "bob:fix", "base": "main", "allow_maintainer_edit": True}
    assert ada.post("/repos/ada/ship/pulls", json=new).status_code == 201
    assert write(ada, "bob/ship", "fix", "mast.txt").status_code == 403
    fork = find_repository(clients.database, "bob", "ship")
    let_in(clients.database, fork, find_user(clients.database, "ada"), WRITE)
    eve = clients.user("eve")
    let_in(
        clients.database,
        find_repository(clients.database, "ada", "ship"),
        find_user(clients.database, "eve"),
        WRITE,
    )
    assert write(eve, "bob/ship", "fix", "mast.txt").status_code == 201


def test_a_maintainer_pushes_to_the_head_branch(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client, tmp_path: Path
) -> None:
    """A maintainer of the base pushes to no other ref of the fork and cannot delete the head branch."""
    del ada, bob
    fork = address(clients.service.url, "ada", PASSWORD, "bob/ship")
    git = Git(tmp_path / "work")
    git("clone", "-q", "-b", "fix", fork, ".")
    before = git("ls-remote", fork, "refs/heads/main")
    git.commit("mast.txt", "mast")
    git("push", "-q", fork, "HEAD:fix")
    for refused in ("HEAD:main", "HEAD:refs/tags/v1", "HEAD:new", ":fix"):
        completed = git.try_to("push", fork, refused)
        assert (completed.returncode, "head branches of pull requests" in completed.stderr) == (1, True)
    git.commit("keel.txt", "keel")
    assert git.try_to("push", fork, "HEAD:fix", "HEAD:main").returncode == 1
    assert git("ls-remote", fork, "refs/heads/main", "refs/tags/*", "refs/heads/new") == before
    eve = address(clients.service.url, "eve", PASSWORD, "bob/ship")
    clients.account("eve")
    assert "may not write" in git.try_to("push", eve, "HEAD:fix").stderr


@pytest.mark.parametrize("style", ["merge", "rebase"])
def test_the_head_branch_of_a_fork_is_updated_from_the_base(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client, style: str
) -> None:
    """Those who may write to the head branch update it from the base, and the pull request has the new head."""
    assert write(ada, "ada/ship", "main", "new.txt").status_code == 201
    assert clients.user("eve").post(f"{PULL}/update").status_code == 403
    updated = bob.post(f"{PULL}/update", params={"style": style})
    assert updated.status_code == 200, updated.text
    tip = bob.get("/repos/bob/ship/branches/fix").json()["commit"]["id"]
    pull = ada.get(PULL).json()
    assert pull["head"]["sha"] == tip
    for path in ("new.txt", "hull.txt"):
        assert bob.get(f"/repos/bob/ship/contents/{path}", params={"ref": "fix"}).status_code == 200
    # Up to date already, also for a maintainer of the base.
    assert ada.post(f"{PULL}/update", params={"style": style}).status_code == 200
    assert bob.get("/repos/bob/ship/branches/fix").json()["commit"]["id"] == tip


def test_a_merge_from_a_fork_brings_its_lfs_objects(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """A merge links the LFS objects of all merged commits to the base, if the fork has them.

    An update from the base links the objects of the base to the fork.
    """
    ship = find_repository(clients.database, "ada", "ship")
    fork = find_repository(clients.database, "bob", "ship")
    oids = [sha256(name).hexdigest() for name in (b"first", b"second", b"never uploaded", b"of the base")]
    pointers = [LfsPointer(oid, 5).format() for oid in oids]
    for number, pointer in enumerate(pointers[:3]):
        assert write(bob, "bob/ship", "fix", f"{number}.bin", pointer).status_code == 201
        if number < 2:
            lfs.link(clients.database, fork, oids[number], 5)
    first = bob.get("/repos/bob/ship/contents/0.bin", params={"ref": "fix"}).json()["sha"]
    gone = bob.request("DELETE", "/repos/bob/ship/contents/0.bin", json={"branch": "fix", "sha": first})
    assert gone.status_code == 200
    lfs.link(clients.database, ship, oids[3], 5)
    assert write(ada, "ada/ship", "main", "base.bin", pointers[3]).status_code == 201
    assert bob.post(f"{PULL}/update").status_code == 200
    assert lfs.linked_sizes(clients.database, fork, oids) == {oids[0]: 5, oids[1]: 5, oids[3]: 5}
    assert lfs.linked_sizes(clients.database, ship, oids) == {oids[3]: 5}
    merged = ada.post(f"{PULL}/merge", json={"Do": "merge"})
    assert merged.status_code == 200, merged.text
    assert lfs.linked_sizes(clients.database, ship, oids) == {oids[0]: 5, oids[1]: 5, oids[3]: 5}
