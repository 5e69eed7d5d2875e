"""Who is who in two backups: people by their ids, groups by their master keys, whatever number a file gave them.

Both files get the same numbers. The later file is believed to know better: what it keeps apart stays apart, and
two entries of the earlier one may turn out to be one person, as when a number was found to be somebody's account.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final

from holdfast.backup.compare.roster import Roster
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.schema.backup_pb2 import Contact, Recipient
from holdfast.backup.wire.renumber import Plan
from holdfast.redacted_repr import redacted

__all__ = ["PLAN", "CommonNumbers", "RecipientPairs", "pair_recipients"]

PLAN: Final = Plan(
    RECIPIENT_IDS,
    ("Chat.id", "ChatItem.chatId"),
    ("ChatStyle.customColorId", "ChatStyle.CustomChatColor.id"),
)
# Numbers for what a damaged file refers to and does not have begin here, so that they never meet a real one.
DANGLING: Final = 1 << 48


class CommonNumbers(dict[int, int]):
    """New numbers by the ids of one file; an id that is nowhere is an error, or keeps apart from all others."""

    def __init__(self, values: Mapping[int, int], kind: str, name: str, *, strict: bool, side: int = 0) -> None:
        super().__init__(values)
        self._kind = kind
        self._name = name
        self._strict = strict
        self._side = side

    def __missing__(self, key: int) -> int:
        """Say what is wrong with the file, or make up a number."""
        if self._strict:
            raise UnreadableBackup(
                f"{self._name} refers to {self._kind} {key}, which is not in it; "
                "only backups without dangling references can be merged"
            )
        return DANGLING * (1 + self._side) + (key & (DANGLING - 1))


@redacted
@dataclass(frozen=True)
class RecipientPairs:
    """Numbers for the recipients and chats of two backups, and what stands behind each number."""

    before: Roster
    after: Roster
    people_before: CommonNumbers
    people_after: CommonNumbers
    chats_before: CommonNumbers
    chats_after: CommonNumbers
    recipients: dict[int, tuple[tuple[int, ...], int | None]]
    chats: dict[int, tuple[tuple[int, ...], int | None]]

    def name(self, number: int) -> str:
        """Return what a recipient is called, by the later file if it has it."""
        earlier, later = self.recipients.get(number, ((), None))
        if later is not None:
            return self.after.name(later)
        return self.before.name(earlier[0]) if earlier else "Unknown"

    def author(self, number: int) -> str:
        """Return what the author of a message is called: the owner of the account is `You`."""
        earlier, later = self.recipients.get(number, ((), None))
        roster, old = (self.before, earlier[0]) if later is None and earlier else (self.after, later or 0)
        recipient = roster.recipients.get(old)
        return "You" if recipient is not None and recipient.HasField("self") else self.name(number)

    def chat_name(self, number: int) -> str:
        """Return what a chat is called, by the later file if it has it."""
        earlier, later = self.chats.get(number, ((), None))
        if later is not None:
            return self.after.chat_name(later)
        return self.before.chat_name(earlier[0]) if earlier else "Unknown"

    @property
    def collapsed(self) -> frozenset[int]:
        """The numbers that stand for more than one recipient of the earlier file."""
        return frozenset(number for number, (earlier, _later) in self.recipients.items() if len(earlier) > 1)


def pair_recipients(
    before: Roster, after: Roster, *, names: tuple[str, str] = ("", ""), strict: bool = False
) -> RecipientPairs:
    """Give two backups common numbers; with `strict`, a reference to nothing is an error once it is met."""
    people_after = {recipient_id: number for number, recipient_id in enumerate(after.recipients, 1)}
    recipient_index = RecipientIndex(after, people_after)
    people_before: dict[int, int] = {}
    next_number = len(people_after) + 1
    new_numbers: dict[Hashable, int] = {}
    for old, recipient in before.recipients.items():
        number = recipient_index.find(recipient)
        if number is None:
            # Two entries of one file with one identity are a mistake of whoever wrote it.
            key = identity(recipient) or ("unset", old)
            number = new_numbers.setdefault(key, next_number)
            next_number = max(next_number, number + 1)
        people_before[old] = number
    chats_before, chats_after = number_chats(before, after, people_before, people_after)
    return RecipientPairs(
        before,
        after,
        CommonNumbers(people_before, "recipient", names[0], strict=strict, side=0),
        CommonNumbers(people_after, "recipient", names[1], strict=strict, side=1),
        CommonNumbers(chats_before, "chat", names[0], strict=strict, side=0),
        CommonNumbers(chats_after, "chat", names[1], strict=strict, side=1),
        ids_by_number(people_before, people_after),
        ids_by_number(chats_before, chats_after),
    )


def ids_by_number(
    before: Mapping[int, int], after: Mapping[int, int]
) -> dict[int, tuple[tuple[int, ...], int | None]]:
    """List the ids behind every number."""
    earlier: dict[int, list[int]] = {}
    later: dict[int, int] = {}
    for old, number in before.items():
        earlier.setdefault(number, []).append(old)
    for new, number in after.items():
        later.setdefault(number, new)
    return {number: (tuple(earlier.get(number, ())), later.get(number)) for number in sorted({*earlier, *later})}


def number_chats(
    before: Roster, after: Roster, people_before: Mapping[int, int], people_after: Mapping[int, int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Give chats numbers by whom they are with; a chat with nobody is like no other."""
    numbers: dict[Hashable, int] = {}
    sides: list[dict[int, int]] = []
    for roster, people in ((after, people_after), (before, people_before)):
        side: dict[int, int] = {}
        for old, chat in roster.chats.items():
            key: Hashable = people.get(chat.recipientId) or (old, roster is after)
            side[old] = numbers.setdefault(key, len(numbers) + 1)
        sides.append(side)
    return sides[1], sides[0]


