"""Tree listings, paths, blobs and submodules, compared with git."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged, NoSuchObject
from holdfast.hosting.git import trees
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import (
    MissingPath,
    TreeEntry,
    TreeListing,
    children,
    directory,
    find,
    listing,
    read_blob,
    stream_blob,
    submodule_urls,
    walk,
)
from tests.examples import examples
from tests.hosting.git.oracle import commit, git, line, loose, new_repository, unpack, write_object

ODD = [
    b"a b",
    b"per%cent",
    "\u00e9\u4e16".encode(),
    b"new\nline",
    b"not\xffutf8",
    b'qu"ote',
    b"-dash",
    b"back\\slash",
]
PARTS = st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"ab", b"A", *ODD])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(b"/".join)
MODES = st.sampled_from([b"100644", b"100755", b"120000"])


@st.composite
def files(draw: st.DrawFn) -> dict[bytes, tuple[bytes, bytes]]:
    """Draw files with their modes and contents, none of which lies below another."""
    drawn = draw(st.dictionaries(PATHS, st.tuples(MODES, st.binary(max_size=20)), min_size=1, max_size=12))
    return {
        path: what for path, what in drawn.items() if not any(path.startswith(other + b"/") for other in drawn)
    }


def entries_by_git(folder: Path, *arguments: str) -> Iterator[TreeEntry]:
    """Return a listing according to `git ls-tree`."""
    for row in git(folder, "ls-tree", "-z", "-l", "--full-tree", *arguments).split(b"\0")[:-1]:
        head, _, path = row.partition(b"\t")
        mode, _, at, size = head.split()
        yield TreeEntry(path, int(mode, 8), at.decode(), 0 if size == b"-" else int(size))


@settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(drawn=files())
def test_any_tree_is_listed_as_git_lists_it(tmp_path_factory: pytest.TempPathFactory, drawn: dict) -> None:  # type: ignore[type-arg]  # nested to any depth
    """Entries of one directory and of all have the order and sizes of git, and each path finds its entry."""
    folder = new_repository(tmp_path_factory.mktemp("drawn") / "1.git")
    modes = {path: mode for path, (mode, _) in drawn.items()}
    commit(folder, {path: content for path, (_, content) in drawn.items()}, modes=modes)
    repo = open_repository(folder)
    tree = line(folder, "rev-parse", "main^{tree}")
    assert directory(repo, tree) == list(entries_by_git(folder, "main"))
    expected = list(entries_by_git(folder, "-r", "-t", "main"))
    assert [(mode, path, at) for mode, path, at in walk(repo, tree)] == [
        (e.mode, e.raw_path, e.id) for e in expected
    ]
    assert listing(repo, tree, recursive=True, per_page=1000) == TreeListing(expected, len(expected), False)
    for entry in expected:
        assert find(repo, tree, entry.raw_path) == entry
        assert find(repo, tree, os.fsdecode(entry.raw_path)) == entry
        if entry.type == "dir":
            assert directory(repo, entry.id, entry.raw_path)[0] in expected


@pytest.fixture
def repo(folder: Path) -> Repo:
    """Make a repository with an entry of each kind."""
    modules = b'# where they are\n[submodule "lib"]\n\tpath = ext/lib\n\turl = "https://example.org/lib.git"\n'
    content = {
        b"README": b"hello",
        b"docs/a.md": b"a",
        b"docs/deep/b.md": b"bb",
        b"run": b"#!/bin/sh\n",
        b"link": b"docs/a.md",
        b"ext/lib": b"1" * 40,
        b".gitmodules": modules,
        b"not\xffutf8/x": b"1",
    }
    commit(folder, content, modes={b"run": b"100755", b"link": b"120000", b"ext/lib": b"160000"})
    return open_repository(folder)


@pytest.fixture
def tree(repo: Repo) -> str:
    """Return the tree of the commit on main."""
    return line(repo.folder, "rev-parse", "main^{tree}")


def test_there_are_four_kinds_of_entries(repo: Repo, tree: str) -> None:
    """An entry is a file, directory, symbolic link or submodule; only files and links have a size."""
    found = {path: find(repo, tree, path) for path in ("README", "docs", "link", "ext/lib", "run")}
    kinds = {
        path: (entry.type, entry.mode, entry.size) for path, entry in found.items() if isinstance(entry, TreeEntry)
    }
    assert kinds == {
        "README": ("file", 0o100644, 5),
        "docs": ("dir", 0o40000, 0),
        "link": ("symlink", 0o120000, 9),
        "ext/lib": ("submodule", 0o160000, 0),
        "run": ("file", 0o100755, 10),
    }


@pytest.mark.parametrize(
    ("path", "component", "is_last"),
    [
        ("none", "none", True),
        ("none/a/b", "none", False),
        ("docs/none", "none", True),
        ("docs/none/b", "none", False),
        ("README/x", "README", False),
        ("ext/lib/x", "lib", False),
        ("link/x", "link", False),
        ("docs/", "", True),
        ("/docs", "", False),
        ("..", "..", True),
        ("a\0b", "a\0b", True),
        ("\ud800", "\ufffd\ufffd\ufffd", True),
    ],
)
def test_a_missing_path_is_reported_with_its_first_missing_part(
    repo: Repo, tree: str, path: str, component: str, *, is_last: bool
) -> None:
    """The result is the first part of the path that does not exist or is not a directory."""
    assert find(repo, tree, path) == MissingPath(component, is_last)


def test_a_very_long_path_is_not_found(repo: Repo, tree: str) -> None:
    """A path of 500,000 characters is missing, without an error."""
    assert isinstance(find(repo, tree, "docs/" * 100_000), MissingPath)


def test_the_empty_path_is_the_tree_itself(repo: Repo, tree: str) -> None:
    """The empty path finds the root tree, so that the root can be read like any directory."""
    assert find(repo, tree, "") == TreeEntry(b"", 0o40000, tree, 0)


def test_names_that_are_not_utf8_are_shown_and_found(repo: Repo, tree: str) -> None:
    """An entry is found by its bytes and shown with replacement characters, valid in JSON."""
    entry = find(repo, tree, b"not\xffutf8/x")
    assert isinstance(entry, TreeEntry)
    assert (entry.path, entry.name) == ("not\ufffdutf8/x", "x")


def test_a_listing_comes_in_pages(repo: Repo, tree: str) -> None:
    """Each page has the total number of entries and whether more follow."""
    whole = listing(repo, tree, recursive=True, per_page=100)
    assert whole.total == len(whole.entries) == 12
    pages = [listing(repo, tree, recursive=True, page=page, per_page=5) for page in (1, 2, 3, 4)]
    assert [entry for page in pages for entry in page.entries] == whole.entries
    assert [page.truncated for page in pages] == [True, True, False, False]
    assert listing(repo, tree, recursive=False, per_page=3).total == 7


def test_a_tree_that_holds_itself_many_times_over_is_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recursive listing of ten nested levels of ten directories stops at the limit of entries."""
    monkeypatch.setattr(trees, "MOST_ENTRIES", 1000)
    at = write_object(folder, "tree", b"")
    for _ in range(10):
        rows = (b"40000 %d\0%s" % (number, bytes.fromhex(at)) for number in range(10))
        at = write_object(folder, "tree", b"".join(rows))
    tree_listing = listing(open_repository(folder), at, recursive=True, per_page=10)
    assert (len(tree_listing.entries), tree_listing.total, tree_listing.truncated) == (10, 1000, True)


