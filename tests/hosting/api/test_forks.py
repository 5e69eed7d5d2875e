"""The fork endpoints, and the objects that forks share with their parents."""

import random
import subprocess
import time
from pathlib import Path

import httpx
from sqlalchemy import select

from holdfast.hosting.app import App
from holdfast.hosting.services import maintenance
from holdfast.hosting.storage.compaction import GRACE_SECONDS, ORPHAN_SECONDS
from holdfast.hosting.store import repositories
from holdfast.hosting.store.tables import lfs_links, packs
from tests.hosting.api.file_helpers import create_file
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import let_in, make_organization, make_repository, recorded_events


def made_parent(client: httpx.Client, **body: object) -> None:
    """Give Ada a repository with a file."""
    assert client.post("/user/repos", json={"name": "ship", "auto_init": True, **body}).status_code == 201
    create_file(client, "ada/ship", "hull.txt", "wood\n")


def test_a_fork_has_the_content_and_knows_its_parent(clients: ServiceClients) -> None:
    """A fork has the branches and files of its parent at once, and both show the relation."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    response = bob.post("/repos/ada/ship/forks", json={})
    assert response.status_code == 202
    fork = response.json()
    assert (fork["full_name"], fork["fork"], fork["parent"]["full_name"]) == ("bob/ship", True, "ada/ship")
    assert (fork["empty"], fork["default_branch"], fork["branch_count"]) == (False, "main", 1)
    assert fork["size"] == fork["parent"]["size"]
    assert "parent" not in fork["parent"]
    assert bob.get("/repos/bob/ship/contents/hull.txt").json()["type"] == "file"
    assert ada.get("/repos/ada/ship").json()["forks_count"] == 1
    listed = clients.anonymous.get("/repos/ada/ship/forks")
    assert [item["full_name"] for item in listed.json()] == ["bob/ship"]
    assert listed.headers["x-total-count"] == "1"
    assert listed.json()[0]["parent"]["full_name"] == "ada/ship"
    head = ada.get("/repos/ada/ship/branches/main").json()["commit"]["id"]
    assert bob.get("/repos/bob/ship/branches/main").json()["commit"]["id"] == head


def test_a_fork_can_be_written_without_changing_its_parent(clients: ServiceClients) -> None:
    """Commits to a fork do not appear in its parent, and commits to the parent do not appear in the fork."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    bob.post("/repos/ada/ship/forks", json={})
    create_file(bob, "bob/ship", "sail.txt", "cloth\n")
    create_file(ada, "ada/ship", "oar.txt", "oak\n")
    assert ada.get("/repos/ada/ship/contents/sail.txt").status_code == 404
    assert bob.get("/repos/bob/ship/contents/oar.txt").status_code == 404


