"""Files that are not backups are recognized by type, with the same error in every command."""

import gzip
import io
import os
import random
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.errors import DamagedContainer, KeyIncomplete, UnreadableBackup, UnsupportedFormat
from holdfast.backup.file_types import is_random
from holdfast.backup.form_detection import recognise
from tests.backup.streams import KEYS, MODERN_KEYS, container_of, small_sample

WHATSAPP_ANDROID = (
    "12/31/20, 11:59 PM - Messages are end-to-end encrypted.\n1/1/21, 12:00 AM - Jörg: Frohes Neues 🎆\n"
)
WHATSAPP_IPHONE = "\u200e[31.12.20, 23:59:58] Jörg: \u200eMessages are encrypted.\n[01.01.21, 00:00:01] Ana: Olá\n"
TELEGRAM_CHAT = '{\n "name": "Zoë \\"Z\\"",\n "type": "personal_chat",\n "id": 4567,\n "messages": [\n'


def sixteenths(data: bytes) -> bytes:
    """Pad with line breaks to a multiple of 16 bytes, the size of an encrypted backup."""
    return data + b"\n" * (-len(data) % 16)


def old_android_backup(*, version: bool) -> bytes:
    """Begin a backup of Signal's old format, as far as it is not encrypted."""
    rng = random.Random(1)
    header = b"\x0a\x10" + rng.randbytes(16) + b"\x12\x20" + rng.randbytes(32) + (b"\x18\x01" if version else b"")
    frame = b"\x0a" + bytes([len(header)]) + header
    return len(frame).to_bytes(4, "big") + frame + rng.randbytes(4096)


def zip_of(*names: str) -> bytes:
    """Make a ZIP of small files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return target.getvalue()


def tar_of(name: str) -> bytes:
    """Make a tar archive of one small file."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return target.getvalue()


def database(tmp_path: Path, *tables: str) -> bytes:
    """Make a SQLite database with some tables."""
    path = tmp_path / "made.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (id INTEGER, text TEXT)")
            rows = [(n, os.urandom(20).hex()) for n in range(500)]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    connection.close()
    return path.read_bytes()


def own_archive(tmp_path: Path) -> bytes:
    """Make an archive of ours."""
    archives.open(tmp_path / "own.archive", create=True).close()
    return (tmp_path / "own.archive").read_bytes()


KINDS: dict[str, tuple[Callable[[Path], bytes], str, str]] = {
    "archive of ours": (own_archive, "an archive of Holdfast", "holdfast archive chats"),
    "database": (lambda path: database(path, "stuff"), "SQLite database of another program", "looked for"),
    "Desktop, decrypted": (
        lambda path: database(path, "conversations", "signedPreKeys"),
        "database of Signal Desktop",
        "make a backup with the app",
    ),
    "WhatsApp iPhone": (
        lambda path: database(path, "ZWAMESSAGE"),
        "WhatsApp on an iPhone",
        "nothing here that reads",
    ),
    "old Android": (lambda _: old_android_backup(version=False), "old format", "restore it on a phone"),
    "old Android 1": (lambda _: old_android_backup(version=True), "old format", "restore it on a phone"),
    "WhatsApp text": (lambda _: WHATSAPP_ANDROID.encode() * 40, "WhatsApp exported as text", "Signal"),
    "WhatsApp text iPhone": (lambda _: WHATSAPP_IPHONE.encode() * 40, "WhatsApp exported as text", "Signal"),
    "WhatsApp text, short": (
        lambda _: b"12/03/2020, 10:15 - Messages and calls are encrypted.\n12/03/2020, 10:16 - Ana: Hi\n",
        "WhatsApp exported as text",
        "Signal",
    ),
    "Telegram chat": (
        lambda _: TELEGRAM_CHAT.encode() + b'\n   "id": 1,' * 9000,
        "chat history that Telegram exported",
        "Signal",
    ),
    "Telegram": (
        lambda _: b'{\n "about": "Here is the data you requested. Remember: ...",\n "chats": {"list": []}\n}\n',
        "chat history that Telegram exported",
        "Signal",
    ),
    "WhatsApp ZIP": (lambda _: zip_of("_chat.txt", "1.jpg"), "ZIP of a chat that WhatsApp", "Signal"),
    "zipped folder": (
        lambda _: zip_of("SignalBackups/signal-backup-2026-01-31-23-59-59/main", "SignalBackups/files/00/x"),
        "ZIP of the folder a phone wrote",
        "unpack it",
    ),
    "document": (lambda _: zip_of("[Content_Types].xml", "word/document.xml"), "office document", "looked for"),
    "other ZIP": (lambda _: zip_of("a", "b", "c"), "a ZIP of 3 other files", "unpack it"),
    "tar": (lambda _: tar_of("x"), "tar archive", "unpack it"),
    "gzipped tar": (lambda _: gzip.compress(tar_of("x")), "gzipped.*tar archive", "unpack it"),
    "gzipped database": (lambda path: gzip.compress(database(path, "x")), "gzipped.*SQLite", "looked for"),
    "picture": (lambda _: b"\x89PNG\r\n\x1a\n" + os.urandom(600), "picture", "looked for"),
    "photo": (lambda _: b"\xff\xd8\xff\xe1" + os.urandom(600), "picture", "looked for"),
    "video": (lambda _: b"\x00\x00\x00\x20ftypisom" + os.urandom(600), "video", "looked for"),
    "PDF": (lambda _: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + os.urandom(600), "PDF", "looked for"),
    "page": (lambda _: "<!DOCTYPE html><html lang=de><p>Anmelden für".encode() * 9, "web page", "log-in page"),
    "text": (lambda _: "Liebes Tagebuch, heute war schönes Wetter.\n".encode() * 30, "a text", "looked for"),
    "pointer": (
        lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
        "pointer to a file that is kept with Git LFS",
        "git lfs pull",
    ),
    "configuration": (
        lambda _: b'{\n  "encryptedKey": "76313000"\n}\n',
        "configuration of Signal Desktop",
        "backup",
    ),
}


