"""Reports of corrupt repositories."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitDamaged, GitFailed
from holdfast.hosting.git import corruption
from holdfast.hosting.git.command_output import stream_output
from holdfast.hosting.git.corruption import report_failure, take_report
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import open_fresh
from holdfast.hosting.storage.local_copies import create_repository


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    """Make a repository with one blob, as a loose object, and return its folder and the blob."""
    folder = tmp_path / "1.git"
    create_repository(folder, "main")
    blob = run(folder, "hash-object", "-w", "--stdin", input=b"text" * 1000).decode().strip()
    return folder, blob


def garble(path: Path) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.chmod(0o600)
    path.write_bytes(content)


def garble_loose(folder: Path, blob: str) -> None:
    """Change a loose object."""
    garble(folder / "objects" / blob[:2] / blob[2:])


def garble_pack(folder: Path, blob: str) -> None:
    """Pack the object, and change the pack."""
    name = run(folder, "pack-objects", "-q", "objects/pack/pack", input=f"{blob}\n".encode()).decode().strip()
    shutil.rmtree(folder / "objects" / blob[:2])
    garble(folder / "objects" / "pack" / f"pack-{name}.pack")


def read_with_git(folder: Path, blob: str) -> object:
    """Read a blob at once."""
    return run(folder, "cat-file", "blob", blob)


def stream_with_git(folder: Path, blob: str) -> object:
    """Read a blob in chunks."""
    return b"".join(stream_output(folder, "cat-file", "blob", blob))


def read_with_library(folder: Path, blob: str) -> object:
    """Read a blob with libgit2, or without it."""
    return open_fresh(folder).read(blob, "blob")


@pytest.mark.parametrize("damage", [garble_loose, garble_pack])
@pytest.mark.parametrize("read", [read_with_git, stream_with_git, read_with_library])
def test_a_reader_of_a_corrupt_object_reports_it(
    repository: tuple[Path, str], damage: Callable[[Path, str], None], read: Callable[[Path, str], object]
) -> None:
    """There is one report, which is taken once."""
    folder, blob = repository
    assert read(folder, blob)
    assert not take_report(folder)
    damage(folder, blob)
    with pytest.raises((GitDamaged, GitFailed)):
        read(folder, blob)
    assert [take_report(folder), take_report(folder)] == [True, False]


def test_a_request_for_what_does_not_exist_is_no_report(repository: tuple[Path, str]) -> None:
    """Otherwise a client could have a copy rebuilt at any time."""
    folder, _ = repository
    for arguments in (("cat-file", "-p", "1" * 40), ("rev-list", "1" * 40), ("log", "main"), ("diff", "x", "y")):
        with pytest.raises(GitFailed):
            run(folder, *arguments)
    assert not take_report(folder)


@pytest.mark.parametrize("command", ["index-pack", "receive-pack", "unpack-objects"])
def test_corrupt_input_of_a_client_is_no_report(tmp_path: Path, command: str) -> None:
    """A client may push anything; the copy is intact."""
    report_failure(tmp_path, command, "fatal: inflate: data stream error")
    assert not take_report(tmp_path)
    report_failure(tmp_path, "pack-objects", "fatal: inflate: data stream error")
    assert take_report(tmp_path)


def test_a_failure_outside_of_a_repository_is_no_report() -> None:
    """A command without a repository has nothing to rebuild."""
    before = set(corruption.reported)
    report_failure(None, "cat-file", "fatal: inflate: data stream error")
    assert corruption.reported == before


@pytest.mark.parametrize(
    "stderr",
    [
        "error: inflate: data stream error (incorrect data check)",
        "fatal: packed object 1234 (stored in pack-1.pack) is corrupt",
        "error: bad packed object CRC for 1234",
        "error: failed to read delta base object 1234 at offset 12 from pack-1.pack",
        "error: unknown object type 0 at offset 12 in pack-1.pack",
        "error: unable to unpack 1234 header",
        "fatal: unable to read 1234",
        "fatal: missing blob object '1234'",
        "error: Could not read " + "1" * 40,
        "fatal: bad tree object 1234",
        "aborting due to possible repository corruption on the remote side.",
        "error: packfile pack-1.pack does not match index",
        "error: file pack-1.pack is far too short to be a packfile",
        "error: packfile pack-1.pack index unavailable",
    ],
)
def test_the_messages_of_git_are_recognized(tmp_path: Path, stderr: str) -> None:
    """These are what git prints about corrupt and missing objects."""
    report_failure(tmp_path, "upload-pack", stderr)
    assert take_report(tmp_path)
