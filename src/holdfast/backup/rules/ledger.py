"""What a backup must be as a whole: unique ids, each person once, an account, and what each id stands for.

All but messages are entered, one after the other; memory grows with people and chats.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from holdfast.backup.rules.rule import Purpose
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire import kinds, tables
from holdfast.backup.wire.ground import Desk
from holdfast.backup.wire.numbers import number_of_rule
from holdfast.backup.wire.roll import Roll

__all__ = ["Broken", "Ledger"]

# The number of a broken rule, and the path to where it is.
Broken: TypeAlias = tuple[int, str]

PURPOSES: Final = {Purpose.TRANSFER: 0, Purpose.REMOTE: 1, Purpose.TAKEOUT: 2}
KINDS: Final = {
    "self": kinds.SELF,
    "releaseNotes": kinds.RELEASE_NOTES,
    "group": kinds.GROUP,
    "distributionList": kinds.DISTRIBUTION_LIST,
    "callLink": kinds.CALL_LINK,
}
SETTINGS: Final = "account.accountSettings"
# Who may do what in a group, and the rule that asks for it to be known; the levels there are but UNKNOWN.
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


def kind_of(recipient: backup_pb2.Recipient) -> int:
    """Tell of which kind a recipient is."""
    which = recipient.WhichOneof("destination")
    if which is None:
        return kinds.NO_KIND
    if which != "contact":
        return KINDS[which]
    contact = recipient.contact
    has = (
        (kinds.ACI if contact.HasField("aci") else 0)
        | (kinds.E164 if contact.HasField("e164") else 0)
        | (kinds.PNI if contact.HasField("pni") else 0)
    )
    return kinds.CONTACT + has if has else kinds.NO_KIND


class Ledger:
    """The ids and people of one backup.

    `desk` lends the rolls to whoever checks messages; what is lent is copied before it is changed.
    """

    def __init__(self, purpose: Purpose, graves: bytes, *, old: bool) -> None:
        self.made_at = 0
        self.quiet = bytearray(tables.SLOTS)
        self._purpose = PURPOSES[purpose]
        self._graves = graves
        self._old = old
        self._people = Roll()
        self._chats = Roll()
        self._colors = Roll()
        self._lent = False
        self._desk: Desk | None = None
        self._room = 0
        self._accounts = 0
        self._selves = 0
        self._release_notes = 0
        self._folders = 0
        self._all_folders = 0
        self._met: set[tuple[int, object]] = set()

    def desk(self, *, lend: bool = False) -> Desk:
        """Give what frames are checked against; with `lend` it stays as it is now."""
        self._lent = self._lent or lend
        room = self._people.room()
        if self._desk is None or self._room != room or self._desk.quiet != self.quiet:
            self._room = room
            self._desk = Desk(
                self._people,
                self._chats,
                self._colors,
                bytes(self.quiet),
                self._graves,
                self._purpose,
                self.made_at,
                self._old,
            )
        return self._desk

    def enter(self, frame: Frame, index: int) -> list[Broken]:
        """Enter a frame, and list the rules it breaks."""
        which = frame.WhichOneof("item")
        if which == "recipient":
            return self._enter_recipient(frame.recipient, index)
        if which == "chat":
            return self._enter_chat(frame.chat, index)
        if which == "account":
            return list(self._enter_account(frame.account, index))
        if which == "stickerPack" and self._again(STICKER_PACK_ID_UNIQUE, frame.stickerPack.packId):
            return [(STICKER_PACK_ID_UNIQUE, "stickerPack.packId")]
        if which == "chatFolder":
            self._folders += 1
            if frame.chatFolder.folderType == backup_pb2.ChatFolder.FolderType.ALL:
                self._all_folders += 1
                if self._all_folders > 1:
                    return [(CHAT_FOLDER_ALL_ONCE, "chatFolder.folderType")]
        return []

    def finish(self) -> Iterator[Broken]:
        """Yield what is missing at the end."""
        if not self._accounts:
            yield ACCOUNT_PRESENT, ""
        if self._folders and not self._all_folders:
            yield CHAT_FOLDER_ALL_PRESENT, ""
        if not self._selves:
            yield SELF_PRESENT, ""

    def _enter_account(self, account: backup_pb2.AccountData, index: int) -> Iterator[Broken]:
        self._accounts += 1
        if self._accounts > 1:
            yield ACCOUNT_ONCE, "account"
            return
        if index != 1:
            yield ACCOUNT_FIRST, "account"
        self._take_back()
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

    def _enter_recipient(self, recipient: backup_pb2.Recipient, index: int) -> list[Broken]:
        kind = kind_of(recipient)
        key = recipient.id
        found: list[Broken] = []
        if key:
            if self._people.knows(key):
                # Who it is has been said already, and would break every other rule here too.
                return [(RECIPIENT_ID_UNIQUE, "recipient.id")]
            self._take_back()
            self._people.add(key, kind, index)
        if kind == kinds.SELF:
            self._selves += 1
            if self._selves > 1:
                found.append((SELF_ONCE, "recipient.self"))
        elif kind == kinds.RELEASE_NOTES:
            self._release_notes += 1
            if self._release_notes > 1:
                found.append((RELEASE_NOTES_ONCE, "recipient.releaseNotes"))
        for rule, value, path in identities(recipient):
            if self._again(rule, value):
                found.append((rule, path))
        found += unknown_access(recipient)
        return found

    def _enter_chat(self, chat: backup_pb2.Chat, index: int) -> list[Broken]:
        key = chat.id
        if key:
            if self._chats.knows(key):
                return [(CHAT_ID_UNIQUE, "chat.id")]
            self._take_back()
            owner = chat.recipientId
            self._chats.add(key, self._people.kind_of(owner), index, owner)
        if chat.HasField("pinnedOrder") and self._again(CHAT_PINNED_ORDER_UNIQUE, chat.pinnedOrder):
            return [(CHAT_PINNED_ORDER_UNIQUE, "chat.pinnedOrder")]
        return []

    def _again(self, rule: int, value: object) -> bool:
        """Tell whether a value was met before, and remember it."""
        before = len(self._met)
        self._met.add((rule, value))
        return len(self._met) == before

    def _take_back(self) -> None:
        """Make rolls of our own before they are changed."""
        if self._lent:
            self._people, self._chats, self._colors = (
                self._people.copy(),
                self._chats.copy(),
                self._colors.copy(),
            )
            self._lent = False
            self._desk = None


def unknown_access(recipient: backup_pb2.Recipient) -> Iterator[Broken]:
    """Yield the settings of a group of which it is not known who may change them."""
    snapshot = recipient.group.snapshot
    if recipient.WhichOneof("destination") == "group" and snapshot.HasField("accessControl"):
        for name, rule in ACCESS.items():
            if getattr(snapshot.accessControl, name) not in LEVELS:
                yield rule, f"recipient.group.snapshot.accessControl.{name}"


def identities(recipient: backup_pb2.Recipient) -> Iterator[tuple[int, object, str]]:
    """Yield what no other recipient may have: the rule that says so, the value, and its path."""
    which = recipient.WhichOneof("destination")
    if which == "contact":
        contact = recipient.contact
        if contact.HasField("username"):
            yield RECIPIENT_USERNAME_UNIQUE, contact.username.lower(), "recipient.contact.username"
        if contact.HasField("e164") and contact.e164:
            yield RECIPIENT_E164_UNIQUE, contact.e164, "recipient.contact.e164"
        if contact.HasField("aci"):
            yield RECIPIENT_ACI_UNIQUE, contact.aci, "recipient.contact.aci"
        if contact.HasField("pni"):
            yield RECIPIENT_PNI_UNIQUE, contact.pni, "recipient.contact.pni"
    elif which == "group":
        yield RECIPIENT_GROUP_UNIQUE, recipient.group.masterKey, "recipient.group.masterKey"
    elif which == "distributionList":
        listed = recipient.distributionList
        yield RECIPIENT_LIST_UNIQUE, listed.distributionId, "recipient.distributionList.distributionId"
    elif which == "callLink":
        yield RECIPIENT_CALL_LINK_UNIQUE, recipient.callLink.rootKey, "recipient.callLink.rootKey"
