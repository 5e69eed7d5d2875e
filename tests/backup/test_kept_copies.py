"""Verifying the copies of attachments beside an archive."""

from pathlib import Path

import pytest

import holdfast.backup as hb
from holdfast.backup.folder_state import CopiesState
from holdfast.backup.kept_copies import verify_copies
from tests.backup.phone_folders import write_phone_folder
from tests.backup.streams import KEYS

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a phone's folder with one snapshot."""
    return write_phone_folder(tmp_path)


def copies_of(archive: Path) -> list[Path]:
    """List the copies of attachments."""
    return sorted(archive.with_name(f"{archive.name}-media").glob("??/*"))


def flip(file: Path) -> bytes:
    """Change one bit in the middle of a file, and return what was there."""
    data = file.read_bytes()
    at = len(data) // 2
    file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    return data


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE])
def test_a_copy_with_a_flipped_bit_is_copied_again(tmp_path: Path, folder: Path, passphrase: str | None) -> None:
    """A copy with the correct size and another content is found with `verify`, and replaced from the folder."""
    archive = tmp_path / "chats.db"
    hb.keep(folder, archive, KEYS, passphrase=passphrase)
    copy = copies_of(archive)[3]
    data = flip(copy)
    result = hb.keep(folder, archive, KEYS, passphrase=passphrase, verify=True)
    assert (result.complete, result.unchanged, result.recopied, result.damaged_copies) == (True, False, 1, 0)
    assert result.verified == result.copies == len(copies_of(archive))
    assert passphrase is not None or copy.read_bytes() == data
    again = hb.keep(folder, archive, KEYS, passphrase=passphrase, verify=True)
    assert (again.complete, again.unchanged, again.recopied) == (True, True, 0)


def test_a_flipped_bit_is_found_by_one_of_some_runs(tmp_path: Path, folder: Path) -> None:
    """Each run verifies other copies than the last one, so that all are verified in turn."""
    archive = tmp_path / "chats.db"
    hb.keep(folder, archive, KEYS)
    copies = copies_of(archive)
    for copy in copies:
        flip(copy)
    results = [hb.keep(folder, archive, KEYS) for _ in copies]
    assert all(result.complete and result.damaged_copies == 0 for result in results)
    assert sum(result.recopied for result in results) == len(copies)
    assert max(result.verified for result in results) < len(copies)


def test_a_damaged_copy_of_a_lost_file_is_lost_until_it_is_there_again(tmp_path: Path, folder: Path) -> None:
    """What is damaged in the archive and missing in the folder is lost, in later runs too, and can be restored."""
    archive = tmp_path / "chats.db"
    hb.keep(folder, archive, KEYS)
    contents = {file: file.read_bytes() for file in (folder / "files").glob("??/*")}
    for file in contents:
        file.unlink()
    copy = copies_of(archive)[0]
    data = flip(copy)
    for verify in (True, False):
        result = hb.keep(folder, archive, KEYS, verify=verify)
        assert (result.complete, result.damaged_copies) == (False, 1)
        assert result.lost_count >= 1
    copy.write_bytes(data)
    result = hb.keep(folder, archive, KEYS)
    assert (result.complete, result.damaged_copies, result.lost_count) == (True, 0, 0)
    flip(copy)
    for file, content in contents.items():
        file.write_bytes(content)
    result = hb.keep(folder, archive, KEYS, verify=True)
    assert (result.complete, result.recopied, copy.read_bytes()) == (True, 1, data)


def test_the_first_run_over_a_folder_verifies_all_copies(tmp_path: Path, folder: Path) -> None:
    """Without a state of an earlier run, nothing is taken for verified."""
    archive = tmp_path / "chats.db"
    hb.keep(folder, archive, KEYS)
    copies = copies_of(archive)
    flip(copies[-1])
    (tmp_path / "chats.db-keep.json").unlink()
    result = hb.keep(folder, archive, KEYS)
    assert (result.complete, result.verified, result.recopied) == (True, len(copies), 1)


def test_copies_of_removed_messages_are_not_missing(tmp_path: Path, folder: Path) -> None:
    """The state forgets damaged copies that the archive does not refer to any more."""
    archive = tmp_path / "chats.db"
    hb.keep(folder, archive, KEYS)
    state = CopiesState(verified_to="zz", damaged={"00/gone"})
    with hb.archive(archive) as opened:
        read, count = verify_copies(opened, state, 1)
    assert (read, count, state.damaged) == (1, len(copies_of(archive)), set())


def test_an_archive_without_attachments_has_nothing_to_verify(tmp_path: Path) -> None:
    """There is no copy, and nothing to continue from."""
    hb.archive(tmp_path / "chats.db", create=True).close()
    state = CopiesState()
    with hb.archive(tmp_path / "chats.db", create=True) as opened:
        assert verify_copies(opened, state, None) == (0, 0)
    assert state == CopiesState()
