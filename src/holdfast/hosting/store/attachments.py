"""Files attached to releases, issues and comments: the rows; the content is in the object store."""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import AttachmentTaken, GoneMeanwhile, NoSuchAttachment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.tables import attachments, comments, issues

__all__ = [
    "Attachment",
    "AttachmentHolder",
    "add_attachment",
    "add_downloads",
    "attachments_in",
    "attachments_of",
    "count_attachments",
    "delete_attachment",
    "existing_uuids",
    "find_attachment",
    "find_by_uuid",
    "is_on_pull",
    "rename_attachment",
    "stored_attachments",
]

LONGEST_LIST: Final = 1000


class Attachment(msgspec.Struct, frozen=True):
    """An attached file; the fields are the columns of the table, in this order."""

    id: int
    uuid: str
    repository_id: int
    release_id: int | None
    issue_id: int | None
    comment_id: int | None
    name: str
    size: int
    digest: str
    """The SHA-256 of the content, in hexadecimal."""
    uploader_id: int | None
    download_count: int
    created_at: int


class AttachmentHolder(msgspec.Struct, frozen=True):
    """What a file is attached to: a column of the table and a value."""

    column: str
    id: int


COLUMNS: Final = tuple(attachments.c[name] for name in Attachment.__struct_fields__)
OF_HOLDER: Final = {
    name: Statement(
        select(*COLUMNS)
        .where(attachments.c[name] == bindparam("id"))
        .order_by(attachments.c.id)
        .limit(LONGEST_LIST)
    )
    for name in ("release_id", "issue_id", "comment_id")
}
BY_UUID = Statement(select(*COLUMNS).where(attachments.c.uuid == bindparam("uuid")))
ISSUE_OF_COMMENT = Statement(select(comments.c.issue_id).where(comments.c.id == bindparam("id")))
IS_PULL = Statement(select(issues.c.is_pull).where(issues.c.id == bindparam("id")))
ADD_DOWNLOADS = (
    update(attachments)
    .where(attachments.c.id == bindparam("attachment"))
    .values(download_count=attachments.c.download_count + bindparam("count"))
)


def attachments_of(database: Database, holder: AttachmentHolder) -> list[Attachment]:
    """Return the files of a release, an issue or a comment, oldest first."""
    return [Attachment(*row) for row in database.rows(OF_HOLDER[holder.column], id=holder.id)]


def attachments_in(link: Link, holder: AttachmentHolder) -> list[Attachment]:
    """Return the files of a release, an issue or a comment in a transaction."""
    return [Attachment(*row) for row in OF_HOLDER[holder.column].run(link, id=holder.id)]


def stored_attachments(connection: Connection, column: str, ids: Collection[int]) -> dict[int, list[Attachment]]:
    """Return the files of several releases, issues or comments by their ids, in one query."""
    attachments_by_holder: dict[int, list[Attachment]] = {number: [] for number in ids}
    if ids:
        statement = select(*COLUMNS).where(attachments.c[column].in_(ids)).order_by(attachments.c.id)
        for row in connection.execute(statement):
            attachment = Attachment(*row)
            attachments_by_holder[getattr(attachment, column)].append(attachment)
    return attachments_by_holder


def count_attachments(connection: Connection, holder: AttachmentHolder) -> int:
    """Return how many files a release, an issue or a comment has."""
    of_holder = attachments.c[holder.column] == holder.id
    return connection.execute(select(func.count()).select_from(attachments).where(of_holder)).scalar_one()


def find_attachment(database: Database, holder: AttachmentHolder, number: int) -> Attachment:
    """Return a file of a release, an issue or a comment by id."""
    statement = select(*COLUMNS).where(attachments.c.id == number, attachments.c[holder.column] == holder.id)
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        raise NoSuchAttachment(f"attachment does not exist [id: {number}]")
    return Attachment(*row)


def find_by_uuid(database: Database, uuid: str) -> Attachment | None:
    """Return a file by its uuid, or None."""
    row = database.row(BY_UUID, uuid=uuid)
    return None if row is None else Attachment(*row)


def is_on_pull(database: Database, attachment: Attachment) -> bool | None:
    """Return whether the issue of a file, or of its comment, is a pull request; None if there is none."""
    number = attachment.issue_id
    if attachment.comment_id is not None:
        row = database.row(ISSUE_OF_COMMENT, id=attachment.comment_id)
        number = None if row is None else row[0]
    row = None if number is None else database.row(IS_PULL, id=number)
    return None if row is None else bool(row[0])


def add_attachment(connection: Connection, holder: AttachmentHolder, **columns: str | int) -> Attachment:
    """Attach a file to a release, an issue or a comment, in a transaction."""
    try:
        row = connection.execute(
            insert(attachments).returning(*COLUMNS), {holder.column: holder.id, **columns}
        ).one()
    except IntegrityError as error:
        raise taken_or_gone(error, str(columns["name"])) from error
    return touch(connection, Attachment(*row))


def touch(connection: Connection, attachment: Attachment) -> Attachment:
    """Set the update time of the issue that a file is attached to, or of the comment and its issue."""
    now = int(time.time())
    issue_id = attachment.issue_id
    if attachment.comment_id is not None:
        changed = update(comments).where(comments.c.id == attachment.comment_id).values(updated_at=now)
        issue_id = connection.execute(changed.returning(comments.c.issue_id)).scalar_one_or_none()
    if issue_id is not None:
        connection.execute(update(issues).where(issues.c.id == issue_id).values(updated_at=now))
    return attachment


def rename_attachment(database: Database, attachment: Attachment, name: str) -> Attachment:
    """Rename a file."""
    statement = update(attachments).where(attachments.c.id == attachment.id).values(name=name).returning(*COLUMNS)
    try:
        with database.write() as connection:
            row = connection.execute(statement).one_or_none()
            if row is not None:
                return touch(connection, Attachment(*row))
    except IntegrityError as error:
        raise taken_or_gone(error, name) from error
    raise NoSuchAttachment(f"attachment does not exist [id: {attachment.id}]")


def taken_or_gone(error: IntegrityError, name: str) -> AttachmentTaken | GoneMeanwhile:
    """Return the error for a name that is used already, or for a parent that was deleted meanwhile."""
    if "foreign key" in str(error.orig).lower():
        return GoneMeanwhile("what the file was to be attached to was deleted in the meantime")
    return AttachmentTaken(f"an attachment with this name exists already [name: {name}]")


def delete_attachment(database: Database, attachment: Attachment) -> None:
    """Delete the row of a file; its content in the object store becomes garbage."""
    with database.write() as connection:
        if connection.execute(delete(attachments).where(attachments.c.id == attachment.id)).rowcount:
            touch(connection, attachment)


def existing_uuids(database: Database, uuids: Iterable[str]) -> set[str]:
    """Return which of these uuids exist."""
    statement = select(attachments.c.uuid).where(attachments.c.uuid.in_(list(uuids)))
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


def add_downloads(database: Database, counts: Mapping[int, int]) -> None:
    """Add to the download counts of files, in one transaction."""
    with database.write() as connection:
        # Ordered by id, so that two processes cannot deadlock.
        connection.execute(
            ADD_DOWNLOADS, [{"attachment": number, "count": counts[number]} for number in sorted(counts)]
        )