def test_an_owner_has_one_fork(clients: ServiceClients) -> None:
    """A second fork of the same owner is refused with 409, and so is a taken name."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    assert bob.post("/repos/ada/ship/forks", json={"name": "boat"}).json()["full_name"] == "bob/boat"
    assert bob.post("/repos/ada/ship/forks", json={"name": "canoe"}).status_code == 409
    assert ada.get("/repos/ada/ship").json()["forks_count"] == 1
    eve = clients.user("eve")
    eve.post("/user/repos", json={"name": "ship"})
    assert eve.post("/repos/ada/ship/forks", json={}).status_code == 409
    assert eve.post("/repos/ada/ship/forks", json={"name": "a b"}).status_code == 422
    assert ada.get("/repos/ada/ship").json()["forks_count"] == 1


def test_a_fork_can_belong_to_an_organization(clients: ServiceClients) -> None:
    """A user who may create repositories in the organization can fork to it."""
    ada, bob = clients.user("ada"), clients.account("bob")
    made_parent(ada)
    make_organization(clients.database, "crew", bob)
    client = clients.with_token(bob)
    response = client.post("/repos/ada/ship/forks", json={"organization": "crew"})
    assert (response.status_code, response.json()["full_name"]) == (202, "crew/ship")
    assert ada.post("/repos/ada/ship/forks", json={"organization": "crew"}).status_code == 403
    assert client.post("/repos/ada/ship/forks", json={"organization": "nobody"}).status_code == 422


def test_forking_requires_read_access(clients: ServiceClients) -> None:
    """Forking requires a login, and gives 404 for an unreadable repository."""
    ada = clients.user("ada")
    made_parent(ada, private=True)
    bob = clients.user("bob")
    assert bob.post("/repos/ada/ship/forks", json={}).status_code == 404
    assert bob.get("/repos/ada/ship/forks").status_code == 404
    ada.patch("/repos/ada/ship", json={"private": False})
    assert clients.anonymous.post("/repos/ada/ship/forks", json={}).status_code == 401


def test_a_fork_of_a_private_repository_is_private(clients: ServiceClients) -> None:
    """Users with access to the parent have the same access to the fork, which cannot be made public."""
    ada, bob, cleo = clients.user("ada"), clients.account("bob"), clients.account("cleo")
    made_parent(ada, private=True)
    parent = repositories.find_repository(clients.database, "ada", "ship")
    let_in(clients.database, parent, bob, 1)
    let_in(clients.database, parent, cleo, 2)
    client = clients.with_token(bob)
    assert client.post("/repos/ada/ship/forks", json={}).json()["private"] is True
    assert ada.get("/repos/bob/ship").json()["permissions"]["admin"] is True
    seen = clients.with_token(cleo).get("/repos/bob/ship").json()["permissions"]
    assert (seen["push"], seen["admin"]) == (True, False)
    assert clients.user("eve").get("/repos/bob/ship").status_code == 404
    assert client.patch("/repos/bob/ship", json={"private": False}).status_code == 422
    ada.patch("/repos/ada/ship", json={"private": False})
    assert client.patch("/repos/bob/ship", json={"private": False}).status_code == 200
    ada.patch("/repos/ada/ship", json={"private": True})
    assert client.get("/repos/bob/ship").json()["private"] is True


def test_a_private_parent_is_not_shown_to_others(clients: ServiceClients) -> None:
    """A user who may read only the fork does not see its private parent."""
    ada, bob = clients.user("ada"), clients.account("bob")
    made_parent(ada, private=True)
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bob, 1)
    client = clients.with_token(bob)
    client.post("/repos/ada/ship/forks", json={})
    eve = clients.account("eve")
    let_in(clients.database, repositories.find_repository(clients.database, "bob", "ship"), eve, 1)
    seen = clients.with_token(eve)
    assert seen.get("/repos/bob/ship").json()["fork"] is True
    assert "parent" not in seen.get("/repos/bob/ship").json()
    assert [("parent" in repo) for repo in seen.get("/user/repos").json()] == [False]


def test_a_fork_records_events(clients: ServiceClients) -> None:
    """The new repository has an event, and the webhooks of the parent receive a `fork` event."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    hook = {"type": "gitea", "config": {"url": "http://192.0.2.1/", "content_type": "json"}, "events": ["fork"]}
    number = ada.post("/repos/ada/ship/hooks", json={**hook, "active": True}).json()["id"]
    bob.post("/repos/ada/ship/forks", json={})
    assert [kind for kind, _ in recorded_events(clients.database)][-2:] == ["repository", "fork"]
    deliveries = ada.get(f"/repos/ada/ship/hooks/{number}/deliveries").json()
    assert [delivery["event"] for delivery in deliveries] == ["fork"]


