"""Files attached to releases, issues and comments: adding them, download counts, and garbage collection.

The bytes are in the object store under the file's uuid, which is never reused. They are stored before the row is
added; an object without a row after a day is garbage.
"""

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, StorageError, TooManyAtOnce
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.storage.object_store import ATTACHMENTS, StoredFile
from holdfast.hosting.storage.unused_objects import delete_unused, list_by_uuid
from holdfast.hosting.store import attachments
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder
from holdfast.hosting.store.faults import DRIVER_ERRORS

__all__ = [
    "GRACE",
    "MOST_FILES",
    "add",
    "check_file_name",
    "collect_garbage",
    "object_key",
    "save_downloads",
    "stored",
]

GRACE: Final = 86_400
NAME_LENGTH: Final = 255
MOST_FILES: Final = 1000
log = structlog.get_logger(__name__)


def object_key(number: str) -> str:
    """Return the key of a file in the object store, by its uuid."""
    return f"{ATTACHMENTS}{number[:2]}/{number}"


def check_file_name(name: str) -> str:
    """Return the name of a file; raise an error unless it is a plain file name without a path."""
    plain = name.strip()
    check_required(plain, "Name")
    check_length(plain, "Name", NAME_LENGTH)
    if plain in {".", ".."} or not plain.isprintable() or "/" in plain or "\\" in plain or "\ufffd" in plain:
        raise InvalidValue("Name", "must be a file name without slashes and control characters")
    return plain


def add(
    app: App, target: RepositoryAccess, user: Account, holder: AttachmentHolder, *, name: str, path: Path
) -> Attachment:
    """Attach a file to a release, issue or comment; the caller has checked that the user may change it."""
    plain = check_file_name(name)
    number = str(uuid.uuid4())
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = path.stat().st_size
    app.store.put_file(object_key(number), path)
    # If the transaction fails, the object is garbage.
    with app.database.write() as connection:
        if attachments.count_attachments(connection, holder) >= MOST_FILES:
            raise TooManyAtOnce(f"at most {MOST_FILES} files can be attached")
        return attachments.add_attachment(
            connection,
            holder,
            uuid=number,
            repository_id=target.repository.id,
            name=plain,
            size=size,
            digest=digest,
            uploader_id=user.id,
            created_at=int(time.time()),
        )


def save_downloads(app: App) -> None:
    """Write the download counts in one transaction; on failure they stay in memory."""
    counted, app.downloads = app.downloads, []
    if counted:
        try:
            attachments.add_downloads(app.database, Counter(counted))
        except DRIVER_ERRORS:
            app.downloads = counted + app.downloads
            raise


def stored(app: App) -> Iterator[tuple[str, StoredFile]]:
    """List the files in the object store with their uuids."""
    return list_by_uuid(app.store, ATTACHMENTS, object_key)


def collect_garbage(app: App, *, now: float) -> int:
    """Delete objects that have had no row for a day, and return how many; deletes none during a backup."""
    try:
        return delete_unused(
            app.database, app.store, ATTACHMENTS, object_key, attachments.existing_uuids, before=now - GRACE
        )
    except StorageError as error:
        log.warning("garbage collection of attachments failed", error=str(error))
        return 0
