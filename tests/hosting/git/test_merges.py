"""Merges, squashes and rebases, compared with those of git in a working copy."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitTimedOut, MergeConflict, MergeTooLarge, NothingToMerge, UnrelatedHistories
from holdfast.hosting.git import merges, tree_merges
from holdfast.hosting.git.commits import Signature, parse_commit
from holdfast.hosting.git.merges import (
    add_merge_commit,
    add_rebase,
    add_rebase_merge,
    add_squash,
    check_merge,
    is_ancestor,
)
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.tree_writer import Draft
from tests.hosting.git.histories import Step, write
from tests.hosting.git_client import Git

BEA = Signature("Bea", "bea@example.org", 1_700_000_000, 60)
CARL = Signature("Carl", "carl@example.org", 1_700_000_100, 0)
LINES = [b"one\n", b"two\n", b"three\n", b"four\n", b"five\n", b"six\n", b"seven\n"]
NAMES = [b"a", b"b", b"dir/a", b"dir/b", b"dir/deep/c", b"other/d", b"e", b"caf\xc3\xa9", b"dir"]


@dataclass(frozen=True)
class Drawn:
    """A random history with two branches to merge, by the numbers of their last commits."""

    steps: list[Step]
    base: int
    head: int


@st.composite
def branches(draw: st.DrawFn) -> Drawn:
    """Draw two branches that edit, remove, add and move the same few files, and merge each other sometimes."""
    lines = st.lists(st.sampled_from(LINES), max_size=7)
    edited = st.integers(0, len(LINES) - 1).map(lambda at: b"".join([*LINES[:at], b"changed\n", *LINES[at + 1 :]]))
    contents = st.one_of(st.none(), lines.map(b"".join), edited, st.just(b"".join(LINES)))
    changes = st.dictionaries(st.sampled_from(NAMES), contents, max_size=3)
    first: dict[bytes, bytes | None] = {
        name: b"".join(LINES[number % 3 :]) for number, name in enumerate(NAMES[: draw(st.integers(2, 7))])
    }
    steps = [Step((), 0, first)]
    tips = [0, 0]
    for number in range(1, draw(st.integers(2, 7))):
        side = draw(st.integers(0, 1))
        parents = [tips[side]]
        if draw(st.integers(0, 4)) == 0 and tips[0] != tips[1]:
            parents.append(tips[1 - side])
        steps.append(Step(tuple(parents), number * 10, without_conflicting_paths(draw(changes))))
        tips[side] = number
    return Drawn(steps, *tips)


def without_conflicting_paths(files: dict[bytes, bytes | None]) -> dict[bytes, bytes | None]:
    """Leave out files below a path that becomes a file: `git fast-import` would keep one of them by chance."""
    return {
        name: content
        for name, content in files.items()
        if not (name.startswith(b"dir/") and files.get(b"dir") is not None)
    }


class WorkingCopy:
    """A working copy of a bare repository, in which git merges."""

    def __init__(self, bare: Path, folder: Path) -> None:
        self.git = Git(folder)
        self.git("clone", "-q", "--shared", "--no-checkout", str(bare), ".")
        self.git("config", "core.quotePath", "false")

    def conflicts(self) -> set[str]:
        """Return the files with conflicts, without the suffix that git adds to a file beside a directory."""
        names = self.git("diff", "--name-only", "--diff-filter=U", "-z").split("\0")
        return {name.partition("~")[0] for name in names if name}

    def merge(self, base: str, head: str) -> str | set[str]:
        """Return the tree of a merge, or the files with conflicts."""
        self.git("checkout", "-q", "-f", "--detach", base)
        done = self.git.try_to("merge", "-q", "--no-ff", "--no-commit", head)
        result = self.git("write-tree") if done.returncode == 0 else self.conflicts()
        self.git("reset", "-q", "--hard")
        return result

    def rebase(self, base: str, head: str) -> list[list[str]] | set[str]:
        """Return the commits of a rebase, or the files with conflicts of the first one that does not apply."""
        self.git("checkout", "-q", "-f", "--detach", head)
        done = self.git.try_to("rebase", "-q", base)
        if done.returncode:
            result = self.conflicts()
            self.git("rebase", "--abort")
            return result
        ids = self.git("rev-list", "--reverse", f"{base}..HEAD").split()
        return [self.described(self.git("cat-file", "commit", item)) for item in ids]

    @staticmethod
    def described(commit: str) -> list[str]:
        """Return tree, author and message of a commit."""
        headers, _, message = commit.partition("\n\n")
        lines = headers.split("\n")
        return [lines[0], next(line for line in lines if line.startswith("author")), message.strip()]


def rebased(draft: Draft, base: str, head: str) -> list[list[str]] | set[str]:
    """Return the commits of a rebase by the engine, or the files with conflicts."""
    try:
        tip = add_rebase(draft, base, head, committer=BEA)
    except MergeConflict as conflict:
        return set(conflict.files)
    except NothingToMerge:
        return []
    results = []
    while tip != base and not is_ancestor_of(draft, tip, base):
        content = draft.read(tip, "commit")
        results.append(WorkingCopy.described(content.decode()))
        tip = parse_commit(tip, content).parents[0]
    return results[::-1]


def is_ancestor_of(draft: Draft, commit: str, other: str) -> bool:
    """Return whether a commit is an ancestor of another; a commit that is only in the draft is not."""
    return draft.repo.header(commit) is not None and is_ancestor(draft.repo, commit, other)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=branches())
def test_every_merge_style_equals_that_of_git(drawn: Drawn) -> None:
    """Each style gives the trees, authors, messages and conflicts of git."""
    with tempfile.TemporaryDirectory() as scratch:
        bare = Path(scratch, "bare.git")
        ids = write(bare, drawn.steps)
        base, head = ids[drawn.base], ids[drawn.head]
        compare_styles(bare, Path(scratch, "work"), base, head)


WHOLE = b"".join(LINES)
ROOT = Step((), 0, {b"a": WHOLE, b"b": b"b\n", b"dir/c": b"c\n"})


@pytest.mark.parametrize(
    "steps",
    [
        # Both sides remove a file, and one of them has moved it.
        [ROOT, Step((0,), 10, {b"a": None, b"moved": WHOLE}), Step((0,), 20, {b"a": None})],
        # One side adds to a directory that the other one empties.
        [ROOT, Step((0,), 10, {b"dir/c": None}), Step((0,), 20, {b"dir/d": b"d\n"})],
        # Each side removes another file of a directory.
        [
            ROOT,
            Step((0,), 10, {b"dir/d": b"d\n"}),
            Step((1,), 20, {b"dir/c": None}),
            Step((1,), 30, {b"dir/d": None}),
        ],
        # Base has taken the change over, and taken it back.
        [
            ROOT,
            Step((0,), 10, {b"b": b"new\n"}),
            Step((1,), 20, {b"b": b"b\n"}),
            Step((0,), 30, {b"b": b"new\n"}),
        ],
    ],
)
def test_rare_histories_merge_like_git(tmp_path: Path, steps: list[Step]) -> None:
    """Renames, emptied directories and reverted changes merge as in git, in both directions."""
    ids = write(tmp_path / "bare.git", steps)
    compare_styles(tmp_path / "bare.git", tmp_path / "work", ids[-2], ids[-1])
    compare_styles(tmp_path / "bare.git", tmp_path / "again", ids[-1], ids[-2])


def compare_styles(bare: Path, work: Path, base: str, head: str) -> None:
    """Compare all styles for one pair of commits."""
    repo = open_repository(bare)
    copy = WorkingCopy(bare, work)
    expected = copy.merge(base, head)
    draft = Draft(repo)
    if copy.git.try_to("merge-base", "--is-ancestor", head, base).returncode == 0:
        with pytest.raises(NothingToMerge):
            add_squash(draft, base, head, author=BEA, committer=CARL, message="squashed\n")
    elif isinstance(expected, set):
        with pytest.raises(MergeConflict) as conflict:
            add_merge_commit(draft, base, head, author=BEA, committer=CARL, message="merged\n")
        assert set(conflict.value.files) == expected
        assert check_merge(repo, base, head).conflicts == conflict.value.files
    else:
        merged = add_merge_commit(draft, base, head, author=BEA, committer=CARL, message="merged\n")
        squashed = add_squash(draft, base, head, author=BEA, committer=CARL, message="squashed\n")
        both = parse_commit(merged, draft.content(merged))
        commit = parse_commit(squashed, draft.content(squashed))
        assert (both.tree, both.parents) == (expected, (base, head))
        assert (commit.tree, commit.parents, commit.author, commit.committer) == (expected, (base,), BEA, CARL)
        assert check_merge(repo, base, head).is_clean
    again = Draft(repo)
    assert rebased(again, base, head) == copy.rebase(base, head)
    # All that is new is in the draft: with it the repository is complete.
    for one_object in (*draft.objects(), *again.objects()):
        repo.write(one_object.kind, one_object.content)
    copy.git("--git-dir", str(bare), "fsck", "--strict", "--connectivity-only", "--no-dangling")


@pytest.fixture
def work(tmp_path: Path) -> Git:
    """Make a history whose branches change the same file, another one, and nothing."""
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "main")
    git.commit("z", "0\n")
    git.commit("a", "1\n2\n3\n")
    for branch, name, content in (("same", "a", "1\nhere\n3\n"), ("other", "b", "new\n")):
        git("checkout", "-q", "-b", branch, "main")
        git.commit(name, content)
    git("checkout", "-q", "main")
    git.commit("a", "1\nthere\n3\n")
    git("checkout", "-q", "--orphan", "alone")
    git.commit("c", "x")
    return git


@pytest.mark.parametrize(
    ("base", "head", "clean"),
    [
        ("main", "same", False),
        ("same", "main", False),
        ("main", "other", True),
        ("other", "main", True),
        ("main", "main", True),
        ("main~1", "main", True),
        ("main", "main~1", True),
        ("main", "alone", False),
    ],
)
def test_a_merge_check_tells_whether_two_commits_merge(work: Git, base: str, head: str, *, clean: bool) -> None:
    """Commits ahead, behind and diverged merge, unrelated ones do not, and the check writes no object."""
    folder = work.folder / ".git"
    before = sorted(path for path in (folder / "objects").rglob("*"))
    repo = open_repository(folder)
    ids = [work("rev-parse", name) for name in (base, head)]
    assert check_merge(repo, *ids).is_clean is clean
    assert sorted(path for path in (folder / "objects").rglob("*")) == before


def test_a_slow_merge_is_ended(work: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that times out raises an error, and the next check runs it again."""
    repo = open_repository(work.folder / ".git")
    ids = [work("rev-parse", name) for name in ("main", "same")]

    def late(*_: object, **__: object) -> bytes:
        raise GitTimedOut("merge-tree", "timed out after 5 seconds")

    with monkeypatch.context() as patched:
        patched.setattr(tree_merges, "run", late)
        with pytest.raises(GitTimedOut):
            check_merge(repo, *ids)
    assert check_merge(repo, *ids).conflicts == ("a",)


