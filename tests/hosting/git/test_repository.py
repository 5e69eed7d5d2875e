"""Opening repositories, and reading and writing their objects."""

import os
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged, GitError, GitUnsupported, NoSuchFolder, NoSuchObject
from holdfast.hosting.git import repository
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit, deflated, git, line, loose, new_repository, unpack

ABSENT = "1" * 40


def test_a_repository_is_opened_once_per_thread(folder: Path) -> None:
    """A second call in a thread returns the same object, and another thread gets another one."""
    first = open_repository(folder)
    assert open_repository(folder) is first
    others = []
    thread = threading.Thread(target=lambda: others.append(open_repository(folder)))
    thread.start()
    thread.join()
    assert others[0] is not first


def test_a_repository_that_replaces_another_is_opened_again(folder: Path) -> None:
    """A cached repository is not used for a new one at the same path."""
    commit_id = commit(folder, {b"a": b"1"})
    assert open_repository(folder).header(commit_id) is not None
    shutil.rmtree(folder)
    with pytest.raises(NoSuchFolder):
        open_repository(folder)
    new_repository(folder)
    assert open_repository(folder).header(commit_id) is None


def test_the_number_of_open_repositories_is_limited(tmp_path: Path) -> None:
    """The repository used least recently is closed when a thread has too many."""
    first = open_repository(new_repository(tmp_path / "first"))
    for number in range(repository.KEPT_PER_THREAD):
        open_repository(new_repository(tmp_path / str(number)))
    assert open_repository(tmp_path / "first") is not first


def test_a_folder_that_is_not_a_repository_raises_an_error(tmp_path: Path) -> None:
    """An empty folder and one with only a config file raise errors of this package."""
    with pytest.raises(NoSuchFolder):
        open_repository(tmp_path)
    (tmp_path / "config").write_text("[core]\n\tbare = true\n")
    with pytest.raises(GitDamaged):
        open_repository(tmp_path)


def test_sha256_ids_are_refused_with_a_message(tmp_path: Path) -> None:
    """The library cannot read a SHA-256 repository, and the error says so."""
    run(None, "init", "--quiet", "--bare", "--object-format=sha256", str(tmp_path / "long"))
    with pytest.raises(GitUnsupported, match="SHA-256"):
        open_repository(tmp_path / "long")


def test_no_configuration_of_the_machine_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The `.gitconfig` file in the home folder is not part of a repository's configuration."""
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Somebody\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "user.name" not in open_repository(folder).git.config


@pytest.mark.parametrize("packed", [True, False])
def test_objects_are_read_from_packs_and_from_files(folder: Path, *, packed: bool) -> None:
    """Type, size and content of packed and loose objects equal those of git."""
    commit_id = commit(folder, {b"a": b"hello"})
    unpack(folder)
    if packed:
        git(folder, "repack", "-adq")
    repo = open_repository(folder)
    blob = line(folder, "rev-parse", "main:a")
    assert repo.find(blob) == ("blob", b"hello")
    assert repo.header(blob) == ("blob", 5)
    assert repo.read(commit_id, "commit") == git(folder, "cat-file", "commit", commit_id)
    assert repo.require(blob, "blob") == 5


@pytest.mark.parametrize("wrong", [ABSENT, ABSENT * 2, "", "HEAD", "A" * 40, "1" * 39, "1" * 64, "\udcff" * 40])
def test_a_missing_object_is_none(folder: Path, wrong: str) -> None:
    """An unknown or invalid id finds nothing; `require` and `read` raise errors for it."""
    repo = open_repository(folder)
    assert repo.find(wrong) is None
    assert repo.header(wrong) is None
    with pytest.raises(NoSuchObject):
        repo.require(wrong, "blob")
    with pytest.raises(GitDamaged, match="missing"):
        repo.read(wrong, "blob")


def test_an_object_of_another_kind_is_not_returned(folder: Path) -> None:
    """A tree is not returned where a blob is required."""
    commit(folder, {b"a": b"hello"})
    tree = line(folder, "rev-parse", "main^{tree}")
    repo = open_repository(folder)
    with pytest.raises(NoSuchObject):
        repo.require(tree, "blob")
    with pytest.raises(GitDamaged, match="is a tree"):
        repo.read(tree, "blob")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.floats(0, 0.99))
def test_a_truncated_file_raises_an_error(folder: Path, cut: float) -> None:
    """A loose object cut at any length raises `GitDamaged`; the library alone would not return."""
    blob = git(folder, "hash-object", "-w", "--stdin", input=b"hello world" * 100).decode().strip()
    path = loose(folder, blob)
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: int(len(whole) * cut)])
        with pytest.raises(GitDamaged):
            open_repository(folder).find(blob)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize(
    "content",
    [b"garbage", deflated(b"blob", b"other"), deflated(b"what", b"hello"), deflated(b"blob", b"x")[:-6]],
)
def test_a_file_of_another_object_raises_an_error(folder: Path, content: bytes) -> None:
    """A loose object is damaged if its content does not have the id of its file name."""
    blob = git(folder, "hash-object", "-w", "--stdin", input=b"hello").decode().strip()
    loose(folder, blob).write_bytes(content)
    with pytest.raises(GitDamaged):
        open_repository(folder).find(blob)


def test_a_truncated_pack_raises_an_error(folder: Path) -> None:
    """A pack that does not fit its index is refused, because the library would crash the process."""
    commit(folder, {b"%d" % number: os.urandom(3000) for number in range(30)})
    git(folder, "repack", "-adq")
    pack = next((folder / "objects" / "pack").glob("*.pack"))
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:20000])
    with pytest.raises(GitDamaged, match="does not fit"):
        open_repository(folder)


def test_written_objects_equal_those_of_git(folder: Path) -> None:
    """A written blob has the id of `git hash-object`, also if it is written twice."""
    repo = open_repository(folder)
    commit_id = repo.write("blob", b"hello")
    assert commit_id == repo.write("blob", b"hello")
    assert commit_id == git(folder, "hash-object", "--stdin", input=b"hello").decode().strip()
    assert git(folder, "cat-file", "blob", commit_id) == b"hello"


def test_a_pack_added_later_is_found(folder: Path) -> None:
    """An open repository finds objects that were written or packed after it was opened."""
    repo = open_repository(folder)
    commit_id = commit(folder, {b"a": b"1"})
    assert repo.header(commit_id) is not None
    git(folder, "gc", "-q", "--prune=now")
    assert repo.read(commit_id, "commit") == git(folder, "cat-file", "commit", commit_id)


def test_an_object_that_cannot_be_written_is_an_error(folder: Path) -> None:
    """A write fails with `GitError` if the objects folder is a file."""
    repo = open_repository(folder)
    shutil.rmtree(folder / "objects")
    (folder / "objects").touch()
    with pytest.raises(GitError, match="cannot be written"):
        repo.write("blob", b"hello")
