"""The stored state of a folder, and the hashes of its files."""

import hashlib
import os
from pathlib import Path

import pytest

from holdfast.backup.folder_state import KeptSnapshot, SnapshotState, StateFile, hash_files, list_files


def test_the_state_is_read_again_and_only_its_owner_can(tmp_path: Path) -> None:
    """The saved state is read back for its folder, and its file is not readable by others."""
    state = StateFile(tmp_path / "chats.db")
    state.folder(tmp_path).snapshots["one"] = SnapshotState(
        {"main": "aa"}, ("n",), KeptSnapshot(name="one", new=3)
    )
    state.save()
    reopened = StateFile(tmp_path / "chats.db")
    assert reopened.folder(tmp_path) == state.folder(tmp_path)
    assert reopened.folder(tmp_path / "other").snapshots == {}
    assert reopened.path.stat().st_mode & 0o077 == 0


def test_the_states_of_two_folders_are_saved_at_once(tmp_path: Path) -> None:
    """A run over one folder keeps what runs over others have saved meanwhile, and their damaged copies."""
    before = StateFile(tmp_path / "chats.db")
    before.copies.damaged |= {"a", "b"}
    before.save()
    one, other = StateFile(tmp_path / "chats.db"), StateFile(tmp_path / "chats.db")
    for state, name in ((one, "one"), (other, "other")):
        state.folder(tmp_path / name).snapshots["s"] = SnapshotState({}, (), KeptSnapshot(name=name))
    one.copies.damaged -= {"a"}
    one.copies.damaged |= {"c"}
    one.copies.verified_to = "m"
    one.save()
    one.copies.damaged -= {"c"}
    one.copies.damaged |= {"d"}
    one.save()
    other.copies.damaged -= {"b"}
    other.save()
    after = StateFile(tmp_path / "chats.db")
    for name in ("one", "other"):
        assert after.folder(tmp_path / name).snapshots["s"].result.name == name
    assert after.copies.damaged == {"d"}


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 2}', b"\xff", b'{"version": 1, "folders": []}'])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    """An unreadable state file is treated as empty."""
    (tmp_path / "chats.db-keep.json").write_bytes(content)
    assert StateFile(tmp_path / "chats.db").folder(tmp_path).snapshots == {}


def test_hashes_are_those_of_the_files(tmp_path: Path) -> None:
    """Every file has its SHA-256, also an empty one, and a missing file is left out."""
    contents = {tmp_path / f"{n}": os.urandom(n * 7_000) for n in range(50)}
    for path, content in contents.items():
        path.write_bytes(content)
    sizes: list[int] = []
    hashes, size = hash_files([*contents, tmp_path / "missing"], sizes.append)
    assert hashes == {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    assert sizes == sorted(sizes)
    assert sizes[-1] == size == sum(map(len, contents.values()))


def test_files_are_listed_without_links(tmp_path: Path) -> None:
    """Symlinks are skipped, so a loop of them does no harm."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "file").write_text("x")
    (inside / "loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(inside / "file")
    assert list_files(tmp_path) == [inside / "file"]
    assert list_files(tmp_path / "missing") == []
