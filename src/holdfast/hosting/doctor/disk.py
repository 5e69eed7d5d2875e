"""Checks files against the database: objects of the store, the identity of the data folder, and permissions."""

import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import func, select

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import paths_open_to_others
from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind
from holdfast.hosting.errors import LfsError, StorageError
from holdfast.hosting.services import attachments as attached_files
from holdfast.hosting.services import chat_uploads, lfs_objects
from holdfast.hosting.storage import instance
from holdfast.hosting.store.tables import attachments, chat_backup_parts, lfs_links

__all__ = ["check_attachments", "check_chat_backups", "check_identity", "check_lfs_objects", "check_permissions"]


def check_permissions(app: App) -> Iterator[DoctorFinding]:
    """Check that other users of the machine cannot read the data folder, the database or the key."""
    for path in paths_open_to_others(app.settings.data):

        def close(path: Path = path) -> None:
            path.chmod(path.stat().st_mode & ~0o077)

        mode = path.stat().st_mode & 0o777
        yield DoctorFinding(FindingKind.PERMISSIONS, str(path), f"is open to others (mode {mode:03o})", close)


def check_identity(app: App) -> Iterator[DoctorFinding]:
    """Check that the data folder and its key belong to the database."""
    problem = instance.mismatch(app.database, app.settings)
    if problem:
        yield DoctorFinding(FindingKind.INSTANCE, str(app.settings.data), problem)


def check_lfs_objects(app: App, *, now: float | None = None) -> Iterator[DoctorFinding]:
    """Compare the stored LFS objects with their links, in the data folder or in a bucket."""
    moment = time.time() if now is None else now
    # In this order: an object is stored before it is linked.
    statement = select(lfs_links.c.oid, func.max(lfs_links.c.size), func.min(lfs_links.c.repository_id))
    with app.database.read() as connection:
        links = list(connection.execute(statement.group_by(lfs_links.c.oid)).all())
    try:
        stored = lfs_objects.stored_objects(app)
    except LfsError as error:
        yield DoctorFinding(FindingKind.LFS_STORE, str(app.settings.s3_bucket or "lfs"), str(error))
        return
    for oid, size, number in links:
        lfs_object = stored.get(oid)
        if lfs_object is None:
            problem = f"is not in the store, but repository {number} has it"
            yield DoctorFinding(FindingKind.LFS_MISSING, oid, problem)
        elif lfs_object.size != size:
            yield DoctorFinding(FindingKind.LFS_SIZE, oid, f"has {lfs_object.size} bytes, not {size}")
    linked = {oid for oid, _, _ in links}
    for oid, lfs_object in stored.items():
        if oid not in linked and lfs_object.written_at < moment - lfs_objects.GRACE:
            yield DoctorFinding(FindingKind.LFS_UNLINKED, oid, "is in the store, but no repository has it")


def check_attachments(app: App, *, now: float | None = None) -> Iterator[DoctorFinding]:
    """Compare the stored attachments with their rows, in the data folder or in a bucket."""
    moment = time.time() if now is None else now
    # In this order: a file is stored before its row is added.
    with app.database.read() as connection:
        rows = {row.uuid: row.size for row in connection.execute(select(attachments.c.uuid, attachments.c.size))}
    try:
        stored = dict(attached_files.stored(app))
    except StorageError as error:
        yield DoctorFinding(FindingKind.LFS_STORE, str(app.settings.s3_bucket or "attachments"), str(error))
        return
    for number, size in rows.items():
        file = stored.get(number)
        if file is None:
            yield DoctorFinding(FindingKind.ATTACHMENT_MISSING, number, "is not in the store")
        elif file.size != size:
            yield DoctorFinding(FindingKind.ATTACHMENT_SIZE, number, f"has {file.size} bytes, not {size}")
    for number, file in stored.items():
        if number not in rows and file.written_at < moment - attached_files.GRACE:
            yield DoctorFinding(FindingKind.ATTACHMENT_UNUSED, number, "is in the store, but nothing has it")


def check_chat_backups(app: App, *, now: float | None = None) -> Iterator[DoctorFinding]:
    """Compare the stored parts of uploaded chat backups with their rows, in the data folder or in a bucket."""
    moment = time.time() if now is None else now
    parts = select(chat_backup_parts.c.uuid, chat_backup_parts.c.size)
    # In this order: a part is stored before its row is added.
    with app.database.read() as connection:
        rows = {row.uuid: row.size for row in connection.execute(parts)}
    try:
        stored = dict(chat_uploads.stored(app))
    except StorageError as error:
        yield DoctorFinding(FindingKind.OBJECT_STORE, str(app.settings.s3_bucket or "chats"), str(error))
        return
    for number, size in rows.items():
        file = stored.get(number)
        if file is None:
            yield DoctorFinding(FindingKind.CHAT_PART_MISSING, number, "is not in the store")
        elif file.size != size:
            yield DoctorFinding(FindingKind.CHAT_PART_SIZE, number, f"has {file.size} bytes, not {size}")
    for number, file in stored.items():
        if number not in rows and file.written_at < moment - chat_uploads.GRACE:
            yield DoctorFinding(FindingKind.CHAT_PART_UNUSED, number, "is in the store, but no backup has it")
