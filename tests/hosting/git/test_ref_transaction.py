"""The refs of a push move in one transaction, a few or thousands of them."""

import os
from pathlib import Path

import pytest

from holdfast.hosting.git import ref_transaction
from holdfast.hosting.git.ref_transaction import MANY, Applied, apply_moves, existing_deletes
from holdfast.hosting.git.refs import target
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.store.pending_ref_updates import Move
from tests.hosting.git.oracle import commit, git, line

ZERO = "0" * 40


@pytest.fixture
def repo(folder: Path) -> Repo:
    """Make a repository with two commits on main."""
    commit(folder, {b"a": b"1"})
    commit(folder, {b"a": b"2"})
    return open_repository(folder)


@pytest.fixture
def ids(repo: Repo) -> tuple[str, str]:
    """Return the first and the second commit."""
    return line(repo.folder, "rev-parse", "main~1"), line(repo.folder, "rev-parse", "main")


def refs_of(repo: Repo) -> dict[str, str]:
    """Return all refs as git sees them."""
    lines = git(repo.folder, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(text.split() for text in lines)


def reasons(applied: Applied) -> dict[str, str]:
    """Return why refs have not moved."""
    return {refusal.ref: refusal.reason for refusal in applied.refusals}


def left_over(repo: Repo) -> list[Path]:
    """Find locks."""
    return list(repo.folder.rglob("*.lock"))


@pytest.mark.parametrize("count", [1, 3, MANY, 40])
@pytest.mark.parametrize("packed", [False, True])
def test_refs_are_created_moved_and_deleted(repo: Repo, ids: tuple[str, str], count: int, *, packed: bool) -> None:
    """Git and the library see each step, whether refs are files or packed before it."""
    first, second = ids
    names = [f"refs/heads/b{number}/x" for number in range(count)]
    steps = [(ZERO, first), (first, second), (second, ZERO)]
    for old, new in steps:
        moves = [Move(name, old, new) for name in names]
        assert apply_moves(repo, moves) == Applied(tuple(moves), ())
        wanted = {} if new == ZERO else dict.fromkeys(names, new)
        assert refs_of(repo) == {"refs/heads/main": second, **wanted}
        assert target(repo, names[-1]) == (None if new == ZERO else new)
        assert left_over(repo) == []
        if packed:
            git(repo.folder, "pack-refs", "--all")
    assert not (repo.folder / "refs/heads/b0").exists()
    assert apply_moves(repo, [Move("refs/heads/b0", ZERO, first)]).refusals == ()


@pytest.mark.parametrize("others", [0, MANY])
def test_each_ref_moves_only_from_where_the_client_saw_it(repo: Repo, ids: tuple[str, str], others: int) -> None:
    """The rest moves; of an atomic push nothing does."""
    first, second = ids
    more = [Move(f"refs/heads/o{number}", ZERO, first) for number in range(others)]
    wrong = [
        Move("refs/heads/main", first, second),
        Move("refs/heads/gone", first, second),
        Move("refs/heads/gone-too", first, ZERO),
    ]
    right = Move("refs/heads/right", ZERO, first)
    moves = [*wrong, right, *more]
    atomic = apply_moves(repo, moves, atomic=True)
    assert atomic.moved == ()
    assert set(reasons(atomic)) == {move.ref for move in moves}
    assert refs_of(repo) == {"refs/heads/main": second}
    applied = apply_moves(repo, moves)
    assert applied.moved == (right, *more)
    assert set(reasons(applied).values()) == {ref_transaction.MOVED_MEANWHILE}
    assert apply_moves(repo, [Move("refs/heads/right", ZERO, second)]).moved == ()
    assert left_over(repo) == []


@pytest.mark.parametrize("others", [0, MANY])
@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_has_no_room_below_or_above_another(
    repo: Repo, ids: tuple[str, str], others: int, *, packed: bool
) -> None:
    """Unless the other is deleted by the same push."""
    first = ids[0]
    git(repo.folder, "branch", "a/b", first)
    if packed:
        git(repo.folder, "pack-refs", "--all")
    more = [Move(f"refs/heads/o{number}", ZERO, first) for number in range(others)]
    below, above = Move("refs/heads/a/b/c", ZERO, first), Move("refs/heads/a", ZERO, first)
    applied = apply_moves(repo, [below, above, *more])
    assert set(reasons(applied)) == {below.ref, above.ref}
    assert "refs/heads/a/b" in reasons(applied)[below.ref]
    undo = [Move(move.ref, first, ZERO) for move in more]
    assert apply_moves(repo, [*undo, below, Move("refs/heads/a/b", first, ZERO)]).refusals == ()
    assert apply_moves(repo, [*more, above, Move(below.ref, first, ZERO)]).refusals == ()
    assert "refs/heads/a" in refs_of(repo)
    both = [Move("refs/tags/x", ZERO, first), Move("refs/tags/x/y", ZERO, first)]
    assert len(apply_moves(repo, both).refusals) == 1
    assert left_over(repo) == []


def test_a_branch_points_at_a_commit_and_every_ref_at_something(repo: Repo, ids: tuple[str, str]) -> None:
    """A tag may lead anywhere, and says where when it is packed."""
    tree = line(repo.folder, "rev-parse", "main^{tree}")
    made = git(
        repo.folder, "mktag", input=f"object {tree}\ntype tree\ntag t\ntagger A <a@b> 1 +0000\n\nx\n".encode()
    )
    tag = made.decode().strip()
    moves = [
        Move("refs/heads/tree", ZERO, tree),
        Move("refs/heads/nothing", ZERO, "1" * 40),
        Move("refs/tags/tree", ZERO, tree),
        *(Move(f"refs/tags/t{number}", ZERO, tag) for number in range(MANY)),
    ]
    applied = apply_moves(repo, moves)
    assert set(reasons(applied)) == {"refs/heads/tree", "refs/heads/nothing"}
    assert line(repo.folder, "rev-parse", "t0^{}") == tree
    assert f"^{tree}" in (repo.folder / "packed-refs").read_text()
    git(repo.folder, "fsck", "--strict")


def test_a_ref_that_something_holds_stays_and_says_so(
    repo: Repo, ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lock is left to whoever made it."""
    monkeypatch.setattr(ref_transaction, "PATIENCE", 0.05)
    first, second = ids
    lock = repo.folder / "refs/heads/main.lock"
    lock.touch()
    applied = apply_moves(repo, [Move("refs/heads/main", second, first), Move("refs/heads/x", ZERO, first)])
    assert "holds it" in reasons(applied)["refs/heads/main"]
    assert left_over(repo) == [lock]
    assert target(repo, "refs/heads/x") == first


def test_names_are_bytes(repo: Repo, ids: tuple[str, str]) -> None:
    """What is not UTF-8 arrives as it is."""
    name = os.fsdecode(b"refs/heads/caf\xe9")
    for number in (1, MANY):
        moves = [Move(f"{name}{one}", ZERO, ids[0]) for one in range(number)]
        assert apply_moves(repo, moves).refusals == ()
        assert b"refs/heads/caf\xe90" in git(repo.folder, "for-each-ref", "--format=%(refname)")
        assert apply_moves(repo, [Move(move.ref, ids[0], ZERO) for move in moves]).refusals == ()


def test_the_branch_of_head_stays(repo: Repo, ids: tuple[str, str]) -> None:
    """It can be moved, and not deleted."""
    assert "HEAD" in reasons(apply_moves(repo, [Move("refs/heads/main", ids[1], ZERO)]))["refs/heads/main"]


def test_to_delete_what_is_not_there_is_no_move(repo: Repo, ids: tuple[str, str]) -> None:
    """Whether few or many are asked for, packed or not."""
    git(repo.folder, "branch", "packed", "main")
    git(repo.folder, "pack-refs", "--all")
    git(repo.folder, "branch", "loose", "main")
    there = [Move(f"refs/heads/{name}", ids[1], ZERO) for name in ("packed", "loose")]
    absent = [Move(f"refs/heads/absent{number}", ids[1], ZERO) for number in range(MANY)]
    made = Move("refs/heads/new", ZERO, ids[1])
    assert existing_deletes(repo, [*there, absent[0], made]) == [*there, made]
    assert existing_deletes(repo, [*absent, *there, made]) == [*there, made]
