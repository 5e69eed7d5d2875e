"""Whatever path we take, git takes as well."""

import os
import posixpath
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git import paths
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.tree_writer import Draft
from tests.examples import examples

PIECES = st.sampled_from(
    [
        *(".git", ".GIT", ".Git", "git~1", "GIT~1", ".", "..", "...", "", " ", "a", "b", "~1", "git", "\\"),
        *(
            ":",
            "::$DATA",
            "\u200c",
            "\ufeff",
            "\u202e",
            "\u206f",
            ".gitmodules",
            ".gitattributes",
            "é",
            "\t",
            "\n",
            "\x7f",
        ),
        *("-", "--x", "modules", "%", "*", "gitmod~1", "gi7eba~1", "GI7D29~1", "gi~12345"),
    ]
)
NAMES = st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=4).map("".join)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("a", "a"), ("/a/", "a"), ("a//b", "a/b"), ("./a/./b", "a/b"), ("a/../b", "b"), ("../../a", "a"), ("..", "")],
)
def test_a_path_is_normalized(given: str, wanted: str) -> None:
    """Dots and slashes lead where they would on a disk, never above the root."""
    assert paths.clean(given) == wanted


@pytest.mark.parametrize(
    "path", [".git", ".GIT/x", "a/.gIt", "git~1", ".git . .", ".git:x", ".git:\nx", "a\\.git", ".\u200cgit"]
)
def test_disguised_names_of_dot_git_are_refused(path: str) -> None:
    """In any case, with ignored code points, shortened, with dots and spaces at the end, and as a stream."""
    assert not paths.may_hold_file(path)


@pytest.mark.parametrize("path", ["a\nb", "a\n", "\t", "a/\x01/b", "\x7f", "a\r", "\x1b[31m"])
def test_control_characters_except_nul_are_accepted(path: str) -> None:
    """Git takes them all, and NUL ends a name."""
    assert paths.may_hold_file(path)
    assert not paths.may_hold_file(f"{path}\0")


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "git", "agit~1", "git~2", ".gitx", "a.git", "x\\y"])
def test_names_similar_to_dot_git_are_accepted(path: str) -> None:
    """They are files like any other."""
    assert paths.may_hold_file(path)


@pytest.mark.parametrize(
    "name",
    [
        *(".gitmodules", ".GITMODULES ", ".gitattributes", ".gitmodules:x", ".git\u200cmodules", "x\\.gitmodules"),
        *("gitmod~1", "GITATT~4", "gi7eba~1", "gi7d29~2", "gi~12345", "~1234567"),
    ],
)
def test_files_that_git_reads_must_be_plain_files(name: str) -> None:
    """No link and no directory may stand in its place, also under the names NTFS gives it."""
    assert paths.may_hold_file(f"a/{name}")
    assert not paths.may_hold_file(f"a/{name}/b")
    assert not paths.may_hold_link(f"a/{name}")


@pytest.mark.parametrize("name", ["modules", "gitmod~5", "gift~2", "~1", ".gitignore", ".gitmodules2"])
def test_other_names_are_not_special(name: str) -> None:
    """They only resemble what git reads."""
    assert paths.may_hold_file(f"a/{name}/b")
    assert paths.may_hold_link(f"a/{name}")


@settings(
    max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(PATHS, min_size=1, max_size=8))
def test_what_we_accept_git_accepts(folder: Path, found: list[str]) -> None:
    """`update-index` with all its protections on takes the path, and a strict `fsck` has nothing against it."""
    accepted = [cleaned for path in found if paths.may_hold_file(cleaned := paths.clean(path))]
    repo = open_repository(folder)
    blob = repo.write("blob", b"")
    for path in accepted:
        assert path == paths.clean(path)
        lines = f"100644 {blob}\t{path}\0".encode()
        options = ["-c", "core.protectHFS=true", "-c", "core.protectNTFS=true"]
        command = ["git", "-C", str(folder), *options, "update-index", "-z", "--add", "--index-info"]
        completed = subprocess.run(
            command,
            input=lines,
            check=False,
            capture_output=True,
            env={"GIT_INDEX_FILE": str(folder / "scratch-index"), "PATH": os.environ["PATH"]},
        )
        (folder / "scratch-index").unlink(missing_ok=True)
        assert completed.returncode == 0, (path, completed.stderr)
        draft = Draft(repo)
        draft.tree(draft.put(draft.empty(), path, 0o100644, blob))
        draft.add_to_copy()
    checked = subprocess.run(["git", "-C", str(folder), "fsck", "--strict"], check=False, capture_output=True)
    assert checked.returncode == 0, checked.stderr


HFS_IGNORES = [
    *("\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"),
    *("\u206a", "\u206b", "\u206c", "\u206d", "\u206e", "\u206f", "\ufeff"),
]


@pytest.mark.parametrize("ignored", HFS_IGNORES, ids=ascii)
def test_no_code_point_that_hfs_ignores_hides_dot_git(ignored: str) -> None:
    """Wherever it stands in the name, and however often; names that only look like it stay."""
    for name in (
        f"{ignored}.git",
        f".{ignored}git",
        f".gi{ignored}t",
        f".git{ignored}",
        f".{ignored}G{ignored}IT",
    ):
        assert not paths.may_hold_file(name)
        assert not paths.may_hold_file(f"a/{name}/config")
    assert paths.may_hold_file(f"a{ignored}.git")
    assert paths.may_hold_file(f".gi{ignored}x")


@given(st.lists(st.sampled_from(["", ".", "..", "a", "b c", "...", ".gitignore"]), max_size=8).map("/".join))
def test_a_path_is_cleaned_as_if_the_repository_were_the_root(path: str) -> None:
    """No step leads above it."""
    expected = posixpath.normpath("//" + path).lstrip("/")
    if path and not expected:
        with pytest.raises(PathRefused, match="malformed"):
            requested_path(path)
    else:
        assert requested_path(path) == expected


@pytest.mark.parametrize("path", [".git", "a/.GIT", ".Git/config", "./.git", "/", ".", "a/.."])
def test_an_impossible_path_is_refused(path: str) -> None:
    """Git's own folder in any spelling, and what says something but leads nowhere."""
    with pytest.raises(PathRefused) as excinfo:
        requested_path(path)
    assert str(excinfo.value) == f"path contains a malformed path component [path: {path}]"
