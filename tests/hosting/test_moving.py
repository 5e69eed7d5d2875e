"""What is announced and never settled is found, and told as it really was."""

import pytest

from holdfast.hosting import moving, repositories
from holdfast.hosting.git import moves, refs
from holdfast.hosting.git.repository import Repo, moving_refs, open_repository
from holdfast.hosting.host import Host
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
