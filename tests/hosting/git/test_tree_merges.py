"""Three-way merges of trees, with and without git."""

from pathlib import Path

import pytest

from holdfast.hosting.errors import MergeConflict
from holdfast.hosting.git import tree_merges
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.tree_merges import conflict_names, open_merger, tree_links
from holdfast.hosting.git.tree_writer import Draft, PathEntry
from tests.hosting.git.oracle import commit, line

BASE: dict[bytes, bytes | None] = {b"a": b"1\n2\n3\n", b"dir/b": b"b\n", b"dir/c": b"c\n", b"z": b"z\n"}


def sides(
    folder: Path, ours: dict[bytes, bytes | None], theirs: dict[bytes, bytes | None]
) -> tuple[str, str, str]:
    """Commit a base and two sides of it, and return the three commits."""
    base = commit(folder, BASE)
    return (
        base,
        commit(folder, ours, branch="ours", parents=[base]),
        commit(folder, theirs, branch="theirs", parents=[base]),
    )


def merged_files(folder: Path, base: str, ours: str, theirs: str) -> dict[str, str]:
    """Merge two commits, and return the files of the result by name."""
    repo = open_repository(folder)
    draft = Draft(repo)
    with open_merger(draft) as merger:
        tree = draft.tree(merger.merge((base,), ours, theirs))
    for packed_object in draft.objects():
        repo.write(packed_object.kind, packed_object.content)
    names = line(folder, "ls-tree", "-r", "--name-only", tree).splitlines()
    return {name: line(folder, "cat-file", "blob", f"{tree}:{name}") for name in names}


@pytest.fixture
def without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if git is started for a merge."""

    def never(*_arguments: object, **_options: object) -> bytes:
        raise AssertionError("git was started")

    monkeypatch.setattr(tree_merges, "run", never)


@pytest.mark.usefixtures("without_git")
@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({b"a": b"ours"}, {b"z": b"theirs"}, {"a": "ours", "z": "theirs"}),
        ({b"dir/b": b"ours"}, {b"dir/c": b"theirs"}, {"dir/b": "ours", "dir/c": "theirs"}),
        ({b"dir/b": None, b"dir/c": None}, {b"a": b"x"}, {"a": "x", "dir/b": None, "dir/c": None}),
        ({b"z": None}, {b"z": None}, {"z": None}),
        ({b"new/x": b"1"}, {b"new/y": b"2"}, {"new/x": "1", "new/y": "2"}),
    ],
)
def test_changes_of_different_files_are_merged_without_git(
    folder: Path,
    ours: dict[bytes, bytes | None],
    theirs: dict[bytes, bytes | None],
    expected: dict[str, str | None],
) -> None:
    """Edits, additions and removals are merged, in one directory too; other files are those of the base."""
    unchanged = {"a": "1\n2\n3", "dir/b": "b", "dir/c": "c", "z": "z"}
    result = merged_files(folder, *sides(folder, ours, theirs))
    assert result == {name: text for name, text in {**unchanged, **expected}.items() if text is not None}


def test_contents_and_renames_are_merged_by_git(folder: Path) -> None:
    """An edit of one side is applied to the file that the other side has renamed."""
    result = merged_files(folder, *sides(folder, {b"a": None, b"moved": BASE[b"a"]}, {b"a": b"1\n2\n3\n4\n"}))
    assert result == {"moved": "1\n2\n3\n4", "dir/b": "b", "dir/c": "c", "z": "z"}


def test_a_file_added_to_a_renamed_directory_is_merged_by_git(folder: Path) -> None:
    """A new file in a directory that the other side renamed is a conflict, though no entry changed twice."""
    renamed = {b"dir/b": None, b"dir/c": None, b"new/b": BASE[b"dir/b"], b"new/c": BASE[b"dir/c"]}
    with pytest.raises(MergeConflict) as excinfo:
        merged_files(folder, *sides(folder, renamed, {b"dir/d": b"d\n"}))
    assert excinfo.value.files == ("new/d",)


def test_conflicts_are_named(folder: Path) -> None:
    """A file that both sides changed and a file in place of a directory are listed by their plain names."""
    commits = sides(
        folder,
        {b"a": b"ours\n", b"dir/b": None, b"dir/c": None, b"dir": b"file"},
        {b"a": b"theirs\n", b"dir/b": b"theirs\n"},
    )
    with pytest.raises(MergeConflict) as excinfo:
        merged_files(folder, *commits)
    assert "a" in excinfo.value.files
    assert any(name.startswith("dir") for name in excinfo.value.files)
    assert not any("~" in name for name in excinfo.value.files)


def test_a_fast_forward_is_the_other_tree(folder: Path) -> None:
    """The merge of a tree into its unchanged base is that tree."""
    base, ours, _ = sides(folder, {b"a": b"ours"}, {})
    assert merged_files(folder, base, base, ours)["a"] == "ours"


def test_changes_between_two_trees_are_applied_to_a_third(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes apply as in `git cherry-pick`; git writes to a temporary folder only, which is deleted."""
    base, ours, theirs = sides(folder, {b"a": b"0\n1\n2\n3\n"}, {b"a": b"1\n2\n3\n4\n"})
    before = sorted((folder / "objects").rglob("*"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    draft = Draft(open_repository(folder))
    with open_merger(draft) as merger:
        result = merger.apply(*(draft.root(item) for item in (base, ours, theirs)))
        assert list(temporary.iterdir())
    assert not list(temporary.iterdir())
    found_result = draft.find(result, "a")
    assert isinstance(found_result, PathEntry)
    assert draft.content(found_result.id) == b"0\n1\n2\n3\n4\n"
    assert sorted((folder / "objects").rglob("*")) == before


def test_names_of_conflicts_are_read_from_the_output_of_git() -> None:
    """Each name is listed once, without the commit id that git appends."""
    output = b"\0".join([b"tree", b"a", b"a", b"dir~" + b"1" * 40, b"caf\xc3\xa9~", b""])
    assert conflict_names(output, "1" * 40, "2" * 40) == ("a", "dir", "caf\u00e9~")


def test_the_ids_in_a_tree_are_found() -> None:
    """The ids of a tree's entries are found even if their bytes contain spaces and NULs."""
    first, second = b"\0 a\0" * 5, bytes(range(20))
    assert list(tree_links(b"100644 a\0" + first + b"40000 b c\0" + second, 20)) == [first.hex(), second.hex()]
