"""Opens archives. Commands, pages and exports all use this module."""

import sqlite3
from collections.abc import Iterator, Set
from contextlib import ExitStack, closing
from datetime import UTC, tzinfo
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from holdfast.backup.archives import integrity, media_key, schema
from holdfast.backup.archives.file_paths import (
    KEEP_STATE,
    MAGIC,
    MEDIA_SUFFIX,
    archive_paths,
    beside,
    is_archive,
    places_beside,
)
from holdfast.backup.archives.imports import ImportResult, Progress, import_backup, transaction
from holdfast.backup.archives.media_cipher import MediaKey
from holdfast.backup.archives.media_files import KeptFile, MediaFolder
from holdfast.backup.archives.media_store import CopiedAttachment, copy_media, delete_removed_files
from holdfast.backup.archives.passphrases import SALT, ArchiveKey, derive_key, is_encrypted, make_key
from holdfast.backup.archives.query import Filters
from holdfast.backup.archives.reader import ArchiveReader
from holdfast.backup.archives.removal import RemovalResult, remove, vacuum
from holdfast.backup.archives.search import Hits, Order, search
from holdfast.backup.archives.shared_file import hold, read_head
from holdfast.backup.archives.statistics import Statistics, statistics
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.private import create_private_file, restrict
from holdfast.backup.errors import (
    ArchiveBusy,
    ArchiveError,
    AttachmentError,
    ExtraMissing,
    NotAnArchive,
    PassphraseMissing,
    WrongPassphrase,
)
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["Archive", "archive", "archive_keys", "open"]

# SQLite's page cache, in KiB.
CACHE_KIB: Final = 32 << 10
BUSY_TIMEOUT_S: Final = 5.0
# Of the text of one message.
MAX_TEXT_BYTES: Final = 128 << 10


