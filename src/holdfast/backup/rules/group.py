"""Groups (`Group`) and the snapshot of their state."""

from typing import Final

import cython

from holdfast.backup.rules.checks import (
    MESSAGE_BY_NAME,
    UUID_SIZE,
    among,
    field,
    known,
    length,
    required,
    service_id,
)
from holdfast.backup.rules.repairs import DROP_ELEMENT, clear, discard, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_UNKNOWN_ACCESS
    from holdfast.backup.rules.value_forms import is_service_id

__all__ = ["RULES"]

# Levels of access, as `Group.AccessControl.AccessRequired` numbers them.
UNKNOWN, ANY, MEMBER, ADMINISTRATOR, UNSATISFIABLE = range(5)
ATTRIBUTES: Final = (
    *(f"Group.GroupSnapshot.{name}" for name in ("title", "description", "disappearingMessagesTimer")),
    *(
        f"Group.GroupAttributeBlob.{name}"
        for name in ("title", "avatar", "disappearingMessagesDuration", "descriptionText")
    ),
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "group.master-key.length",
        "The master key does not have 32 bytes.",
        "Write all of it.",
        "contract 5.6",
        Breach.FORMAT,
        length(32, "Group.masterKey"),
    ),
    rule(
        "group.snapshot.present",
        "The group has no copy of its state.",
        "Write what is known of the group.",
        "contract 5.6",
        Breach.CARE,
        required("Group.snapshot"),
        importer="An importer has to ask the server for it.",
    ),
    rule(
        "group.blocked-at.blocked",
        "There is a date of blocking, but the group is not blocked.",
        "Leave the date out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.blockedAtTimestamp", "Group.blocked"),
        editions=CURRENT,
        repairs=(clear("The date of blocking a group that is not blocked is left out."),),
    ),
    rule(
        "group.attribute.set",
        "The title, description or timer of the group is present but empty.",
        "Leave the field out.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        fields=ATTRIBUTES,
        importer="An importer treats it as missing.",
        repairs=(clear("The empty attribute is left out."),),
    ),
    rule(
        "group.attribute.kind",
        "The title, description or timer of the group holds something else.",
        "Write what the field is for.",
        "contract 5.6",
        Breach.CARE,
        fields=ATTRIBUTES,
    ),
    rule(
        "group.access.level",
        "The level of access is one this setting cannot have.",
        "Write members or administrators.",
        "contract 5.6",
        Breach.CARE,
        among(
            {UNKNOWN, MEMBER, ADMINISTRATOR},
            "Group.AccessControl.attributes",
            "Group.AccessControl.members",
            "Group.AccessControl.memberLabel",
        ),
    ),
    rule(
        "group.access.link",
        "Members cannot be the ones a group's link is for.",
        "Write anybody, administrators, or that there is no link.",
        "contract 5.6",
        Breach.CARE,
        among({UNKNOWN, ANY, ADMINISTRATOR, UNSATISFIABLE}, "Group.AccessControl.addFromInviteLink"),
    ),
    rule(
        "group.access.known",
        "The access level for the group, its members or its link is unknown.",
        "Write the level of access.",
        "spec 2",
        Breach.DEFAULTED,
        fields=(
            "Group.AccessControl.attributes",
            "Group.AccessControl.members",
            "Group.AccessControl.addFromInviteLink",
        ),
        importer="An importer assumes that nobody may.",
        only_import=True,
    ),
    rule(
        "group.access.label-known",
        "The access level for the labels of the group's members is unknown.",
        "Write the level of access.",
        "contract 1.1, spec 2",
        Breach.DEFAULTED,
        fields=("Group.AccessControl.memberLabel",),
        importer="An importer assumes that nobody may.",
        only_import=True,
        editions=CURRENT,
    ),
    rule(
        "group.member.id",
        "The id of a member is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        fields=("Group.Member.userId",),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.member.role",
        "The role of a member is unknown.",
        "Write whether it is an administrator.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        known("Group.Member.role"),
        importer="An importer treats it as an ordinary member.",
        repairs=(put("The member is an ordinary one.", role=1),),
    ),
    rule(
        "group.member.label",
        "A member has the emoji of a label, but no label.",
        "Leave the emoji out, or write the label.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.Member.labelEmoji", "Group.Member.labelString"),
        editions=CURRENT,
        repairs=(discard("The emoji of a label that is not there is left out."),),
    ),
    rule(
        "group.pending-member.present",
        "The invitation has no member.",
        "Write the member, or leave the invitation out.",
        "contract 5.6",
        Breach.CARE,
        required("Group.MemberPendingProfileKey.member"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.id",
        "The id of somebody invited is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        fields=("Group.Member.userId",),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.inviter",
        "The id of who invited is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberPendingProfileKey.addedByUserId", pni=False),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.inviter.other",
        "Somebody invited themselves.",
        "Write who invited them, or make them a member.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.MemberPendingProfileKey.addedByUserId", "Group.Member.userId"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.label",
        "Somebody who is only invited has a label.",
        "Leave the label out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.Member.labelEmoji", "Group.Member.labelString"),
        editions=CURRENT,
        repairs=(discard("The label is left out.", "labelEmoji", "labelString"),),
    ),
    rule(
        "group.requesting-member.id",
        "The id of somebody who asks to join is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberPendingAdminApproval.userId", pni=False),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.banned-member.id",
        "The id of somebody banned is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberBanned.userId", pni=True),
        repairs=(DROP_ELEMENT,),
    ),
)