def forked(clients: ServiceClients, app: App) -> tuple[httpx.Client, httpx.Client, str]:
    """Fork a repository whose objects are in the object store; return its clients and the key."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    noise = random.Random(1).randbytes(300_000).hex()
    create_file(ada, "ada/ship", "noise.txt", noise)
    assert bob.post("/repos/ada/ship/forks", json={}).status_code == 202
    with app.database.read() as connection:
        keys = set(connection.execute(select(packs.c.store_key).where(packs.c.store_key != "")).scalars())
        rows = list(connection.execute(select(packs.c.id).where(packs.c.store_key != "")))
    (key,) = keys
    assert len(rows) == 2
    return ada, bob, key


def reads_everything(app: App, client: httpx.Client, repo: str) -> None:
    """Read the large file from a new copy of the repository."""
    owner, name = repo.split("/")
    app.copies.discard(repositories.find_repository(app.database, owner, name).id)
    response = client.get(f"/repos/{repo}/raw/noise.txt")
    assert (response.status_code, len(response.content)) == (200, 600_000)


def expire(app: App) -> None:
    """Delete superseded packs and orphans as if all grace periods had ended."""
    later = time.time() + GRACE_SECONDS + ORPHAN_SECONDS + 10
    app.compactor.delete_superseded(now=later)
    app.compactor.delete_orphans(now=later)


def test_a_fork_survives_the_deletion_of_its_parent(clients: ServiceClients, app: App) -> None:
    """A fork whose parent is deleted keeps all objects and is no longer a fork."""
    ada, bob, key = forked(clients, app)
    assert ada.delete("/repos/ada/ship").status_code == 204
    expire(app)
    assert app.store.size(key) is not None
    assert bob.get("/repos/bob/ship").json()["fork"] is False
    reads_everything(app, bob, "bob/ship")
    assert bob.delete("/repos/bob/ship").status_code == 204
    expire(app)
    assert app.store.size(key) is None


def test_a_parent_survives_the_deletion_of_its_fork(clients: ServiceClients, app: App) -> None:
    """The parent keeps the objects it shared with a deleted fork, and its number of forks decreases."""
    ada, bob, key = forked(clients, app)
    assert bob.delete("/repos/bob/ship").status_code == 204
    expire(app)
    assert app.store.size(key) is not None
    assert ada.get("/repos/ada/ship").json()["forks_count"] == 0
    reads_everything(app, ada, "ada/ship")


def test_the_forks_of_a_deleted_user_are_not_counted(clients: ServiceClients, app: App) -> None:
    """Deleting a user with their repositories decreases the number of forks of the parents."""
    ada, _, _ = forked(clients, app)
    assert clients.admin.delete("/admin/users/bob", params={"purge": True}).status_code == 204
    assert ada.get("/repos/ada/ship").json()["forks_count"] == 0


def test_compaction_of_a_parent_or_a_fork_keeps_the_objects_of_both(clients: ServiceClients, app: App) -> None:
    """A superseded pack is kept as long as another repository uses it."""
    ada, bob, key = forked(clients, app)
    ids = [repositories.find_repository(app.database, owner, "ship").id for owner in ("ada", "bob")]
    for client, repo, number in ((ada, "ada/ship", ids[0]), (bob, "bob/ship", ids[1])):
        assert maintenance.collect_garbage(app, [number]).compacted == (number,)
        expire(app)
        reads_everything(app, client, repo)
        if number == ids[0]:
            assert app.store.size(key) is not None
            reads_everything(app, bob, "bob/ship")
    assert app.store.size(key) is None
    reads_everything(app, ada, "ada/ship")


def test_a_fork_has_the_lfs_objects(clients: ServiceClients, app: App) -> None:
    """The LFS objects of the parent are linked to the fork."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    parent = repositories.find_repository(app.database, "ada", "ship")
    with app.database.write() as connection:
        connection.execute(lfs_links.insert(), {"repository_id": parent.id, "oid": "a" * 64, "size": 3})
    fork = bob.post("/repos/ada/ship/forks", json={}).json()
    with app.database.read() as connection:
        linked = select(lfs_links.c.oid, lfs_links.c.size).where(lfs_links.c.repository_id == fork["id"])
        assert connection.execute(linked).all() == [("a" * 64, 3)]


