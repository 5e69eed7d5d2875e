"""What is announced and never settled is found, and told as it really was."""

import os
from unittest import mock

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git import ref_store, ref_transaction, refs
from holdfast.hosting.git.commits import Signature, build_tree, write_commit, write_tag
from holdfast.hosting.git.quarantine import AcceptedPush
from holdfast.hosting.git.repository import Repo, moving_refs, open_repository
from holdfast.hosting.services import ref_changes, repositories
from holdfast.hosting.services.pushes import Pushing
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, pending_ref_updates
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with one commit."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, NewRepository(name="notes"), {"a.txt": b"one\n"})


def git_of(app: App, repository: Repository) -> Repo:
    """Open the repository's folder."""
    return open_repository(app.folders.existing(repository.id))


def kinds(app: App) -> list[str]:
    """Return the kinds of what has happened, in order."""
    with app.database.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT kind FROM events ORDER BY id")]


def test_a_move_whose_process_died_after_it_is_recorded_later(app: App, repository: Repository) -> None:
    """The ref has moved, so its events are written; once."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/x", ref_changes.zero_id(repository), at.id)
    with moving_refs(repo.folder):
        pending_ref_updates.announce(app.database, repository, repository.owner.id, [move])
        ref_store.create(repo, move.ref, at.id)
        assert ref_changes.recover(app) == 0, "somebody who lives will record it"
    assert ref_changes.recover(app) == 1
    assert ref_changes.recover(app) == 0
    assert kinds(app) == ["repository", "create", "push"]


def test_a_move_whose_process_died_before_it_is_forgotten(app: App, repository: Repository) -> None:
    """The ref has not moved, so nothing has happened."""
    move = Move("refs/heads/x", ref_changes.zero_id(repository), "1" * 40)
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [move])
    assert ref_changes.recover(app) == 0
    assert pending_ref_updates.pending_updates(app.database) == []
    assert kinds(app) == ["repository"]


def test_a_move_that_fails_leaves_no_announcement(app: App, repository: Repository) -> None:
    """The error goes on to whoever asked."""
    move = Move("refs/heads/x", ref_changes.zero_id(repository), "1" * 40)

    def fail(_repo: Repo) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        ref_changes.move_refs(app, repository, repository.owner, [move], fail)
    assert pending_ref_updates.pending_updates(app.database) == []


def test_what_was_announced_for_a_repository_that_is_gone_does_no_harm(app: App, repository: Repository) -> None:
    """The rows went with it."""
    move = Move("refs/heads/x", ref_changes.zero_id(repository), "1" * 40)
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [move])
    repositories.remove(app, repository, repository.owner)
    assert ref_changes.recover(app) == 0


def test_deleting_a_branch_that_is_not_there_is_never_recorded(app: App, repository: Repository) -> None:
    """A service that died before it moved anything has deleted nothing."""
    zero = ref_changes.zero_id(repository)
    pending_ref_updates.announce(
        app.database, repository, repository.owner.id, [Move("refs/heads/gone", zero, zero)]
    )
    assert ref_changes.recover(app) == 0
    assert kinds(app) == ["repository"]


def test_a_push_that_deletes_what_is_not_there_tells_nobody(app: App, repository: Repository) -> None:
    """It succeeds, is not announced, and leads to no event, now or by a recovery."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/gone", at.id, ref_changes.zero_id(repository))
    assert Pushing(app, repository, repository.owner).move(AcceptedPush((move,))) == []
    assert pending_ref_updates.pending_updates(app.database) == []
    assert kinds(app) == ["repository"]


