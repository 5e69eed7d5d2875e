"""Encrypting and decrypting archives, and changing their passphrase, atomically."""

import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import Archive, archive_file, encryption, media_key
from holdfast.backup.archives.encryption import change_passphrase, decrypt_archive, encrypt_archive, rewrite
from holdfast.backup.archives.media_cipher import MAGIC
from holdfast.backup.archives.passphrases import ArchiveKey, make_key
from holdfast.backup.errors import (
    ArchiveBusy,
    ArchiveError,
    PassphraseMissing,
    PassphraseRefused,
    UnwritableBackup,
    WrongPassphrase,
)
from tests.backup.archives.histories import PASSPHRASE, copies, write
from tests.backup.phone_folders import add_snapshot, later_records, write_phone_folder
from tests.backup.streams import KEYS, sample

pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")

OTHER = "six words that nobody else knows"


@pytest.fixture(scope="session")
def archive_with_media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep a phone's folder in an archive, with attachments, once."""
    folder = tmp_path_factory.mktemp("kept")
    backup.keep(write_phone_folder(folder), folder / "kept" / "a.db", KEYS)
    return folder / "kept"


@pytest.fixture
def archive_path(archive_with_media: Path, tmp_path: Path) -> Path:
    """Copy the archive with its attachments."""
    shutil.copytree(archive_with_media, tmp_path / "copy")
    return tmp_path / "copy" / "a.db"


def content_of(opened: Archive) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the rows of the tables of an archive, and the content of its attachments."""
    run = opened.connection.execute
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    tables = [name for (name,) in run(query)]
    rows: list[str] = []
    for table in sorted(set(tables) - {"encryption", "media"}):
        rows += sorted(map(repr, run(f'SELECT * FROM "{table}"')))
    files: list[tuple[str, str]] = []
    for name, digest, path in run("SELECT media_name, sha256, path FROM media ORDER BY media_name").fetchall():
        data = opened.kept_file(path)
        assert data is not None
        assert data.digest() == bytes.fromhex(digest)
        files.append((name, digest))
    return rows, files


def secrets_of(opened: Archive) -> list[bytes]:
    """Return long texts, names and hashes that must be found nowhere on a disk."""
    run = opened.connection.execute
    texts = [text for (text,) in run("SELECT text FROM message WHERE length(text) > 12")]
    names = [name for (name,) in run("SELECT name FROM recipient WHERE length(name) > 5")]
    assert len(texts) > 20
    assert names
    return [word.encode() for word in [*texts, *names]]


def leaks(folder: Path, secrets: list[bytes]) -> list[str]:
    """Return the files below a folder that have one of some words, or begin like a SQLite file."""
    leaked = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"SQLite") or any(word in content for word in secrets):
                leaked.append(path.name)
    return leaked


def test_an_archive_is_encrypted_changed_and_decrypted(archive_path: Path) -> None:
    """Encryption, a new passphrase and decryption keep all content, and leave no file in the former form."""
    with archives.open(archive_path) as opened:
        before, secrets = content_of(opened), secrets_of(opened)
        digests = [digest for _, digest in before[1]]
    assert leaks(archive_path.parent, secrets)
    result = encrypt_archive(archive_path, PASSPHRASE)
    assert (result.files, result.damaged) == (len({digest for _, digest in before[1]}), 0)
    assert leaks(archive_path.parent, secrets) == []
    assert not [path for path in archive_path.parent.rglob("*") if any(digest in path.name for digest in digests)]
    with archives.open(archive_path, passphrase=PASSPHRASE) as opened:
        assert opened.encrypted
        assert content_of(opened) == before
    change_passphrase(archive_path, PASSPHRASE, OTHER)
    with pytest.raises(WrongPassphrase):
        archives.open(archive_path, passphrase=PASSPHRASE)
    with archives.open(archive_path, passphrase=OTHER) as opened:
        assert content_of(opened) == before
    decrypt_archive(archive_path, OTHER)
    with archives.open(archive_path) as opened:
        assert not opened.encrypted
        assert content_of(opened) == before
    files = [path for path in archive_path.parent.rglob("*") if path.is_file()]
    assert not [path for path in files if path.read_bytes().startswith(MAGIC)]
    assert sorted(path.name for path in archive_path.parent.iterdir()) == ["a.db", "a.db-media"]


def test_what_keep_remembers_is_encrypted_and_used(archive_with_media: Path, tmp_path: Path) -> None:
    """The state of `keep` is encrypted, as it names chats and people, and the next run reads it."""
    folder = write_phone_folder(tmp_path)
    target = tmp_path / "kept" / "a.db"
    assert backup.keep(folder, target, KEYS, passphrase=PASSPHRASE).complete
    with archives.open(target, passphrase=PASSPHRASE) as opened:
        assert leaks(target.parent, secrets_of(opened)) == []
    assert target.with_name("a.db-keep.json").read_bytes().startswith(MAGIC)
    assert backup.keep(folder, target, KEYS, passphrase=PASSPHRASE).unchanged
    add_snapshot(folder, later_records(sample(80), 1, without=3))
    second = backup.keep(folder, target, KEYS, passphrase=PASSPHRASE)
    assert second.complete
    assert not second.unchanged
    with pytest.raises(WrongPassphrase):
        backup.keep(folder, target, KEYS, passphrase=OTHER)
    with pytest.raises(PassphraseMissing):
        backup.keep(folder, target, KEYS)


class OnePass(io.RawIOBase):
    """A stream that can be read only once, like a pipe."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        return self._content.readinto(buffer)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the open files of a process")
