"""The entries of a tree object: parsing, sorting and caching."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.tree_entries import Folder, TreeCache, parse

TREE = "1" * 40
NAMES = st.sampled_from([b"a", b"a.b", b"a-b", b"a0", b"b", b"ab", "é".encode(), b"Z", b"\xff"])
IDS = st.binary(min_size=20, max_size=20)
MODES = st.sampled_from([0o100644, 0o100755, 0o120000, 0o160000])


def row(mode: bytes, name: bytes, at: bytes = b"x" * 20) -> bytes:
    """Return an entry in the format of a tree object."""
    return mode + b" " + name + b"\0" + at


@given(st.lists(st.tuples(NAMES, st.sampled_from(["put", "below", "without"]), MODES, IDS), max_size=20))
def test_a_folder_is_a_dictionary_in_gits_order(steps: list[tuple[bytes, str, int, bytes]]) -> None:
    """After any additions and removals, the entries are those of a dictionary, sorted as git sorts them."""
    folder = Folder([], [])
    expected: dict[bytes, tuple[int, bytes]] = {}
    for name, step, mode, at in steps:
        before = folder.rows.copy()
        changed = folder.without(name)
        expected.pop(name, None)
        if step == "put":
            changed = folder.put(name, mode, at)
            expected[name] = mode, at
        elif step == "below":
            changed = folder.put_below(name, Folder([], []))
            assert isinstance(result := changed.get(name), tuple)
            assert isinstance(result[1], Folder)
            changed.set_subtree(name, at)
            expected[name] = 0o40000, at
        assert folder.rows == before
        folder = changed
    assert {name: folder.get(name) for name in expected} == expected
    assert [name in folder for name in (b"a", b"nothing")] == [b"a" in expected, False]
    order = sorted(expected, key=lambda name: name + b"/" if expected[name][0] == 0o40000 else name)
    assert folder.rows == [row(b"%o" % expected[name][0], name, expected[name][1]) for name in order]
    again = parse(TREE, b"".join(folder.rows))
    assert (again.keys, again.rows) == (folder.keys, folder.rows)


def test_an_id_that_looks_like_an_entry_is_not_parsed_as_one() -> None:
    """An id whose bytes look like an entry does not add that entry."""
    folder = parse(TREE, row(b"100644", b"a", b"100644 b\0" + b"x" * 11) + row(b"100644", b"c"))
    assert b"b" not in folder
    assert folder.get(b"c") == (0o100644, b"x" * 20)


def test_unsorted_entries_are_sorted() -> None:
    """Unsorted entries are sorted, the last entry of a name counts, and outdated modes are normalized."""
    folder = parse(TREE, row(b"100664", b"b") + row(b"040000", b"a") + row(b"100644", b"b", b"y" * 20))
    assert folder.get(b"a") == (0o40000, b"x" * 20)
    assert folder.get(b"b") == (0o100644, b"y" * 20)
    assert folder.keys == [b"a/", b"b"]
    both = parse(TREE, row(b"100644", b"a") + row(b"40000", b"a"))
    assert both.keys == [b"a/"]


@pytest.mark.parametrize("content", [b"100644 a\0short", row(b"100644", b"a") + b"!", row(b"10x644", b"a")])
def test_an_invalid_tree_raises_an_error(content: bytes) -> None:
    """A tree with a truncated entry, trailing bytes or an invalid mode raises an error with its id."""
    with pytest.raises(GitDamaged, match=TREE):
        parse(TREE, content)


@pytest.fixture
def repo(folder: Path) -> Repo:
    """Open a repository."""
    return open_repository(folder)


def test_recently_used_trees_are_cached(repo: Repo) -> None:
    """The cache is limited by its rows, and the directory used least recently is evicted first."""
    recent = TreeCache(most_rows=10, most_commits=2)
    folders = [
        Folder([b"%d" % n for n in range(4)], [row(b"100644", b"%d" % n) for n in range(4)], tree=str(tree) * 40)
        for tree in range(3)
    ]
    for folder in folders[:2]:
        recent.keep_folder(repo, folder)
    assert recent.folder(repo, "0" * 40) is folders[0]
    recent.keep_folder(repo, folders[2])
    assert [recent.folder(repo, str(tree) * 40) for tree in range(3)] == [folders[0], None, folders[2]]
    for commit in "abc":
        recent.keep_tree(repo, commit, TREE)
    assert [recent.tree(repo, commit) for commit in "abc"] == [None, TREE, TREE]


def test_repositories_are_cached_apart(repo: Repo, tmp_path: Path) -> None:
    """A cached tree of one repository is not returned for another, which may not have it."""
    recent = TreeCache()
    recent.keep_folder(repo, Folder([], [], tree=TREE))
    other = Repo(tmp_path / "8.git", repo.git)
    assert recent.folder(other, TREE) is None
    assert recent.folder(repo, TREE) is not None
