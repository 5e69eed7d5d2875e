"""Pushes: rejected refs and their reasons, incomplete packs and missing LFS objects."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import delete, select, update

from holdfast.hosting.app import App
from holdfast.hosting.git.quarantine import AcceptedPush, Push
from holdfast.hosting.services import repositories as repository_services
from holdfast.hosting.services.pushes import PATHS_NAMED, RepositoryPush
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, collaborators, repositories, repository_log, ssh_keys
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import events, packs, users
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import WRITE, let_in, make_people

ZERO = "0" * 40


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Make a repository with a branch and a working copy of it."""
    clients.user("ada").post("/user/repos", json={"name": "notes"})
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "main")
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    git.commit("a.txt", "one\n")
    git("push", "-q", "origin", "main")
    return git


def pack_of(work: Git, *ids: str) -> bytes:
    """Make a pack of these objects alone."""
    given = "".join(f"{item}\n" for item in ids).encode()
    command = ["git", "pack-objects", "--stdout", "-q"]
    return subprocess.run(command, cwd=work.folder, input=given, check=True, capture_output=True).stdout


def push(clients: ServiceClients, ref: str, target: str, pack: bytes) -> bytes:
    """Push a new ref with any pack, and return the response."""
    line = f"{ZERO} {target} {ref}\0report-status".encode()
    body = b"%04x%b0000%b" % (len(line) + 4, line, pack)
    headers = {"Content-Type": "application/x-git-receive-pack-request"}
    with clients.service.client() as client:
        response = client.post(
            "/ada/notes.git/git-receive-pack", content=body, headers=headers, auth=("ada", PASSWORD)
        )
    assert response.status_code == 200
    return response.content


def delete_packs_after(clients: ServiceClients, repository: Repository, version: int) -> None:
    """Delete packs from the log as garbage collection on another machine does; the local copy keeps them."""
    with clients.database.write() as connection:
        statement = delete(packs).where(packs.c.repository_id == repository.id, packs.c.version > version)
        assert connection.execute(statement).rowcount == 1