def test_an_empty_tree_has_nothing_in_it(folder: Path) -> None:
    """The listings of an empty tree have no entries."""
    repo = open_repository(folder)
    empty = write_object(folder, "tree", b"")
    assert directory(repo, empty) == []
    assert listing(repo, empty, recursive=True, per_page=10) == TreeListing([], 0, False)


def test_modes_of_old_repositories_are_what_git_takes_them_for(folder: Path) -> None:
    """Outdated modes like 100664 are listed as git lists them."""
    blob = write_object(folder, "blob", b"x")
    rows = [(b"100664", b"a"), (b"100775", b"b"), (b"120777", b"c")]
    tree = write_object(folder, "tree", b"".join(b"%s %s\0%s" % (*row, bytes.fromhex(blob)) for row in rows))
    repo = open_repository(folder)
    assert directory(repo, tree) == list(entries_by_git(folder, tree))


@pytest.mark.parametrize(
    "content", [b"garbage", b"100644 a\0short", b"100644 \0" + b"x" * 20, b"9 a\0" + b"x" * 20]
)
def test_an_invalid_tree_raises_an_error(folder: Path, content: bytes) -> None:
    """A tree that cannot be parsed raises an error instead of a partial listing."""
    tree = write_object(folder, "tree", content)
    with pytest.raises(GitDamaged):
        children(open_repository(folder), tree)


