"""Chat backups of users: list, read, rename, share and delete them.

A backup is visible only to the user who uploaded it and to those it is shared with; a site administrator sees only
its owner and its size. Access tokens and administrators acting as another user (sudo) are refused. The bytes are
in the object store, in immutable parts.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, NoSuchChatBackup, StorageError
from holdfast.hosting.services import users
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.storage.backup_lease import is_backup_running
from holdfast.hosting.storage.object_reader import ObjectPart, open_parts
from holdfast.hosting.storage.object_store import CHATS
from holdfast.hosting.store import chat_backups as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.chat_backups import ChatBackup, ChatBackupFile, ChatBackupPart

__all__ = [
    "ChatBackupContent",
    "ChatBackupList",
    "ChatBackupUsage",
    "check_name",
    "content_of",
    "delete",
    "delete_parts",
    "find",
    "find_own",
    "list_shares",
    "list_usage",
    "list_visible",
    "may_read",
    "object_key",
    "rename",
    "share",
    "unshare",
]

NAME_LENGTH: Final = 255
MOST_SHARES: Final = 100
CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChatBackupList:
    """The backups that a user can see, the storage their own use, and their storage `limit`."""

    own: list[ChatBackup]
    shared: list[tuple[ChatBackup, Account]]
    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class ChatBackupUsage:
    """One page of all backups with their owners, the total number, and the total size."""

    found: list[tuple[ChatBackup, Account]]
    total: int
    size: int


class ChatBackupContent:
    """The files of a backup, by their paths."""

    def __init__(self, app: App, backup: ChatBackup) -> None:
        self._store = app.store
        self.files = {file.path: file for file in store.files_of(app.database, backup)}
        self._parts = store.parts_of(app.database, backup)

    def open(self, file: ChatBackupFile) -> BinaryIO:
        """Open a file as a seekable binary stream."""
        return open_parts(self._store, [object_part(part) for part in self._parts.get(file.id, ())])

    def copy(self, file: ChatBackupFile, target: Path) -> None:
        """Copy a file to an empty local file."""
        with self.open(file) as source, target.open("wb") as out:
            while piece := source.read(CHUNK):
                out.write(piece)


def object_key(number: str) -> str:
    """Return the key of a part in the object store, by its uuid."""
    return f"{CHATS}{number[:2]}/{number}"


def object_part(part: ChatBackupPart) -> ObjectPart:
    """Return the location of a part in the object store."""
    return ObjectPart(part.start, part.size, object_key(part.uuid))


def check_name(name: str) -> str:
    """Return the name of a backup without surrounding white space; raise an error for an invalid name."""
    plain = name.strip()
    check_required(plain, "Name")
    check_length(plain, "Name", NAME_LENGTH)
    if not plain.isprintable() or "\ufffd" in plain:
        raise InvalidValue("Name", "must not have control characters")
    return plain


def may_read(app: App, backup: ChatBackup, user_id: int) -> bool:
    """Return whether a backup is a user's own, or shared with them."""
    return backup.owner_id == user_id or store.is_shared_with(app.database, backup, user_id)


def find(app: App, actor: Actor, uuid: str) -> ChatBackup:
    """Return a complete backup owned by or shared with the actor; otherwise raise `NoSuchChatBackup`."""
    user = access.require_session(actor)
    backup = store.find_backup(app.database, uuid)
    if backup.state != "complete" or not may_read(app, backup, user.id):
        raise NoSuchChatBackup
    return backup


def find_own(app: App, actor: Actor, uuid: str) -> ChatBackup:
    """Return a backup that the actor owns, complete or not; for others raise an error as if it were missing."""
    user = access.require_session(actor)
    backup = store.find_backup(app.database, uuid)
    if backup.owner_id != user.id:
        raise NoSuchChatBackup
    return backup


def list_visible(app: App, actor: Actor) -> ChatBackupList:
    """List the backups of the actor, and those that others share with them."""
    user = access.require_session(actor)
    own = store.list_owned(app.database, user)
    limit = app.settings.chat_storage_mb * 2**20
    return ChatBackupList(
        own, store.list_shared(app.database, user), sum(chat_backup.size for chat_backup in own), limit
    )


def list_usage(app: App, actor: Actor, *, skip: int, limit: int) -> ChatBackupUsage:
    """List all backups with their owners and sizes, as a site administrator."""
    access.require_site_admin(actor)
    return ChatBackupUsage(*store.list_all(app.database, skip=skip, limit=limit))


def content_of(app: App, actor: Actor, backup: ChatBackup) -> ChatBackupContent:
    """Return the files of a backup that the actor may read."""
    user = access.require_session(actor)
    if not may_read(app, backup, user.id):
        raise NoSuchChatBackup
    return ChatBackupContent(app, backup)


def rename(app: App, actor: Actor, uuid: str, name: str) -> ChatBackup:
    """Rename a backup, as its owner."""
    return store.rename_backup(app.database, find_own(app, actor, uuid), check_name(name))


def delete(app: App, actor: Actor, uuid: str) -> ChatBackup:
    """Delete a backup or an upload with its bytes and its shares, as its owner."""
    backup = find_own(app, actor, uuid)
    delete_parts(app, store.delete_backup(app.database, backup))
    return backup


def delete_parts(app: App, uuids: Iterable[str]) -> None:
    """Delete the objects of parts that have no row; if that fails, garbage collection deletes them later."""
    # A running backup of the service may be about to read them.
    if is_backup_running(app.database):
        return
    with suppress(StorageError):
        app.store.delete_many([object_key(uuid) for uuid in uuids])


def list_shares(app: App, actor: Actor, uuid: str) -> list[Account]:
    """List the users that a backup is shared with, as its owner."""
    return store.shares_of(app.database, find_own(app, actor, uuid))


def share(app: App, actor: Actor, uuid: str, name: str) -> Account:
    """Let another user read a backup, as its owner."""
    backup = find_own(app, actor, uuid)
    user = users.find_visible(app, actor, name.strip())
    if user.id == backup.owner_id:
        raise InvalidValue("Username", "this backup is your own")
    store.add_share(app.database, backup, user, most=MOST_SHARES)
    return user


def unshare(app: App, actor: Actor, uuid: str, user_id: int) -> None:
    """Stop sharing a backup with a user, as its owner; does nothing if it is not shared with them."""
    store.remove_share(app.database, find_own(app, actor, uuid), user_id)
