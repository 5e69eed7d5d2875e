"""The entries of a directory, with their last commits."""

from pathlib import Path

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.trees import TreeEntry, find
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code import directory as directories
from holdfast.web.code.directory import Directory, directory
from holdfast.web.code.location import find_location
from tests.hosting.git.oracle import commit, new_repository

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a repository with files, directories and a submodule, in two commits."""
    created = new_repository(tmp_path / "7.git")
    first: dict[bytes, bytes | None] = {b"B.txt": b"12345", b"a.txt": b"", b"z/c d.txt": b"c", b"Dir/e\xff": b"e"}
    commit(created, first, message=b"Add files\n\nAll of them.\n", when=1000)
    commit(created, {b"a.txt": b"a", b"lib": b"1" * 40}, message=b"Add a\n", when=2000, modes={b"lib": b"160000"})
    return created


def list_directory(app: App, folder: Path, path: str = "", number: int = 1) -> Directory:
    """List a directory of main."""
    repo = open_repository(folder)
    location = find_location(repo, "/ada/ship", "branch", f"main/{path}".rstrip("/"))
    assert location is not None
    tree = read_commit(repo, location.commit).tree
    if path:
        entry = find(repo, tree, path)
        assert isinstance(entry, TreeEntry)
        tree = entry.id
    return directory(RequestContext(app, {"type": "http", "headers": []}), location, tree, number)


def test_directories_come_first_and_case_is_ignored(app: App, folder: Path) -> None:
    """Each entry has the summary and time of the last commit that changed it."""
    found_directory = list_directory(app, folder)
    assert [(row.name, row.type, row.summary, row.time) for row in found_directory.rows] == [
        ("Dir", "dir", "Add files", 1000),
        ("z", "dir", "Add files", 1000),
        ("a.txt", "file", "Add a", 2000),
        ("B.txt", "file", "Add files", 1000),
        ("lib", "submodule", "Add a", 2000),
    ]
    assert found_directory.last is not None
    assert (found_directory.last.summary, found_directory.total, found_directory.number) == ("Add a", 5, 1)
    assert found_directory.rows[3].size == 5
    assert found_directory.readme is None


def test_an_entry_is_linked_unless_it_lies_elsewhere(app: App, folder: Path) -> None:
    """Any bytes of a name are quoted in its link, and a submodule has no link."""
    addresses = {row.name: row.address for row in list_directory(app, folder).rows}
    assert addresses["z"] == "/ada/ship/src/branch/main/z"
    assert addresses["lib"] == ""
    (inner,) = list_directory(app, folder, "z").rows
    assert (inner.name, inner.address) == ("c d.txt", "/ada/ship/src/branch/main/z/c%20d.txt")
    (odd,) = list_directory(app, folder, "Dir").rows
    assert (odd.name, odd.address) == ("e\ufffd", "/ada/ship/src/branch/main/Dir/e%FF")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, (1, ["Dir", "z"])),
        (2, (2, ["a.txt", "B.txt"])),
        (3, (3, ["lib"])),
        (9, (3, ["lib"])),
        (0, (1, ["Dir", "z"])),
        (-5, (1, ["Dir", "z"])),
    ],
)
def test_a_large_directory_has_pages(
    app: App, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, expected: tuple[int, list[str]]
) -> None:
    """Each page has the next entries, and a page number out of range shows the nearest page."""
    monkeypatch.setattr(directories, "PER_PAGE", 2)
    found_directory = list_directory(app, folder, number=number)
    assert (found_directory.number, [row.name for row in found_directory.rows]) == expected
    assert (found_directory.total, found_directory.size) == (5, 2)
