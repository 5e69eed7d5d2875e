"""The ordering rules of frames: the account first and once, unique ids, no reference before its definition."""

from collections.abc import Iterator
from typing import Final

from holdfast.backup.errors import OrderBroken
from holdfast.backup.schema import RECORDS
from holdfast.backup.wire.collect import Found, Selection, collect, name_of, parent_of, slot_of
from holdfast.backup.wire.tables import FIELDS

__all__ = ["OrderChecker"]

# Every field that holds the id of a recipient.
RECIPIENT_IDS: Final = (
    "Chat.recipientId",
    "ChatItem.authorId",
    "SendStatus.recipientId",
    "Quote.authorId",
    "Reaction.authorId",
    "Poll.PollOption.PollVote.voterId",
    "AdHocCall.recipientId",
    "DistributionList.memberRecipientIds",
    "NotificationProfile.allowedMembers",
    "ChatFolder.includedRecipientIds",
    "ChatFolder.excludedRecipientIds",
    "GroupCall.ringerRecipientId",
    "GroupCall.startedCallRecipientId",
    "AdminDeletedMessage.adminId",
    "PinMessageUpdate.authorId",
)
IDS: Final = (
    *("Recipient.id", "Chat.id", "ChatItem.chatId", "ChatStyle.customColorId", "ChatStyle.CustomChatColor.id"),
    *RECIPIENT_IDS,
)


def required() -> dict[str, tuple[str, ...]]:
    """Return the required ids of each message, by the fields that contain such a message.

    An id of 0 is not written, so a missing id is 0.
    """
    ids_by_holder: dict[str, tuple[str, ...]] = {}
    for name in IDS:
        field = FIELDS[slot_of(name)]
        if not (field.has_presence or field.is_repeated):
            for holder in FIELDS.values():
                if holder.message_type is parent_of(field):
                    ids_by_holder[name_of(holder)] = (*ids_by_holder.get(name_of(holder), ()), name)
    return ids_by_holder


REQUIRED: Final = required()
PICKED: Final = Selection([*(f"Frame.{name}" for name in RECORDS[1:]), *REQUIRED, *IDS])
NAMES: Final = {slot: name for name, slot in PICKED.slots.items()}
RECORD: Final = {PICKED.slots[f"Frame.{name}"]: name for name in RECORDS[1:]}


def ids_in(entries: list[Found]) -> Iterator[tuple[str, int, int]]:
    """Yield every id of a frame with its name and depth; missing ids are 0."""
    waiting: list[tuple[int, list[str]]] = []
    for slot, depth, value, end in [*entries, (0, -1, 0, 0)]:
        while waiting and waiting[-1][0] > depth:
            inside, missing = waiting.pop()
            yield from ((name, inside, 0) for name in missing)
        name = NAMES.get(slot, "")
        if end == -1:
            yield name, depth, value
            if waiting and name in waiting[-1][1]:
                waiting[-1][1].remove(name)
        elif name in REQUIRED:
            waiting.append((depth + 1, list(REQUIRED[name])))


class OrderChecker:
    """Checks frames in order; memory grows with the number of recipients and chats, not with messages."""

    def __init__(self) -> None:
        self._frames = 0
        self._recipients: set[int] = set()
        self._chats: set[int] = set()
        self._colors: set[int] = set()

    def check(self, raw: bytes) -> None:
        """Check the next frame; raises `OrderBroken` if it is not in order, and then does not count it."""
        entries = collect(raw, PICKED)
        record = next((RECORD[slot] for slot, depth, _start, _end in reversed(entries) if depth == 0), "")
        index = self._frames + 1
        if record == "account" and self._frames:
            raise OrderBroken("account.once", "there is a second account; a backup has one", index)
        if record != "account" and not self._frames:
            raise OrderBroken("account.first", "the first frame must be the account", index)
        values = list(ids_in(entries))
        new = self._define(values, index)
        for name, depth, value in values:
            self._refer(name, depth, value, index, new)
        self._frames = index
        self._recipients |= {value for kind, value in new if kind == "recipient"}
        self._chats |= {value for kind, value in new if kind == "chat"}
        self._colors |= {value for kind, value in new if kind == "color"}

    def _define(self, values: list[tuple[str, int, int]], index: int) -> set[tuple[str, int]]:
        """Return the ids that a frame defines; they must be new and not 0."""
        new: set[tuple[str, int]] = set()
        for name, _depth, value in values:
            kind, known_ids = {
                "Recipient.id": ("recipient", self._recipients),
                "Chat.id": ("chat", self._chats),
                "ChatStyle.CustomChatColor.id": ("color", self._colors),
            }.get(name, ("", set()))
            if not kind:
                continue
            if value == 0:
                raise OrderBroken(f"{kind}.id.zero", f"the id of a {kind} must not be 0", index)
            if value in known_ids or (kind, value) in new:
                raise OrderBroken(f"{kind}.id.unique", f"there is a {kind} with the id {value} already", index)
            new.add((kind, value))
        return new

    def _refer(self, name: str, depth: int, value: int, index: int, new: set[tuple[str, int]]) -> None:
        """Check that a referenced id is defined; the account may refer to a colour that it defines."""
        if name in RECIPIENT_IDS:
            if value not in self._recipients:
                problem = f"{name} refers to recipient {value}, which has not been written yet"
                raise OrderBroken("recipient.known", problem, index)
        elif name == "ChatItem.chatId":
            # A revision has the chat of its message; its own value is ignored.
            if depth == 1 and value not in self._chats:
                problem = f"{name} refers to chat {value}, which has not been written yet"
                raise OrderBroken("chat.known", problem, index)
        elif name == "ChatStyle.customColorId" and value not in self._colors and ("color", value) not in new:
            problem = f"{name} refers to colour {value}, which has not been written yet"
            raise OrderBroken("color.known", problem, index)
