"""Validation of file paths, compared with git."""

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
    """`.`, `..` and repeated slashes are resolved, and `..` never leads above the root."""
    assert paths.clean(given) == wanted


@pytest.mark.parametrize(
    "path", [".git", ".GIT/x", "a/.gIt", "git~1", ".git . .", ".git:x", ".git:\nx", "a\\.git", ".\u200cgit"]
)
def test_disguised_names_of_dot_git_are_refused(path: str) -> None:
    """Names that Windows or macOS would take for `.git` are refused: other case, short names, streams."""
    assert not paths.may_hold_file(path)


@pytest.mark.parametrize("path", ["a\nb", "a\n", "\t", "a/\x01/b", "\x7f", "a\r", "\x1b[31m"])
def test_control_characters_except_nul_are_accepted(path: str) -> None:
    """Control characters are valid in paths, as in git, and NUL is not."""
    assert paths.may_hold_file(path)
    assert not paths.may_hold_file(f"{path}\0")


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "git", "agit~1", "git~2", ".gitx", "a.git", "x\\y"])
def test_names_similar_to_dot_git_are_accepted(path: str) -> None:
    """Names like `.gitignore` and `git~2`, which no system takes for `.git`, are valid."""
    assert paths.may_hold_file(path)


@pytest.mark.parametrize(
    "name",
    [
        *(".gitmodules", ".GITMODULES ", ".gitattributes", ".gitmodules:x", ".git\u200cmodules", "x\\.gitmodules"),
        *("gitmod~1", "GITATT~4", "gi7eba~1", "gi7d29~2", "gi~12345", "~1234567"),
    ],
)
def test_files_that_git_reads_must_be_plain_files(name: str) -> None:
    """`.gitmodules` and `.gitattributes` may not be links or directories, under any NTFS or HFS+ name."""
    assert paths.may_hold_file(f"a/{name}")
    assert not paths.may_hold_file(f"a/{name}/b")
    assert not paths.may_hold_link(f"a/{name}")


@pytest.mark.parametrize("name", ["modules", "gitmod~5", "gift~2", "~1", ".gitignore", ".gitmodules2"])
def test_other_names_are_not_special(name: str) -> None:
    """Names that only resemble `.gitmodules` may be links and directories."""
    assert paths.may_hold_file(f"a/{name}/b")
    assert paths.may_hold_link(f"a/{name}")


@settings(
    max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(PATHS, min_size=1, max_size=8))
def test_what_we_accept_git_accepts(folder: Path, found: list[str]) -> None:
    """`git update-index` with HFS and NTFS protection and `git fsck --strict` accept each valid path."""
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
    """An ignored code point anywhere in `.git` is refused, and other names with one are valid."""
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
    """A path is normalized as by `posixpath.normpath`, and one that becomes empty is malformed."""
    expected = posixpath.normpath("//" + path).lstrip("/")
    if path and not expected:
        with pytest.raises(PathRefused, match="malformed"):
            requested_path(path)
    else:
        assert requested_path(path) == expected


@pytest.mark.parametrize("path", [".git", "a/.GIT", ".Git/config", "./.git", "/", ".", "a/.."])
def test_an_impossible_path_is_refused(path: str) -> None:
    """A path with `.git` in any case and a path that leads to the root are refused with a message."""
    with pytest.raises(PathRefused) as excinfo:
        requested_path(path)
    assert str(excinfo.value) == f"path contains a malformed path component [path: {path}]"
