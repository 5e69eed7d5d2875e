"""Keeping a phone's folder: all of it, verified, again and again, whatever happens meanwhile."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast.backup as hb
from holdfast.backup import backup_reader, folder_import
from holdfast.backup.completeness import Loss
from tests.backup.archives.dump import dump
from tests.backup.container.vectors import SET_A
from tests.backup.phone_folders import add_snapshot, later, phone
from tests.backup.streams import KEY_FILE, KEYS, sample, stream_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a phone's folder with one snapshot."""
    return phone(tmp_path)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Choose an archive in a folder that is not there yet."""
    return tmp_path / "kept" / "chats.db"


def files_of(folder: Path) -> list[Path]:
    """List the attachment files of a phone's folder."""
    return sorted((folder / "files").glob("??/*"))


def test_a_folder_is_imported_with_every_attachment(folder: Path, archive: Path) -> None:
    """Messages in the archive, files beside it, and the answer that it is all there."""
    kept = hb.keep(folder, archive, KEYS)
    (snapshot,) = kept.snapshots
    assert (kept.complete, kept.unchanged) == (True, False)
    assert (snapshot.messages, snapshot.new, snapshot.known) == (80, 80, False)
    with hb.archive(archive) as opened:
        assert len(opened.snapshots()) == 1
        copies = [path for path in opened.media_folder.rglob("*") if path.is_file()]
        names = {name for (name,) in opened.connection.execute("SELECT media_name FROM media")}
    # Each content once; some files have the same.
    assert snapshot.copied == len(copies) > 0
    assert names == {file.name for file in files_of(folder)}


