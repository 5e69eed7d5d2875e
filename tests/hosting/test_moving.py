"""What is announced and never settled is found, and told as it really was."""

from unittest import mock

import msgspec
import pygit2
import pytest

from holdfast.hosting import moving, repositories
from holdfast.hosting.git import moves, ref_transaction, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.receive import Pushed
from holdfast.hosting.git.repository import Repo, moving_refs, open_repository
from holdfast.hosting.host import Host
from holdfast.hosting.pushing import Pushing
from holdfast.hosting.repositories import NewRepository
from holdfast.hosting.store import accounts, updates
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.updates import Move


@pytest.fixture
def repository(host: Host) -> Repository:
    """Make a repository with one commit."""
    admin = accounts.find_user(host.database, "admin")
    return repositories.create(host, admin, admin, NewRepository(name="notes"), {"a.txt": b"one\n"})


def git_of(host: Host, repository: Repository) -> Repo:
    """Open the repository's folder."""
    return open_repository(host.folders.existing(repository.id))


def kinds(host: Host) -> list[str]:
    """Return the kinds of what has happened, in order."""
    with host.database.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT kind FROM events ORDER BY id")]


def test_a_move_whose_process_died_after_it_is_recorded_later(host: Host, repository: Repository) -> None:
    """The ref has moved, so its events are written; once."""
    repo = git_of(host, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/x", moving.zero_id(repository), at.id)
    with moving_refs(repo.folder):
        updates.announce(host.database, repository, repository.owner.id, [move])
        moves.create(repo, move.ref, at.id)
        assert moving.recover(host) == 0, "somebody who lives will record it"
    assert moving.recover(host) == 1
    assert moving.recover(host) == 0
    assert kinds(host) == ["repository", "create", "push"]


def test_a_move_whose_process_died_before_it_is_forgotten(host: Host, repository: Repository) -> None:
    """The ref has not moved, so nothing has happened."""
    move = Move("refs/heads/x", moving.zero_id(repository), "1" * 40)
    updates.announce(host.database, repository, repository.owner.id, [move])
    assert moving.recover(host) == 0
    assert updates.pending_updates(host.database) == []
    assert kinds(host) == ["repository"]


def test_a_move_that_fails_leaves_no_announcement(host: Host, repository: Repository) -> None:
    """The error goes on to whoever asked."""
    move = Move("refs/heads/x", moving.zero_id(repository), "1" * 40)

    def fail(_repo: Repo) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        moving.move_refs(host, repository, repository.owner, [move], fail)
    assert updates.pending_updates(host.database) == []


def test_what_was_announced_for_a_repository_that_is_gone_does_no_harm(host: Host, repository: Repository) -> None:
    """The rows went with it."""
    move = Move("refs/heads/x", moving.zero_id(repository), "1" * 40)
    updates.announce(host.database, repository, repository.owner.id, [move])
    repositories.remove(host, repository, repository.owner)
    assert moving.recover(host) == 0


def test_deleting_a_branch_that_is_not_there_is_never_recorded(host: Host, repository: Repository) -> None:
    """A service that died before it moved anything has deleted nothing."""
    zero = moving.zero_id(repository)
    updates.announce(host.database, repository, repository.owner.id, [Move("refs/heads/gone", zero, zero)])
    assert moving.recover(host) == 0
    assert kinds(host) == ["repository"]


def test_a_push_that_deletes_what_is_not_there_tells_nobody(host: Host, repository: Repository) -> None:
    """It succeeds, is not announced, and leads to no event, now or by a recovery."""
    repo = git_of(host, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/gone", at.id, moving.zero_id(repository))
    assert Pushing(host, repository, repository.owner).move(Pushed((move,))) == []
    assert updates.pending_updates(host.database) == []
    assert kinds(host) == ["repository"]


def test_many_refs_are_pushed_recorded_and_recovered(host: Host, repository: Repository) -> None:
    """More than are settled at once; also when the service died before it could record them."""
    repo = git_of(host, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    zero = moving.zero_id(repository)
    made = tuple(Move(f"refs/heads/b{number}", zero, at.id) for number in range(1100))
    pushing = Pushing(host, repository, repository.owner)
    with mock.patch.object(moving, "settle", side_effect=RuntimeError("the database is gone")):
        assert pushing.move(Pushed(made)) == []
    assert len(updates.pending_updates(host.database)) == 1000
    assert moving.recover(host) == 1100
    assert kinds(host).count("create") == kinds(host).count("push") == 1100
    assert pushing.move(Pushed(tuple(Move(one.ref, at.id, zero) for one in made))) == []
    assert kinds(host).count("delete") == 1100
    assert updates.pending_updates(host.database) == []


def test_a_push_that_moves_nothing_leaves_no_announcement(host: Host, repository: Repository) -> None:
    """Somebody else was quicker, or the disk is full."""
    repo = git_of(host, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    pushing = Pushing(host, repository, repository.owner)
    stale = Move("refs/heads/x", at.id, at.id)
    assert [refusal.ref for refusal in pushing.move(Pushed((stale,)))] == ["refs/heads/x"]
    assert updates.pending_updates(host.database) == []
    made = tuple(Move(f"refs/heads/b{number}", moving.zero_id(repository), at.id) for number in range(20))
    full = mock.patch.object(ref_transaction, "replace_packed_refs", side_effect=OSError(28, "No space left"))
    with full, pytest.raises(OSError, match="No space left"):
        pushing.move(Pushed(made))
    assert updates.pending_updates(host.database) == []
    assert kinds(host) == ["repository"]


def test_a_branch_that_was_forced_back_is_recorded_by_a_recovery(host: Host, repository: Repository) -> None:
    """What it was moved to is older than what it was moved from."""
    repo = git_of(host, repository)
    first = refs.branch(repo, "main")
    assert first is not None
    tree = read_commit(repo, first.id).tree
    second = str(repo.git.create_commit(None, *(pygit2.Signature("A", "a@b", 1),) * 2, "second", tree, [first.id]))
    moves.update(repo, "refs/heads/main", first.id, second)
    updates.announce(host.database, repository, repository.owner.id, [Move("refs/heads/main", second, first.id)])
    moves.update(repo, "refs/heads/main", second, first.id)
    assert moving.recover(host) == 1
    assert kinds(host) == ["repository", "push"]


def test_the_options_of_a_push_are_kept_with_its_push_events(host: Host, repository: Repository) -> None:
    """Not with those that only say that a ref was created."""
    repo = git_of(host, repository)
    at = refs.branch(repo, "main")
    assert at is not None
    move = Move("refs/heads/x", moving.zero_id(repository), at.id)
    Pushing(host, repository, repository.owner).move(Pushed((move,), ("ci.skip",)))
    with host.database.read() as connection:
        found = connection.exec_driver_sql("SELECT kind, details FROM events ORDER BY id").all()
    options = {kind: msgspec.json.decode(details).get("push_options") for kind, details in found}
    assert options == {"repository": None, "create": None, "push": ["ci.skip"]}
