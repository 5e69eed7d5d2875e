"""Encrypts and decrypts archives and changes their passphrase, atomically.

A new file is written beside the archive, verified, flushed to disk, and renamed over the archive. Attachments are
written in the new form under new names; the old files are deleted after the rename, or on the next write if that
is interrupted. The archive is marked before the first of them is written, so that those of an interrupted change
are deleted likewise.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from os.path import samestat
from pathlib import Path
from typing import Final

from holdfast.backup.archives import archive_file, media_key
from holdfast.backup.archives.archive_file import (
    BUSY_TIMEOUT_S,
    Archive,
    import_sqlcipher,
)
from holdfast.backup.archives.file_paths import KEEP_STATE, MAGIC, MEDIA_SUFFIX, beside, places_beside
from holdfast.backup.archives.media_cipher import MediaKey
from holdfast.backup.archives.media_files import KeptFile, MediaFolder
from holdfast.backup.archives.passphrases import ArchiveKey, is_encrypted, make_key
from holdfast.backup.container.atomic_write import sync_folder
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.private import create_private_file
from holdfast.backup.errors import ArchiveBusy, ArchiveError, AttachmentError, BackupError, UnwritableBackup
from holdfast.backup.public import public

__all__ = [
    "EncryptionChange",
    "change_passphrase",
    "decrypt_archive",
    "encrypt_archive",
    "finish_encryption",
    "has_plain_files",
]

# Suffix of the file that is renamed over the archive.
NEW_SUFFIX: Final = "-new"
TABLES: Final = (
    "SELECT name FROM {schema}.sqlite_master WHERE type = 'table' AND name <> 'encryption' ORDER BY name"
)


@public
@dataclass(frozen=True, slots=True)
class EncryptionChange:
    """The result: how many attachment files were written again, and how many were damaged and left out."""

    files: int = 0
    damaged: int = 0


@public
def encrypt_archive(path: str | PathLike[str], passphrase: str) -> EncryptionChange:
    """Encrypt an archive and the files beside it; needs the extra `encryption`.

    The unencrypted files are overwritten and deleted. On flash memory, on copy-on-write file systems and in
    backups of the disk, their blocks may persist.

    >>> hb.archive("chats.db", create=True).close()
    >>> hb.encrypt_archive("chats.db", "correct horse battery staple").files
    0
    >>> with hb.archive("chats.db", passphrase="correct horse battery staple") as chats:
    ...     print(chats.encrypted)
    True
    """
    key = make_key(passphrase)
    with archive_file.open(path, create=True) as archive:
        archive_path = archive.path
    return rewrite(archive_path, None, key)


@public
def decrypt_archive(path: str | PathLike[str], passphrase: str) -> EncryptionChange:
    """Decrypt an archive and the files beside it.

    >>> hb.archive("chats.db", create=True, passphrase="correct horse battery staple").close()
    >>> hb.decrypt_archive("chats.db", "correct horse battery staple").damaged
    0
    """
    archive_path, key = unlock(path, passphrase)
    return rewrite(archive_path, key, None)


@public
def change_passphrase(path: str | PathLike[str], passphrase: str, new: str) -> EncryptionChange:
    """Change the passphrase of an encrypted archive; its media keep their key and are not written again.

    >>> hb.archive("chats.db", create=True, passphrase="correct horse battery staple").close()
    >>> hb.change_passphrase("chats.db", "correct horse battery staple", "another six words").files
    0
    """
    archive_path, key = unlock(path, passphrase)
    return rewrite(archive_path, key, make_key(new))


def unlock(path: str | PathLike[str], passphrase: str) -> tuple[Path, ArchiveKey]:
    """Open an encrypted archive once, which upgrades it; return its path and its key."""
    archive_path = Path(path)
    if not is_encrypted(archive_file.check_file(archive_path, create=False)):
        raise ArchiveError(f"{archive_path} is not encrypted")
    with archive_file.open(archive_path, create=True, passphrase=passphrase) as archive:
        assert archive.key is not None  # noqa: S101  # it is encrypted
        return archive_path, archive.key


def rewrite(path: Path, old: ArchiveKey | None, new: ArchiveKey | None) -> EncryptionChange:
    """Write an archive again with another key, or without one, and replace it."""
    driver = import_sqlcipher()
    # The rename must not replace a symbolic link.
    file = path.resolve()
    new_path = file.with_name(f"{file.name}{NEW_SUFFIX}")
    converts = (old is None) != (new is None)
    if converts:
        check_media_folder(path)
    # The lock and the copy use one library: POSIX locks of two in one process would release one another.
    with closing(driver.connect(path, old, mode="rw", timeout=BUSY_TIMEOUT_S)) as connection:
        archive = Archive(path, connection, old)
        before = file.stat()
        written: os.stat_result | None = None
        try:
            if converts:
                media_key.mark_unfinished(connection, encrypted=old is not None)
            with locked(connection, "IMMEDIATE"):
                if converts:
                    check_marked(connection)
                (version_before,) = connection.execute("PRAGMA data_version").fetchone()
                media = MediaFolder(archive.media_folder, new_media_key(archive, new))
                places, change = convert_media(archive, media) if converts else (None, EncryptionChange())
                files = [place for place in set((places or {}).values()) if media.find(place) is not None]
                write_copy(archive, new_path, new, media.key, places)
                written = new_path.stat()
            with locked(connection, "EXCLUSIVE"):
                check_unchanged(connection, version_before)
                check_files(media, files)
                check_copy(new_path, written)
                if converts:
                    delete_state(path)
                replace_archive(file, new_path)
        except BaseException as error:
            abandon(archive, new_path, written, replaced=not samestat(before, file.stat()))
            if isinstance(error, OSError):
                raise UnwritableBackup(f"{path} cannot be rewritten: {error.strerror}") from error
            if isinstance(error, sqlite3.DatabaseError):
                raise rewrite_error(path, old, error) from error
            raise
    if converts:
        # Deletes the files of the old form; if this is interrupted, the next open for writing does.
        with archive_file.open(path, create=True, key=new) as rewritten:
            check_deleted(rewritten)
    return change


def has_plain_files(path: Path) -> bool:
    """Return whether the media folder of an encrypted archive has files that are not encrypted."""
    folder = MediaFolder(beside(path, MEDIA_SUFFIX))
    return any(not media_key.has_form(file, encrypted=True) for file in folder.files())


def finish_encryption(path: Path, passphrase: str) -> None:
    """Delete the unencrypted files beside an encrypted archive, which an interrupted encryption has left."""
    _path, key = unlock(path, passphrase)
    with archive_file.open(path, create=True, key=key) as archive:
        media_key.mark_unfinished(archive.connection, encrypted=True)
        media_key.delete_superseded_files(archive.connection, archive.media)
        check_deleted(archive)


def check_deleted(archive: Archive) -> None:
    """Raise `UnwritableBackup` if files of the old form could not be deleted."""
    if media_key.has_superseded_files(archive.connection):
        state = "encrypted" if archive.encrypted else "decrypted"
        raise UnwritableBackup(
            f"{archive.path} is {state}, but not all files of the old form in {archive.media_folder} "
            "could be deleted; the next command that writes to the archive tries it again"
        )


def check_media_folder(path: Path) -> None:
    """Raise `ArchiveError` if there is a second media folder, whose files would stay in their old form."""
    folders = [place for place in places_beside(path, MEDIA_SUFFIX) if place.is_dir()]
    if len(folders) > 1:
        raise ArchiveError(
            f"{folders[1]} and {folders[0]} both have attachments of the archive; "
            "move the files of the first into the second, and delete the first"
        )


def new_media_key(archive: Archive, key: ArchiveKey | None) -> MediaKey | None:
    """Return the media key: the present one, or a new one for a new encryption."""
    return None if key is None else archive.media.key or MediaKey.generate()


@contextmanager
def locked(connection: sqlite3.Connection, how: str) -> Iterator[None]:
    """Hold a lock of SQLite: IMMEDIATE excludes writers, EXCLUSIVE also readers."""
    try:
        connection.execute(f"BEGIN {how}")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ArchiveBusy("another process is using the archive; try again later") from error
        raise ArchiveError(f"the archive cannot be locked: {error}") from error
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def check_marked(connection: sqlite3.Connection) -> None:
    """Raise `ArchiveBusy` if another process has removed the mark, and would not see the files written now."""
    if not media_key.has_superseded_files(connection):
        raise ArchiveBusy("another process has written to the archive; try again")


def check_unchanged(connection: sqlite3.Connection, before: int) -> None:
    """Raise `ArchiveBusy` if another process has written to the archive since it was copied."""
    if connection.execute("PRAGMA data_version").fetchone() != (before,):
        raise ArchiveBusy("another process has written to the archive; try again")


def check_files(media: MediaFolder, files: Iterable[str]) -> None:
    """Raise `ArchiveBusy` if another process took files of the new form for those of an unfinished change."""
    if any(media.find(place) is None for place in files):
        raise ArchiveBusy("another process has written to the archive; try again")


def check_copy(new_path: Path, written: os.stat_result) -> None:
    """Raise `ArchiveBusy` if another process has written its own copy, while neither had the lock."""
    if not is_file(new_path, written):
        raise ArchiveBusy("another process is encrypting or decrypting the archive; try again later")


def is_file(path: Path, status: os.stat_result) -> bool:
    """Return whether a path leads to a file."""
    try:
        return samestat(path.stat(), status)
    except OSError:
        return False


def rewrite_error(path: Path, key: ArchiveKey | None, error: sqlite3.DatabaseError) -> ArchiveError:
    """Return the error for an archive that cannot be read with the key that it had when it was opened."""
    head = archive_file.check_file(path, create=False)
    if head != (MAGIC if key is None else key.salt):
        return ArchiveBusy(f"another process has encrypted or decrypted {path}; try again")
    return ArchiveError(f"{path} cannot be rewritten: {error}")


def convert_media(archive: Archive, target: MediaFolder) -> tuple[dict[str, str], EncryptionChange]:
    """Write the attachment files in the new form; return their new paths by media name."""
    rows = archive.connection.execute(
        "SELECT d.media_name, d.sha256, d.path, (SELECT a.content_type FROM attachment a "
        "WHERE a.media_name = d.media_name ORDER BY a.message_id, a.role, a.n LIMIT 1) FROM media d "
        "WHERE d.path <> '' ORDER BY d.sha256, d.media_name"
    ).fetchall()
    # The same content may be there with the extensions of several types.
    paths: dict[str, dict[str, None]] = {}
    for _name, digest, path, _content_type in rows:
        paths.setdefault(digest, {})[path] = None
    places: dict[str, str] = {}
    written: dict[str, str] = {}
    files = damaged = 0
    for name, digest, _path, content_type in rows:
        new_place = written.get(digest)
        if new_place is None:
            new_place = written[digest] = target.place_of(digest, content_type or "")
            file = find_whole(archive.media, paths[digest], digest)
            try:
                if file is not None:
                    with file.open() as source, target.write(new_place) as out:
                        shutil.copyfileobj(source, out, CHUNK)
                    files += 1
            except AttachmentError:
                damaged += 1
        places[name] = new_place
    return places, EncryptionChange(files, damaged)


def find_whole(media: MediaFolder, places: Iterable[str], digest: str) -> KeptFile | None:
    """Return the file at one of several places with the same content, an undamaged one if there is a choice."""
    files = [file for place in places if (file := media.find(place)) is not None]
    if len(files) > 1:
        files = [file for file in files if (found := file.digest()) and found.hex() == digest] or files
    return next(iter(files), None)


def write_copy(
    archive: Archive,
    new_path: Path,
    key: ArchiveKey | None,
    files_key: MediaKey | None,
    places: dict[str, str] | None,
) -> None:
    """Write the archive's content to a new file, verify it, and flush it to disk.

    `places` has the new paths of attachments, and is None if they are unchanged.
    """
    remove_new_file(new_path)
    create_private_file(new_path)
    try:
        with attached(archive, new_path, key) as target:
            target.execute("SELECT sqlcipher_export('main', 'old')").fetchall()
            for pragma in ("application_id", "user_version"):
                (value,) = target.execute(f"PRAGMA old.{pragma}").fetchone()
                target.execute(f"PRAGMA main.{pragma} = {int(value)}")
        # A connection sees the virtual table of the full-text index only if it was opened after it was created.
        with attached(archive, new_path, key) as target:
            if places is not None:
                target.execute("BEGIN")
                target.executemany("UPDATE main.media SET path = ?2 WHERE media_name = ?1", places.items())
                target.execute("DROP TABLE IF EXISTS main.encryption")
                media_key.create(target, files_key)
                media_key.mark_superseded(target)
                target.execute("COMMIT")
            verify(target, encrypted=key is not None)
        with new_path.open("r+b") as file:
            os.fsync(file.fileno())
    except BaseException as error:
        # While this process has the lock: afterwards, another one may write its own copy.
        with suppress(OSError):
            remove_new_file(new_path)
        if isinstance(error, sqlite3.Error):
            raise ArchiveError(f"{new_path} cannot be written: {error}") from error
        raise


@contextmanager
def attached(archive: Archive, new_path: Path, key: ArchiveKey | None) -> Iterator[sqlite3.Connection]:
    """Connect to the new file as `main`, with the archive attached as `old`."""
    with closing(import_sqlcipher().connect(new_path, key, mode="rw", timeout=BUSY_TIMEOUT_S)) as target:
        # Durability is not needed before the final fsync.
        target.execute("PRAGMA journal_mode = OFF").fetchall()
        target.execute("PRAGMA synchronous = OFF")
        literal = "" if archive.key is None else archive.key.literal()
        target.execute("ATTACH DATABASE ? AS old KEY ?", (archive.path.absolute().as_uri(), literal))
        yield target


def verify(target: sqlite3.Connection, *, encrypted: bool) -> None:
    """Check the integrity of the new file, and compare its row counts with the archive's."""
    names = [name for (name,) in target.execute(TABLES.format(schema="main")).fetchall()]
    is_same = names == [name for (name,) in target.execute(TABLES.format(schema="old")).fetchall()]
    for name in names if is_same else ():
        counts = (
            target.execute(f'SELECT count(*) FROM {schema}."{name}"').fetchone()  # identifiers of the schema
            for schema in ("main", "old")
        )
        is_same = is_same and next(counts) == next(counts)
    is_sound = target.execute("PRAGMA main.integrity_check(1)").fetchone() == ("ok",)
    if encrypted:
        is_sound = is_sound and not target.execute("PRAGMA main.cipher_integrity_check").fetchall()
    if not (is_same and is_sound):
        raise ArchiveError("the new file differs from the archive; the archive was left unchanged")


def delete_state(path: Path) -> None:
    """Delete the cache of `keep`, which has names of chats and people; without it all is verified again."""
    for state in places_beside(path, KEEP_STATE):
        if state.is_file():
            media_key.overwrite_and_delete(state)


def replace_archive(path: Path, new_path: Path) -> None:
    """Rename the new file over the archive, and overwrite the old one, which is locked exclusively."""
    old = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        new_path.replace(path)
        sync_folder(path.parent)
        media_key.overwrite(old)
    finally:
        os.close(old)


def abandon(archive: Archive, new_path: Path, written: os.stat_result | None, *, replaced: bool) -> None:
    """Delete what was written of the new form; what cannot be deleted now is deleted on the next write.

    A copy of another process is left to it. If the archive was `replaced` before the error, the files of the new
    form are its files.
    """
    with suppress(OSError, sqlite3.Error, BackupError):
        if written is not None and is_file(new_path, written):
            remove_new_file(new_path)
        if not replaced:
            media_key.delete_superseded_files(archive.connection, archive.media)


def remove_new_file(new_path: Path) -> None:
    """Delete the file that an earlier attempt has left."""
    for ending in ("", "-journal"):
        new_path.with_name(f"{new_path.name}{ending}").unlink(missing_ok=True)
