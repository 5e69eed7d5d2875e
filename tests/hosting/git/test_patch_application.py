"""Applying patches, such as those of `git diff-tree`, to trees."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import FileRefused, FileTooLarge
from holdfast.hosting.git.patch_application import MOST_FILES, PatchedFile, apply_patch
from holdfast.hosting.git.repository import Repo, open_repository

MOST = 2**20
SUBMODULE = (
    b"diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n"
    b"+Subproject commit 1111111111111111111111111111111111111111\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an empty bare repository."""
    path = tmp_path_factory.mktemp("patches") / "repo.git"
    subprocess.run(["git", "init", "-q", "--bare", path], check=True)
    return path


def write_tree(folder: Path, files: dict[str, bytes]) -> str:
    """Write a tree of files."""
    git = ("git", "-C", str(folder))
    lines = b""
    for path, content in sorted(files.items()):
        completed = subprocess.run(
            [*git, "hash-object", "-w", "--stdin"], input=content, capture_output=True, check=True
        )
        lines += b"100644 blob %s\t%s\0" % (completed.stdout.strip(), path.encode())
    completed = subprocess.run([*git, "mktree", "-z"], input=lines, capture_output=True, check=True)
    return completed.stdout.decode().strip()


def diff(folder: Path, old: str, new: str, *options: str) -> bytes:
    """Return the patch between two trees that `git diff-tree` writes."""
    command = ["git", "-C", str(folder), "diff-tree", "-r", "-p", "--binary", *options, old, new]
    return subprocess.run(command, capture_output=True, check=True).stdout


Files = st.dictionaries(st.sampled_from("abcde"), st.binary(max_size=40), max_size=4)


@settings(max_examples=15, deadline=None)
@given(Files, Files, st.sampled_from(["", "-M"]))
def test_a_patch_of_two_trees_makes_one_of_the_other(
    folder: Path, old: dict[str, bytes], new: dict[str, bytes], option: str
) -> None:
    """Additions, changes, renames and deletions of text and binary files give the files of the new tree."""
    trees = write_tree(folder, old), write_tree(folder, new)
    patch = diff(folder, *trees, *([option] if option else []))
    if not patch:
        return
    result = dict(old)
    for file in apply_patch(open_repository(folder), trees[0], patch, most_bytes=MOST):
        assert (file.old is None) == (file.path not in old)
        result.pop(file.path, None)
        if file.content is not None:
            result[file.path] = file.content
    assert result == new


def repository(folder: Path) -> tuple[Repo, str]:
    """Return the repository and a tree of one file."""
    return open_repository(folder), write_tree(folder, {"a": b"one\ntwo\n"})


def test_nothing_is_written_to_the_repository(folder: Path) -> None:
    """A patch of an empty tree gives the new file without writing any file to the repository."""
    before = sorted(folder.rglob("*"))
    patch = b"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+never-written\n"
    patched_files = apply_patch(open_repository(folder), None, patch, most_bytes=MOST)
    assert patched_files == [PatchedFile("n", None, 0o100755, b"never-written\n")]
    assert sorted(folder.rglob("*")) == before


def hunk(old: str, new: str, path: str = "a") -> bytes:
    """Return a patch of one line."""
    names = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{names}@@ -1,2 +1,2 @@\n-{old}\n+{new}\n two\n".encode()


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (b"", "does not apply"),
        (b"no patch", "does not apply"),
        (hunk("other", "x"), "patch failed: a:1"),
        (hunk("one", "x", "missing"), "missing: does not exist in index"),
        (hunk("one", "x", "../a"), "does not apply: "),
        (b"diff --git a/a b/c\nsimilarity index 100%\ncopy from a\ncopy to c\n", "copies files"),
        (SUBMODULE, "submodules"),
    ],
)
def test_a_patch_that_does_not_apply_is_refused_with_a_reason(folder: Path, patch: bytes, message: str) -> None:
    """A patch that does not apply is refused with the message of git; copies and submodules are refused too."""
    repo, tree = repository(folder)
    with pytest.raises(FileRefused, match=message):
        apply_patch(repo, tree, patch, most_bytes=MOST)


def test_a_patch_that_is_too_large_is_refused(folder: Path) -> None:
    """A patch is limited by its files, by the old and new content, and by the size a binary change declares."""
    repo, tree = repository(folder)
    new = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
    many = "".join(new.format(number) for number in range(MOST_FILES + 1)).encode()
    with pytest.raises(FileTooLarge, match=f"{MOST_FILES} files"):
        apply_patch(repo, tree, many, most_bytes=MOST)
    for most_bytes in (3, 8):
        with pytest.raises(FileTooLarge, match=f"{most_bytes} bytes"):
            apply_patch(repo, tree, hunk("one", "larger"), most_bytes=most_bytes)
    binary = b"diff --git a/b b/b\nnew file mode 100644\nGIT binary patch\nliteral 4000000000\n"
    with pytest.raises(FileTooLarge, match="bytes"):
        apply_patch(repo, tree, binary, most_bytes=MOST)
    with pytest.raises(FileTooLarge, match="bytes"):
        apply_patch(repo, tree, binary.replace(b"4000000000", b"9" * 5000), most_bytes=MOST)
