"""Importing a phone's folder: complete, verified, repeatable, and resumable after a kill."""

import errno
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import BinaryIO

import pytest

import holdfast.backup as hb
from holdfast.backup import backup_reader, folder_import
from holdfast.backup.completeness import Loss
from holdfast.backup.container.media import FolderMedia
from holdfast.backup.media import kept
from tests.backup.archives.dump import dump
from tests.backup.container.vectors import SET_A
from tests.backup.phone_folders import add_snapshot, later_records, write_phone_folder
from tests.backup.streams import KEY_FILE, KEYS, sample, stream_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a phone's folder with one snapshot."""
    return write_phone_folder(tmp_path)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Choose an archive in a folder that is not there yet."""
    return tmp_path / "kept" / "chats.db"


def files_of(folder: Path) -> list[Path]:
    """List the attachment files of a phone's folder."""
    return sorted((folder / "files").glob("??/*"))


def test_a_folder_is_imported_with_every_attachment(folder: Path, archive: Path) -> None:
    """All messages are imported, all attachments copied, and the result is complete."""
    result = hb.keep(folder, archive, KEYS)
    (snapshot,) = result.snapshots
    assert (result.complete, result.unchanged) == (True, False)
    assert (snapshot.messages, snapshot.new, snapshot.known) == (80, 80, False)
    with hb.archive(archive) as opened:
        assert len(opened.snapshots()) == 1
        copies = [path for path in opened.media_folder.rglob("*") if path.is_file()]
        names = {name for (name,) in opened.connection.execute("SELECT media_name FROM media")}
    # Each content once; some files have the same.
    assert snapshot.copied == len(copies) > 0
    assert names == {file.name for file in files_of(folder)}


