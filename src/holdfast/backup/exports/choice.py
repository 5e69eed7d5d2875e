"""Selection of the chats and the time range to export."""

from dataclasses import dataclass

from holdfast.backup.archives import Archive, Chat
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["ChatSelection", "selected_chats"]


@public
@redacted
@dataclass(frozen=True, slots=True)
class ChatSelection:
    """Chats by id or name (all if empty), and the time range of their messages.

    `since_ms` is inclusive, `until_ms` exclusive.
    """

    chats: tuple[int | str, ...] = ()
    since_ms: int | None = None
    until_ms: int | None = None


def selected_chats(archive: Archive, choice: ChatSelection) -> list[Chat]:
    """List the chats to export in the archive's order: those selected, or all with messages in the time range."""
    chats = archive.chats()
    if choice.chats:
        ids = {archive.chat_id(name) for name in choice.chats}
        return [chat for chat in chats if chat.id in ids]
    if choice.since_ms is None and choice.until_ms is None:
        return chats
    rows = archive.connection.execute(
        "SELECT c.id FROM chat c WHERE EXISTS (SELECT 1 FROM message m WHERE m.chat_id = c.id "
        "AND (?1 IS NULL OR m.order_ms >= ?1) AND (?2 IS NULL OR m.order_ms < ?2))",
        (choice.since_ms, choice.until_ms),
    )
    ids_in_range = {chat_id for (chat_id,) in rows}
    return [chat for chat in chats if chat.id in ids_in_range]