def test_no_word_is_on_the_disk_while_a_backup_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No text or name is found in any file during an import, nor in temporary files without a name."""
    content = write(tmp_path / "one", *copies(400)).read_bytes()
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    seen: list[bytes] = []

    def look(_done: int, _total: int, _messages: int) -> None:
        for handle in Path("/proc/self/fd").iterdir():
            try:
                if str(handle.readlink()).startswith(str(folder)):
                    seen.append(handle.read_bytes())
            except OSError:
                continue
        seen.extend(path.read_bytes() for path in folder.rglob("*") if path.is_file())

    with archives.open(folder / "a.db", create=True, passphrase=PASSPHRASE) as opened:
        with backup.open(io.BufferedReader(OnePass(content))) as source:
            opened.add(source, progress=look)
        opened.connection.execute("PRAGMA cache_size = 1")
        secrets = secrets_of(opened)
    assert any(len(file_content) > 50_000 for file_content in seen), "the spool was not seen"
    assert not [word for word in secrets if any(word in file_content for file_content in seen)]
    assert leaks(folder, secrets) == []


def test_a_wrong_passphrase_a_missing_one_and_damage_are_three_errors(
    encrypted_file: Path, tmp_path: Path
) -> None:
    """The three cases raise different errors, and that of a wrong passphrase does not repeat it."""
    copy = tmp_path / "a.db"
    shutil.copy(encrypted_file, copy)
    with pytest.raises(PassphraseMissing, match="is encrypted"):
        archives.open(copy)
    with pytest.raises(WrongPassphrase, match="does not fit") as wrong:
        archives.open(copy, passphrase=OTHER)
    assert OTHER not in repr(wrong.value)
    content = bytearray(copy.read_bytes())
    content[100] ^= 1
    copy.write_bytes(content)
    with pytest.raises(ArchiveError, match="is damaged") as damaged:
        archives.open(copy, passphrase=PASSPHRASE)
    assert not isinstance(damaged.value, WrongPassphrase)
    content[100] ^= 1
    for start in range(3 * 4096, len(content), 4096):
        content[start + 9] ^= 1
    copy.write_bytes(content)
    with (
        pytest.raises(ArchiveError, match=r"is damaged|cannot be read") as damaged,
        archives.open(copy, passphrase=PASSPHRASE) as opened,
    ):
        opened.statistics()
    assert not isinstance(damaged.value, WrongPassphrase)


def test_without_the_extra_the_error_names_it(encrypted_file: Path) -> None:
    """An encrypted archive raises `ExtraMissing` with the name of the extra where `sqlcipher3` is missing."""
    code = (
        "import sys; sys.modules['sqlcipher3'] = None\n"
        "import holdfast.backup as hb\n"
        "try:\n    hb.archive(sys.argv[1], passphrase='x' * 9)\n"
        "except hb.ExtraMissing as error:\n    print(error)"
    )
    command = [sys.executable, "-c", code, str(encrypted_file)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "holdfast[encryption]" in result.stdout


def test_only_what_can_be_changed_is(archive_path: Path, tmp_path: Path) -> None:
    """A short or wrong passphrase, an archive that is in that form already and a missing one change nothing."""
    before = archive_path.read_bytes()
    with pytest.raises(PassphraseRefused):
        encrypt_archive(archive_path, "short")
    for change in (decrypt_archive, lambda path, old: change_passphrase(path, old, OTHER)):
        with pytest.raises(ArchiveError, match="is not encrypted"):
            change(archive_path, PASSPHRASE)
    with pytest.raises(ArchiveError, match="is not encrypted"):
        archives.open(archive_path, create=True, passphrase=PASSPHRASE)
    with pytest.raises(ArchiveError, match="there is no archive"):
        encrypt_archive(tmp_path / "none" / "a.db", PASSPHRASE)
    assert archive_path.read_bytes() == before
    assert not (tmp_path / "none").exists()
    encrypt_archive(archive_path, PASSPHRASE)
    encrypted = archive_path.read_bytes()
    with pytest.raises(PassphraseMissing):
        encrypt_archive(archive_path, PASSPHRASE)
    with pytest.raises(WrongPassphrase):
        decrypt_archive(archive_path, OTHER)
    assert archive_path.read_bytes() == encrypted


def test_a_link_to_an_archive_stays_one_and_an_export_keeps_its_files(archive_path: Path, tmp_path: Path) -> None:
    """Encryption through a symbolic link keeps the link, and does not overwrite media files of an export."""
    link = tmp_path / "link.db"
    link.symlink_to(archive_path)
    backup.export(archive_path, tmp_path / "pages", "html")
    shared = [path for path in (tmp_path / "pages" / "media").rglob("*") if path.is_file()]
    contents = [path.read_bytes() for path in shared]
    assert shared
    encrypt_archive(link, PASSPHRASE)
    assert link.is_symlink()
    assert [path.read_bytes() for path in shared] == contents
    with archives.open(link, passphrase=PASSPHRASE) as opened:
        assert opened.chats()


def test_an_archive_has_the_same_attachments_by_a_link_in_another_folder(tmp_path: Path) -> None:
    """They are beside the file of the archive, and encryption by the link leaves none of them as it was.

    The same goes for the state of `keep`, which has names of chats.
    """
    file, link = tmp_path / "disk" / "real.db", tmp_path / "home" / "link.db"
    for path in (file, link):
        path.parent.mkdir()
    archives.open(file, create=True).close()
    link.symlink_to(file)
    folder = write_phone_folder(tmp_path / "phone")
    assert backup.keep(folder, link, KEYS).complete
    encrypt_archive(link, PASSPHRASE)
    assert [path.name for path in link.parent.iterdir()] == ["link.db"]
    places: list[str] = []
    for path in (file, link):
        with archives.open(path, passphrase=PASSPHRASE) as opened:
            places = [place for (place,) in opened.connection.execute("SELECT path FROM media")]
            files = [opened.kept_file(place) for place in places]
            assert files
            assert all(found is not None and found.digest() for found in files)
    media = [path for path in tmp_path.rglob("*-media/*/*") if path.is_file()]
    assert len(media) == len(set(places))
    assert all(path.read_bytes().startswith(MAGIC) for path in [*media, *tmp_path.rglob("*-keep.json")])


def test_attachments_that_an_earlier_version_kept_beside_a_link_are_encrypted(
    archive_path: Path, tmp_path: Path
) -> None:
    """They are used from there; with more beside the file, the archive is left as it is, and both are named."""
    link = tmp_path / "home" / "link.db"
    link.parent.mkdir()
    link.symlink_to(archive_path)
    media, moved = archive_path.with_name("a.db-media"), link.with_name("link.db-media")
    media.rename(moved)
    archive_path.with_name("a.db-keep.json").rename(link.with_name("link.db-keep.json"))
    media.mkdir()
    with pytest.raises(ArchiveError, match=r"link.db-media and .*a.db-media both"):
        encrypt_archive(link, PASSPHRASE)
    media.rmdir()
    change = encrypt_archive(link, PASSPHRASE)
    files = [path for path in moved.rglob("*") if path.is_file()]
    assert change.files == len(files) > 3
    assert all(path.read_bytes().startswith(MAGIC) for path in files)
    assert not link.with_name("link.db-keep.json").exists()


def forms_of(folder: Path) -> set[bool]:
    """Return whether the attachments of an archive are encrypted: both values if some are and some are not."""
    files = [path for path in folder.rglob("*-media/*/*") if path.is_file()]
    return {path.read_bytes().startswith(MAGIC) for path in files}


@pytest.mark.parametrize("encrypted", [True, False])
def test_an_attachment_in_the_other_form_does_not_outlast_an_error(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch, *, encrypted: bool
) -> None:
    """A full disk, or an interrupt, leaves no attachment in plain text beside an encrypted archive, nor a copy."""
    change = decrypt_archive if encrypted else encrypt_archive
    if encrypted:
        encrypt_archive(archive_path, PASSPHRASE)
    files = sorted(path for path in archive_path.parent.rglob("*-media/*/*"))
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        with monkeypatch.context() as patched, pytest.raises((UnwritableBackup, KeyboardInterrupt)):
            patched.setattr(encryption, "write_copy", raising(error))
            change(archive_path, PASSPHRASE)
        assert forms_of(archive_path.parent) == {encrypted}
        assert sorted(path for path in archive_path.parent.rglob("*-media/*/*")) == files


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("encrypted", [True, False])
def test_attachments_in_the_other_form_are_deleted_after_a_process_was_killed(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch, *, encrypted: bool
) -> None:
    """The next command that writes to the archive deletes them, and keeps the others."""
    key = make_key(PASSPHRASE) if encrypted else None
    if key is not None:
        rewrite(archive_path, None, key)
    with archives.open(archive_path, key=key) as opened:
        before = content_of(opened)
    monkeypatch.setattr(encryption, "write_copy", lambda *_arguments: os.kill(os.getpid(), signal.SIGKILL))
    assert rewrite_and_kill(0, archive_path, key, None if encrypted else make_key(PASSPHRASE))
    assert forms_of(archive_path.parent) == {True, False}
    with archives.open(archive_path, create=True, key=key) as opened:
        assert content_of(opened) == before
    assert forms_of(archive_path.parent) == {encrypted}


def test_an_error_after_the_archive_was_replaced_deletes_none_of_its_attachments(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file cannot be overwritten: by then the archive is that of the new form."""
    with archives.open(archive_path) as opened:
        before = content_of(opened)
    monkeypatch.setattr(media_key, "overwrite", raising(OSError(5, "Input/output error")))
    monkeypatch.setattr(encryption, "delete_state", lambda _path: None)
    with pytest.raises(UnwritableBackup, match="Input/output error"):
        encrypt_archive(archive_path, PASSPHRASE)
    with archives.open(archive_path, passphrase=PASSPHRASE) as opened:
        assert content_of(opened) == before


