"""Moving refs: nothing is lost, whoever else is moving them."""

import multiprocessing
import threading
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitError, NoSuchObject, NoSuchRef, RefBusy, RefExists, RefMoved, RefRefused
from holdfast.hosting.git import ref_store
from holdfast.hosting.git.ref_store import create, delete, rename_branch, set_head, update
from holdfast.hosting.git.refs import all_refs, branch, head, target
from holdfast.hosting.git.repository import Repo, open_repository
from tests.hosting.git.oracle import commit, git, line

MAIN = "refs/heads/main"
IDENTITY = b"Ada <ada@example.org> 1700000000 +0000"


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


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_moves_only_from_where_it_is(repo: Repo, ids: tuple[str, str], *, packed: bool) -> None:
    """Whoever saw it elsewhere must look again."""
    first, second = ids
    if packed:
        git(repo.folder, "pack-refs", "--all")
    with pytest.raises(RefMoved, match=f"is at {second}"):
        update(repo, MAIN, first, first)
    update(repo, MAIN, second, first)
    assert line(repo.folder, "rev-parse", MAIN) == first == target(repo, MAIN)
    with pytest.raises(RefMoved, match="is at nothing"):
        update(repo, "refs/heads/none", first, second)


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_is_deleted_only_from_where_it_is(repo: Repo, ids: tuple[str, str], *, packed: bool) -> None:
    """Packed or not, it is gone for git too."""
    first, second = ids
    create(repo, "refs/heads/a/b", first)
    if packed:
        git(repo.folder, "pack-refs", "--all")
    with pytest.raises(RefMoved):
        delete(repo, "refs/heads/a/b", second)
    delete(repo, "refs/heads/a/b", first)
    assert git(repo.folder, "for-each-ref", "refs/heads/a") == b""
    with pytest.raises(RefMoved):
        delete(repo, "refs/heads/a/b", first)
    create(repo, "refs/heads/a", first)


@pytest.mark.parametrize("packed", [False, True])
def test_a_new_ref_takes_the_place_of_none(repo: Repo, ids: tuple[str, str], *, packed: bool) -> None:
    """Neither of one of its name, nor of one below or above it."""
    first, second = ids
    create(repo, "refs/heads/dir/x", first)
    create(repo, "refs/tags/v1", line(repo.folder, "rev-parse", "main:a"))
    if packed:
        git(repo.folder, "pack-refs", "--all")
    with pytest.raises(RefExists):
        create(repo, "refs/heads/dir/x", second)
    for wrong in ("refs/heads/dir", "refs/heads/dir/x/y"):
        with pytest.raises(RefRefused, match="beside"):
            create(repo, wrong, second)
    assert target(repo, "refs/heads/dir/x") == first


def test_a_ref_needs_something_to_point_to(repo: Repo) -> None:
    """A branch holds commits; nothing else, and never nothing."""
    tree = line(repo.folder, "rev-parse", "main^{tree}")
    for wrong in (tree, "1" * 40, "main", ""):
        with pytest.raises(NoSuchObject):
            create(repo, "refs/heads/new", wrong)
        with pytest.raises(NoSuchObject):
            update(repo, MAIN, line(repo.folder, "rev-parse", "main"), wrong)


@pytest.mark.parametrize(
    "name", ["HEAD", "main", "refs/heads/a..b", "refs/heads/a\0", "../refs/heads/a", "refs/heads/"]
)
def test_a_name_git_would_not_have_is_refused(repo: Repo, ids: tuple[str, str], name: str) -> None:
    """Nothing outside the refs is ever written."""
    with pytest.raises(RefRefused):
        create(repo, name, ids[0])


def test_a_branch_is_renamed_and_head_follows(repo: Repo, ids: tuple[str, str]) -> None:
    """The commits are where they were."""
    rename_branch(repo, "main", "trunk")
    assert line(repo.folder, "rev-parse", "trunk") == ids[1]
    assert branch(repo, "main") is None
    assert head(repo) == "trunk"
    rename_branch(repo, "trunk", "trunk/deeper")
    rename_branch(repo, "trunk/deeper", "trunk")
    assert head(repo) == "trunk"
    assert all_refs(repo) == [b"refs/heads/trunk"]