def test_the_second_run_reads_no_backup(folder: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged folder is recognised by hashes, without opening a backup and without a key."""
    hb.keep(folder, archive, KEYS)
    before = dump(archive)

    def refuse(*_words: object, **_named: object) -> None:
        raise AssertionError("a backup was opened")

    monkeypatch.setattr(folder_import, "start_validation", refuse)
    monkeypatch.setattr(backup_reader, "open", refuse)
    result = hb.keep(folder, archive)
    assert (result.complete, result.unchanged) == (True, True)
    assert (result.snapshots[0].new, result.snapshots[0].copied, result.snapshots[0].known) == (0, 0, True)
    assert result.snapshots[0].messages == 80
    assert dump(archive) == before


def test_all_snapshots_are_imported_the_oldest_first(folder: Path, archive: Path) -> None:
    """Snapshots are imported in order, and the archive keeps messages that a later one lacks."""
    add_snapshot(folder, later_records(sample(80), 1, without=3))
    result = hb.keep(folder, archive, KEYS)
    older, newer = result.snapshots
    assert older.made_ms < newer.made_ms
    assert (older.new, newer.new, newer.vanished) == (80, 0, 3)
    assert result.latest == newer
    assert newer.copied == 0
    with hb.archive(archive) as opened:
        assert sum(chat.messages for chat in opened.chats()) == 80


def test_a_new_snapshot_is_imported_and_the_old_one_is_not_read_again(folder: Path, archive: Path) -> None:
    """A second run imports only the new snapshot, and the other one is known."""
    hb.keep(folder, archive, KEYS)
    add_snapshot(folder, later_records(sample(90), 1))
    result = hb.keep(folder, archive, KEYS)
    assert [snapshot.known for snapshot in result.snapshots] == [True, False]
    assert result.snapshots[1].new > 0
    assert not result.unchanged


@pytest.mark.parametrize("damage", ["missing", "truncated", "damaged"])
def test_a_lost_attachment_is_named(folder: Path, archive: Path, damage: str) -> None:
    """A lost attachment is reported in each run with what is wrong, until its file is restored."""
    # Several, because a file that another one has the content of is not lost.
    contents = {file: file.read_bytes() for file in files_of(folder)[:6]}
    for file, data in contents.items():
        if damage == "missing":
            file.unlink()
        elif damage == "truncated":
            file.write_bytes(data[:20])
        else:
            file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for unchanged in (False, True):
        result = hb.keep(folder, archive, KEYS)
        (snapshot,) = result.snapshots
        assert (result.complete, result.unchanged) == (False, unchanged)
        assert snapshot.lost_count == len(snapshot.lost) >= 1
        assert {item.loss for item in snapshot.lost} == {Loss(damage)}
    for file, data in contents.items():
        file.write_bytes(data)
    assert hb.keep(folder, archive, KEYS).complete


def test_attachments_on_bad_sectors_do_not_end_the_run(
    folder: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attachment with an I/O error is damaged; messages and other attachments are imported."""
    unreadable = max((folder / "files").glob("??/*")).name
    open_encrypted = FolderMedia.open_encrypted

    class BadSector(io.BytesIO):
        """A file that cannot be read."""

        def read(self, _size: int | None = -1, /) -> bytes:
            """Fail."""
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def opened(media: FolderMedia, name: str) -> BinaryIO:
        return BadSector(bytes(4096)) if name == unreadable else open_encrypted(media, name)

    monkeypatch.setattr(FolderMedia, "open_encrypted", opened)
    (result,) = hb.keep(folder, archive, KEYS).snapshots
    # Another file of the folder has the same content.
    assert (result.damaged_files, result.lost_count) == (1, 0)
    monkeypatch.setattr(FolderMedia, "open_encrypted", lambda _media, _name: BadSector(bytes(4096)))
    (result,) = hb.keep(folder, archive.with_name("other.db"), KEYS).snapshots
    assert (result.new, result.copied) == (80, 0)
    assert {item.loss for item in result.lost} == {Loss.DAMAGED}


def test_what_several_snapshots_have_lost_is_counted_once(folder: Path, archive: Path) -> None:
    """A lost attachment that several snapshots refer to is one; the first run and the next count alike."""
    add_snapshot(folder, later_records(sample(80), 1))
    for file in files_of(folder):
        file.unlink()
    for _ in range(2):
        result = hb.keep(folder, archive, KEYS)
        older, newer = result.snapshots
        assert older.lost_count == newer.lost_count > 0
        assert (older.lost_before, newer.lost_before) == (0, older.lost_count)
        assert result.lost_count == older.lost_count
        assert all(len(item.media_name) == 64 for item in newer.lost)


def test_a_state_without_losses_is_read_again(folder: Path, archive: Path) -> None:
    """If an earlier version wrote the state, snapshots with lost attachments are read again, to compare them."""
    add_snapshot(folder, later_records(sample(80), 1))
    for file in files_of(folder):
        file.unlink()
    expected = hb.keep(folder, archive, KEYS).lost_count
    path = archive.with_name("chats.db-keep.json")
    state = json.loads(path.read_text())
    for snapshot in next(iter(state["folders"].values()))["snapshots"].values():
        del snapshot["losses"], snapshot["lost_files"]
    path.write_text(json.dumps(state))
    result = hb.keep(folder, archive, KEYS)
    assert (result.lost_count, result.unchanged) == (expected, False)
    assert hb.keep(folder, archive).unchanged


def test_a_loss_of_a_later_snapshot_alone_is_counted(folder: Path, archive: Path) -> None:
    """What only the newer snapshot refers to is lost in addition."""
    hb.keep(folder, archive, KEYS)
    known = set(files_of(folder))
    add_snapshot(folder, later_records(sample(160), 1))
    for file in set(files_of(folder)) - known:
        file.unlink()
    result = hb.keep(folder, archive, KEYS)
    assert result.lost_count == result.snapshots[1].lost_count > 0
    assert result.snapshots[1].lost_before == 0


def test_a_loss_is_healed_by_another_folder(tmp_path: Path, folder: Path, archive: Path) -> None:
    """If another copy of the folder has a lost attachment, it is not lost in either after that is kept too."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for file in files_of(folder):
        file.unlink()
    assert not hb.keep(folder, archive, KEYS).complete
    assert hb.keep(copy, archive, KEYS).complete
    healed = hb.keep(folder, archive, KEYS)
    assert (healed.complete, healed.unchanged, healed.lost_count) == (True, False, 0)
    assert hb.keep(folder, archive).unchanged


def test_an_attachment_with_the_content_of_a_later_one_is_not_lost(folder: Path, archive: Path) -> None:
    """A missing file is not reported as lost if a file that is read after it has the same content."""
    with backup_reader.open(folder, KEYS) as backup:
        by_content: dict[bytes, list[str]] = {}
        for _pointer, attachment in kept(backup):
            by_content.setdefault(attachment.plaintext_hash, []).append(attachment.name)
    first = next(names[0] for names in by_content.values() if len(names) > 1)
    (folder / "files" / first[:2] / first).unlink()
    result = hb.keep(folder, archive, KEYS)
    assert (result.complete, result.lost_count) == (True, 0)


def test_what_is_kept_is_not_lost_with_the_folder(folder: Path, archive: Path) -> None:
    """Attachments that later go missing or bad in the folder are not lost if the archive has a copy."""
    hb.keep(folder, archive, KEYS)
    missing, damaged, *_rest = files_of(folder)
    missing.unlink()
    damaged.write_bytes(damaged.read_bytes()[:-1])
    for _ in range(2):
        result = hb.keep(folder, archive, KEYS)
        assert (result.complete, result.snapshots[0].damaged_files, result.snapshots[0].lost_count) == (True, 2, 0)


@pytest.mark.parametrize("damage", ["removed", "cut short"])
def test_a_copy_that_is_gone_is_made_again(folder: Path, archive: Path, damage: str) -> None:
    """A removed or truncated copy of an attachment is written again."""
    hb.keep(folder, archive, KEYS)
    with hb.archive(archive) as opened:
        copy = max(
            (path for path in opened.media_folder.rglob("*") if path.is_file()), key=lambda p: p.stat().st_size
        )
    data = copy.read_bytes()
    if damage == "removed":
        copy.unlink()
    else:
        copy.write_bytes(data[:-1])
    result = hb.keep(folder, archive, KEYS)
    assert (result.complete, result.unchanged) == (True, False)
    assert copy.read_bytes() == data


def test_a_damaged_snapshot_stops_no_other(folder: Path, archive: Path) -> None:
    """The intact snapshot is imported, and the damaged one is retried when its file has changed."""
    damaged = add_snapshot(folder, later_records(sample(80), 1)) / "main"
    data = damaged.read_bytes()
    damaged.write_bytes(data[: len(data) // 2 // 16 * 16])
    result = hb.keep(folder, archive, KEYS)
    valid, broken = result.snapshots
    assert (valid.complete, bool(broken.problem), result.complete) == (True, True, False)
    assert result.latest == valid
    damaged.write_bytes(data)
    assert hb.keep(folder, archive, KEYS).complete


def test_a_snapshot_without_messages_is_named(folder: Path, archive: Path) -> None:
    """A snapshot without its main file is reported, and the result is incomplete."""
    incomplete = add_snapshot(folder, later_records(sample(80), 1))
    (incomplete / "main").unlink()
    result = hb.keep(folder, archive, KEYS)
    assert [bool(snapshot.problem) for snapshot in result.snapshots] == [False, True]
    assert result.snapshots[1].name == incomplete.name
    assert "main" in result.snapshots[1].problem
    assert not result.complete


def test_keys_are_asked_for_before_anything_is_done(folder: Path, archive: Path) -> None:
    """A missing key and a wrong key are errors before the archive is created."""
    with pytest.raises(hb.KeyIncomplete):
        hb.keep(folder, archive)
    with pytest.raises(hb.WrongKey):
        hb.keep(folder, archive, SET_A.pool)
    assert not archive.parent.exists()


def test_the_archive_is_not_put_into_a_snapshot(folder: Path) -> None:
    """An archive path inside of a snapshot is refused, and nothing is written there."""
    (snapshot,) = folder.glob("signal-backup-*")
    before = sorted(snapshot.iterdir())
    with pytest.raises(hb.TargetRefused):
        hb.keep(folder, snapshot / "chats.db", KEYS)
    assert sorted(snapshot.iterdir()) == before


def test_other_forms_are_kept_too(tmp_path: Path, archive: Path) -> None:
    """A plain stream is imported too, and its attachments are reported as lost."""
    path = tmp_path / "chats.binproto"
    path.write_bytes(stream_of(sample(40)))
    first, second = hb.keep(path, archive), hb.keep(path, archive)
    assert first.snapshots[0].new == 40
    assert (first.unchanged, second.unchanged) == (False, True)
    assert not second.complete
    assert {item.loss for item in second.snapshots[0].lost} == {Loss.NOT_KEPT}


def test_a_removed_import_is_imported_again(folder: Path, archive: Path) -> None:
    """After an import is removed from the archive, or the archive is deleted, everything is imported again."""
    hb.keep(folder, archive, KEYS)
    with hb.archive(archive, create=True) as opened:
        assert opened.remove(snapshot=opened.snapshots()[0].id).messages == 80
    for _ in range(2):
        result = hb.keep(folder, archive, KEYS)
        assert (result.complete, result.unchanged, result.snapshots[0].new) == (True, False, 80)
        archive.unlink()


def test_what_a_killed_process_left_is_removed(folder: Path, archive: Path) -> None:
    """Temporary files older than an hour are removed, and newer ones are kept."""
    hb.keep(folder, archive, KEYS)
    with hb.archive(archive) as opened:
        media_path = next(path for path in opened.media_folder.iterdir() if path.is_dir())
    old, fresh = media_path / ".a.x.part", media_path / ".b.x.part"
    for path in (old, fresh):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - 7200,) * 2)
    hb.keep(folder, archive, KEYS)
    assert (old.exists(), fresh.exists()) == (False, True)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_killed_at_any_moment_and_run_again(tmp_path: Path) -> None:
    """After runs that were killed at random times, the archive is the same as that of one full run."""
    folder = write_phone_folder(tmp_path, 300)
    add_snapshot(folder, later_records(sample(300), 1, without=5))
    complete, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    keys = tmp_path / "keys.txt"
    keys.write_text(KEY_FILE)
    command = [sys.executable, "-m", "holdfast", "keep", str(folder), "--key-file", str(keys), "--archive"]
    started = time.monotonic()
    subprocess.run([*command, str(complete)], check=True, capture_output=True)
    seconds = time.monotonic() - started
    rng = random.Random(3)
    kills = 0
    for attempt in range(12):
        if attempt % 4 == 3:
            for path in tmp_path.glob("killed.db*"):
                if path.is_file():
                    path.unlink()
        process = subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seconds * rng.uniform(0.3, 1.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills
    subprocess.run([*command, str(killed)], check=True, capture_output=True)
    assert dump(killed) == dump(complete)
    assert hb.keep(folder, killed).unchanged