if not cython.compiled:
    BLOCKED = field("Group.blocked")
    BLOCKED_AT = field("Group.blockedAtTimestamp")
    TITLE = field("Group.GroupSnapshot.title")
    TIMER = field("Group.GroupSnapshot.disappearingMessagesTimer")
    BLOB_TITLE = field("Group.GroupAttributeBlob.title")
    BLOB_TIMER = field("Group.GroupAttributeBlob.disappearingMessagesDuration")
    BLOB_DESCRIPTION = field("Group.GroupAttributeBlob.descriptionText")
    # The settings with an access level are numbered in a row.
    FIRST_SETTING = field("Group.AccessControl.attributes")
    LAST_SETTING = field("Group.AccessControl.memberLabel")
    PENDING = MESSAGE_BY_NAME["Group.MemberPendingProfileKey"]
    USER_ID = field("Group.Member.userId")
    LABEL_EMOJI = field("Group.Member.labelEmoji")
    LABEL_STRING = field("Group.Member.labelString")
    ADDED_BY = field("Group.MemberPendingProfileKey.addedByUserId")
    ACI_SIZE = UUID_SIZE
    BLOCKED_AT_BLOCKED = number_of_rule("group.blocked-at.blocked")
    ATTRIBUTE_SET = number_of_rule("group.attribute.set")
    ATTRIBUTE_KIND = number_of_rule("group.attribute.kind")
    MEMBER_ID = number_of_rule("group.member.id")
    MEMBER_LABEL = number_of_rule("group.member.label")
    PENDING_ID = number_of_rule("group.pending-member.id")
    PENDING_LABEL = number_of_rule("group.pending-member.label")
    PENDING_INVITER = number_of_rule("group.pending-member.inviter.other")
    # Notes of a pending member: where their id begins, and its size.
    NOTE_START = 0
    NOTE_SIZE = 1


def check_group(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a group has a blocking date only if it is blocked."""
    if context.holds(depth, BLOCKED_AT) and not context.holds(depth, BLOCKED):
        context.report_field(BLOCKED_AT_BLOCKED, depth, BLOCKED_AT)


def check_attribute(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that an attribute of a group is set, and of the kind that its field requires."""
    step: cython.ulonglong = cython.cast(cython.ulonglong, context.steps[depth - 1])
    expected: cython.uint = BLOB_DESCRIPTION
    if step == cython.cast(cython.ulonglong, context.slot(depth - 1, TITLE)):
        expected = BLOB_TITLE
    elif step == cython.cast(cython.ulonglong, context.slot(depth - 1, TIMER)):
        expected = BLOB_TIMER
    if not context.seen[depth]:
        context.report_field(ATTRIBUTE_SET, depth, 0)
    elif not context.has(depth, expected):
        context.report_field(ATTRIBUTE_KIND, depth, 0)


def check_access(context: RuleContext, depth: cython.int) -> cython.void:
    """Note which settings of a group have an unknown access level, for the backup state, which reports them."""
    number: cython.uint
    unknown: cython.ulonglong = 0
    for number in range(FIRST_SETTING, LAST_SETTING + 1):
        if not context.holds(depth, number):
            unknown |= cython.cast(cython.ulonglong, 1) << number
    context.set_note(depth - 1, NOTE_UNKNOWN_ACCESS, unknown)


def check_member(context: RuleContext, depth: cython.int) -> cython.void:
    """Check a member, invited members included."""
    start: cython.Py_ssize_t = context.start(depth, USER_ID)
    size: cython.Py_ssize_t = context.size(depth, USER_ID)
    if context.messages[depth - 1] == PENDING:
        if not is_service_id(context, start, size, True):
            context.report_field(PENDING_ID, depth, USER_ID)
            size = 0
        context.set_note(depth - 1, NOTE_START, cython.cast(cython.ulonglong, start))
        context.set_note(depth - 1, NOTE_SIZE, cython.cast(cython.ulonglong, size))
        if context.holds(depth, LABEL_EMOJI) or context.holds(depth, LABEL_STRING):
            context.report_field(PENDING_LABEL, depth, 0)
        return
    if not is_service_id(context, start, size, False):
        context.report_field(MEMBER_ID, depth, USER_ID)
    if context.holds(depth, LABEL_EMOJI) and not context.holds(depth, LABEL_STRING):
        context.report_field(MEMBER_LABEL, depth, LABEL_EMOJI)


def check_pending_member(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that an invited member did not invite themselves."""
    one: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, context.note(depth, NOTE_START))
    size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, context.note(depth, NOTE_SIZE))
    other: cython.Py_ssize_t = context.start(depth, ADDED_BY)
    if size == ACI_SIZE and context.size(depth, ADDED_BY) == size and same_bytes(context, one, other, size):
        context.report_field(PENDING_INVITER, depth, ADDED_BY)


def same_bytes(
    context: RuleContext, one: cython.Py_ssize_t, other: cython.Py_ssize_t, size: cython.Py_ssize_t
) -> cython.bint:
    """Compare bytes of the buffer."""
    index: cython.Py_ssize_t = 0
    while index < size and context.data[one + index] == context.data[other + index]:
        index += 1
    return index == size


if not cython.compiled:
    CHECKS = {
        "Group": check_group,
        "Group.AccessControl": check_access,
        "Group.GroupAttributeBlob": check_attribute,
        "Group.Member": check_member,
        "Group.MemberPendingProfileKey": check_pending_member,
    }