def test_the_second_run_reads_no_backup(folder: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but hashes: not even the key is needed."""
    hb.keep(folder, archive, KEYS)
    before = dump(archive)

    def refuse(*_words: object, **_named: object) -> None:
        raise AssertionError("a backup was opened")

    monkeypatch.setattr(folder_import, "start_validation", refuse)
    monkeypatch.setattr(backup_reader, "open", refuse)
    kept = hb.keep(folder, archive)
    assert (kept.complete, kept.unchanged) == (True, True)
    assert (kept.snapshots[0].new, kept.snapshots[0].copied, kept.snapshots[0].known) == (0, 0, True)
    assert kept.snapshots[0].messages == 80
    assert dump(archive) == before


def test_all_snapshots_are_imported_the_oldest_first(folder: Path, archive: Path) -> None:
    """The older one has messages that the newer one has no more, and the archive has them all."""
    add_snapshot(folder, later(sample(80), 1, without=3))
    kept = hb.keep(folder, archive, KEYS)
    older, newer = kept.snapshots
    assert older.made_ms < newer.made_ms
    assert (older.new, newer.new, newer.vanished) == (80, 0, 3)
    assert kept.latest == newer
    assert newer.copied == 0
    with hb.archive(archive) as opened:
        assert sum(chat.messages for chat in opened.chats()) == 80


def test_a_new_snapshot_is_imported_and_the_old_one_is_not_read_again(folder: Path, archive: Path) -> None:
    """What the last run found of a snapshot holds as long as its files do."""
    hb.keep(folder, archive, KEYS)
    add_snapshot(folder, later(sample(90), 1))
    kept = hb.keep(folder, archive, KEYS)
    assert [one.known for one in kept.snapshots] == [True, False]
    assert kept.snapshots[1].new > 0
    assert not kept.unchanged


@pytest.mark.parametrize("harm", ["missing", "truncated", "damaged"])
def test_a_lost_attachment_is_named(folder: Path, archive: Path, harm: str) -> None:
    """By chat, date and person; the rest is imported, and the next run says the same."""
    # Several, because a file that another one has the content of is not lost.
    contents = {file: file.read_bytes() for file in files_of(folder)[:6]}
    for file, data in contents.items():
        if harm == "missing":
            file.unlink()
        elif harm == "truncated":
            file.write_bytes(data[:20])
        else:
            file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for unchanged in (False, True):
        kept = hb.keep(folder, archive, KEYS)
        (snapshot,) = kept.snapshots
        assert (kept.complete, kept.unchanged) == (False, unchanged)
        assert snapshot.lost_count == len(snapshot.lost) >= 1
        assert {one.loss for one in snapshot.lost} == {Loss(harm)}
    for file, data in contents.items():
        file.write_bytes(data)
    assert hb.keep(folder, archive, KEYS).complete


def test_what_is_kept_is_not_lost_with_the_folder(folder: Path, archive: Path) -> None:
    """The archive has a good copy of what goes bad later, and says so each time."""
    hb.keep(folder, archive, KEYS)
    gone, bad, *_rest = files_of(folder)
    gone.unlink()
    bad.write_bytes(bad.read_bytes()[:-1])
    for _ in range(2):
        kept = hb.keep(folder, archive, KEYS)
        assert (kept.complete, kept.snapshots[0].damaged_files, kept.snapshots[0].lost_count) == (True, 2, 0)


@pytest.mark.parametrize("harm", ["removed", "cut short"])
def test_a_copy_that_is_gone_is_made_again(folder: Path, archive: Path, harm: str) -> None:
    """Somebody tidied up beside the archive, or its disk failed."""
    hb.keep(folder, archive, KEYS)
    with hb.archive(archive) as opened:
        copy = max(
            (path for path in opened.media_folder.rglob("*") if path.is_file()), key=lambda p: p.stat().st_size
        )
    data = copy.read_bytes()
    if harm == "removed":
        copy.unlink()
    else:
        copy.write_bytes(data[:-1])
    kept = hb.keep(folder, archive, KEYS)
    assert (kept.complete, kept.unchanged) == (True, False)
    assert copy.read_bytes() == data


def test_a_damaged_snapshot_stops_no_other(folder: Path, archive: Path) -> None:
    """The good one is imported, the bad one is named, and tried again when it has changed."""
    bad = add_snapshot(folder, later(sample(80), 1)) / "main"
    data = bad.read_bytes()
    bad.write_bytes(data[: len(data) // 2 // 16 * 16])
    kept = hb.keep(folder, archive, KEYS)
    good, broken = kept.snapshots
    assert (good.complete, bool(broken.problem), kept.complete) == (True, True, False)
    assert kept.latest == good
    bad.write_bytes(data)
    assert hb.keep(folder, archive, KEYS).complete


def test_a_snapshot_without_messages_is_named(folder: Path, archive: Path) -> None:
    """What a phone or a copy left half done is not passed over in silence."""
    half = add_snapshot(folder, later(sample(80), 1))
    (half / "main").unlink()
    kept = hb.keep(folder, archive, KEYS)
    assert [bool(one.problem) for one in kept.snapshots] == [False, True]
    assert not kept.complete


def test_keys_are_asked_for_before_anything_is_done(folder: Path, archive: Path) -> None:
    """No key, and one that does not fit."""
    with pytest.raises(hb.KeyIncomplete):
        hb.keep(folder, archive)
    with pytest.raises(hb.WrongKey):
        hb.keep(folder, archive, SET_A.pool)
    assert not archive.parent.exists()


def test_the_archive_is_not_put_into_a_snapshot(folder: Path) -> None:
    """It would be part of what it is made from."""
    (snapshot,) = folder.glob("signal-backup-*")
    with pytest.raises(hb.TargetRefused):
        hb.keep(folder, snapshot / "chats.db", KEYS)


def test_other_forms_are_kept_too(tmp_path: Path, archive: Path) -> None:
    """A plain stream has no attachments beside it: they are lost unless no message has any."""
    path = tmp_path / "chats.binproto"
    path.write_bytes(stream_of(sample(40)))
    first, second = hb.keep(path, archive), hb.keep(path, archive)
    assert first.snapshots[0].new == 40
    assert (first.unchanged, second.unchanged) == (False, True)
    assert not second.complete
    assert {one.loss for one in second.snapshots[0].lost} == {Loss.NOT_KEPT}


def test_a_removed_import_is_imported_again(folder: Path, archive: Path) -> None:
    """What the state file says holds only for the archive it lies beside."""
    hb.keep(folder, archive, KEYS)
    archive.unlink()
    kept = hb.keep(folder, archive, KEYS)
    assert (kept.complete, kept.unchanged, kept.snapshots[0].new) == (True, False, 80)


def test_what_a_killed_process_left_is_removed(folder: Path, archive: Path) -> None:
    """Temporary files of an hour ago, and no others."""
    hb.keep(folder, archive, KEYS)
    with hb.archive(archive) as opened:
        place = next(path for path in opened.media_folder.iterdir() if path.is_dir())
    old, fresh = place / ".a.x.part", place / ".b.x.part"
    for path in (old, fresh):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - 7200,) * 2)
    hb.keep(folder, archive, KEYS)
    assert (old.exists(), fresh.exists()) == (False, True)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_killed_at_any_moment_and_run_again(tmp_path: Path) -> None:
    """The end is the same as that of a run that nobody disturbed."""
    folder = phone(tmp_path, 300)
    add_snapshot(folder, later(sample(300), 1, without=5))
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    keys = tmp_path / "keys.txt"
    keys.write_text(KEY_FILE)
    command = [sys.executable, "-m", "holdfast", "keep", str(folder), "--key-file", str(keys), "--archive"]
    started = time.monotonic()
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    seconds = time.monotonic() - started
    dice = random.Random(3)
    kills = 0
    for moment in range(12):
        if moment % 4 == 3:
            for path in tmp_path.glob("killed.db*"):
                if path.is_file():
                    path.unlink()
        process = subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seconds * dice.uniform(0.3, 1.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills
    subprocess.run([*command, str(killed)], check=True, capture_output=True)
    assert dump(killed) == dump(whole)
    assert hb.keep(folder, killed).unchanged
