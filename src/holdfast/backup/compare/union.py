"""Merges two rosters: all records of both; the later roster wins in case of conflict."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from google.protobuf.message import Message

from holdfast.backup.compare.field_changes import HIDDEN, field_changes
from holdfast.backup.compare.recipient_pairs import PLAN, RecipientPairs
from holdfast.backup.compare.records import HEADER_FIELDS, RECIPIENT_KINDS, folder_key, name_lookup
from holdfast.backup.compare.roster import Roster
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import AccountData, Chat, ChatStyle, Contact, Recipient
from holdfast.backup.wire.renumber import renumber
from holdfast.redacted_repr import redacted

__all__ = ["Conflict", "ConflictCallback", "merge_rosters"]

LATER_WINS: Final = "the later backup wins"
NEWER_GROUP: Final = "the higher version of the group wins"
ALREADY_CLAIMED: Final = "another contact has it in the later backup"
# Fields that the later backup may not have learned yet; any other field it lacks was removed.
FILLABLE_FIELDS: Final = (
    "profileKey",
    "identityKey",
    "profileGivenName",
    "profileFamilyName",
    "keyTransparencyData",
)


@public
@redacted
@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict between two backups: the record and field, the kept and the dropped value, and the reason."""

    what: str
    where: str
    field: str
    kept: str
    dropped: str
    why: str


ConflictCallback = Callable[[Conflict], None]


def merge_rosters(pairing: RecipientPairs, report: ConflictCallback) -> tuple[BackupInfo, list[bytes]]:
    """Return the header and all frames except messages, with common numbers, in order of reference."""
    return RosterMerge(pairing, report).run()


