"""Group updates (`GroupChangeChatUpdate`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import (
    UUID_SIZE,
    among,
    field,
    length,
    one_of_fields,
    required,
    service_id,
)
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, EMPTY, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of

__all__ = ["RULES"]

# Levels of access, as `GroupV2AccessLevel` numbers them.
ANY, MEMBER, ADMINISTRATOR = 1, 2, 3


def ids_in_group_updates() -> tuple[str, ...]:
    """Return the fields of group updates that contain an ACI or a PNI."""
    update = next(message for message in tables.MESSAGES if message.name == "Update")
    inside = [field.message_type for field in update.fields if field.message_type is not None]
    inside += [
        field.message_type for message in inside for field in message.fields if field.message_type is not None
    ]
    return tuple(
        name_of(field)
        for message in inside
        for field in message.fields
        if field.name.endswith(("Aci", "Pni")) or field.name == "aci"
    )


GROUP_IDS: Final = ids_in_group_updates()
ACCESS: Final = (
    "GroupMembershipAccessLevelChangeUpdate.accessLevel",
    "GroupAttributesAccessLevelChangeUpdate.accessLevel",
    "GroupMemberLabelAccessLevelChangeUpdate.accessLevel",
)
COUNTS: Final = (
    "GroupUnknownInviteeUpdate.inviteeCount",
    "GroupV2MigrationInvitedMembersUpdate.invitedMembersCount",
    "GroupV2MigrationDroppedMembersUpdate.droppedMembersCount",
    "GroupSequenceOfRequestsAndCancelsUpdate.count",
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "group-change.updates.present",
        "The change of a group holds no update.",
        "Write what changed, or leave the message out.",
        "spec 2, spec 8, contract 5.10",
        Breach.FORMAT,
        required("GroupChangeChatUpdate.updates"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "group-update.set",
        "The group update is empty or of an unknown type.",
        "Write what changed, or that something did.",
        "spec 2, spec 7, contract 5.10",
        Breach.DEFAULTED,
        one_of_fields("GroupChangeChatUpdate.Update.update"),
        importer="An importer says that the group was changed.",
        repairs=(put("The group was changed in some way.", genericGroupUpdate=EMPTY),),
    ),
    rule(
        "group-update.id.length",
        "The id of somebody in the update does not have 16 bytes.",
        "Write the 16 bytes of the UUID; leave out an optional one that is unknown.",
        "contract 1.5, contract 5.10",
        Breach.FORMAT,
        length(UUID_SIZE, *GROUP_IDS),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group-update.invitee.id",
        "The id of who was invited is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.10",
        Breach.FORMAT,
        service_id("SelfInvitedOtherUserToGroupUpdate.inviteeServiceId", pni=True),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group-update.count.zero",
        "The number of people, or of requests, is 0.",
        "Write how many there were, or leave the update out.",
        "contract 5.10",
        Breach.CARE,
        required(*COUNTS),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group-update.revoked.present",
        "Invitations were revoked, but it does not say whose.",
        "Write whose, with empty entries where that is unknown.",
        "contract 5.10",
        Breach.CARE,
        required("GroupInvitationRevokedUpdate.invitees"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group-update.access.level",
        "The new level of access is not known, or cannot be chosen.",
        "Write anybody, members or administrators.",
        "spec 2, contract 5.10",
        Breach.DEFAULTED,
        among({ANY, MEMBER, ADMINISTRATOR}, *ACCESS),
        importer="An importer treats it as nobody.",
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group-update.inviter.invitation",
        "Somebody invited the new member, although there was no invitation.",
        "Leave the inviter out, or write that there was one.",
        "spec 2, contract 5.10",
        Breach.CARE,
        fields=("GroupMemberAddedUpdate.inviterAci", "GroupMemberAddedUpdate.hadOpenInvitation"),
        repairs=(discard("Who invited the member is left out."),),
    ),
)

if not cython.compiled:
    HAD_INVITATION = field("GroupMemberAddedUpdate.hadOpenInvitation")
    INVITER = field("GroupMemberAddedUpdate.inviterAci")
    INVITER_INVITATION = number_of_rule("group-update.inviter.invitation")


def check_member_added(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a new member has an inviter only if there was an invitation."""
    if context.has(depth, INVITER) and not context.holds(depth, HAD_INVITATION):
        context.report_field(INVITER_INVITATION, depth, INVITER)


if not cython.compiled:
    CHECKS = {
        "GroupMemberAddedUpdate": check_member_added,
    }
