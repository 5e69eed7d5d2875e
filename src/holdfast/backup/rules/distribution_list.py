"""Distribution lists (`DistributionListItem`): who sees a story."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import (
    UUID_SIZE,
    field,
    known,
    length,
    of_kind,
    one_of_fields,
    refers,
    unique,
)
from holdfast.backup.rules.repairs import DROP_DUPLICATE, DROP_ELEMENT, DROP_RECORD, MOVE_UP, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "distribution-list.id.length",
        "The id of the story list does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 8, contract 5.6",
        Breach.FORMAT,
        length(UUID_SIZE, "DistributionListItem.distributionId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.id.random",
        "The id of the story list is not a random UUID.",
        "Make it a UUID of version 4.",
        "spec 2, spec 8",
        Breach.CARE,
        fields=("DistributionListItem.distributionId",),
        only_import=True,
    ),
    rule(
        "distribution-list.item.set",
        "The story list is neither there nor deleted.",
        "Write the list, or when it was deleted.",
        "spec 2, spec 7, contract 5.6",
        Breach.SKIPPED,
        one_of_fields("DistributionListItem.item"),
        importer="An importer skips the list.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.my-story.kept",
        "The built-in story list is said to be deleted, which it cannot be.",
        "Write the list.",
        "contract 5.6",
        Breach.CARE,
        fields=("DistributionListItem.distributionId", "DistributionListItem.deletionTimestamp"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.member.known",
        "A member of the story list is not defined earlier.",
        "Write the contact before the list.",
        "spec 1 rule 2, contract 5.6",
        Breach.REFERENCE,
        refers("DistributionList.memberRecipientIds"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "distribution-list.member.kind",
        "A member of the story list is not a contact that can be reached.",
        "Name only contacts with an account id or a phone number id.",
        "contract 5.6",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS_ON_THE_SERVICE, "DistributionList.memberRecipientIds"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "distribution-list.member.unique",
        "A member is in the story list twice.",
        "Name each once.",
        "contract 5.6",
        Breach.CARE,
        unique("DistributionList.memberRecipientIds"),
        repairs=(DROP_DUPLICATE,),
    ),
    rule(
        "distribution-list.privacy-mode.known",
        "The privacy mode of the story list is unknown.",
        "Write only with, all except, or all.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        known("DistributionList.privacyMode"),
        importer="An importer shows them only to the members.",
        repairs=(put("The list is only for its members.", privacyMode=1),),
    ),
    rule(
        "distribution-list.privacy-mode.my-story",
        "Only the built-in story list can be for all, or for all with exceptions.",
        "Write the members of this one.",
        "contract 5.6",
        Breach.CARE,
        fields=("DistributionListItem.distributionId", "DistributionList.privacyMode"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.my-story.all",
        "The built-in story list is for all, and has members too.",
        "Leave the members out.",
        "contract 5.6",
        Breach.CARE,
        fields=(
            "DistributionListItem.distributionId",
            "DistributionList.privacyMode",
            "DistributionList.memberRecipientIds",
        ),
        repairs=(
            discard("The members of a list that is for all are left out.", "distributionList.memberRecipientIds"),
        ),
    ),
    rule(
        "distribution-list.my-story.except",
        "The built-in story list is for all with exceptions, but has none.",
        "Write that it is for all.",
        "contract 5.6",
        Breach.CARE,
        fields=(
            "DistributionListItem.distributionId",
            "DistributionList.privacyMode",
            "DistributionList.memberRecipientIds",
        ),
        repairs=(put("The list is for all.", "distributionList", privacyMode=3),),
    ),
)

if not cython.compiled:
    LIST_ID = field("DistributionListItem.distributionId")
    DELETED = field("DistributionListItem.deletionTimestamp")
    MODE = field("DistributionList.privacyMode")
    MEMBERS = field("DistributionList.memberRecipientIds")
    ALL_EXCEPT = backup_pb2.DistributionList.PrivacyMode.ALL_EXCEPT
    ALL = backup_pb2.DistributionList.PrivacyMode.ALL
    _UUID_SIZE = UUID_SIZE
    ID_RANDOM = number_of_rule("distribution-list.id.random")
    MODE_MY_STORY = number_of_rule("distribution-list.privacy-mode.my-story")
    MY_STORY_KEPT = number_of_rule("distribution-list.my-story.kept")
    MY_STORY_ALL = number_of_rule("distribution-list.my-story.all")
    MY_STORY_EXCEPT = number_of_rule("distribution-list.my-story.except")
    # Notes of a list item: the privacy mode of its list plus one, and the number of its members plus one.
    NOTE_MODE = 0
    NOTE_MEMBERS = 1


def check_list(context: RuleContext, depth: cython.int) -> cython.void:
    """Store the privacy mode and the size of a list in notes of the enclosing item."""
    context.set_note(depth - 1, NOTE_MODE, context.value(depth, MODE) + 1)
    context.set_note(depth - 1, NOTE_MEMBERS, context.value(depth, MEMBERS) + 1)


def check_list_item(context: RuleContext, depth: cython.int) -> cython.void:
    """Check what is reserved for the built-in list, "My Story", whose id is all zeros."""
    start: cython.Py_ssize_t = context.start(depth, LIST_ID)
    index: cython.Py_ssize_t
    built_in: cython.bint = True
    mode: cython.ulonglong = context.note(depth, NOTE_MODE)
    members: cython.ulonglong = context.note(depth, NOTE_MEMBERS)
    if context.size(depth, LIST_ID) != _UUID_SIZE:
        return
    for index in range(start, start + _UUID_SIZE):
        if context.data[index]:
            built_in = False
    if not built_in:
        if context.data[start + 6] >> 4 != 4 or context.data[start + 8] >> 6 != 2:
            context.report_field(ID_RANDOM, depth, LIST_ID)
        if mode in (ALL + 1, ALL_EXCEPT + 1):
            context.report_field(MODE_MY_STORY, depth, 0)
        return
    if context.has(depth, DELETED):
        context.report_field(MY_STORY_KEPT, depth, DELETED)
    if mode == ALL + 1 and members > 1:
        context.report_field(MY_STORY_ALL, depth, 0)
    if mode == ALL_EXCEPT + 1 and members == 1:
        context.report_field(MY_STORY_EXCEPT, depth, 0)


if not cython.compiled:
    CHECKS = {
        "DistributionList": check_list,
        "DistributionListItem": check_list_item,
    }
