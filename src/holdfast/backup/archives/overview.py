"""Read-only queries for browsing an archive: chat folders, messages per month, the latest message of a chat."""

import json
from typing import Final

from msgspec import Struct

from holdfast.backup.archives import model
from holdfast.backup.archives.reader import ArchiveReader
from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.errors import AttachmentError, KeyRefused, NotInArchive
from holdfast.redacted_repr import redacted

__all__ = [
    "ChatFolder",
    "Month",
    "accounts",
    "at_position",
    "encrypted_file",
    "folders",
    "kept_file",
    "latest_messages",
    "months",
    "unread_counts",
]

LAST: Final = (1 << 63) - 1


@redacted
class ChatFolder(Struct, frozen=True):
    """A chat folder of the owner; `includes` evaluates its rules."""

    n: int
    name: str
    all_individual: bool
    all_groups: bool
    included: frozenset[int]
    excluded: frozenset[int]
    only_unread: bool = False

    def includes(self, chat: model.Chat, *, unread: bool = True) -> bool:
        """Return whether the folder shows a chat that has unread messages or not."""
        if chat.id in self.excluded or (self.only_unread and not unread):
            return False
        is_wanted = self.all_groups if chat.kind == "group" else self.all_individual
        return is_wanted or chat.id in self.included


@redacted
class Month(Struct, frozen=True):
    """The number of messages of a chat in one month, `name` as in 2024-05; `days` are those with messages."""

    name: str
    messages: int
    days: tuple[tuple[str, int], ...]


def accounts(reader: ArchiveReader) -> list[tuple[int, str]]:
    """List the accounts, the one with the newest snapshot first."""
    return reader.connection.execute(
        "SELECT a.id, a.name FROM account a JOIN snapshot s ON s.account_id = a.id "
        "GROUP BY a.id ORDER BY max(s.made_ms) DESC, a.id"
    ).fetchall()


def folders(reader: ArchiveReader, account: int) -> list[ChatFolder]:
    """List the chat folders of an account's newest snapshot in their order, except the one with all chats."""
    rows = reader.connection.execute(
        "SELECT f.snapshot_id, f.n, f.name, f.all_individual, f.all_groups, f.show_only_unread "
        "FROM chat_folder f "
        "WHERE f.snapshot_id = (SELECT id FROM snapshot WHERE account_id = ? ORDER BY made_ms DESC, digest DESC "
        "LIMIT 1) "
        "AND f.type <> 'ALL' ORDER BY f.n",
        (account,),
    ).fetchall()
    if not rows:
        return []
    members: dict[tuple[int, int], set[int]] = {}
    for n, recipient, included in reader.connection.execute(
        "SELECT n, recipient_id, included FROM chat_folder_member WHERE snapshot_id = ?", (rows[0][0],)
    ):
        members.setdefault((n, included), set()).add(recipient)
    return [
        ChatFolder(
            n,
            name,
            bool(individual),
            bool(groups),
            frozenset(members.get((n, 1), ())),
            frozenset(members.get((n, 0), ())),
            bool(only_unread),
        )
        for _, n, name, individual, groups, only_unread in rows
    ]


def unread_counts(reader: ArchiveReader) -> dict[int, int]:
    """Count unread messages by chat; 0 for a chat that was marked as unread."""
    counts: dict[int, int] = dict(reader.connection.execute("SELECT id, 0 FROM chat WHERE marked_unread <> 0"))
    counts.update(
        reader.connection.execute(
            # The unary plus keeps SQLite from using the index by chat, which takes three times as long.
            "SELECT +chat_id, count(*) FROM message WHERE read = 0 AND direction = 'incoming' GROUP BY 1"
        )
    )
    return counts


def latest_messages(reader: ArchiveReader, chats: list[int]) -> dict[int, model.Message]:
    """Return the latest message of each chat."""
    rows = reader.connection.execute(
        "SELECT (SELECT m.id FROM message m WHERE m.chat_id = c.value "
        "ORDER BY m.order_ms DESC, m.order_n DESC, m.id DESC LIMIT 1) FROM json_each(?) c",
        (json.dumps(chats),),
    )
    numbers = [number for (number,) in rows if number is not None]
    return {message.chat_id: message for message in reader.by_ids(numbers)}


def months(reader: ArchiveReader, chat: int) -> list[Month]:
    """Count the messages of a chat by month and day in UTC, the newest month first."""
    days_by_month: dict[str, list[tuple[str, int]]] = {}
    for day, count in reader.connection.execute(
        "SELECT date(d * 86400, 'unixepoch'), n FROM (SELECT order_ms / 86400000 AS d, count(*) AS n "
        "FROM message WHERE chat_id = ? GROUP BY 1 ORDER BY 1)",
        (chat,),
    ):
        if day is not None:
            days_by_month.setdefault(day[:7], []).append((day, count))
    by_month = [Month(name, sum(count for _, count in days), tuple(days)) for name, days in days_by_month.items()]
    return by_month[::-1]


def at_position(reader: ArchiveReader, chat: int, position: model.Position, limit: int) -> model.Page:
    """Return a page around a position: half of it before, the rest from it on."""
    half = limit // 2
    rows = reader.rows(chat, "<", position, half)[::-1] + reader.rows(chat, ">=", position, limit - half)
    messages = tuple(reader.build_messages(rows))
    if not messages:
        return model.Page((), None, None)
    first, last = messages[0].position, messages[-1].position
    older = first if reader.rows(chat, "<", first, 1) else None
    newer = last if reader.rows(chat, ">", last, 1) else None
    return model.Page(messages, older, newer)


def kept_file(reader: ArchiveReader, digest: str) -> model.ArchivedAttachment:
    """Return an attachment whose file is in the media folder, by the hash of its content."""
    row = reader.connection.execute(
        "SELECT a.role, a.n, a.revision, a.content_type, a.file_name, a.size, a.width, a.height, a.caption, "
        "a.flag, a.plaintext_hash, a.media_name, d.path, a.blur_hash FROM media d "
        "JOIN attachment a ON a.media_name = d.media_name WHERE d.sha256 = ? "
        "ORDER BY a.message_id, a.role, a.n LIMIT 1",
        (digest,),
    ).fetchone()
    if row is None:
        raise NotInArchive(f"there is no file {digest}")
    return model.ArchivedAttachment(*row)


def encrypted_file(reader: ArchiveReader, media_name: str) -> tuple[model.ArchivedAttachment, AttachmentKey]:
    """Return an attachment by the name of its encrypted file, with its key."""
    row = reader.connection.execute(
        "SELECT a.role, a.n, a.revision, a.content_type, a.file_name, a.size, a.width, a.height, a.caption, "
        "a.flag, a.plaintext_hash, a.media_name, NULL, a.blur_hash, a.local_key FROM attachment a "
        "WHERE a.media_name = ? AND a.local_key IS NOT NULL AND a.plaintext_hash IS NOT NULL "
        "ORDER BY a.message_id, a.role, a.n LIMIT 1",
        (media_name,),
    ).fetchone()
    try:
        if row is None:
            raise NotInArchive(f"there is no file {media_name}")
        attachment = model.ArchivedAttachment(*row[:-1])
        key = AttachmentKey(LocalKey(row[-1]), bytes.fromhex(row[10]), attachment.size)
    except (AttachmentError, KeyRefused, ValueError):
        raise NotInArchive(f"there is no file {media_name}") from None
    return attachment, key