@pytest.mark.parametrize("keys", [None, KEYS])
@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_another_kind_is_called_what_it_is(
    name: str, keys: backup.KeyMaterial | None, tmp_path: Path
) -> None:
    """The error names the type of the file and what to do, with and without a key, at any size."""
    make, description, advice = KINDS[name]
    path = make(tmp_path)
    variants = [path] if name.endswith(("ZIP", "folder", "document")) else [path, sixteenths(path)]
    for data in variants:
        with pytest.raises(UnsupportedFormat, match=f"(?s){description}.*{advice}"):
            backup.open(io.BytesIO(data), keys)


def test_a_latin_text_is_not_taken_for_an_encrypted_backup() -> None:
    """Bytes that are not random are not taken for an encrypted backup, even in whole blocks."""
    for data in ("Grüße aus Köln, schöne Grüße!".encode("latin-1") * 16, bytes(4096) + b"\xff" * 4096):
        assert len(data) % 16 == 0
        with pytest.raises(UnreadableBackup, match="not a chat backup"):
            backup.open(io.BytesIO(data))


def test_random_bytes_are_random() -> None:
    """Random bytes of every size pass, so no encrypted backup is refused by chance."""
    rng = random.Random(5)
    for size in (64, 80, 128, 592, 1024, 4096, 1 << 16):
        assert all(is_random(rng.randbytes(size)) for _ in range(200))


@pytest.mark.parametrize("size", [48, 63, 65, 79])
def test_an_encrypted_file_has_whole_blocks_and_a_least_size(size: int) -> None:
    """Random bytes that are too few or no whole blocks are not taken for a container."""
    with pytest.raises(UnreadableBackup, match="not a chat backup"):
        recognise(random.Random(2).randbytes(size), size)
    for fitting in (64, 80):
        assert recognise(random.Random(2).randbytes(fitting), fitting) is backup.Form.CONTAINER


@pytest.mark.parametrize("missing", [1, 15, 100])
def test_a_container_that_was_cut_off_is_called_that_once_the_key_fits(missing: int) -> None:
    """With the key a truncated container is damaged; without it the error says that it may be one."""
    cut = container_of(small_sample())[:-missing]
    with pytest.raises(DamagedContainer, match="cut off"):
        backup.info(io.BytesIO(cut), KEYS)
    with pytest.raises(UnreadableBackup, match=r"cut off.*give its key"):
        backup.info(io.BytesIO(cut))
    with pytest.raises(UnreadableBackup, match=r"cut off.*give its key"):
        backup.info(io.BytesIO(random.Random(1).randbytes(1001)), MODERN_KEYS)


def test_the_data_of_signal_desktop_are_told_by_where_they_lie(tmp_path: Path) -> None:
    """The database of Signal Desktop is recognised by the `config.json` of its folder."""
    folder = tmp_path / "Signal"
    (folder / "sql").mkdir(parents=True)
    file = folder / "sql" / "db.sqlite"
    file.write_bytes(os.urandom(8192))
    with pytest.raises(KeyIncomplete):
        backup.open(file)
    (folder / "config.json").write_text('{"key": "00"}')
    for path, kind in ((file, "the database of Signal Desktop"), (folder, "folder in which Signal Desktop")):
        with pytest.raises(UnsupportedFormat, match=f"{kind}.*make a backup with the app"):
            backup.open(path)