def test_a_rename_that_cannot_be_changes_nothing(repo: Repo, ids: tuple[str, str]) -> None:
    """Neither the branch nor the one in its way."""
    create(repo, "refs/heads/a", ids[0])
    create(repo, "refs/heads/b/c", ids[0])
    before = git(repo.folder, "for-each-ref")
    for old, new, error in (
        ("none", "x", NoSuchRef),
        ("main", "a", RefExists),
        ("main", "b", RefRefused),
        ("main", "a/x", RefRefused),
        ("main", "x..y", RefRefused),
        ("b/c", "b/c/a..", RefRefused),
    ):
        with pytest.raises(error):
            rename_branch(repo, old, new)
    assert git(repo.folder, "for-each-ref") == before
    assert head(repo) == "main"


def test_head_may_stand_for_a_branch_that_is_not_there_yet(repo: Repo) -> None:
    """As in an empty repository."""
    set_head(repo, "later")
    assert head(repo) == "later"
    assert line(repo.folder, "symbolic-ref", "HEAD") == "refs/heads/later"


def test_a_lock_nobody_lets_go_of_is_an_error(
    repo: Repo, ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while; and nothing has changed."""
    monkeypatch.setattr(ref_store, "PATIENCE", 0.05)
    lock = repo.folder / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(RefBusy):
        update(repo, MAIN, ids[1], ids[0])
    assert target(repo, MAIN) == ids[1]
    lock.unlink()
    update(repo, MAIN, ids[1], ids[0])


def test_a_lock_that_is_let_go_of_is_waited_for(repo: Repo, ids: tuple[str, str]) -> None:
    """A push holds it for a moment only."""
    lock = repo.folder / "refs" / "heads" / "main.lock"
    lock.touch()
    timer = threading.Timer(0.1, lock.unlink)
    timer.start()
    update(repo, MAIN, ids[1], ids[0])
    timer.join()
    assert target(repo, MAIN) == ids[0]


def test_packed_refs_that_are_held_are_waited_for(
    repo: Repo, ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deleting needs them; while it cannot have them nothing is deleted."""
    create(repo, "refs/heads/packed", ids[0])
    git(repo.folder, "pack-refs", "--all")
    lock = repo.folder / "packed-refs.lock"
    lock.touch()
    monkeypatch.setattr(ref_store, "PATIENCE", 0.05)
    with pytest.raises(RefBusy):
        delete(repo, "refs/heads/packed", ids[0])
    assert target(repo, "refs/heads/packed") == ids[0] == line(repo.folder, "rev-parse", "packed")
    lock.unlink()
    delete(repo, "refs/heads/packed", ids[0])
    assert branch(repo, "packed") is None


def test_a_branch_that_is_held_keeps_its_name(
    repo: Repo, ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push may be about to move it; there are never two of it."""
    monkeypatch.setattr(ref_store, "PATIENCE", 0.05)
    (repo.folder / "refs" / "heads" / "main.lock").touch()
    for name in ("trunk", "main/deeper"):
        with pytest.raises(RefBusy):
            rename_branch(repo, "main", name)
        assert all_refs(repo) == [b"refs/heads/main"]
    assert head(repo) == "main"


def test_commits_are_kept_when_a_rename_ends_half_way(
    repo: Repo, ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When neither name can be had, a ref of our own holds them."""
    monkeypatch.setattr(ref_store, "PATIENCE", 0.05)
    git(repo.folder, "pack-refs", "--all")
    (repo.folder / "refs" / "heads" / "main").mkdir()
    (repo.folder / "refs" / "heads" / "main" / "deeper.lock").touch()
    with pytest.raises(GitError):
        rename_branch(repo, "main", "main/deeper")
    assert ids[1] in git(repo.folder, "for-each-ref", "--format=%(objectname)").decode().split()


def test_a_name_that_is_not_utf8_is_moved_by_pushes_only(repo: Repo, ids: tuple[str, str]) -> None:
    """It can be read, and is refused here in so many words."""
    git(repo.folder, b"update-ref", b"refs/heads/caf\xe9", ids[0].encode())
    with pytest.raises(RefRefused, match="UTF-8"):
        update(repo, b"refs/heads/caf\xe9", ids[0], ids[1])


def race(folder: Path, who: int, rounds: int) -> None:
    """Put commits on one branch, each on top of whatever is there."""
    repo = open_repository(folder)
    tree = line(folder, "rev-parse", "main^{tree}").encode()
    for number in range(rounds):
        while True:
            tip = target(repo, MAIN)
            assert tip is not None
            message = b"%d-%d" % (who, number)
            content = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s\n"
            made = repo.write("commit", content % (tree, tip.encode(), IDENTITY, IDENTITY, message))
            try:
                update(repo, MAIN, tip, made)
            except RefMoved:
                continue
            break


def race_git(folder: Path, rounds: int) -> None:
    """Do the same with the git program alone, which knows nothing of our lock, and pack the refs meanwhile."""
    for number in range(rounds):
        while True:
            tip = line(folder, "rev-parse", "main")
            made = line(folder, "commit-tree", "-p", tip, "-m", f"git-{number}", f"{tip}^{{tree}}")
            try:
                git(folder, "update-ref", MAIN, made, tip)
            except Exception:  # noqa: BLE001  # it has moved, or it is locked: the same again
                continue
            break
        if number % 5 == 0:
            git(folder, "pack-refs", "--all")


def test_no_commit_of_racing_processes_is_lost(repo: Repo) -> None:
    """Three processes with a hundred commits each, and git itself with twenty: all are there."""
    spawn = multiprocessing.get_context("spawn")
    racers = [spawn.Process(target=race, args=(repo.folder, who, 100)) for who in range(3)]
    racers.append(spawn.Process(target=race_git, args=(repo.folder, 20)))
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(100)
        assert racer.exitcode == 0
    told = set(git(repo.folder, "log", "--format=%s", "main").decode().splitlines())
    expected = {f"{who}-{number}" for who in range(3) for number in range(100)} | {f"git-{n}" for n in range(20)}
    assert expected <= told
    assert line(repo.folder, "rev-list", "--count", "main") == str(2 + 320)


def test_of_many_that_make_one_ref_exactly_one_succeeds(repo: Repo, ids: tuple[str, str]) -> None:
    """The others are told that it exists."""
    outcomes: list[str] = []

    def attempt(at: str) -> None:
        try:
            create(open_repository(repo.folder), "refs/heads/new", at)
        except GitError as error:
            outcomes.append(type(error).__name__)
        else:
            outcomes.append("made")

    threads = [threading.Thread(target=attempt, args=(ids[number % 2],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["RefExists"] * 7 + ["made"]


def test_replacing_says_what_it_replaces(repo: Repo, ids: tuple[str, str]) -> None:
    """A ref that is not where it was seen stays, whether it should have moved or been made."""
    folder = repo.folder
    first, second = ids
    path = ref_store.replace(repo, "refs/heads/a/b", None, first)
    assert Path(path).read_text() == f"{first}\n"
    with pytest.raises(RefMoved):
        ref_store.replace(repo, "refs/heads/a/b", None, second)
    with pytest.raises(RefMoved):
        ref_store.replace(repo, "refs/heads/a/b", second, first)
    with pytest.raises(RefRefused):
        ref_store.replace(repo, "refs/heads/a", None, first)
    with pytest.raises(RefRefused):
        ref_store.replace(repo, "refs/heads/a/b/c", None, first)
    ref_store.replace(repo, "refs/heads/a/b", first, second)
    assert target(repo, "refs/heads/a/b") == second
    ref_store.delete(repo, "refs/heads/a/b", second)
    (folder / "refs/heads/a/c").mkdir(parents=True, exist_ok=True)
    ref_store.replace(repo, "refs/heads/a", None, first)
    assert target(repo, "refs/heads/a") == first
    assert list((folder / "objects").glob("tmp_obj_*")) == []


def test_a_lock_left_behind_is_known_by_what_it_says(repo: Repo, ids: tuple[str, str]) -> None:
    """One on its way somewhere else stays."""
    folder, (first, second) = repo.folder, ids
    ref_store.replace(repo, "refs/heads/x", None, first)
    lock = folder / "refs/heads/x.lock"
    lock.write_text("0" * 40 + "\n")
    assert ref_store.drop_stale_lock(repo, "refs/heads/x", second, first) is False
    lock.write_text(f"{second}\n")
    assert ref_store.drop_stale_lock(repo, "refs/heads/x", second, first) is False
    lock.write_text(f"{first}\n")
    assert ref_store.drop_stale_lock(repo, "refs/heads/x", second, first) is True
    assert ref_store.drop_stale_lock(repo, "refs/heads/x", second, first) is False