def test_git_clones_a_fork_and_pushes_to_it(clients: ServiceClients, tmp_path: Path) -> None:
    """A pushed commit is in the fork and not in its parent."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    bob.post("/repos/ada/ship/forks", json={})
    work = Git(tmp_path / "ship")
    there = address(clients.service.url, "bob", PASSWORD, "bob/ship")
    subprocess.run(["git", "clone", "-q", there, str(work.folder)], check=True)
    assert (work.folder / "hull.txt").read_text() == "wood\n"
    (work.folder / "sail.txt").write_text("cloth\n")
    work("add", ".")
    work("commit", "--quiet", "-m", "Sail")
    work("push", "--quiet", "origin", "HEAD")
    assert bob.get("/repos/bob/ship/contents/sail.txt").status_code == 200
    assert ada.get("/repos/ada/ship/contents/sail.txt").status_code == 404


def test_an_empty_repository_can_be_forked(clients: ServiceClients) -> None:
    """A fork of an empty repository is empty, and files can be committed to it."""
    ada, bob = clients.account("ada"), clients.user("bob")
    make_repository(clients.database, ada)
    assert bob.post("/repos/ada/ship/forks", json={}).json()["empty"] is True
    create_file(bob, "bob/ship", "a.txt", "a")


UPSTREAM = "/repos/bob/ship/merge-upstream"


def test_a_fork_is_updated_from_its_parent(clients: ServiceClients, app: App) -> None:
    """A fork is updated by a fast-forward, or by a merge unless `ff_only` is set."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    bob.post("/repos/ada/ship/forks", json={})
    assert bob.post(UPSTREAM, json={"branch": "main"}).json() == {"merge_type": "up-to-date"}
    create_file(ada, "ada/ship", "oar.txt", "oak\n")
    assert bob.post(UPSTREAM, json={"branch": "main"}).json() == {"merge_type": "fast-forward"}
    head = ada.get("/repos/ada/ship/branches/main").json()["commit"]["id"]
    assert bob.get("/repos/bob/ship/branches/main").json()["commit"]["id"] == head
    create_file(ada, "ada/ship", "mast.txt", "pine\n")
    create_file(bob, "bob/ship", "sail.txt", "cloth\n")
    assert bob.post(UPSTREAM, json={"branch": "main", "ff_only": True}).status_code == 400
    assert bob.post(UPSTREAM, json={"branch": "main"}).json() == {"merge_type": "merge"}
    merged = bob.get("/repos/bob/ship/commits", params={"limit": 1}).json()[0]
    assert len(merged["parents"]) == 2
    app.copies.discard(bob.get("/repos/bob/ship").json()["id"])
    for name in ("oar.txt", "mast.txt", "sail.txt"):
        assert bob.get(f"/repos/bob/ship/contents/{name}").status_code == 200


def test_an_updated_fork_has_the_new_lfs_objects(clients: ServiceClients) -> None:
    """The LFS objects of new files can be read in the fork, after a fast-forward and after a merge."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    create_file(ada, "ada/ship", ".gitattributes", "*.bin filter=lfs\n")
    bob.post("/repos/ada/ship/forks", json={})
    create_file(ada, "ada/ship", "hull.bin", "oak")
    assert bob.post(UPSTREAM, json={"branch": "main"}).json() == {"merge_type": "fast-forward"}
    assert bob.get("/repos/bob/ship/media/hull.bin").text == "oak"
    create_file(ada, "ada/ship", "mast.bin", "pine")
    create_file(bob, "bob/ship", "sail.txt", "cloth\n")
    assert bob.post(UPSTREAM, json={"branch": "main"}).json() == {"merge_type": "merge"}
    assert bob.get("/repos/bob/ship/media/mast.bin").text == "pine"


def test_conflicting_changes_are_not_merged(clients: ServiceClients) -> None:
    """An update with conflicts gives 409, and the fork stays unchanged."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    bob.post("/repos/ada/ship/forks", json={})
    create_file(ada, "ada/ship", "oar.txt", "oak\n")
    create_file(bob, "bob/ship", "oar.txt", "ash\n")
    before = bob.get("/repos/bob/ship/branches/main").json()["commit"]["id"]
    assert bob.post(UPSTREAM, json={"branch": "main"}).status_code == 409
    assert bob.get("/repos/bob/ship/branches/main").json()["commit"]["id"] == before


def test_updating_a_fork_requires_write_access(clients: ServiceClients) -> None:
    """An update is refused for readers, archived forks, unknown branches and repositories that are no forks."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_parent(ada)
    bob.post("/repos/ada/ship/forks", json={})
    assert clients.anonymous.post(UPSTREAM, json={"branch": "main"}).status_code == 401
    assert ada.post(UPSTREAM, json={"branch": "main"}).status_code == 403
    assert ada.post("/repos/ada/ship/merge-upstream", json={"branch": "main"}).status_code == 400
    assert bob.post(UPSTREAM, json={"branch": "nowhere"}).status_code == 404
    bob.patch("/repos/bob/ship", json={"archived": True})
    assert bob.post(UPSTREAM, json={"branch": "main"}).status_code == 423
