"""Chat folders (`ChatFolder`)."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import UUID_SIZE, apart, field, known, length, of_kind, refers, unique
from holdfast.backup.rules.repairs import (
    DROP_DUPLICATE,
    DROP_ELEMENT,
    DROP_RECORD,
    MOVE_UP,
    ON,
    clear,
    discard,
    put,
)
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

__all__ = ["RULES"]

RECIPIENT_LISTS = ("ChatFolder.includedRecipientIds", "ChatFolder.excludedRecipientIds")

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "chat-folder.type.known",
        "The type of the folder is unknown.",
        "Write that it is the user's own.",
        "spec 2, contract 5.12",
        Breach.DEFAULTED,
        known("ChatFolder.folderType"),
        importer="An importer treats it as the user's own.",
        repairs=(put("The folder is the user's own.", folderType=2),),
    ),
    rule(
        "chat-folder.id.length",
        "The id of the folder does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 2, spec 8, contract 5.12",
        Breach.FORMAT,
        length(UUID_SIZE, "ChatFolder.id"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-folder.all.name",
        "The folder of all chats has a name.",
        "Leave the name out: every app has its own for it.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.name"),
        repairs=(discard("The name, which every app has its own for, is left out."),),
    ),
    rule(
        "chat-folder.all.unread",
        "The folder of all chats shows only unread ones.",
        "Turn that off.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.showOnlyUnread"),
        repairs=(clear("All chats are shown, not only unread ones."),),
    ),
    rule(
        "chat-folder.all.muted",
        "The folder of all chats does not show muted ones.",
        "Turn that on.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.showMutedChats"),
        repairs=(put("Muted chats are shown.", showMutedChats=ON),),
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
        repairs=(put("All chats are shown.", includeAllIndividualChats=ON, includeAllGroupChats=ON),),
    ),
    rule(
        "chat-folder.all.recipients",
        "The folder of all chats includes or excludes some.",
        "Leave the list out.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", *RECIPIENT_LISTS),
        repairs=(clear("The list of chats in the folder of all chats is left out."),),
    ),
    rule(
        "chat-folder.custom.name",
        "A folder of the user's own has no name.",
        "Write its name.",
        "contract 5.12",
        Breach.CARE,
        fields=("ChatFolder.folderType", "ChatFolder.name"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-folder.recipient.known",
        "A recipient of the folder is not defined earlier.",
        "Write the recipient before the folder.",
        "spec 1 rule 4, contract 5.12",
        Breach.REFERENCE,
        refers(*RECIPIENT_LISTS),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "chat-folder.recipient.kind",
        "A story list or a call link cannot be in a folder.",
        "Name only contacts, groups and the user.",
        "spec 2, contract 5.12",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF, kinds.GROUP, kinds.RELEASE_NOTES), *RECIPIENT_LISTS),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "chat-folder.recipient.unique",
        "A recipient is in the same list of the folder twice.",
        "Name each once.",
        "contract 5.12",
        Breach.CARE,
        unique(*RECIPIENT_LISTS),
        repairs=(DROP_DUPLICATE,),
    ),
    rule(
        "chat-folder.recipients.apart",
        "A recipient is both included in the folder and excluded from it.",
        "Name it in one of the two lists.",
        "contract 5.12",
        Breach.CARE,
        apart(*RECIPIENT_LISTS),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "chat-folder.all.once",
        "There is a second folder of all chats.",
        "Write one.",
        "contract 5.3",
        Breach.CARE,
        fields=("ChatFolder.folderType",),
        repairs=(DROP_RECORD,),
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

if not cython.compiled:
    NAME = field("ChatFolder.name")
    ONLY_UNREAD = field("ChatFolder.showOnlyUnread")
    SHOW_MUTED = field("ChatFolder.showMutedChats")
    ALL_INDIVIDUAL = field("ChatFolder.includeAllIndividualChats")
    ALL_GROUPS = field("ChatFolder.includeAllGroupChats")
    FOLDER_TYPE = field("ChatFolder.folderType")
    INCLUDED = field("ChatFolder.includedRecipientIds")
    EXCLUDED = field("ChatFolder.excludedRecipientIds")
    TYPE_ALL = backup_pb2.ChatFolder.FolderType.ALL
    TYPE_CUSTOM = backup_pb2.ChatFolder.FolderType.CUSTOM
    ALL_NAME = number_of_rule("chat-folder.all.name")
    ALL_UNREAD = number_of_rule("chat-folder.all.unread")
    ALL_MUTED = number_of_rule("chat-folder.all.muted")
    ALL_EVERYBODY = number_of_rule("chat-folder.all.everybody")
    ALL_RECIPIENTS = number_of_rule("chat-folder.all.recipients")
    CUSTOM_NAME = number_of_rule("chat-folder.custom.name")


def check_folder(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a custom folder has a name, and that the folder of all chats has neither a name nor filters."""
    kind: cython.ulonglong = context.value(depth, FOLDER_TYPE)
    if kind == TYPE_CUSTOM and not context.holds(depth, NAME):
        context.report_field(CUSTOM_NAME, depth, NAME)
    if kind != TYPE_ALL:
        return
    if context.holds(depth, NAME):
        context.report_field(ALL_NAME, depth, NAME)
    if context.holds(depth, ONLY_UNREAD):
        context.report_field(ALL_UNREAD, depth, ONLY_UNREAD)
    if not context.holds(depth, SHOW_MUTED):
        context.report_field(ALL_MUTED, depth, SHOW_MUTED)
    if not context.holds(depth, ALL_INDIVIDUAL):
        context.report_field(ALL_EVERYBODY, depth, ALL_INDIVIDUAL)
    if not context.holds(depth, ALL_GROUPS):
        context.report_field(ALL_EVERYBODY, depth, ALL_GROUPS)
    if context.value(depth, INCLUDED):
        context.report_field(ALL_RECIPIENTS, depth, INCLUDED)
    if context.value(depth, EXCLUDED):
        context.report_field(ALL_RECIPIENTS, depth, EXCLUDED)


if not cython.compiled:
    CHECKS = {
        "ChatFolder": check_folder,
    }
