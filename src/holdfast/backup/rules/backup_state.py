"""The state of a validation: the ids that have been read, and the records that may occur only once.

All records except messages are added, in file order; memory grows with the number of recipients and chats.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.id_table import IdTable
from holdfast.backup.rules.rule import PURPOSE_NUMBERS, Purpose
from holdfast.backup.rules.rule_context import ReferenceTables
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire import tables

__all__ = ["BackupState", "Broken"]

# The number of a broken rule, and the path of the field.
Broken: TypeAlias = tuple[int, str]

KINDS: Final = {
    "self": kinds.SELF,
    "releaseNotes": kinds.RELEASE_NOTES,
    "group": kinds.GROUP,
    "distributionList": kinds.DISTRIBUTION_LIST,
    "callLink": kinds.CALL_LINK,
}
SETTINGS: Final = "account.accountSettings"
# The rule about an unknown access level, by setting of a group; and the known levels.
ACCESS: Final = {
    **dict.fromkeys(("attributes", "members", "addFromInviteLink"), number_of_rule("group.access.known")),
    "memberLabel": number_of_rule("group.access.label-known"),
}
LEVELS: Final = frozenset(backup_pb2.Group.AccessControl.AccessRequired.values()) - {0}

ACCOUNT_FIRST: Final = number_of_rule("account.first")
ACCOUNT_ONCE: Final = number_of_rule("account.once")
ACCOUNT_PRESENT: Final = number_of_rule("account.present")
CHAT_FOLDER_ALL_ONCE: Final = number_of_rule("chat-folder.all.once")
CHAT_FOLDER_ALL_PRESENT: Final = number_of_rule("chat-folder.all.present")
CHAT_STYLE_COLOR_KNOWN: Final = number_of_rule("chat-style.color.known")
CHAT_ID_UNIQUE: Final = number_of_rule("chat.id.unique")
CHAT_PINNED_ORDER_UNIQUE: Final = number_of_rule("chat.pinned-order.unique")
CUSTOM_COLOR_ID_UNIQUE: Final = number_of_rule("custom-color.id.unique")
RECIPIENT_ACI_UNIQUE: Final = number_of_rule("recipient.aci.unique")
RECIPIENT_CALL_LINK_UNIQUE: Final = number_of_rule("recipient.call-link.unique")
RECIPIENT_E164_UNIQUE: Final = number_of_rule("recipient.e164.unique")
RECIPIENT_GROUP_UNIQUE: Final = number_of_rule("recipient.group.unique")
RECIPIENT_ID_UNIQUE: Final = number_of_rule("recipient.id.unique")
RECIPIENT_LIST_UNIQUE: Final = number_of_rule("recipient.list.unique")
RECIPIENT_PNI_UNIQUE: Final = number_of_rule("recipient.pni.unique")
RECIPIENT_USERNAME_UNIQUE: Final = number_of_rule("recipient.username.unique")
RELEASE_NOTES_ONCE: Final = number_of_rule("release-notes.once")
SELF_ONCE: Final = number_of_rule("self.once")
SELF_PRESENT: Final = number_of_rule("self.present")
STICKER_PACK_ID_UNIQUE: Final = number_of_rule("sticker-pack.id.unique")


def kind_of(recipient: backup_pb2.Recipient, destination: str | None) -> int:
    """Return the kind of a recipient, whose oneof `destination` has this field."""
    if destination is None:
        return kinds.NO_KIND
    if destination != "contact":
        return KINDS[destination]
    contact = recipient.contact
    has = (
        (kinds.ACI if contact.HasField("aci") else 0)
        | (kinds.E164 if contact.HasField("e164") else 0)
        | (kinds.PNI if contact.HasField("pni") else 0)
    )
    return kinds.CONTACT + has if has else kinds.NO_KIND


class BackupState:
    """The recipients, chats and colours of one backup, by id.

    `reference_tables` may be shared with the threads that check messages: shared tables are copied on write.
    """

    def __init__(self, purpose: Purpose, error_mask: bytes, *, spec_only: bool) -> None:
        self.made_at = 0
        self.muted = bytearray(tables.SLOTS)
        self._purpose = PURPOSE_NUMBERS[purpose]
        self._error_mask = error_mask
        self._spec_only = spec_only
        self._recipients = IdTable()
        self._chats = IdTable()
        self._colors = IdTable()
        self._shared = False
        self._tables: ReferenceTables | None = None
        self._capacity = 0
        self._accounts = 0
        self._selves = 0
        self._release_notes = 0
        self._folders = 0
        self._all_folders = 0
        self._seen: set[tuple[int, object]] = set()

    def reference_tables(self, *, shared: bool = False) -> ReferenceTables:
        """Return the tables that frames are checked against; with `shared`, they are not modified afterwards."""
        self._shared = self._shared or shared
        capacity = self._recipients.room()
        if self._tables is None or self._capacity != capacity or self._tables.muted != self.muted:
            self._capacity = capacity
            self._tables = ReferenceTables(
                self._recipients,
                self._chats,
                self._colors,
                bytes(self.muted),
                self._error_mask,
                self._purpose,
                self.made_at,
                self._spec_only,
            )
        return self._tables

    def add(self, frame: Frame, index: int) -> list[Broken]:
        """Add a frame, and return the rules it breaks."""
        which = frame.WhichOneof("item")
        if which == "recipient":
            return self._add_recipient(frame.recipient, index)
        if which == "chat":
            return self._add_chat(frame.chat, index)
        if which == "account":
            return list(self._add_account(frame.account, index))
        if which == "stickerPack" and self._seen_before(STICKER_PACK_ID_UNIQUE, frame.stickerPack.packId):
            return [(STICKER_PACK_ID_UNIQUE, "stickerPack.packId")]
        if which == "chatFolder":
            self._folders += 1
            if frame.chatFolder.folderType == backup_pb2.ChatFolder.FolderType.ALL:
                self._all_folders += 1
                if self._all_folders > 1:
                    return [(CHAT_FOLDER_ALL_ONCE, "chatFolder.folderType")]
        return []

    def finish(self) -> Iterator[Broken]:
        """Yield the rules that are broken by missing records, at the end of the backup."""
        if not self._accounts:
            yield ACCOUNT_PRESENT, ""
        if self._folders and not self._all_folders:
            yield CHAT_FOLDER_ALL_PRESENT, ""
        if not self._selves:
            yield SELF_PRESENT, ""

    def _add_account(self, account: backup_pb2.AccountData, index: int) -> Iterator[Broken]:
        self._accounts += 1
        if self._accounts > 1:
            yield ACCOUNT_ONCE, "account"
            return
        if index != 1:
            yield ACCOUNT_FIRST, "account"
        self._copy_shared()
        settings = account.accountSettings
        for number, color in enumerate(settings.customChatColors):
            if color.id == 0:
                continue
            if self._colors.knows(color.id):
                yield CUSTOM_COLOR_ID_UNIQUE, f"{SETTINGS}.customChatColors[{number}].id"
            else:
                self._colors.add(color.id, 0, index)
        style = settings.defaultChatStyle
        if style.WhichOneof("bubbleColor") == "customColorId" and not self._colors.knows(style.customColorId):
            yield CHAT_STYLE_COLOR_KNOWN, f"{SETTINGS}.defaultChatStyle.customColorId"

    def _add_recipient(self, recipient: backup_pb2.Recipient, index: int) -> list[Broken]:
        destination = recipient.WhichOneof("destination")
        kind = kind_of(recipient, destination)
        key = recipient.id
        found: list[Broken] = []
        if key:
            if self._recipients.knows(key):
                # A second recipient of the same id would break every other rule here too.
                return [(RECIPIENT_ID_UNIQUE, "recipient.id")]
            self._copy_shared()
            self._recipients.add(key, kind, index)
        if kind == kinds.SELF:
            self._selves += 1
            if self._selves > 1:
                found.append((SELF_ONCE, "recipient.self"))
        elif kind == kinds.RELEASE_NOTES:
            self._release_notes += 1
            if self._release_notes > 1:
                found.append((RELEASE_NOTES_ONCE, "recipient.releaseNotes"))
        for rule, value, path in identities(recipient, destination):
            if self._seen_before(rule, value):
                found.append((rule, path))
        if destination == "group":
            found += unknown_access(recipient.group)
        return found

    def _add_chat(self, chat: backup_pb2.Chat, index: int) -> list[Broken]:
        key = chat.id
        if key:
            if self._chats.knows(key):
                return [(CHAT_ID_UNIQUE, "chat.id")]
            self._copy_shared()
            owner = chat.recipientId
            self._chats.add(key, self._recipients.kind_of(owner), index, owner)
        if chat.HasField("pinnedOrder") and self._seen_before(CHAT_PINNED_ORDER_UNIQUE, chat.pinnedOrder):
            return [(CHAT_PINNED_ORDER_UNIQUE, "chat.pinnedOrder")]
        return []

    def _seen_before(self, rule: int, value: object) -> bool:
        """Add a value for a rule; return whether it was there already."""
        before = len(self._seen)
        self._seen.add((rule, value))
        return len(self._seen) == before

    def _copy_shared(self) -> None:
        """Copy the tables if they are shared, before a write."""
        if self._shared:
            self._recipients, self._chats, self._colors = (
                self._recipients.copy(),
                self._chats.copy(),
                self._colors.copy(),
            )
            self._shared = False
            self._tables = None


def unknown_access(group: backup_pb2.Group) -> Iterator[Broken]:
    """Yield the rules about settings of a group with an unknown access level."""
    if group.snapshot.HasField("accessControl"):
        for name, rule in ACCESS.items():
            if getattr(group.snapshot.accessControl, name) not in LEVELS:
                yield rule, f"recipient.group.snapshot.accessControl.{name}"


def identities(recipient: backup_pb2.Recipient, destination: str | None) -> Iterator[tuple[int, object, str]]:
    """Yield the identifiers that must be unique among recipients: rule, value and path."""
    if destination == "contact":
        contact = recipient.contact
        if contact.HasField("username"):
            yield RECIPIENT_USERNAME_UNIQUE, contact.username.lower(), "recipient.contact.username"
        if contact.HasField("e164") and contact.e164:
            yield RECIPIENT_E164_UNIQUE, contact.e164, "recipient.contact.e164"
        if contact.HasField("aci"):
            yield RECIPIENT_ACI_UNIQUE, contact.aci, "recipient.contact.aci"
        if contact.HasField("pni"):
            yield RECIPIENT_PNI_UNIQUE, contact.pni, "recipient.contact.pni"
    elif destination == "group":
        yield RECIPIENT_GROUP_UNIQUE, recipient.group.masterKey, "recipient.group.masterKey"
    elif destination == "distributionList":
        listed = recipient.distributionList
        yield RECIPIENT_LIST_UNIQUE, listed.distributionId, "recipient.distributionList.distributionId"
    elif destination == "callLink":
        yield RECIPIENT_CALL_LINK_UNIQUE, recipient.callLink.rootKey, "recipient.callLink.rootKey"