class RosterMerge:
    """A merge of two rosters. Records get the common numbers before they are compared."""

    def __init__(self, pairing: RecipientPairs, report: ConflictCallback) -> None:
        self._pairing = pairing
        self._report = report
        self._lookup_name = name_lookup(pairing)
        self._colors: tuple[dict[int, int], dict[int, int]] = ({}, {})

    def run(self) -> tuple[BackupInfo, list[bytes]]:
        """Return the header and the frames of the merged roster."""
        before, after = self._pairing.before, self._pairing.after
        header = BackupInfo()
        header.CopyFrom(after.header)
        for name in HEADER_FIELDS:
            old, new = (BackupInfo(**{name: getattr(roster.header, name)}) for roster in (before, after))
            self._report_conflicts("backup", "", old, new)
        frames = [Frame(account=self._account())]
        recipients = [Frame(recipient=recipient) for recipient in self._recipients()]
        # Distribution lists refer to their members, which must come first.
        frames += sorted(recipients, key=lambda frame: frame.recipient.HasField("distributionList"))
        frames += [Frame(chat=chat) for chat in self._chats()]
        packs = [[Frame(stickerPack=pack) for pack in roster.packs] for roster in (after, before)]
        frames += self._merge_keyed("sticker pack", packs, lambda frame: frame.stickerPack.packId)
        calls = self._renumber_both(lambda side: [Frame(adHocCall=call) for call in self._rosters[side].calls])
        frames += self._merge_keyed(
            "call by link", calls, lambda frame: (frame.adHocCall.callId, frame.adHocCall.recipientId)
        )
        profiles = self._renumber_both(
            lambda side: [Frame(notificationProfile=profile) for profile in self._rosters[side].profiles]
        )
        frames += self._merge_keyed("notification profile", profiles, lambda frame: frame.notificationProfile.id)
        folders = self._renumber_both(
            lambda side: [Frame(chatFolder=folder) for folder in self._rosters[side].folders]
        )
        frames += self._merge_keyed("chat folder", folders, lambda frame: folder_key(frame.chatFolder))
        unknown_frames = dict.fromkeys([*after.unknown_frames, *before.unknown_frames])
        return header, [*(frame.SerializeToString(deterministic=True) for frame in frames), *unknown_frames]

    @property
    def _rosters(self) -> tuple[Roster, Roster]:
        """The earlier and the later roster."""
        return self._pairing.before, self._pairing.after

    def _renumber(self, frame: Frame, side: int) -> Frame:
        """Return a record of one side with common numbers, and without ids that became duplicates."""
        pairing = self._pairing
        people = (pairing.people_before, pairing.people_after)[side]
        chats = (pairing.chats_before, pairing.chats_after)[side]
        raw = renumber(frame.SerializeToString(deterministic=True), PLAN, people, chats, self._colors[side])
        return deduplicate_ids(Frame.FromString(raw))

    def _renumber_both(self, frames: Callable[[int], list[Frame]]) -> list[list[Frame]]:
        """Return the records of both sides with common numbers, the later side first."""
        return [[self._renumber(frame, side) for frame in frames(side)] for side in (1, 0)]

    def _report_conflicts(
        self, kind: str, where: str, old: Message, merged: Message, why: str = LATER_WINS
    ) -> None:
        """Report the fields of an older record that differ in the merged one."""
        for change in field_changes(old, merged, self._lookup_name):
            if change.before:
                self._report(Conflict(kind, where, change.field, change.after, change.before, why))

    def _account(self) -> AccountData:
        """Return the later account, with the chat colors of both."""
        old, account_data = AccountData(), AccountData()
        old.CopyFrom(self._pairing.before.account or old)
        account_data.CopyFrom(self._pairing.after.account or account_data)
        colors = account_data.accountSettings.customChatColors
        ids_by_color = {color_key(color): color.id for color in colors}
        later_ids, earlier_ids = self._colors[1], self._colors[0]
        later_ids.update({color.id: color.id for color in colors})
        for color in old.accountSettings.customChatColors:
            earlier_ids[color.id] = ids_by_color.setdefault(
                color_key(color), color.id if color.id not in later_ids else max(later_ids) + 1
            )
            if earlier_ids[color.id] not in later_ids:
                colors.add().CopyFrom(color)
                colors[-1].id = later_ids[earlier_ids[color.id]] = earlier_ids[color.id]
        for color in old.accountSettings.customChatColors:
            color.id = earlier_ids[color.id]
        style = old.accountSettings.defaultChatStyle
        if style.HasField("customColorId"):
            style.customColorId = earlier_ids.get(style.customColorId, 0)
        self._report_conflicts("account", "", old, account_data)
        return account_data

    def _recipients(self) -> Iterator[Recipient]:
        """Yield the merged recipients."""
        pairing = self._pairing
        claimed_identifiers = ClaimedIdentifiers(
            recipient.contact for recipient in pairing.after.recipients.values()
        )
        for number, (earlier, later) in pairing.recipients.items():
            olds = [
                self._renumber(Frame(recipient=pairing.before.recipients[old]), 0).recipient for old in earlier
            ]
            if later is None:
                merged, *olds = olds
            else:
                merged = self._renumber(Frame(recipient=pairing.after.recipients[later]), 1).recipient
            name, kind = (
                pairing.name(number),
                RECIPIENT_KINDS.get(merged.WhichOneof("destination") or "", "recipient"),
            )
            if later is None and merged.HasField("contact"):
                for field, value in claimed_identifiers.strip(merged.contact):
                    self._report(Conflict(kind, name, field, "", value, ALREADY_CLAIMED))
            for old in olds:
                if merged.HasField("contact") and old.HasField("contact"):
                    claimed_identifiers.fill(old.contact, merged.contact)
                if merged.HasField("group") and old.group.snapshot.version > merged.group.snapshot.version:
                    newer = Recipient(group=merged.group)
                    merged.group.snapshot.CopyFrom(old.group.snapshot)
                    self._report_conflicts(kind, name, newer, merged, NEWER_GROUP)
                self._report_conflicts(kind, name, old, merged)
            merged.id = number
            yield merged

    def _chats(self) -> Iterator[Chat]:
        """Yield the merged chats."""
        pairing = self._pairing
        pins = {chat.pinnedOrder for chat in pairing.after.chats.values() if chat.HasField("pinnedOrder")}
        for number, (earlier, later) in pairing.chats.items():
            olds = [self._renumber(Frame(chat=pairing.before.chats[old]), 0).chat for old in earlier]
            if later is None:
                merged, *olds = olds
                if merged.HasField("pinnedOrder"):
                    if merged.pinnedOrder in pins:
                        merged.pinnedOrder = max(pins) + 1
                    pins.add(merged.pinnedOrder)
            else:
                merged = self._renumber(Frame(chat=pairing.after.chats[later]), 1).chat
            for old in olds:
                self._report_conflicts("chat", pairing.chat_name(number), old, merged)
            yield merged

    def _merge_keyed(
        self, kind: str, sides: Sequence[Iterable[Frame]], key: Callable[[Frame], Hashable]
    ) -> Iterator[Frame]:
        """Yield one record per key, those of the later side first."""
        frames: dict[Hashable, Frame] = {}
        for side in sides:
            for frame in side:
                kept = frames.setdefault(key(frame), frame)
                if kept is not frame:
                    self._report_conflicts(kind, record_label(kept), frame, kept)
        yield from frames.values()


