"""Lists the changes of records other than messages: account settings, contacts, groups, chats and others."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias, TypeVar

from google.protobuf.message import Message

from holdfast.backup.compare.field_changes import FieldChange, NameLookup, RecordChange, field_changes
from holdfast.backup.compare.recipient_pairs import RecipientPairs
from holdfast.backup.names import recipient_name
from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo, ChatFolder, Recipient

__all__ = ["HEADER_FIELDS", "RECIPIENT_KINDS", "folder_key", "name_lookup", "record_changes", "setting_changes"]

# Header fields that are compared; the others are the time of the backup and the version of the writing app.
HEADER_FIELDS: Final = ("version", "mediaRootBackupKey", "firstAppVersion")
RECIPIENT_KINDS: Final = {
    "contact": "person",
    "group": "group",
    "self": "note to self",
    "releaseNotes": "release notes",
    "distributionList": "story list",
    "callLink": "call link",
}
Record = TypeVar("Record", bound=Message)
Key = TypeVar("Key")
NumberMaps: TypeAlias = tuple[Mapping[int, int], Mapping[int, int]]


def name_lookup(pairing: RecipientPairs) -> NameLookup:
    """Return a function that looks up a recipient's name by service id or common number."""
    names: dict[bytes, str] = {}
    for roster in (pairing.before, pairing.after):
        for recipient in roster.recipients.values():
            contact = recipient.contact
            if contact.aci:
                names[contact.aci] = recipient_name(recipient)
            if contact.pni:
                names[b"\x01" + contact.pni] = recipient_name(recipient)

    def name(key: object) -> str | None:
        if isinstance(key, bytes):
            return names.get(key)
        return pairing.name(key) if isinstance(key, int) and key in pairing.recipients else None

    return name


def setting_changes(pairing: RecipientPairs) -> tuple[FieldChange, ...]:
    """List the changes of the account, its settings and the header."""
    first, second = (
        BackupInfo(**{name: getattr(roster.header, name) for name in HEADER_FIELDS})
        for roster in (pairing.before, pairing.after)
    )
    lookup_name = name_lookup(pairing)
    old, new = pairing.before.account or AccountData(), pairing.after.account or AccountData()
    return (*field_changes(first, second, lookup_name), *field_changes(old, new, lookup_name))


def record_changes(pairing: RecipientPairs, only: set[int] | None) -> Iterator[RecordChange]:
    """Yield the changes of recipients, chats and other records; with `only`, those of these chats."""
    before, after = pairing.before, pairing.after
    lookup_name = name_lookup(pairing)
    numbers = pairing.people_before, pairing.people_after
    shown = None if only is None else chat_recipients(pairing, only)
    for number, (earlier, later) in pairing.recipients.items():
        if shown is not None and number not in shown:
            continue
        old = before.recipients[earlier[0]] if earlier else None
        new = None if later is None else after.recipients[later]
        yield from changes_between(
            (old, new), recipient_kind(old or new), pairing.name(number), lookup_name, numbers
        )
    for number, (earlier, later) in pairing.chats.items():
        if only is not None and number not in only:
            continue
        old_chat = before.chats[earlier[0]] if earlier else None
        new_chat = None if later is None else after.chats[later]
        yield from changes_between((old_chat, new_chat), "chat", pairing.chat_name(number), lookup_name, numbers)
    if only is None:
        yield from other_changes(pairing, lookup_name, numbers)


def chat_recipients(pairing: RecipientPairs, only: set[int]) -> set[int]:
    """Return the recipients of chats."""
    recipients: set[int] = set()
    for number in only:
        earlier, later = pairing.chats[number]
        recipients |= {pairing.people_before[pairing.before.chats[chat].recipientId] for chat in earlier}
        if later is not None:
            recipients.add(pairing.people_after[pairing.after.chats[later].recipientId])
    return recipients


def other_changes(pairing: RecipientPairs, lookup_name: NameLookup, numbers: NumberMaps) -> Iterator[RecordChange]:
    """Yield the changes of sticker packs, calls by link, notification profiles and chat folders."""
    before, after = pairing.before, pairing.after
    packs = tuple({pack.packId: pack for pack in roster.packs} for roster in (before, after))
    yield from keyed_changes(packs, "sticker pack", lambda pack: pack.packId.hex()[:8], lookup_name, numbers)
    calls = tuple(
        {(call.callId, people[call.recipientId]): call for call in roster.calls}
        for roster, people in zip((before, after), numbers, strict=True)
    )
    yield from keyed_changes(calls, "call by link", lambda call: str(call.callId), lookup_name, numbers)
    profiles = tuple({profile.id: profile for profile in roster.profiles} for roster in (before, after))
    yield from keyed_changes(profiles, "notification profile", lambda profile: profile.name, lookup_name, numbers)
    folders = tuple({folder_key(folder): folder for folder in roster.folders} for roster in (before, after))
    yield from keyed_changes(
        folders, "chat folder", lambda folder: folder.name or "All chats", lookup_name, numbers
    )
    orders = [[key for key in side if key in opposite] for side, opposite in (folders, folders[::-1])]
    if orders[0] != orders[1]:
        texts = [", ".join(side[key].name or "All chats" for key in side) for side in folders]
        yield RecordChange("chat folder", "all", "changed", (FieldChange("order", *texts),))


def folder_key(folder: ChatFolder) -> bytes:
    """Return the key of a chat folder: its id, or a constant for the folder of all chats, which exists once."""
    return b"all" if folder.folderType == ChatFolder.ALL else folder.id


def keyed_changes(
    sides: tuple[Mapping[Key, Record], ...],
    kind: str,
    name: Callable[[Record], str],
    lookup_name: NameLookup,
    numbers: NumberMaps,
) -> Iterator[RecordChange]:
    """Yield the changes of records that are matched by a key."""
    before, after = sides
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        record = new or old
        assert record is not None  # noqa: S101  # the key is of one of the two
        yield from changes_between((old, new), kind, name(record), lookup_name, numbers)


def changes_between(
    sides: tuple[Message | None, Message | None],
    kind: str,
    name: str,
    lookup_name: NameLookup,
    numbers: NumberMaps,
) -> Iterator[RecordChange]:
    """Yield the change from one version of a record to the other, if they differ."""
    old, new = sides
    if old is None:
        yield RecordChange(kind, name, "added")
    elif new is None:
        yield RecordChange(kind, name, "removed")
    else:
        fields = field_changes(old, new, lookup_name, numbers)
        if fields:
            yield RecordChange(kind, name, "changed", fields)


def recipient_kind(recipient: Recipient | None) -> str:
    """Return the label of a recipient's kind."""
    return RECIPIENT_KINDS.get((recipient and recipient.WhichOneof("destination")) or "", "recipient")