def test_a_missing_blob_raises_an_error_only_when_it_is_read(repo: Repo, tree: str) -> None:
    """Other paths can be read although a blob is missing."""
    unpack(repo.folder)
    loose(repo.folder, line(repo.folder, "rev-parse", "main:docs/a.md")).unlink()
    assert isinstance(find(repo, tree, "README"), TreeEntry)
    with pytest.raises(GitDamaged):
        find(repo, tree, "docs/a.md")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [0, 1000, 9_000_000])
def test_a_blob_is_streamed(folder: Path, size: int, *, packed: bool) -> None:
    """Small and large blobs, loose or packed, are streamed whole or as a range."""
    content = (os.urandom(4096) * (size // 4096 + 1))[:size]
    blob = git(folder, "hash-object", "-w", "--stdin", input=content).decode().strip()
    if packed:
        git(folder, "update-ref", "refs/tags/kept", blob)
        git(folder, "repack", "-adq")
    repo = open_repository(folder)
    assert b"".join(stream_blob(repo, blob)) == content == read_blob(repo, blob)
    assert b"".join(stream_blob(repo, blob, 10, size - 10)) == content[10 : max(size - 10, 0)]
    assert b"".join(stream_blob(repo, blob, size)) == b""
    assert b"".join(stream_blob(repo, blob, 0, size * 2)) == content
    assert content.startswith(b"".join(islice(stream_blob(repo, blob), 1)))


def test_a_truncated_large_blob_raises_an_error(folder: Path) -> None:
    """A stream of a truncated blob raises an error instead of ending early."""
    content = os.urandom(9_000_000)
    blob = git(folder, "hash-object", "-w", "--stdin", input=content).decode().strip()
    path = loose(folder, blob)
    path.write_bytes(path.read_bytes()[:5_000_000])
    with pytest.raises(GitDamaged):
        list(stream_blob(open_repository(folder), blob))


def test_only_blobs_can_be_streamed(repo: Repo, tree: str) -> None:
    """A tree in place of a blob raises `NoSuchObject`."""
    with pytest.raises(NoSuchObject):
        next(stream_blob(repo, tree))


def test_urls_of_submodules_are_read_from_gitmodules(repo: Repo, tree: str) -> None:
    """The URLs of submodules are keyed by the path of the submodule."""
    assert submodule_urls(repo, tree) == {b"ext/lib": "https://example.org/lib.git"}


@pytest.mark.parametrize("content", [b"[submodule", b"", b'[submodule "a"]\n\tpath = a\n', b"\0\xff"])
def test_an_invalid_gitmodules_is_ignored(folder: Path, content: bytes) -> None:
    """An invalid `.gitmodules` file gives no URLs and no error."""
    commit(folder, {b".gitmodules": content})
    repo = open_repository(folder)
    assert submodule_urls(repo, line(folder, "rev-parse", "main^{tree}")) == {}
