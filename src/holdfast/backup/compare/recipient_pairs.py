"""Matches recipients and chats of two backups: contacts by service id or phone number, groups by master key.

Recipients and chats of both files get common numbers. The later file takes precedence: recipients that are
separate there stay separate, while two of the earlier file may become one, for example when a phone number turned
out to belong to a known account.
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
# First number for dangling references of a damaged file, far above the numbers of recipients that exist.
DANGLING: Final = 1 << 48


class CommonNumbers(dict[int, int]):
    """Maps ids of one file to common numbers; a dangling id is an error if strict, else gets a distinct number."""

    def __init__(self, values: Mapping[int, int], kind: str, name: str, *, strict: bool, side: int = 0) -> None:
        super().__init__(values)
        self._kind = kind
        self._name = name
        self._strict = strict
        self._side = side

    def __missing__(self, key: int) -> int:
        """Raise `UnreadableBackup`, or return a number for a dangling id."""
        if self._strict:
            raise UnreadableBackup(
                f"{self._name} refers to {self._kind} {key}, which is not in it; "
                "only backups without dangling references can be merged"
            )
        return DANGLING * (1 + self._side) + (key & (DANGLING - 1))


@redacted
@dataclass(frozen=True)
class RecipientPairs:
    """Common numbers of the recipients and chats of two backups, and the ids of each number."""

    before: Roster
    after: Roster
    people_before: CommonNumbers
    people_after: CommonNumbers
    chats_before: CommonNumbers
    chats_after: CommonNumbers
    recipients: dict[int, tuple[tuple[int, ...], int | None]]
    chats: dict[int, tuple[tuple[int, ...], int | None]]

    def name(self, number: int) -> str:
        """Return the name of a recipient, from the later file if it has it."""
        earlier, later = self.recipients.get(number, ((), None))
        if later is not None:
            return self.after.name(later)
        return self.before.name(earlier[0]) if earlier else "Unknown"

    def author(self, number: int) -> str:
        """Return the name of a message's author; the owner of the account is `You`."""
        earlier, later = self.recipients.get(number, ((), None))
        roster, old = (self.before, earlier[0]) if later is None and earlier else (self.after, later or 0)
        recipient = roster.recipients.get(old)
        return "You" if recipient is not None and recipient.HasField("self") else self.name(number)

    def chat_name(self, number: int) -> str:
        """Return the name of a chat, from the later file if it has it."""
        earlier, later = self.chats.get(number, ((), None))
        if later is not None:
            return self.after.chat_name(later)
        return self.before.chat_name(earlier[0]) if earlier else "Unknown"

    @property
    def collapsed(self) -> frozenset[int]:
        """The numbers to which more than one recipient of the earlier file is mapped."""
        return frozenset(number for number, (earlier, _later) in self.recipients.items() if len(earlier) > 1)


def pair_recipients(
    before: Roster, after: Roster, *, names: tuple[str, str] = ("", ""), strict: bool = False
) -> RecipientPairs:
    """Assign common numbers to two backups; with `strict`, looking up a dangling reference raises an error."""
    people_after = {recipient_id: number for number, recipient_id in enumerate(after.recipients, 1)}
    recipient_index = RecipientIndex(after, people_after)
    people_before: dict[int, int] = {}
    next_number = len(people_after) + 1
    new_numbers: dict[Hashable, int] = {}
    for old, recipient in before.recipients.items():
        number = recipient_index.find(recipient)
        if number is None:
            # Two entries of one file with the same identity are an error of its writer.
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
    """Return the ids in both files of each number."""
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
    """Assign numbers to chats by their recipients; a chat with a dangling recipient matches no other."""
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
    """Index of the recipients of the later file by their identifiers."""

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
        """Return the number of the same recipient in this file, if there is one."""
        if not recipient.HasField("contact"):
            key = identity(recipient)
            return None if key is None else self._exact.get(key)
        contact = recipient.contact
        if contact.aci and ("aci", contact.aci) in self._exact:
            return self._exact["aci", contact.aci]
        for number in (self._pni.get(contact.pni), self._e164.get(contact.e164)):
            # A phone number can be reassigned to another person; an account id cannot.
            if number is not None and not (contact.aci and self._aci[number]):
                return number
        return None


def identity(recipient: Recipient) -> tuple[str, bytes | int] | None:
    """Return the identity of a recipient that is valid in any file; None for an unknown kind."""
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
    """Return the most specific identifier of a contact: ACI, PNI or phone number."""
    if contact.aci:
        return "aci", contact.aci
    if contact.pni:
        return "pni", contact.pni
    return ("e164", contact.e164) if contact.e164 else None
