"""A running export: its source, target, selection and progress."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from holdfast.backup.archives import Archive, Chat
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.exports import schemas
from holdfast.backup.exports.choice import ChatSelection, selected_chats
from holdfast.backup.exports.folder import ExportTarget
from holdfast.backup.exports.media import MediaFiles
from holdfast.backup.exports.message_records import messages
from holdfast.backup.exports.periods import Period
from holdfast.redacted_repr import redacted

__all__ = ["Job", "Progress"]

# Called with the number of messages written and the total.
Progress = Callable[[int, int], None]


@redacted
@dataclass(slots=True)
class Job:
    """Reads messages for an export, adds their files to it, and collects the recipients that occur in them."""

    archive: Archive
    folder: ExportTarget
    choice: ChatSelection
    media: bool = True
    progress: Progress | None = None
    chats: list[Chat] = field(default_factory=list)
    total: int = 0
    completed: int = 0
    occurring_ids: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chats = selected_chats(self.archive, self.choice)

    @property
    def is_whole(self) -> bool:
        """Return whether the whole archive is exported."""
        return self.choice == ChatSelection()

    def messages(self, chat: int, period: Period) -> Iterator[schemas.ExportedMessage]:
        """Yield the messages of a period."""
        files = MediaFiles(self.archive, self.folder)

        def place(attachment: ArchivedAttachment) -> str | None:
            return files.put(attachment) if self.media else None

        for message in messages(self.archive, chat, period.since_ms, period.until_ms, media=place):
            if not self.is_whole:
                self.occurring_ids.update(recipients_in(message))
            yield message
            self.completed += 1
            if self.progress is not None and self.completed & 0xFF == 0:
                self.progress(self.completed, self.total)

    def people(self) -> set[int] | None:
        """Return the recipients in the messages and groups of the export; None for all."""
        if self.is_whole:
            return None
        ids = self.occurring_ids | {chat.id for chat in self.chats}
        rows = self.archive.connection.execute(
            "SELECT group_id, recipient_id FROM group_member WHERE recipient_id IS NOT NULL"
        )
        return ids | {person for group, person in rows if group in ids}


def recipients_in(message: schemas.ExportedMessage) -> Iterator[int]:
    """Yield the ids of all recipients in a message."""
    yield message.author_id
    for quote in (message.quote, *(revision.quote for revision in message.revisions)):
        if quote is not None:
            yield quote.author_id
    yield from (reaction.author_id for reaction in message.reactions)
    yield from (receipt.recipient_id for receipt in message.receipts)
    ranges = chain(message.ranges, *(revision.ranges for revision in message.revisions))
    optional_ids = [text_range.mention_id for text_range in ranges]
    optional_ids += [change.who_id for change in message.changes]
    optional_ids.append(message.deleted_by_id)
    if message.call is not None:
        optional_ids += [message.call.ringer_id, message.call.starter_id]
    yield from (recipient_id for recipient_id in optional_ids if recipient_id is not None)
    if message.poll is not None:
        yield from (vote.voter_id for option in message.poll.options for vote in option.votes)
