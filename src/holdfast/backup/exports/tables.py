"""Tables of exports to CSV and Parquet: their columns, and the conversion of records to rows.

`chats`, `people` and `members` are one file each. Tables of messages are folders with a file per year, so that a
later snapshot changes only the last year, and a year fits into a spreadsheet.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgspec

from holdfast.backup.archives import Archive
from holdfast.backup.exports import account_records, schemas
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportFolder, ExportSummary
from holdfast.backup.exports.job import Job, Progress
from holdfast.backup.exports.periods import years
from holdfast.backup.exports.stamps import account_digests
from holdfast.backup.table_columns import Column, columns

__all__ = ["MESSAGE_TABLES", "TABLES", "RowWriter", "Table", "TableFormat", "write_tables"]

Row = tuple[Any, ...]
EMPTY: Final = "empty"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and the function that returns the rows of a record."""

    name: str
    about: str
    columns: tuple[Column, ...]
    rows: Callable[[Any], Iterable[Row]]


class RowWriter(Protocol):
    """Writes the rows of a table to a file."""

    def add(self, row: Row) -> None:
        """Write a row."""

    def close(self) -> None:
        """Write buffered rows and the end of the file."""

    def abandon(self) -> None:
        """Release the file after an error, before it is closed."""


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A file format of tables: its name, the suffix of its files, and the factory of writers."""

    name: str
    suffix: str
    make_writer: Callable[[BinaryIO, Table], RowWriter]


# The first columns of all rows that belong to a message.
MESSAGE_COLUMNS: Final = "message_id:i chat_id:i chat:l sent:t"


def message_columns(message: schemas.ExportedMessage) -> Row:
    """Return the values of the first columns for a message."""
    return message.id, message.chat_id, message.chat, message.sent_ms


def message_rows(message: schemas.ExportedMessage) -> Iterator[Row]:
    """Yield the row of a message."""
    quote = message.quote
    yield (
        message.id,
        message.account_id,
        message.chat_id,
        message.chat,
        message.author_id,
        message.author,
        message.direction,
        message.kind,
        message.sent_ms,
        message.sent_ms,
        message.received_ms,
        message.text,
        message.sentence,
        quote.target_id if quote else None,
        quote.author if quote else None,
        quote.text if quote else None,
        sum(attachment.role == "attachment" for attachment in message.attachments),
        len(message.reactions),
        len(message.revisions),
        message.links[0].url if message.links else None,
        message.read,
        message.sms,
        message.expires_in_ms,
        message.pinned_ms,
        message.deleted_by,
        message.first_seen_ms,
        message.vanished_ms,
    )


def attachment_rows(message: schemas.ExportedMessage) -> Iterator[Row]:
    """Yield the rows of the attachments of all versions of a message."""
    versions = [
        (0, message.attachments),
        *((exported_revision.n, exported_revision.attachments) for exported_revision in message.revisions),
    ]
    for revision, attachments in versions:
        for attachment in attachments:
            yield (
                *message_columns(message),
                message.author_id,
                message.author,
                revision,
                attachment.role,
                attachment.n,
                attachment.content_type,
                attachment.file_name,
                attachment.size,
                attachment.width,
                attachment.height,
                attachment.caption,
                attachment.flag,
                attachment.plaintext_hash,
                attachment.media_name,
                attachment.file,
            )


def vote_rows(message: schemas.ExportedMessage) -> Iterator[Row]:
    """Yield a row per vote, and a row without voter for an option without votes."""
    if message.poll is None:
        return
    for n, option in enumerate(message.poll.options):
        start = (*message_columns(message), message.poll.question, n, option.text)
        for vote in option.votes:
            yield (*start, vote.voter_id, vote.voter, vote.votes)
        if not option.votes:
            yield (*start, None, None, None)


def call_rows(message: schemas.ExportedMessage) -> Iterator[Row]:
    """Yield the row of a call."""
    if message.call is not None:
        call = message.call
        times = call.started_ms, call.ended_ms
        yield (
            *message_columns(message),
            call.kind,
            call.type,
            call.direction,
            call.state,
            *times,
            call.ringer_id,
            call.starter_id,
        )


def payment_rows(message: schemas.ExportedMessage) -> Iterator[Row]:
    """Yield the row of a payment."""
    if message.payment is not None:
        payment = message.payment
        yield (
            *message_columns(message),
            message.author,
            payment.status,
            payment.amount,
            payment.fee,
            payment.note,
            payment.reason,
            payment.at_ms,
        )


def details(event: schemas.ExportedEvent) -> str:
    """Return the details of an event as JSON."""
    return msgspec.json.encode(event.details).decode()


MESSAGE_TABLES: Final = (
    Table(
        "messages",
        "all messages, with counts of their parts and the message they reply to",
        columns(
            "id:i account_id:i chat_id:i chat:l author_id:i author:l direction:l kind:l sent:t sent_ms:i "
            "received:t text sentence reply_to_id:i reply_to_author:l reply_to_text attachments:i reactions:i "
            "revisions:i link read:f sms:f expires_in_ms:i pinned:t deleted_by:l first_seen:t vanished:t"
        ),
        message_rows,
    ),
    Table(
        "attachments",
        "files of messages and of their earlier versions (`revision` above 0); `file` is the path in the export",
        columns(
            f"{MESSAGE_COLUMNS} author_id:i author:l revision:i role:l n:i content_type:l file_name size:i "
            "width:i height:i caption flag:l plaintext_hash media_name file"
        ),
        attachment_rows,
    ),
    Table(
        "reactions",
        "reactions: author, emoji and time",
        columns(f"{MESSAGE_COLUMNS} author_id:i author:l emoji:l reacted:t"),
        lambda message: (
            (*message_columns(message), entry.author_id, entry.author, entry.emoji, entry.sent_ms)
            for entry in message.reactions
        ),
    ),
    Table(
        "revisions",
        "earlier versions of edited messages; the oldest has number 1",
        columns(f"{MESSAGE_COLUMNS} author_id:i author:l revision:i written:t text"),
        lambda message: (
            (*message_columns(message), message.author_id, message.author, entry.n, entry.sent_ms, entry.text)
            for entry in message.revisions
        ),
    ),
    Table(
        "receipts",
        "the delivery status of sent messages for each recipient",
        columns(f"{MESSAGE_COLUMNS} recipient_id:i recipient:l status:l at:t reason:l"),
        lambda message: (
            (
                *message_columns(message),
                entry.recipient_id,
                entry.recipient,
                entry.status,
                entry.at_ms,
                entry.reason,
            )
            for entry in message.receipts
        ),
    ),
    Table(
        "mentions",
        "mentions of people",
        columns(f"{MESSAGE_COLUMNS} author_id:i author:l person_id:i person:l"),
        lambda message: (
            (*message_columns(message), message.author_id, message.author, entry.mention_id, entry.mention)
            for entry in message.ranges
            if entry.mention_aci is not None
        ),
    ),
    Table(
        "links",
        "link previews",
        columns(f"{MESSAGE_COLUMNS} author_id:i author:l url title description date:t"),
        lambda message: (
            (
                *message_columns(message),
                message.author_id,
                message.author,
                entry.url,
                entry.title,
                entry.description,
                entry.date_ms,
            )
            for entry in message.links
        ),
    ),
    Table(
        "poll_votes",
        "the votes of polls; an option without votes has a row without voter",
        columns(f"{MESSAGE_COLUMNS} question answer_n:i answer voter_id:i voter:l votes:i"),
        vote_rows,
    ),
    Table(
        "changes",
        "changes in later backups; `seen` is the time of that backup",
        columns(f"{MESSAGE_COLUMNS} seen:t what:l who_id:i who:l before after"),
        lambda message: (
            (
                *message_columns(message),
                entry.seen_ms,
                entry.what,
                entry.who_id,
                entry.who,
                entry.before,
                entry.after,
            )
            for entry in message.changes
        ),
    ),
    Table(
        "events",
        "updates in chats, such as group changes; `details` is JSON",
        columns(f"{MESSAGE_COLUMNS} type:l details sentence"),
        lambda message: (
            (*message_columns(message), entry.type, details(entry), message.sentence) for entry in message.events
        ),
    ),
    Table(
        "calls",
        "calls",
        columns(f"{MESSAGE_COLUMNS} kind:l type:l direction:l state:l started:t ended:t ringer_id:i starter_id:i"),
        call_rows,
    ),
    Table(
        "payments",
        "payments",
        columns(f"{MESSAGE_COLUMNS} author:l status:l amount fee note reason:l at:t"),
        payment_rows,
    ),
)

CHATS: Final = Table(
    "chats",
    "the chats; the id of a chat is that of its person or group",
    columns(
        "id:i account_id:i name kind:l messages:i latest:t archived:f pinned_order:i timer_ms:i mute_until:t "
        "marked_unread:f vanished:f"
    ),
    lambda chat: [
        (
            chat.id,
            chat.account_id,
            chat.name,
            chat.kind,
            chat.messages,
            chat.latest_ms,
            chat.archived,
            chat.pinned_order,
            chat.timer_ms,
            chat.mute_until_ms,
            chat.marked_unread,
            chat.vanished,
        )
    ],
)
PEOPLE: Final = Table(
    "people",
    "the people, you included as kind `self`",
    columns(
        "id:i account_id:i name kind:l aci pni phone username profile_name system_name nickname note blocked:f "
        "registered:f avatar_color:l vanished:f"
    ),
    lambda person: [
        (
            person.id,
            person.account_id,
            person.name,
            person.kind,
            person.aci,
            person.pni,
            person.phone,
            person.username,
            person.profile_name,
            person.system_name,
            person.nickname,
            person.note,
            person.blocked,
            person.registered,
            person.avatar_color,
            person.vanished,
        )
    ],
)
MEMBERS: Final = Table(
    "members",
    "the people of groups: members, invited, requesting and banned",
    columns("group_id:i group:l person_id:i person:l service_id standing:l role:l label added_by at:t"),
    lambda group: (
        (
            group.id,
            group.name,
            member.person_id,
            member.name,
            member.service_id,
            member.standing,
            member.role,
            member.label,
            member.added_by,
            member.at_ms,
        )
        for member in group.members
    ),
)
TABLES: Final = (*MESSAGE_TABLES, CHATS, PEOPLE, MEMBERS)


def write_tables(
    archive: Archive,
    target: Path,
    choice: ChatSelection,
    form: TableFormat,
    *,
    media: bool = True,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or a selection of it, as tables."""
    with ExportFolder(target, form.name, stamp, account_digests(archive)) as folder:
        if (summary := folder.finish_unchanged()) is not None:
            return summary
        job = Job(archive, folder, choice, media, progress)
        by_year = years(archive, [chat.id for chat in job.chats], choice)
        job.total = sum(period.messages for year in by_year.values() for _, period in year)
        written_tables: set[str] = set()
        for year, parts in by_year.items():
            with ExitStack() as stack:
                writers: dict[str, RowWriter] = {}
                for chat, period in parts:
                    for message in job.messages(chat, period):
                        for table in MESSAGE_TABLES:
                            for row in table.rows(message):
                                if table.name not in writers:
                                    name = f"{table.name}/{year}{form.suffix}"
                                    writers[table.name] = stack.enter_context(
                                        open_table(folder, form, table, name)
                                    )
                                writers[table.name].add(row)
                written_tables |= writers.keys()
        for table in MESSAGE_TABLES:
            # An empty table gets a file with its columns, so that queries on it work.
            if table.name not in written_tables:
                with open_table(folder, form, table, f"{table.name}/{EMPTY}{form.suffix}"):
                    pass
        write_single(folder, form, CHATS, (account_records.chat_record(archive, chat, ()) for chat in job.chats))
        people = list(account_records.recipient_records(archive, job.people()))
        write_single(
            folder,
            form,
            PEOPLE,
            (recipient for recipient in people if isinstance(recipient, schemas.ExportedPerson)),
        )
        write_single(
            folder,
            form,
            MEMBERS,
            (recipient for recipient in people if isinstance(recipient, schemas.ExportedGroup)),
        )
        return folder.finish()


@contextmanager
def open_table(folder: ExportFolder, form: TableFormat, table: Table, name: str) -> Iterator[RowWriter]:
    """Open a file of a table, and close its writer."""
    with folder.open_file(name) as target:
        writer = form.make_writer(target, table)
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.abandon()
            raise


def write_single(folder: ExportFolder, form: TableFormat, table: Table, records: Iterable[object]) -> None:
    """Write a table of one file."""
    with open_table(folder, form, table, f"{table.name}{form.suffix}") as writer:
        for record in records:
            for row in table.rows(record):
                writer.add(row)