def test_a_merge_without_common_files_starts_no_process(work: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of different files are merged from tree entries alone, with two new objects."""
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("main", "other"))

    def never(*_: object, **__: object) -> bytes:
        raise AssertionError

    monkeypatch.setattr(tree_merges, "run", never)
    monkeypatch.setattr("holdfast.hosting.git.merge_bases.run", never)
    draft = Draft(repo)
    commit_id = add_merge_commit(draft, base, head, author=BEA, committer=CARL, message="merged\n")
    commit = parse_commit(commit_id, draft.content(commit_id))
    assert commit.parents == (base, head)
    assert (commit.author, commit.committer, commit.message) == (BEA, CARL, "merged\n")
    assert len(draft.objects()) == 2


def test_a_rebase_keeps_authors_and_names_the_committer(work: Git) -> None:
    """A rebase keeps author, time and message in UTF-8 and sets the committer."""
    work("checkout", "-q", "other")
    work("config", "i18n.commitEncoding", "ISO-8859-1")
    (work.folder / "c").write_text("more\n")
    work("add", "c")
    work.environment |= {"GIT_AUTHOR_NAME": "Zo\udceb", "GIT_AUTHOR_DATE": "1600000000 -0330"}
    work("commit", "-q", "--allow-empty-message", "-m", "no newline", "--cleanup=verbatim")
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("main", "other"))
    draft = Draft(repo)
    tip = parse_commit("", draft.read(add_rebase(draft, base, head, committer=BEA), "commit"))
    assert tip.author == Signature("Zo\u00eb", "ada@example.org", 1_600_000_000, -210)
    assert tip.committer == BEA
    assert tip.message.strip() == "no newline"
    below = parse_commit("", draft.content(tip.parents[0]))
    assert below.author.name == "Ada"
    assert below.parents == (base,)


def test_a_rebase_leaves_commits_on_top_of_base_alone(work: Git) -> None:
    """Commits that follow base keep their ids; a rebase merge adds only the merge commit."""
    repo = open_repository(work.folder / ".git")
    base, head = work("rev-parse", "main~1"), work("rev-parse", "main")
    draft = Draft(repo)
    assert add_rebase(draft, base, head, committer=BEA) == head
    assert not draft.objects()
    commit_id = add_rebase_merge(draft, base, head, author=BEA, committer=CARL, message="both\n")
    commit = parse_commit(commit_id, draft.content(commit_id))
    assert commit.parents == (base, head)
    assert commit.tree == work("rev-parse", "main^{tree}")


def test_a_rebase_merge_joins_the_replayed_commits(work: Git) -> None:
    """The merge commit has the tree of the last replayed commit, which follows base."""
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("main", "other"))
    draft = Draft(repo)
    commit_id = add_rebase_merge(draft, base, head, author=BEA, committer=CARL, message="both\n")
    commit = parse_commit(commit_id, draft.content(commit_id))
    replayed = parse_commit(commit.parents[1], draft.content(commit.parents[1]))
    assert commit.parents[0] == base
    assert replayed.parents == (base,)
    assert replayed.tree == commit.tree
    assert replayed.id != head


def test_merged_and_unrelated_heads_are_refused(work: Git) -> None:
    """A merged head raises `NothingToMerge`, an unrelated one `UnrelatedHistories`, in all styles."""
    repo = open_repository(work.folder / ".git")
    main, older, alone = (work("rev-parse", name) for name in ("main", "main~1", "alone"))
    for add in (add_merge_commit, add_squash, add_rebase_merge):
        with pytest.raises(NothingToMerge):
            add(Draft(repo), main, older, author=BEA, committer=CARL, message="")
        with pytest.raises(UnrelatedHistories):
            add(Draft(repo), main, alone, author=BEA, committer=CARL, message="")
    with pytest.raises(UnrelatedHistories):
        add_rebase(Draft(repo), main, alone, committer=BEA)


def test_a_change_that_base_has_too_is_left_out_of_a_rebase(work: Git) -> None:
    """A commit that base has already is dropped, and a rebase without remaining commits is refused."""
    work("checkout", "-q", "main")
    work("cherry-pick", "other")
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("main", "other"))
    assert add_rebase(Draft(repo), base, head, committer=BEA) == base
    with pytest.raises(NothingToMerge):
        add_rebase_merge(Draft(repo), base, head, author=BEA, committer=CARL, message="")


def test_a_rebase_is_bounded(work: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebase is refused above a number of commits and ended after a number of seconds."""
    work("checkout", "-q", "other")
    work.commit("b", "newer\n")
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("main", "other"))
    with monkeypatch.context() as patched:
        patched.setattr(merges, "REPLAY_SECONDS", -1.0)
        with pytest.raises(GitTimedOut):
            add_rebase(Draft(repo), base, head, committer=BEA)
    monkeypatch.setattr(merges, "MOST_REPLAYED", 1)
    with pytest.raises(MergeTooLarge):
        add_rebase(Draft(repo), base, head, committer=BEA)


def test_a_merge_that_writes_too_much_is_refused(work: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged contents are kept in memory, so that a merge above the size limit is refused."""
    work("checkout", "-q", "-b", "end", "main~1")
    work.commit("a", "1\n2\n3\nend\n")
    work("checkout", "-q", "-b", "start", "main~1")
    work.commit("a", "start\n1\n2\n3\n")
    repo = open_repository(work.folder / ".git")
    base, head = (work("rev-parse", name) for name in ("start", "end"))
    draft = Draft(repo)
    add_squash(draft, base, head, author=BEA, committer=CARL, message="")
    assert b"start\n1\n2\n3\nend\n" in [packed_object.content for packed_object in draft.objects()]
    monkeypatch.setattr(tree_merges, "LARGEST_MERGE", 10)
    with pytest.raises(MergeTooLarge):
        add_squash(Draft(repo), base, head, author=BEA, committer=CARL, message="")