def test_many_refs_are_pushed_recorded_and_recovered(app: App, repository: Repository) -> None:
    """More than are settled at once; also when the service died before it could record them."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    zero = ref_changes.zero_id(repository)
    made = tuple(Move(f"refs/heads/b{number}", zero, at.id) for number in range(1100))
    pushing = Pushing(app, repository, repository.owner)
    with mock.patch.object(ref_changes, "settle", side_effect=RuntimeError("the database is gone")):
        assert pushing.move(AcceptedPush(made)) == []
    assert len(pending_ref_updates.pending_updates(app.database)) == 1000
    assert ref_changes.recover(app) == 1100
    assert kinds(app).count("create") == kinds(app).count("push") == 1100
    assert pushing.move(AcceptedPush(tuple(Move(one.ref, at.id, zero) for one in made))) == []
    assert kinds(app).count("delete") == 1100
    assert pending_ref_updates.pending_updates(app.database) == []


def test_a_push_that_moves_nothing_leaves_no_announcement(app: App, repository: Repository) -> None:
    """Somebody else was quicker, or the disk is full."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    pushing = Pushing(app, repository, repository.owner)
    stale = Move("refs/heads/x", at.id, at.id)
    assert [refusal.ref for refusal in pushing.move(AcceptedPush((stale,)))] == ["refs/heads/x"]
    assert pending_ref_updates.pending_updates(app.database) == []
    made = tuple(Move(f"refs/heads/b{number}", ref_changes.zero_id(repository), at.id) for number in range(20))
    full = mock.patch.object(ref_transaction, "replace_packed_refs", side_effect=OSError(28, "No space left"))
    with full, pytest.raises(OSError, match="No space left"):
        pushing.move(AcceptedPush(made))
    assert pending_ref_updates.pending_updates(app.database) == []
    assert kinds(app) == ["repository"]