@public
@redacted
class Archive(ArchiveReader):
    """An open archive; `restricted` lists the files whose permissions were restricted on opening for writing."""

    path: Path
    restricted: tuple[Path, ...]

    def __init__(self, path: Path, connection: sqlite3.Connection, key: ArchiveKey | None = None) -> None:
        super().__init__(connection)
        self.path = path
        self.key = key
        self.restricted: tuple[Path, ...] = ()
        # Closed after the connection.
        self.held = ExitStack()

    @property
    def encrypted(self) -> bool:
        """Whether the archive and the files beside it are encrypted."""
        return self.key is not None

    @cached_property
    def media(self) -> MediaFolder:
        """The media folder beside the archive, with its key if the archive is encrypted."""
        return MediaFolder(self.media_folder, None if self.key is None else media_key.read(self.connection))

    @property
    def media_folder(self) -> Path:
        """The path of the media folder."""
        return beside(self.path, MEDIA_SUFFIX)

    def kept_file(self, path: str) -> KeptFile | None:
        """Return an attachment from the media folder, or None if it is not there."""
        return self.media.find(path)

    def long_text(self, path: str) -> str | None:
        """Read a long text that was stored as a file; None if it is missing or exceeds the limit of a message."""
        file = self.kept_file(path)
        try:
            if file is None or file.size > MAX_TEXT_BYTES:
                return None
            # A symbolic link out of the folder is not followed: the content of another file would become part of a
            # message.
            if not file.path.resolve().is_relative_to(self.media_folder.resolve()):
                return None
            with file.open() as source:
                return source.read().decode()
        except (OSError, UnicodeDecodeError, AttachmentError):
            return None

    def add(self, backup: Backup, *, progress: Progress | None = None) -> ImportResult:
        """Import a backup, in one transaction."""
        import_result = import_backup(self.connection, backup, progress)
        self.forget_names()
        return import_result

    def copy_media(
        self, backup: Backup, *, only: Set[str] | None = None, damaged: Set[str] = frozenset()
    ) -> Iterator[CopiedAttachment]:
        """Copy the attachments of a backup, or those named in `only`, to the media folder.

        Files with a path in `damaged` are copied again although they have the correct size.
        """
        return copy_media(self.connection, backup, self.media, only=only, damaged=damaged)

    def remove(
        self,
        *,
        snapshot: int | None = None,
        chat: int | None = None,
        person: int | None = None,
        dry_run: bool = False,
    ) -> RemovalResult:
        """Remove an import, a chat or a person permanently, by id; with `dry_run` only count what it removes.

        Rows, full-text index entries, records and unreferenced files are overwritten or deleted in one
        transaction. A chat or person that is in another backup reappears when that is imported as a new one.
        """
        if not dry_run:
            # The file is a cache: without it everything is verified again.
            for state in places_beside(self.path, KEEP_STATE):
                state.unlink(missing_ok=True)
        removal = remove(self.connection, self.media, snapshot=snapshot, chat=chat, person=person, dry_run=dry_run)
        self.forget_names()
        return removal

    def search(
        self,
        text: str,
        *,
        filters: Filters | None = None,
        order: Order = "date",
        limit: int = 20,
        context: int = 0,
        below: int | None = None,
        beginnings: bool = False,
        zone: tzinfo | None = UTC,
    ) -> Hits:
        """Search messages; `parse_query` has the syntax. With `beginnings` words match by prefix.

        Dates in the text are in a time zone; None is the time zone of this machine.
        """
        return search(
            self,
            text,
            filters=filters,
            order=order,
            limit=limit,
            context=context,
            below=below,
            beginnings=beginnings,
            zone=zone,
        )

    def statistics(self, chat: int | None = None, *, zone: tzinfo | None = UTC) -> Statistics:
        """Count messages by month, hour, chat and person, in all chats or in one.

        Months and hours are those of a time zone; None is the time zone of this machine.
        """
        try:
            return msgspec.convert(msgspec.to_builtins(statistics(self, chat, zone)), Statistics)
        except msgspec.ValidationError:
            raise ArchiveError("the archive is damaged: values that are counted have wrong types") from None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        self.held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; an exception caused by values an archive cannot contain is raised as `ArchiveError`."""
        try:
            archive_error = None if problem is None else integrity.damage_error(self.connection, problem)
        finally:
            self.close()
        if archive_error is not None:
            raise ArchiveError(f"{self.path} cannot be read: {archive_error}") from None


@public
def archive(path: str | PathLike[str], *, create: bool = False, passphrase: str | None = None) -> Archive:
    """Open an archive for reading; with `create` for writing, creating it if it does not exist.

    An archive is one SQLite file that any number of backups are imported into. A new one is readable by its owner
    only. With a passphrase a new one is encrypted, which needs the extra `encryption`; opening it again takes the
    same passphrase.

    >>> with hb.archive("chats.db", create=True) as chats, hb.open("chats.binproto") as backup:
    ...     print(chats.add(backup).messages)
    200
    >>> with hb.archive("chats.db") as chats:
    ...     print(len(chats.chats()), len(chats.search("dinner").hits))
    19 4
    """
    return open(path, create=create, passphrase=passphrase)


def open(  # noqa: A001  # archive.open() is what people look for
    path: str | PathLike[str],
    *,
    create: bool = False,
    passphrase: str | None = None,
    key: ArchiveKey | None = None,
) -> Archive:
    """Open an archive for reading; with `create` for writing, creating it if it does not exist.

    An archive of an older version is upgraded first. A new one is readable by its owner only, whatever the umask,
    and so are its media and the files that SQLite creates beside it. Opening for writing removes the access of
    others.

    An encrypted archive needs its passphrase, or the `key` of an `Archive` that was opened with it, which saves
    the key derivation. With either a new archive is encrypted; writing to an unencrypted one raises
    `ArchiveError`.
    """
    archive_path = Path(path)
    head = check_file(archive_path, create=create)
    key = resolve_key(archive_path, head, passphrase, key, create=create)
    restricted: tuple[Path, ...] = ()
    if create:
        create_private_file(archive_path)
        restricted = tuple(restrict(archive_paths(archive_path)))
    with ExitStack() as held:
        held.enter_context(hold(archive_path))
        connection = held.enter_context(closing(connect(archive_path, key)))
        try:
            integrity.harden(connection)
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (empty,) = connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()
            if create:
                prepare(connection, version, empty=bool(empty), encrypted=key is not None)
            else:
                if check_version(connection, archive_path, version, empty=bool(empty)):
                    held.close()
                    upgrade_archive(archive_path, key)
                    return open(archive_path, key=key)
                integrity.check_schema(connection)
                connection.execute("PRAGMA query_only = ON")
        except sqlite3.DatabaseError as error:
            raise ArchiveError(f"{archive_path} cannot be read: {error}") from error
        opened = Archive(archive_path, connection, key)
        opened.held = held.pop_all()
    opened.restricted = restricted
    if create:
        # Left over from an interrupted removal or change of encryption.
        delete_removed_files(connection, opened.media)
        media_key.delete_superseded_files(connection, opened.media)
    return opened


def resolve_key(
    path: Path, head: bytes, passphrase: str | None, key: ArchiveKey | None, *, create: bool
) -> ArchiveKey | None:
    """Return the key of an encrypted archive or of one to be created; None for an unencrypted one."""
    if is_encrypted(head):
        if key is None and passphrase is None:
            raise PassphraseMissing(f"{path} is encrypted; its passphrase is needed")
        if key is None and passphrase is not None:
            return derive_key(passphrase, head[:SALT])
        if key is not None and key.salt != head[:SALT]:
            raise WrongPassphrase(f"{path} has another passphrase now")
        return key
    if key is None and passphrase is None:
        return None
    if not head:
        return key or make_key(passphrase or "")
    if create:
        raise ArchiveError(f"{path} is not encrypted; `holdfast archive encrypt` encrypts it")
    return None


def archive_keys(path: Path, passphrase: str | None) -> tuple[ArchiveKey | None, MediaKey | None]:
    """Return the keys of an archive and of its media; None for both if it is unencrypted or does not exist."""
    if not is_archive(path) or not is_encrypted(read_head(path, SALT)):
        return None, None
    with open(path, passphrase=passphrase) as opened:
        return opened.key, opened.media.key


def check_version(connection: sqlite3.Connection, path: Path, version: int, *, empty: bool) -> bool:
    """Refuse a database that is not an archive; return whether it needs an upgrade."""
    if empty:
        raise NotAnArchive(f"{path} is empty: nothing was imported into it yet")
    schema.check(connection, version)
    return version < schema.VERSION


def upgrade_archive(path: Path, key: ArchiveKey | None) -> None:
    """Upgrade an archive of an older version."""
    try:
        open(path, create=True, key=key).close()
    except NotAnArchive:
        raise
    except ArchiveError as error:
        raise ArchiveError(f"{path} was created by an older version and cannot be upgraded: {error}") from error


def prepare(connection: sqlite3.Connection, version: int, *, empty: bool, encrypted: bool = False) -> None:
    """Create the schema of a new archive, or upgrade that of an old one."""
    if empty:
        with transaction(connection):
            schema.create(connection)
            if encrypted:
                media_key.create(connection)
    else:
        schema.check(connection, version)
        schema.check_tables(connection)
        if version < schema.VERSION:
            integrity.check_old_schema(connection)
            with transaction(connection):
                schema.upgrade(connection)
                integrity.check_schema(connection, writing=True)
            vacuum(connection)
        else:
            integrity.check_schema(connection, writing=True)
    # Rows are written table by table, and references resolve when the transaction ends; a test checks this.
    connection.execute("PRAGMA foreign_keys = OFF")


def check_file(path: Path, *, create: bool) -> bytes:
    """Refuse a file that cannot be an archive; return its first 16 bytes, empty for a new archive.

    They are SQLite's magic number, or the salt of an encrypted archive.
    """
    try:
        head = read_head(path, len(MAGIC))
    except FileNotFoundError:
        if create and path.parent.is_dir():
            return b""
        raise ArchiveError(f"there is no archive {path}") from None
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error
    if head and head != MAGIC and not is_encrypted(head):
        raise NotAnArchive(f"{path} is not an archive")
    return head


def import_sqlcipher() -> Any:
    """Import the driver for encrypted archives; raise `ExtraMissing` if it is not installed."""
    try:
        return import_module("holdfast.backup.archives.sqlcipher")
    except ModuleNotFoundError:
        raise ExtraMissing(
            "an encrypted archive needs the package sqlcipher3: pip install 'holdfast[encryption]'"
        ) from None


def connect(path: Path, key: ArchiveKey | None = None) -> sqlite3.Connection:
    """Connect read-write, so that SQLite rolls back an interrupted import; read-only for a read-only file."""
    for mode in ("rwc", "ro"):
        try:
            return connect_as(path, key, mode)
        except sqlite3.OperationalError as error:
            if mode == "ro" or "locked" in str(error):
                raise ArchiveError(f"{path} cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            if key is not None and read_head(path, SALT) != key.salt:
                raise ArchiveBusy(f"another process has encrypted or decrypted {path}; try again") from None
            if key is not None and not key.fits(path):
                raise WrongPassphrase(f"the passphrase does not fit {path}") from None
            if key is not None:
                raise ArchiveError(f"{path} is damaged: pages of it were changed") from None
            raise NotAnArchive(f"{path} is not an archive, or is damaged: {error}") from error
    raise ArchiveError(f"{path} cannot be opened")


def connect_as(path: Path, key: ArchiveKey | None, mode: str) -> sqlite3.Connection:
    """Connect with a mode of SQLite's URIs, and read the schema, which fails if the file is not a database."""
    connection: sqlite3.Connection
    if key is None:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=BUSY_TIMEOUT_S,
            check_same_thread=False,
        )
    else:
        connection = import_sqlcipher().connect(path, key, mode=mode, timeout=BUSY_TIMEOUT_S)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
