"""Chat folders (`ChatFolder`)."""

from typing import Final

from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.wire import kinds
from holdfast.backup.wire.checks import known, length, of_kind, refers, unique

__all__ = ["RULES"]

RECIPIENT_LISTS = ("ChatFolder.includedRecipientIds", "ChatFolder.excludedRecipientIds")

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "chat-folder.type.known",
        "The type of the folder is not known.",
        "Write that it is the user's own.",
        "spec 2, contract 5.12",
        Breach.DEFAULTED,
        known("ChatFolder.folderType"),
        importer="An importer takes it for the user's own.",
    ),
    rule(
        "chat-folder.id.length",
        "The id of the folder does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 2, spec 8, contract 5.12",
        Breach.FORMAT,
        length(16, "ChatFolder.id"),
    ),
    rule(
        "chat-folder.all.name",
        "The folder of all chats has a name.",
        "Leave the name out: every app has its own for it.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.name"),
    ),
    rule(
        "chat-folder.all.unread",
        "The folder of all chats shows only unread ones.",
        "Turn that off.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.showOnlyUnread"),
    ),
    rule(
        "chat-folder.all.muted",
        "The folder of all chats does not show muted ones.",
        "Turn that on.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.showMutedChats"),
    ),
    rule(
        "chat-folder.all.everybody",
        "The folder of all chats leaves out those with one person, or those of groups.",
        "Turn both on.",
        "contract 5.12",
        Breach.CARE,
        fields=(
            "ChatFolder.folderType",
            "ChatFolder.includeAllIndividualChats",
            "ChatFolder.includeAllGroupChats",
        ),
    ),
    rule(
        "chat-folder.all.recipients",
        "The folder of all chats includes or excludes some.",
        "Leave the list out.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", *RECIPIENT_LISTS),
    ),
    rule(
        "chat-folder.custom.name",
        "A folder of the user's own has no name.",
        "Write its name.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.name"),
    ),
    rule(
        "chat-folder.recipient.known",
        "A recipient of the folder has not appeared.",
        "Write the recipient before the folder.",
        "spec 1 rule 4, contract 5.12",
        Breach.REFERENCE,
        refers(*RECIPIENT_LISTS),
    ),
    rule(
        "chat-folder.recipient.kind",
        "A story list or a call link cannot be in a folder.",
        "Name only contacts, groups and the user.",
        "spec 2, contract 5.12",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF, kinds.GROUP, kinds.RELEASE_NOTES), *RECIPIENT_LISTS),
    ),
    rule(
        "chat-folder.recipient.unique",
        "A recipient stands in the same list of the folder twice.",
        "Name each once.",
        "contract 5.12",
        Breach.CARE,
        unique(*RECIPIENT_LISTS),
    ),
    rule(
        "chat-folder.recipients.apart",
        "A recipient is both included in the folder and excluded from it.",
        "Name it in one of the two lists.",
        "contract 5.12",
        Breach.CARE,
        fields=RECIPIENT_LISTS,
    ),
    rule(
        "chat-folder.all.once",
        "There is a second folder of all chats.",
        "Write one.",
        "contract 5.3",
        Breach.CARE,
        fields=("ChatFolder.folderType",),
    ),
    rule(
        "chat-folder.all.present",
        "There are folders, but none of all chats.",
        "Write the folder of all chats among them.",
        "contract 5.3",
        Breach.CARE,
        fields=("ChatFolder.folderType",),
        importer="An importer adds it.",
    ),
)