def test_the_options_of_a_push_are_kept_with_its_push_events(app: App, repository: Repository) -> None:
    """Not with those that only say that a ref was created."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/x", ref_changes.zero_id(repository), at.id)
    Pushing(app, repository, repository.owner).move(AcceptedPush((move,), ("ci.skip",)))
    with app.database.read() as connection:
        found = connection.exec_driver_sql("SELECT kind, details FROM events ORDER BY id").all()
    options = {kind: msgspec.json.decode(details).get("push_options") for kind, details in found}
    assert options == {"repository": None, "create": None, "push": ["ci.skip"]}


def next_commit(repo: Repo, text: str, *parents: str) -> str:
    """Make a commit that no ref leads to."""
    who = Signature("Ada", "ada@example.org", 1_700_000_000)
    tree = build_tree(repo, {"a.txt": text.encode()})
    return write_commit(repo, tree, parents, author=who, committer=who, message=text)


def head_of(repo: Repo) -> str:
    """Return where the branch main is."""
    at = refs.target(repo, "refs/heads/main")
    assert at is not None
    return at


def test_a_backwards_force_push_whose_process_died_is_recorded(app: App, repository: Repository) -> None:
    """Right after it, and when others have gone on from where it led to."""
    repo = git_of(app, repository)
    first = head_of(repo)
    second = next_commit(repo, "two", first)
    ref_store.update(repo, "refs/heads/main", first, second)
    pending_ref_updates.announce(
        app.database, repository, repository.owner.id, [Move("refs/heads/main", second, first)]
    )
    ref_store.update(repo, "refs/heads/main", second, first)
    assert ref_changes.recover(app) == 1
    assert kinds(app) == ["repository", "push"]
    ref_store.update(repo, "refs/heads/main", first, second)
    pending_ref_updates.announce(
        app.database, repository, repository.owner.id, [Move("refs/heads/main", second, first)]
    )
    ref_store.update(repo, "refs/heads/main", second, first)
    ref_store.update(repo, "refs/heads/main", first, next_commit(repo, "other", first))
    with app.database.write() as connection:
        connection.exec_driver_sql("UPDATE events SET created_at = 0")
    assert ref_changes.recover(app) == 1
    assert kinds(app) == ["repository", "push", "push"]


def test_a_backwards_force_push_that_never_happened_is_forgotten(app: App, repository: Repository) -> None:
    """While the branch is where it was, and when others have gone on from there."""
    repo = git_of(app, repository)
    first = head_of(repo)
    second = next_commit(repo, "two", first)
    ref_store.update(repo, "refs/heads/main", first, second)
    backwards = Move("refs/heads/main", second, first)
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [backwards])
    assert ref_changes.recover(app) == 0
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [backwards])
    ref_store.update(repo, "refs/heads/main", second, next_commit(repo, "three", second))
    assert ref_changes.recover(app) == 0
    assert pending_ref_updates.pending_updates(app.database) == []
    assert kinds(app) == ["repository"]


def test_a_forced_move_sideways_is_told_from_one_that_never_happened(app: App, repository: Repository) -> None:
    """What was there before is in neither history."""
    repo = git_of(app, repository)
    first = head_of(repo)
    left, right = next_commit(repo, "left", first), next_commit(repo, "right", first)
    ref_store.update(repo, "refs/heads/main", first, left)
    sideways = Move("refs/heads/main", left, right)
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [sideways])
    ref_store.update(repo, "refs/heads/main", left, next_commit(repo, "more", left))
    assert ref_changes.recover(app) == 0
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [sideways])
    ref_store.update(repo, "refs/heads/main", head_of(repo), next_commit(repo, "more", right))
    assert ref_changes.recover(app) == 1
    assert kinds(app) == ["repository", "push"]


def test_an_annotated_tag_whose_process_died_is_recorded(app: App, repository: Repository) -> None:
    """It leads to an object that is no commit, and has no history to look into."""
    repo = git_of(app, repository)
    who = Signature("Ada", "ada@example.org", 1_700_000_000)
    tag = write_tag(repo, head_of(repo), "v1", who, "One")
    made = Move("refs/tags/v1", ref_changes.zero_id(repository), tag)
    for happened in (False, True):
        pending_ref_updates.announce(app.database, repository, repository.owner.id, [made])
        if happened:
            ref_store.create(repo, made.ref, tag)
        assert ref_changes.recover(app) == int(happened)
    assert kinds(app) == ["repository", "push", "create"]


@pytest.mark.parametrize("ref", ["refs/heads/nope", "refs/tags/nope"])
def test_deleting_what_is_not_there_is_no_move(app: App, repository: Repository, ref: str) -> None:
    """Neither for recovery, nor for whoever records it."""
    none = ref_changes.zero_id(repository)
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [Move(ref, none, none)])
    assert ref_changes.recover(app) == 0
    assert pending_ref_updates.pending_updates(app.database) == []
    ref_changes.settle(app, repository, repository.owner.id, [], [Move(ref, none, none)])
    assert kinds(app) == ["repository"]


def test_a_ref_that_stays_where_it_is_has_not_moved(app: App, repository: Repository) -> None:
    """Whoever moves it there, or dies while doing so."""
    head = head_of(git_of(app, repository))
    same = Move("refs/heads/main", head, head)
    ref_changes.move_refs(
        app, repository, repository.owner, [same], lambda _repo: pytest.fail("nothing is to be done")
    )
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [same])
    assert ref_changes.recover(app) == 0
    ref_changes.settle(app, repository, repository.owner.id, [], [same])
    assert kinds(app) == ["repository"]


def test_a_move_that_was_tried_again_is_recorded_once(app: App, repository: Repository) -> None:
    """The first process died before the move; whoever tried again was faster than recovery, or died after it."""
    repo = git_of(app, repository)
    head = head_of(repo)
    made, again = (Move(f"refs/heads/{name}", ref_changes.zero_id(repository), head) for name in "xy")
    pending_ref_updates.announce(app.database, repository, repository.owner.id, [made])
    ref_changes.move_refs(
        app, repository, repository.owner, [made], lambda opened: ref_store.create(opened, made.ref, head)
    )
    assert kinds(app) == ["repository", "create", "push"]
    assert ref_changes.recover(app) == 0
    for _ in range(2):
        pending_ref_updates.announce(app.database, repository, repository.owner.id, [again])
    ref_store.create(repo, again.ref, head)
    assert ref_changes.recover(app) == 1
    assert pending_ref_updates.pending_updates(app.database) == []
    assert kinds(app) == ["repository", *["create", "push"] * 2]


def test_a_branch_whose_name_is_not_utf8_is_recorded_and_recovered(app: App, repository: Repository) -> None:
    """The database keeps every byte of it, and people see what can be shown."""
    repo = git_of(app, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    name = os.fsdecode(b"refs/heads/caf\xe9\xc3\xa9")
    pushing = Pushing(app, repository, repository.owner)
    with mock.patch.object(ref_changes, "settle", side_effect=RuntimeError("the database is gone")):
        assert pushing.move(AcceptedPush((Move(name, ref_changes.zero_id(repository), at.id),))) == []
    assert [pending.move.ref for pending in pending_ref_updates.pending_updates(app.database)] == [name]
    assert ref_changes.recover(app) == 1
    with app.database.read() as connection:
        (details,) = connection.exec_driver_sql("SELECT details FROM events WHERE kind = 'push'").one()
    assert msgspec.json.decode(details)["ref"] == "refs/heads/caf\N{REPLACEMENT CHARACTER}é"
    assert ref_changes.first_branch([Move(name, "0" * 40, at.id), Move("refs/heads/x", "0" * 40, at.id)]) == "x"