class ClaimedIdentifiers:
    """The phone numbers, usernames and ids in use, which must be unique among contacts."""

    def __init__(self, contacts: Iterable[Contact]) -> None:
        self._values: set[tuple[str, object]] = set()
        for contact in contacts:
            self._values.update(unique_fields(contact))

    def strip(self, contact: Contact) -> Iterator[tuple[str, str]]:
        """Clear identifiers of a contact that another contact has; yield the fields and their values."""
        for field, value in list(unique_fields(contact)):
            if (field, value) in self._values:
                yield field, HIDDEN if isinstance(value, bytes) else str(value)
                contact.ClearField(cast("Any", field))
            else:
                self._values.add((field, value))

    def fill(self, old: Contact, contact: Contact) -> None:
        """Fill empty fields of a contact from the older backup."""
        for field, value in unique_fields(old):
            if field != "username" and not getattr(contact, field) and (field, value) not in self._values:
                setattr(contact, field, value)
                self._values.add((field, value))
        for name in FILLABLE_FIELDS:
            if getattr(old, name) and not getattr(contact, name):
                setattr(contact, name, getattr(old, name))


def unique_fields(contact: Contact) -> Iterator[tuple[str, Any]]:
    """Yield the unique identifiers of a contact that are set."""
    for field in ("aci", "pni", "e164", "username"):
        value = getattr(contact, field)
        if value:
            yield field, value.casefold() if isinstance(value, str) else value


def color_key(color: ChatStyle.CustomChatColor) -> bytes:
    """Return the serialized color without its id."""
    copy = ChatStyle.CustomChatColor()
    copy.CopyFrom(color)
    copy.id = 0
    return copy.SerializeToString(deterministic=True)


def record_label(frame: Frame) -> str:
    """Return a label for a record other than a recipient or a chat."""
    kind = frame.WhichOneof("item")
    if kind == "stickerPack":
        return frame.stickerPack.packId.hex()[:8]
    if kind == "adHocCall":
        return str(frame.adHocCall.callId)
    return frame.notificationProfile.name if kind == "notificationProfile" else frame.chatFolder.name


def deduplicate_ids(frame: Frame) -> Frame:
    """Remove duplicate ids from the lists of a record."""
    lists = {
        "recipient": [frame.recipient.distributionList.distributionList.memberRecipientIds],
        "notificationProfile": [frame.notificationProfile.allowedMembers],
        "chatFolder": [frame.chatFolder.includedRecipientIds, frame.chatFolder.excludedRecipientIds],
    }.get(frame.WhichOneof("item") or "", [])
    listed_ids: set[int] = set()
    for ids in lists:
        kept = [entry for entry in dict.fromkeys(ids) if entry not in listed_ids]
        listed_ids.update(kept)
        if len(kept) != len(ids):
            ids[:] = kept
    return frame
