"""The state of a validation: the ids that have been read, and the records that may occur only once.

All records except messages are added, in file order; memory grows with the number of recipients and chats. The
values of a record are read from the rule context in which it was just checked, so it is not decoded again.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import cython

from holdfast.backup.rules import notes
from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import field
from holdfast.backup.rules.id_table import IdTable
from holdfast.backup.rules.rule import PURPOSE_NUMBERS, Purpose
from holdfast.backup.rules.rule_context import ReferenceTables, RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire import tables

__all__ = ["BackupState", "Broken"]

# The number of a broken rule, and the path of the field.
Broken: TypeAlias = tuple[int, str]

SETTINGS: Final = "account.accountSettings"
# The rule about an unknown access level, by setting of a group.
ACCESS: Final = {
    **dict.fromkeys(("attributes", "members", "addFromInviteLink"), number_of_rule("group.access.known")),
    "memberLabel": number_of_rule("group.access.label-known"),
}

# The nesting levels of a frame: its record, and what a recipient or the snapshot of a group is nested in.
FRAME = cython.declare(cython.int, 0)
RECORD = cython.declare(cython.int, 1)
DESTINATION = cython.declare(cython.int, 2)
SNAPSHOT = cython.declare(cython.int, 3)

ACCOUNT = cython.declare(cython.uint, field("Frame.account"))
RECIPIENT = cython.declare(cython.uint, field("Frame.recipient"))
CHAT = cython.declare(cython.uint, field("Frame.chat"))
STICKER_PACK = cython.declare(cython.uint, field("Frame.stickerPack"))
CHAT_FOLDER = cython.declare(cython.uint, field("Frame.chatFolder"))

RECIPIENT_ID = cython.declare(cython.uint, field("Recipient.id"))
CONTACT = cython.declare(cython.uint, field("Recipient.contact"))
GROUP = cython.declare(cython.uint, field("Recipient.group"))
DISTRIBUTION_LIST = cython.declare(cython.uint, field("Recipient.distributionList"))
SELF = cython.declare(cython.uint, field("Recipient.self"))
RELEASE_NOTES = cython.declare(cython.uint, field("Recipient.releaseNotes"))
CALL_LINK = cython.declare(cython.uint, field("Recipient.callLink"))

USERNAME = cython.declare(cython.uint, field("Contact.username"))
E164 = cython.declare(cython.uint, field("Contact.e164"))
ACI = cython.declare(cython.uint, field("Contact.aci"))
PNI = cython.declare(cython.uint, field("Contact.pni"))
MASTER_KEY = cython.declare(cython.uint, field("Group.masterKey"))
GROUP_SNAPSHOT = cython.declare(cython.uint, field("Group.snapshot"))
LIST_ID = cython.declare(cython.uint, field("DistributionListItem.distributionId"))
ROOT_KEY = cython.declare(cython.uint, field("CallLink.rootKey"))

CHAT_ID = cython.declare(cython.uint, field("Chat.id"))
CHAT_RECIPIENT = cython.declare(cython.uint, field("Chat.recipientId"))
PINNED_ORDER = cython.declare(cython.uint, field("Chat.pinnedOrder"))
PACK_ID = cython.declare(cython.uint, field("StickerPack.packId"))
ALL_CHATS = cython.declare(cython.ulonglong, backup_pb2.ChatFolder.FolderType.ALL)
UNKNOWN_ACCESS = cython.declare(cython.int, notes.NOTE_UNKNOWN_ACCESS)
FOLDER_TYPE = cython.declare(cython.uint, field("ChatFolder.folderType"))

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

    def add(
        self, context: RuleContext, data: bytes, start: cython.Py_ssize_t, index: cython.ulonglong
    ) -> list[Broken]:
        """Add a frame, and return the rules it breaks.

        The frame was just checked in this context, without a fault. It begins at `start` of the buffer `data`.
        """
        if context.has(FRAME, RECIPIENT):
            return self._add_recipient(context, data, index)
        if context.has(FRAME, CHAT):
            return self._add_chat(context, index)
        if context.has(FRAME, ACCOUNT):
            frame = Frame.FromString(data[start : context.end])
            return list(self._add_account(frame.account, index))
        if context.has(FRAME, STICKER_PACK):
            if self._seen_before(STICKER_PACK_ID_UNIQUE, context.content(data, RECORD, PACK_ID)):
                return [(STICKER_PACK_ID_UNIQUE, "stickerPack.packId")]
        elif context.has(FRAME, CHAT_FOLDER):
            self._folders += 1
            if context.value(RECORD, FOLDER_TYPE) == ALL_CHATS:
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

    def _add_recipient(self, context: RuleContext, data: bytes, index: cython.ulonglong) -> list[Broken]:
        key = context.value(RECORD, RECIPIENT_ID)
        found: list[Broken] = []
        if key:
            if self._recipients.knows(key):
                # A second recipient of the same id would break every other rule here too.
                return [(RECIPIENT_ID_UNIQUE, "recipient.id")]
            self._copy_shared()
            self._recipients.add(key, recipient_kind(context), index)
        if context.has(RECORD, CONTACT):
            self._add_contact(context, data, found)
        elif context.has(RECORD, GROUP):
            master_key = context.content(data, DESTINATION, MASTER_KEY)
            self._add_unique(RECIPIENT_GROUP_UNIQUE, master_key, "recipient.group.masterKey", found)
            if context.has(DESTINATION, GROUP_SNAPSHOT):
                found += unknown_access(context.note(SNAPSHOT, UNKNOWN_ACCESS))
        elif context.has(RECORD, DISTRIBUTION_LIST):
            list_id = context.content(data, DESTINATION, LIST_ID)
            self._add_unique(RECIPIENT_LIST_UNIQUE, list_id, "recipient.distributionList.distributionId", found)
        elif context.has(RECORD, CALL_LINK):
            root_key = context.content(data, DESTINATION, ROOT_KEY)
            self._add_unique(RECIPIENT_CALL_LINK_UNIQUE, root_key, "recipient.callLink.rootKey", found)
        elif context.has(RECORD, SELF):
            self._selves += 1
            if self._selves > 1:
                found.append((SELF_ONCE, "recipient.self"))
        elif context.has(RECORD, RELEASE_NOTES):
            self._release_notes += 1
            if self._release_notes > 1:
                found.append((RELEASE_NOTES_ONCE, "recipient.releaseNotes"))
        return found

    def _add_contact(self, context: RuleContext, data: bytes, found: list[Broken]) -> None:
        """Add the identifiers of a contact, which must be unique."""
        if context.has(DESTINATION, USERNAME):
            username = context.content(data, DESTINATION, USERNAME).decode().lower()
            self._add_unique(RECIPIENT_USERNAME_UNIQUE, username, "recipient.contact.username", found)
        if context.value(DESTINATION, E164):
            e164 = context.value(DESTINATION, E164)
            self._add_unique(RECIPIENT_E164_UNIQUE, e164, "recipient.contact.e164", found)
        if context.has(DESTINATION, ACI):
            aci = context.content(data, DESTINATION, ACI)
            self._add_unique(RECIPIENT_ACI_UNIQUE, aci, "recipient.contact.aci", found)
        if context.has(DESTINATION, PNI):
            pni = context.content(data, DESTINATION, PNI)
            self._add_unique(RECIPIENT_PNI_UNIQUE, pni, "recipient.contact.pni", found)

    def _add_chat(self, context: RuleContext, index: cython.ulonglong) -> list[Broken]:
        key = context.value(RECORD, CHAT_ID)
        if key:
            if self._chats.knows(key):
                return [(CHAT_ID_UNIQUE, "chat.id")]
            self._copy_shared()
            owner = context.value(RECORD, CHAT_RECIPIENT)
            self._chats.add(key, self._recipients.kind_of(owner), index, owner)
        if context.has(RECORD, PINNED_ORDER):
            order = context.value(RECORD, PINNED_ORDER)
            if self._seen_before(CHAT_PINNED_ORDER_UNIQUE, order):
                return [(CHAT_PINNED_ORDER_UNIQUE, "chat.pinnedOrder")]
        return []

    def _add_unique(self, rule: cython.int, value: object, path: str, found: list[Broken]) -> None:
        """Add a value that must be unique."""
        if self._seen_before(rule, value):
            found.append((rule, path))

    def _seen_before(self, rule: cython.int, value: object) -> bool:
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


def recipient_kind(context: RuleContext) -> cython.int:
    """Return the kind of the recipient that was just checked."""
    has: cython.int
    if context.has(RECORD, CONTACT):
        has = (
            (kinds.ACI if context.has(DESTINATION, ACI) else 0)
            | (kinds.E164 if context.has(DESTINATION, E164) else 0)
            | (kinds.PNI if context.has(DESTINATION, PNI) else 0)
        )
        return kinds.CONTACT + has if has else kinds.NO_KIND
    if context.has(RECORD, GROUP):
        return kinds.GROUP
    if context.has(RECORD, DISTRIBUTION_LIST):
        return kinds.DISTRIBUTION_LIST
    if context.has(RECORD, CALL_LINK):
        return kinds.CALL_LINK
    if context.has(RECORD, SELF):
        return kinds.SELF
    return kinds.RELEASE_NOTES if context.has(RECORD, RELEASE_NOTES) else kinds.NO_KIND


def unknown_access(settings: int) -> Iterator[Broken]:
    """Yield the rules about settings of a group with an unknown access level; each has the bit of its field."""
    for name, rule in ACCESS.items():
        if settings >> field(f"Group.AccessControl.{name}") & 1:
            yield rule, f"recipient.group.snapshot.accessControl.{name}"