def test_files_that_another_process_deletes_meanwhile_are_noticed(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that opens the archive between the two locks takes new files for those of an old attempt."""
    write = encryption.write_copy

    def write_and_delete(archive: Archive, *arguments: Any) -> None:
        write(archive, *arguments)
        next(path for path in archive.media.files() if path.read_bytes().startswith(MAGIC)).unlink()

    with archives.open(archive_path) as opened:
        before = content_of(opened)
    monkeypatch.setattr(encryption, "write_copy", write_and_delete)
    with pytest.raises(ArchiveBusy, match="try again"):
        encrypt_archive(archive_path, PASSPHRASE)
    with archives.open(archive_path) as opened:
        assert content_of(opened) == before


def raising(error: BaseException) -> Callable[..., None]:
    """Return a function that raises an error."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("damage", ["missing", "damaged", "none"])
def test_of_two_files_with_the_same_content_the_good_one_is_encrypted(archive_path: Path, damage: str) -> None:
    """An attachment that was sent as two types has two files, one of which may be lost or damaged by now."""
    with archives.open(archive_path, create=True) as opened:
        before = content_of(opened)
        query = "SELECT sha256, size, path FROM media WHERE size > 100"
        digest, size, place = opened.connection.execute(query).fetchone()
        opened.connection.execute("INSERT INTO media VALUES (?, ?, ?, ?)", ("~", digest, size, f"{place}2"))
        file = opened.media_folder / place
    shutil.copy(file, file.with_name(f"{file.name}2"))
    if damage == "missing":
        file.unlink()
    elif damage == "damaged":
        file.write_bytes(bytes(size))
    assert encrypt_archive(archive_path, PASSPHRASE).files == len({found for _name, found in before[1]})
    with archives.open(archive_path, passphrase=PASSPHRASE) as opened:
        assert content_of(opened) == (before[0], [*before[1], ("~", digest)])


def test_an_export_of_an_encrypted_archive_is_that_of_a_plain_one(archive_path: Path, tmp_path: Path) -> None:
    """The exports have the same files byte by byte, and a damaged attachment does not stop an export."""
    plain = backup.export(archive_path, tmp_path / "plain", "json")
    encrypt_archive(archive_path, PASSPHRASE)
    summary = backup.export(archive_path, tmp_path / "encrypted", "json", passphrase=PASSPHRASE)
    assert summary.written == plain.written
    files, others = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("[!.]*") if path.is_file()}
        for folder in (tmp_path / "plain", tmp_path / "encrypted")
    )
    assert files == others
    assert any(path.parts[0] == "media" for path in files)
    broken = next(path for path in archive_path.with_name("a.db-media").rglob("*") if path.is_file())
    broken.write_bytes(broken.read_bytes()[:-1])
    second = backup.export(archive_path, tmp_path / "again", "html", passphrase=PASSPHRASE)
    assert second.written
    assert decrypt_archive(archive_path, PASSPHRASE).damaged == 1


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "BEGIN"])
def test_who_reads_or_writes_meanwhile_is_waited_for(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """A transaction of another process raises `ArchiveBusy` after the timeout, and nothing is changed.

    It has to be another process, because SQLite locks belong to a process.
    """
    monkeypatch.setattr(encryption, "BUSY_TIMEOUT_S", 0.1)
    before = archive_path.read_bytes()
    code = (
        "import sys, sqlite3\nother = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "other.execute(sys.argv[2])\nother.execute('SELECT count(*) FROM chat').fetchone()\n"
        "print('locked', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(archive_path), statement]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(ArchiveBusy):
            rewrite(archive_path, None, make_key(PASSPHRASE))
        process.kill()
    assert archive_path.read_bytes() == before
    assert not archive_path.with_name("a.db-new").exists()


def test_what_is_written_after_the_copy_is_not_lost(archive_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of another process between the copy and the replacement stops the replacement."""
    locked = encryption.locked
    code = (
        "import sys, sqlite3\nwith sqlite3.connect(sys.argv[1]) as one:\n    one.execute('DELETE FROM reaction')"
    )

    def interrupted(connection: sqlite3.Connection, mode: str) -> AbstractContextManager[None]:
        if mode == "EXCLUSIVE":
            subprocess.run([sys.executable, "-c", code, str(archive_path)], check=True)
        return locked(connection, mode)

    monkeypatch.setattr(encryption, "locked", interrupted)
    with pytest.raises(ArchiveBusy, match="has written to the archive"):
        encrypt_archive(archive_path, PASSPHRASE)
    with archives.open(archive_path) as opened:
        assert opened.connection.execute("SELECT count(*) FROM reaction").fetchone() == (0,)


def test_the_copy_of_another_process_is_left_to_it(archive_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two encryptions at once, one that finds the archive locked does not delete what the other writes."""
    monkeypatch.setattr(encryption, "BUSY_TIMEOUT_S", 0.1)
    copy = archive_path.with_name("a.db-new")
    code = (
        "import sys, sqlite3\nother = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "other.execute('BEGIN IMMEDIATE')\nprint('locked', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(archive_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        copy.write_bytes(b"half of it")
        with pytest.raises(ArchiveBusy):
            rewrite(archive_path, None, make_key(PASSPHRASE))
        process.kill()
    assert copy.read_bytes() == b"half of it"


def test_the_copy_of_another_process_does_not_replace_the_archive(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that another process has written between the two locks is neither taken nor deleted."""
    locked = encryption.locked
    before = archive_path.read_bytes()
    copy = archive_path.with_name("a.db-new")

    def interrupted(connection: sqlite3.Connection, mode: str) -> AbstractContextManager[None]:
        if mode == "EXCLUSIVE":
            copy.rename(archive_path.with_name("elsewhere"))
            copy.write_bytes(b"of another process")
        return locked(connection, mode)

    monkeypatch.setattr(encryption, "locked", interrupted)
    with pytest.raises(ArchiveBusy, match="another process is encrypting or decrypting"):
        rewrite(archive_path, None, make_key(PASSPHRASE))
    assert copy.read_bytes() == b"of another process"
    assert archive_path.read_bytes()[:16] == before[:16]


def test_who_encrypts_what_another_process_has_encrypted_is_told(archive_path: Path) -> None:
    """An archive that was encrypted or decrypted after it was looked at is not said to be damaged."""
    key = make_key(PASSPHRASE)
    rewrite(archive_path, None, key)
    with pytest.raises(ArchiveBusy, match="has encrypted or decrypted"):
        rewrite(archive_path, None, make_key(PASSPHRASE))
    rewrite(archive_path, key, None)
    with pytest.raises(ArchiveBusy, match="has encrypted or decrypted"):
        archive_file.connect(archive_path, key)


def test_who_has_opened_the_archive_before_cannot_write_to_what_was_replaced(archive_path: Path) -> None:
    """A process that opened the archive before its encryption cannot write to the replaced file."""
    code = (
        "import sys, sqlite3\nfrom holdfast.backup import archives\n"
        "opened = archives.open(sys.argv[1], create=True)\nprint('open', flush=True)\nsys.stdin.readline()\n"
        "try:\n    opened.connection.execute('DELETE FROM chat_version')\n"
        "except sqlite3.Error as error:\n    print('refused', flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(archive_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        encrypt_archive(archive_path, PASSPHRASE)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "refused\n"


def rewrite_and_kill(event: int, path: Path, old: ArchiveKey | None, new: ArchiveKey | None) -> bool:
    """Rewrite an archive in a process that kills itself at an access to a file; return whether it did."""
    child = os.fork()
    if child == 0:
        left = event

        def count(name: str, _arguments: object) -> None:
            nonlocal left
            if name in {"open", "os.rename", "os.remove", "os.truncate", "sqlite3.connect", "tempfile.mkstemp"}:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            rewrite(path, old, new)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def matching_key(path: Path, keys: tuple[ArchiveKey | None, ...]) -> int:
    """Return which of the keys, or of none, opens the archive; exactly one does."""
    fits = []
    for number, key in enumerate(keys):
        try:
            with archives.open(path, key=key) as opened:
                if opened.encrypted == (key is not None):
                    fits.append(number)
        except ArchiveError:
            continue
    (only,) = fits
    return only


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("operation", ["encrypt", "decrypt", "passphrase"])
def test_one_whole_archive_is_left_wherever_it_is_killed(
    archive_with_media: Path, tmp_path: Path, operation: str
) -> None:
    """A process killed at a file access leaves all content, in the old or in the new form.

    An archive in the old form can be rewritten afterwards.
    """
    start = tmp_path / "start"
    shutil.copytree(archive_with_media, start)
    old: ArchiveKey | None = None
    new: ArchiveKey | None = make_key(PASSPHRASE)
    with archives.open(start / "a.db") as opened:
        before, secrets = content_of(opened), secrets_of(opened)
    if operation != "encrypt":
        rewrite(start / "a.db", None, new)
        old, new = new, (None if operation == "decrypt" else make_key(OTHER))
    forms = set()
    # Every access in the beginning and around the replacement, some in between.
    event = 0
    while True:
        event += 1 if event < 12 else 3
        folder = tmp_path / "run"
        shutil.copytree(start, folder)
        killed = rewrite_and_kill(event, folder / "a.db", old, new)
        form = matching_key(folder / "a.db", (old, new))
        forms.add((form, killed))
        key = (old, new)[form]
        with archives.open(folder / "a.db", create=True, key=key) as opened:
            assert content_of(opened) == before
        if key is not None and operation == "encrypt":
            assert leaks(folder, secrets) == []
        if form == 0:
            rewrite(folder / "a.db", old, new)
            with archives.open(folder / "a.db", key=new) as opened:
                assert content_of(opened) == before
        assert not (folder / "a.db-new").exists()
        shutil.rmtree(folder)
        if not killed:
            break
    assert {(0, True), (1, False)} <= forms


def test_an_archive_of_the_first_version_is_brought_up_to_date_and_encrypted(tmp_path: Path) -> None:
    """Encryption upgrades an archive of version 1 first, as an import does."""
    with tarfile.open(Path(__file__).with_name("version-1.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    (path,) = tmp_path.rglob("*.db")
    encrypt_archive(path, PASSPHRASE)
    with archives.open(path, passphrase=PASSPHRASE) as opened:
        assert opened.chats()
    assert archives.is_archive(path)
