"""The backups at some paths, their names and key files."""

import os
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.datasets.sources import DatasetSource, find_dataset_sources, read_key_file
from holdfast.backup.errors import KeyRefused, TargetRefused, UnreadableBackup
from tests.backup.phone_folders import add_snapshot, later_records, write_phone_folder
from tests.backup.streams import KEY_FILE, lines_of, sample, small_sample, stream_of


def names(*paths: Path, target: Path | None = None) -> list[str]:
    """List the names of backups."""
    return [source.name for source in find_dataset_sources(paths, target=target)]


def test_a_folder_stands_for_all_that_is_in_it(tmp_path: Path) -> None:
    """A folder is searched for backups, without key files, hidden files, links and the dataset itself."""
    for name in ("a.binproto", "b/c.gz", "b/d e/f", ".hidden", "a.key", "out/messages/x", "ü.binproto"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    expected = ["a.binproto", "b--c.gz", "b--d_e--f", "ü.binproto"]
    assert names(tmp_path, target=tmp_path / "out") == expected
    assert names(tmp_path / "a.binproto") == ["a.binproto"]


def test_the_files_beside_an_archive_are_no_backups(tmp_path: Path) -> None:
    """Attachments and other files that belong to an archive are skipped; those of something else are not."""
    archives.open(tmp_path / "chats.db", create=True).close()
    for name in (
        "chats.db-media/00/a.jpg",
        "chats.db-keep.json",
        "chats.db-journal",
        "ada-media/b",
        "bob-keep.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "ada").touch()
    assert names(tmp_path) == ["ada", "ada-media--b", "bob-keep.json", "chats.db"]


def test_folders_that_are_not_searched_are_named(tmp_path: Path) -> None:
    """A symbolic link to a folder and a folder on the thirteenth level are named with the reason."""
    deepest = tmp_path.joinpath("root", *"abcdefghijkl")
    (deepest / "m").mkdir(parents=True)
    (deepest / "chats").touch()
    (deepest / "m" / "chats").touch()
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "root" / "link"
    link.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    skipped: dict[str, str] = {}
    (source,) = find_dataset_sources([tmp_path / "root"], skipped=skipped)
    assert source.path == str(deepest / "chats")
    assert list(skipped) == [str(deepest / "m"), str(link)]
    assert "12 levels" in skipped[str(deepest / "m")]
    assert "symbolic link" in skipped[str(link)]


def test_a_folder_that_cannot_be_listed_is_one_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder such as `lost+found` does not end the search; the error of reading it is reported."""
    (tmp_path / "a.binproto").touch()
    (tmp_path / "lost+found" / "below").mkdir(parents=True)
    refused, access = tmp_path / "lost+found", os.access
    # Root may list every folder.
    monkeypatch.setattr(os, "access", lambda path, mode: path != refused and access(path, mode))
    assert names(tmp_path) == ["a.binproto", "lost+found"]


def test_every_snapshot_of_a_phone_is_a_backup(tmp_path: Path) -> None:
    """Each snapshot and an export are backups, and attachments are not."""
    folder = write_phone_folder(tmp_path / "phones" / "ada", 20)
    add_snapshot(folder, later_records(sample(20), 1))
    export = tmp_path / "phones" / "export"
    export.mkdir()
    (export / "main.jsonl").write_bytes(lines_of(small_sample()))
    sources = names(tmp_path / "phones")
    assert len(sources) == 3
    assert all(name.startswith("ada--SignalBackups--signal-backup-") for name in sources[:2])
    assert sources[2] == "export"
    assert len(names(folder)) == 2


def test_backups_beside_the_snapshots_of_a_phone_are_found(tmp_path: Path) -> None:
    """A file and a folder beside snapshots are searched too, but not attachments and a snapshot being written."""
    folder = write_phone_folder(tmp_path / "ada", 20)
    (snapshot,) = folder.glob("signal-backup-*")
    (folder / "signal-backup-2099-01-01-00-00-00-tmp").mkdir()
    (folder / "signal-backup-2099-01-01-00-00-00-tmp" / "main").touch()
    (folder / "desktop.jsonl").touch()
    (folder / "bob").mkdir()
    (folder / "bob" / "old.encrypted").touch()
    (folder / "bob.key").touch()
    assert names(folder) == ["bob--old.encrypted", "desktop.jsonl", snapshot.name]
    assert len(names(tmp_path)) == 3


def test_a_snapshot_that_is_being_written_is_no_backup(tmp_path: Path) -> None:
    """Neither its files nor its attachments are backups, also without another snapshot; it is named."""
    folder = write_phone_folder(tmp_path / "ada", 20)
    (snapshot,) = folder.glob("signal-backup-*")
    unfinished = snapshot.rename(snapshot.with_name(f"{snapshot.name}-tmp"))
    (folder / "desktop.jsonl").touch()
    skipped: dict[str, str] = {}
    (source,) = find_dataset_sources([tmp_path], skipped=skipped)
    assert source.path == str(folder / "desktop.jsonl")
    assert skipped == {str(unfinished): "it is a snapshot that the phone has not finished writing"}


def test_a_snapshot_without_messages_is_a_backup_and_its_attachments_are_not(tmp_path: Path) -> None:
    """A snapshot that lost its main file is a source, whose error is reported, beside others and alone."""
    folder = write_phone_folder(tmp_path / "ada", 20)
    broken = add_snapshot(folder, later_records(sample(20), 1))
    (broken / "main").unlink()
    assert len(names(tmp_path)) == 2
    assert names(broken) == [broken.name]
    for snapshot in folder.glob("signal-backup-*"):
        (snapshot / "main").unlink(missing_ok=True)
    sources = names(tmp_path)
    assert len(sources) == 2
    assert all(name.startswith("ada--SignalBackups--signal-backup-") for name in sources)


def test_two_backups_of_one_name_are_refused(tmp_path: Path) -> None:
    """Two files with the same name after replacing invalid characters are refused; one path twice is not."""
    for name in ("one/chats", "two/chats", "three/a b", "three/a_b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(TargetRefused, match="would both be called chats"):
        names(tmp_path / "one" / "chats", tmp_path / "two" / "chats")
    with pytest.raises(TargetRefused, match="would both be called a_b"):
        names(tmp_path / "three")
    assert names(tmp_path / "one", tmp_path / "one" / "chats") == ["chats"]
    with pytest.raises(UnreadableBackup, match="does not exist"):
        names(tmp_path / "nowhere")


def test_long_names_are_cut_to_what_file_systems_take(tmp_path: Path) -> None:
    """A name in the dataset has at most 200 bytes: those at the end of the path."""
    folder = tmp_path / ("山" * 60) / ("海" * 60)
    folder.mkdir(parents=True)
    (folder / "chats").touch()
    assert names(tmp_path) == [f"{'山' * 3}--{'海' * 60}--chats"]


def test_a_key_file_is_found_by_name_beside_or_by_default(tmp_path: Path) -> None:
    """A key file is looked up in the key folder, then beside the backup, then as the default."""
    folder, keys = tmp_path / "backups", tmp_path / "keys"
    folder.mkdir()
    keys.mkdir()
    for name in ("a.bin", "b.bin", "c.bin", "d.bin", "a.bin.key", "b.bin.key", "c.key"):
        (folder / name).touch()
    (keys / "a.bin.key").touch()
    sources = find_dataset_sources([folder], keys=keys, key_file=tmp_path / "default.key")
    assert {source.name: source.key_file for source in sources} == {
        "a.bin": str(keys / "a.bin.key"),
        "b.bin": str(folder / "b.bin.key"),
        "c.bin": str(folder / "c.key"),
        "d.bin": str(tmp_path / "default.key"),
    }
    assert [source.key_file for source in find_dataset_sources([folder / "d.bin"])] == [None]


def test_the_key_of_a_phone_lies_beside_its_folder(tmp_path: Path) -> None:
    """The key file beside the folder of a phone is used for its snapshot."""
    folder = write_phone_folder(tmp_path, 20)
    key = folder.with_name(folder.name + ".key")
    key.write_text(KEY_FILE)
    (source,) = find_dataset_sources([folder])
    assert source.key_file == str(key)
    assert isinstance(source.keys(), KeyMaterial)


def test_a_key_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """The error of a key file that cannot be used has its path and not its content."""
    path = tmp_path / "secret.key"
    for content, problem in (
        (b"hunter2", "cannot be used"),
        (b"\xff\xfe", "is not text"),
        (b"x" * 70_000, "large"),
    ):
        path.write_bytes(content)
        with pytest.raises(KeyRefused, match=problem) as caught:
            read_key_file(path)
        assert "hunter2" not in str(caught.value)
        assert str(path) in str(caught.value)
    with pytest.raises(UnreadableBackup, match="cannot be read"):
        read_key_file(tmp_path / "nowhere")


def test_a_stamp_changes_with_the_file(tmp_path: Path) -> None:
    """The stamp depends on the size and the modification time, and a missing file has none."""
    path = tmp_path / "a"
    path.write_bytes(stream_of(small_sample()))
    source = DatasetSource("a", str(path))
    first = source.stamp()
    assert first == source.stamp()
    os.utime(path, ns=(5, 5))
    second = source.stamp()
    path.write_bytes(b"other")
    os.utime(path, ns=(5, 5))
    assert len({first, second, source.stamp()}) == 3
    path.unlink()
    assert not source.stamp()


def test_the_size_is_that_of_all_files(tmp_path: Path) -> None:
    """The size of a snapshot is that of the files that are read, and a missing file has size 0."""
    (tmp_path / "a").write_bytes(b"12345")
    assert DatasetSource("a", str(tmp_path / "a")).size() == 5
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "main").write_bytes(b"123")
    (snapshot / "metadata").write_bytes(b"12")
    (snapshot / "other").write_bytes(b"1")
    assert DatasetSource("s", str(snapshot)).size() == 5
    assert DatasetSource("g", str(tmp_path / "gone")).size() == 0