def test_objects_that_only_the_local_copy_has_are_recorded(
    clients: ServiceClients, app: App, work: Git, tmp_path: Path
) -> None:
    """A pack may leave out objects that only the local copy has.

    They are recorded with the push, so that a clone is complete after the local copy is lost.
    """
    repository = repositories.find_repository(clients.database, "ada", "notes")
    version = repository_log.current_version(clients.database, repository.id)
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "main:topic")
    work("push", "-q", "origin", ":topic")
    delete_packs_after(clients, repository, version)
    git = work("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "three")
    assert b"ok refs/heads/again" in push(clients, "refs/heads/again", git, pack_of(work, git))
    shutil.rmtree(app.folders.path(repository.id))
    clone = Git(tmp_path / "clone")
    clone("clone", "-q", "-b", "again", address(clients.service.url, "ada", PASSWORD, "ada/notes"), ".")
    clone("fsck", "--strict", "--full")
    assert clone("rev-parse", "HEAD") == git
    assert (clone.folder / "b.txt").read_text(encoding="utf-8") == "two\n"


def test_a_pack_without_objects_that_are_nowhere_is_rejected(clients: ServiceClients, work: Git) -> None:
    """A push whose commit refers to missing objects is rejected, and the ref is not created."""
    work.commit("b.txt", "two\n")
    head = work("rev-parse", "HEAD")
    assert b"ok refs/heads/topic" not in push(clients, "refs/heads/topic", head, pack_of(work, head))
    assert work("ls-remote", "origin", "refs/heads/topic") == ""


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with one commit."""
    admin = accounts.find_user(app.database, "admin")
    return repository_services.create(app, admin, admin, NewRepository(name="notes"), {"a.txt": b"one\n"})


def objects_of(app: App, repository: Repository) -> tuple[str, str]:
    """Return the only commit of a repository and its tree."""
    head = repository_log.find_ref(app.database, repository.id, "refs/heads/main")
    assert head is not None
    command = ["git", "rev-parse", f"{head}^{{tree}}"]
    with app.copies.writing(repository.id) as repo:
        tree = subprocess.run(command, cwd=repo.folder, check=True, capture_output=True, text=True).stdout.strip()
    return head, tree


def rejected(app: App, repository: Repository, *updates: RefUpdate, atomic: bool = False) -> dict[str, str]:
    """Push updates to existing objects, and return the reasons of the rejected ones."""
    pushing = RepositoryPush(app, repository, repository.owner)
    return {item.ref: item.reason for item in pushing.update(AcceptedPush(updates, (), atomic))}


def refs(app: App, repository: Repository) -> set[str]:
    """List the refs of a repository."""
    with app.database.read() as connection:
        return set(repository_log.read_refs(connection, repository.id))


@pytest.mark.parametrize("atomic", [True, False])
def test_a_branch_that_does_not_point_to_a_commit_is_rejected(
    app: App, repository: Repository, *, atomic: bool
) -> None:
    """The other refs are updated unless the push is atomic, and a tag may point to a tree."""
    head, tree = objects_of(app, repository)
    odd, nothing = RefUpdate("refs/heads/odd", ZERO, tree), RefUpdate("refs/heads/none", ZERO, "1" * 40)
    fine, tag = RefUpdate("refs/heads/fine", ZERO, head), RefUpdate("refs/tags/tree", ZERO, tree)
    reasons = rejected(app, repository, odd, nothing, fine, tag, atomic=atomic)
    why = "a branch points at a commit, not at a "
    if atomic:
        assert reasons == dict.fromkeys([odd.ref, nothing.ref, fine.ref, tag.ref], f"{why}tree")
        assert refs(app, repository) == {"refs/heads/main"}
    else:
        assert reasons == {odd.ref: f"{why}tree", nothing.ref: f"{why}missing object"}
        assert refs(app, repository) == {"refs/heads/main", fine.ref, tag.ref}
        assert repository.id in app.pushed
    assert rejected(app, repository, odd) == {odd.ref: f"{why}tree"}


def test_a_rejected_ref_has_the_reason(app: App, repository: Repository) -> None:
    """A name that conflicts with an existing ref and a stale update have their own reasons."""
    head, tree = objects_of(app, repository)
    below, stale = RefUpdate("refs/heads/main/x", ZERO, head), RefUpdate("refs/tags/v1", tree, head)
    assert rejected(app, repository, below, stale) == {
        below.ref: "it cannot be there beside refs/heads/main",
        stale.ref: "it was updated by another request",
    }
    late = RefUpdate("refs/heads/main", tree, head)
    assert rejected(app, repository, late) == {late.ref: "it was updated by another request"}


def test_deleting_a_missing_ref_succeeds(app: App, repository: Repository) -> None:
    """Git expects no error for the deletion of a missing ref, and the other refs of the push are updated."""
    head, _tree = objects_of(app, repository)
    topic = RefUpdate("refs/heads/topic", ZERO, head)
    assert rejected(app, repository, topic, RefUpdate("refs/heads/none", head, ZERO)) == {}
    assert refs(app, repository) == {"refs/heads/main", topic.ref}
    assert rejected(app, repository, RefUpdate(topic.ref, head, ZERO)) == {}
    assert refs(app, repository) == {"refs/heads/main"}


def test_a_maintainer_pushes_only_to_heads_of_pull_requests(app: App, repository: Repository) -> None:
    """Updates of other branches and of tags are rejected, and so is the deletion of the head branch."""
    head, tree = objects_of(app, repository)
    topic, main, tag = (f"refs/{name}" for name in ("heads/topic", "heads/main", "tags/topic"))
    updates = [RefUpdate(ref, tree, head) for ref in (topic, main, tag)]
    some = RepositoryPush(app, repository, repository.owner, only_branches=frozenset({"topic"}))
    assert [push_rejection.ref for push_rejection in some.outside(updates)] == [main, tag]
    assert [push_rejection.ref for push_rejection in some.outside([RefUpdate(topic, head, ZERO)])] == [topic]
    assert all(
        "head branches of pull requests" in push_rejection.reason for push_rejection in some.outside(updates)
    )
    assert RepositoryPush(app, repository, repository.owner).outside(updates) == []


def judged(app: App, pushing: RepositoryPush) -> list[str]:
    """Return the reasons for which a push of a new branch is rejected when its objects have been received."""
    head, _tree = objects_of(app, pushing.repository)
    folder = app.folders.path(pushing.repository.id)
    new = RefUpdate("refs/heads/topic", ZERO, head)
    return [item.reason for item in pushing.judge(Push(folder, (new,), {}))]


def revoke(app: App, repository: Repository, ada: Account) -> None:
    """Revoke the access of a collaborator."""
    collaborators.remove_collaborator(app.database, repository, ada)


def block(app: App, _: Repository, ada: Account) -> None:
    """Prohibit a user from signing in."""
    with app.database.write() as connection:
        connection.execute(update(users).where(users.c.id == ada.id).values(may_not_log_in=True))


def archive(app: App, repository: Repository, _: Account) -> None:
    """Archive a repository."""
    with app.database.write() as connection:
        repositories.change_repository(connection, repository, archived_at=1)


def mirror(app: App, repository: Repository, _: Account) -> None:
    """Make a repository a mirror."""
    with app.database.write() as connection:
        repositories.change_repository(connection, repository, is_mirror=True)


def remove(app: App, repository: Repository, _: Account) -> None:
    """Delete a repository, whose local copy git still reads."""
    with app.database.write() as connection:
        repositories.remove_row(connection, repository)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (revoke, "you may not write to this repository any more"),
        (block, "you may not write to this repository any more"),
        (archive, "the repository is archived and cannot be written to"),
        (mirror, "the repository is a mirror and cannot be written to"),
        (remove, "the repository was deleted"),
    ],
)
def test_a_push_is_rejected_if_access_ends_while_it_is_received(
    app: App, repository: Repository, action: Callable[[App, Repository, Account], None], reason: str
) -> None:
    """The pack may take an hour to arrive, and access is checked again when it is there."""
    (ada,) = make_people(app.database, "ada")
    let_in(app.database, repository, ada, WRITE)
    assert judged(app, RepositoryPush(app, repository, ada)) == []
    late = RepositoryPush(app, repository, ada)
    head, _tree = objects_of(app, repository)
    action(app, repository, ada)
    new = RefUpdate("refs/heads/topic", ZERO, head)
    rejections = late.judge(Push(app.folders.path(repository.id), (new,), {}))
    assert [(rejection.ref, rejection.reason) for rejection in rejections] == [(new.ref, reason)]


def test_a_push_with_a_deploy_key_that_is_removed_meanwhile_is_rejected(app: App, repository: Repository) -> None:
    """The key is looked up again when the pack has been received."""
    key = ssh_keys.create_key(app.database, repository, title="key", content="x", fingerprint="y")
    assert judged(app, RepositoryPush(app, repository, repository.owner, key)) == []
    late = RepositoryPush(app, repository, repository.owner, key)
    ssh_keys.delete_key(app.database, key)
    assert judged(app, late) == ["you may not write to this repository any more"]


def test_a_push_to_a_repository_that_is_transferred_meanwhile_is_an_event_of_its_new_owner(
    app: App, repository: Repository
) -> None:
    """The webhooks of the former owner do not receive it."""
    (ada,) = make_people(app.database, "ada")
    pushing = RepositoryPush(app, repository, repository.owner)
    with app.database.write() as connection:
        repository_services.move_to(connection, repository, ada, repository.owner, ())
    assert judged(app, pushing) == []
    head, _tree = objects_of(app, repository)
    assert pushing.update(AcceptedPush((RefUpdate("refs/heads/topic", ZERO, head),), (), False)) == []
    with app.database.read() as connection:
        owners = connection.execute(select(events.c.owner_id).where(events.c.kind == "create")).scalars().all()
    assert owners[-1] == ada.id


def test_the_default_branch_is_not_deleted_and_others_are(work: Git) -> None:
    """Of two branches deleted in one push, the default branch is rejected with the reason."""
    work("push", "-q", "origin", "main:topic")
    refused = work.try_to("push", "origin", ":main", ":topic")
    assert "Branch main is the default branch and cannot be deleted" in refused.stderr
    assert work("ls-remote", "origin", "refs/heads/*").split()[1:] == ["refs/heads/main"]


def test_a_branch_that_became_the_default_meanwhile_is_not_deleted(app: App, repository: Repository) -> None:
    """The push is checked with the repository locked: its other refs are updated, and none if it is atomic."""
    head, _tree = objects_of(app, repository)
    topic, other = (RefUpdate(f"refs/heads/{name}", ZERO, head) for name in ("topic", "other"))
    assert rejected(app, repository, topic, other) == {}
    with app.database.write() as connection:
        repositories.change_repository(connection, repository, default_branch="topic")
    deletions = [RefUpdate(update.ref, head, ZERO) for update in (topic, other)]
    reason = "Branch topic is the default branch and cannot be deleted"
    whole = rejected(app, repository, *deletions, atomic=True)
    assert whole[topic.ref] == reason
    assert set(whole) == {topic.ref, other.ref}
    assert rejected(app, repository, *deletions) == {topic.ref: reason}
    assert refs(app, repository) == {"refs/heads/main", "refs/heads/topic"}


def test_the_first_branch_becomes_the_default_of_a_repository_as_it_is_now(
    app: App, repository: Repository
) -> None:
    """The default branch that an administrator has chosen while the first branch was pushed does not exist."""
    head, _tree = objects_of(app, repository)
    with app.database.write() as connection:
        repositories.change_repository(connection, repository, default_branch="chosen")
    empty = msgspec.structs.replace(repository, is_empty=True)
    assert rejected(app, empty, RefUpdate("refs/heads/first", ZERO, head)) == {}
    assert repositories.repository_by_id(app.database, repository.id).default_branch == "first"
    assert rejected(app, empty, RefUpdate("refs/heads/second", ZERO, head)) == {}
    assert repositories.repository_by_id(app.database, repository.id).default_branch == "first"


def test_a_push_names_the_files_whose_lfs_objects_are_missing(work: Git) -> None:
    """The error names the first files, and a pointer to an empty file needs no object."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{:064x}\nsize {}\n"
    work.commit("empty.bin", pointer.format(9, 0))
    work("push", "-q", "origin", "main")
    for number in range(PATHS_NAMED):
        work.commit(f"{number}.bin", pointer.format(number, 5))
    reason = "the LFS objects of {} are missing; run `git lfs push"
    some = work.try_to("push", "origin", "main").stderr
    assert reason.format("0.bin, 1.bin, 2.bin, 3.bin, 4.bin") in " ".join(some.replace("remote:", "").split())
    work.commit("more.bin", pointer.format(77, 5))
    assert " and others are missing" in " ".join(work.try_to("push", "origin", "main").stderr.split())