class RecipientIndex:
    """The recipients of the later file, to be found by what identifies them."""

    def __init__(self, roster: Roster, numbers: Mapping[int, int]) -> None:
        self._exact: dict[Hashable, int] = {}
        self._pni: dict[bytes, int] = {}
        self._e164: dict[int, int] = {}
        self._aci: dict[int, bytes] = {}
        for old, recipient in roster.recipients.items():
            number = numbers[old]
            key = identity(recipient)
            if key is not None:
                self._exact.setdefault(key, number)
            if recipient.HasField("contact"):
                contact = recipient.contact
                self._aci[number] = contact.aci
                if contact.pni:
                    self._pni.setdefault(contact.pni, number)
                if contact.e164:
                    self._e164.setdefault(contact.e164, number)

    def find(self, recipient: Recipient) -> int | None:
        """Find whom a recipient of the other file is here."""
        if not recipient.HasField("contact"):
            key = identity(recipient)
            return None if key is None else self._exact.get(key)
        contact = recipient.contact
        if contact.aci and ("aci", contact.aci) in self._exact:
            return self._exact["aci", contact.aci]
        for number in (self._pni.get(contact.pni), self._e164.get(contact.e164)):
            # A number can pass to somebody else; an account cannot.
            if number is not None and not (contact.aci and self._aci[number]):
                return number
        return None


def identity(recipient: Recipient) -> tuple[str, bytes | int] | None:
    """Return what a recipient is known by outside of its file, None for one of no kind known here."""
    kind = recipient.WhichOneof("destination")
    if kind == "contact":
        return contact_identity(recipient.contact)
    if kind == "group":
        return "group", recipient.group.masterKey
    if kind == "distributionList":
        return "list", recipient.distributionList.distributionId
    if kind == "callLink":
        return "link", recipient.callLink.rootKey
    return None if kind is None else (kind, b"")


def contact_identity(contact: Contact) -> tuple[str, bytes | int] | None:
    """Return the strongest id of a person."""
    if contact.aci:
        return "aci", contact.aci
    if contact.pni:
        return "pni", contact.pni
    return ("e164", contact.e164) if contact.e164 else None
