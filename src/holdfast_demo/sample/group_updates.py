"""Group updates: members, invitations, permissions."""

from collections.abc import Callable

from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast_demo.sample.item_context import By, Fill, ItemContext
from holdfast_demo.sample.people import DAY, SamplePerson

__all__ = ["GROUP_UPDATES", "LATER_GROUP_UPDATES", "group_change"]

Update = pb.GroupChangeChatUpdate.Update
MakeUpdate = Callable[[ItemContext], Update]


def outsider(context: ItemContext) -> SamplePerson:
    """Return a person who is not in the group."""
    return context.rng.pick(context.sample.outsiders)


def invitee(context: ItemContext) -> SamplePerson:
    """Return a person who was invited by phone number."""
    return context.rng.pick(context.sample.invitees)


def group_change(*make_updates: MakeUpdate) -> Fill:
    """Return a function that adds an update with one or more changes."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        item.directionless.SetInParent()
        item.updateMessage.groupChange.updates.extend(made(context) for made in make_updates)

    return fill


def invitations_revoked(context: ItemContext) -> Update:
    """Return the revocation of invitations of a person, of a phone number, and of an unknown person."""
    inviter = context.other_participant().aci
    body = pb.GroupInvitationRevokedUpdate(updaterAci=context.author.aci)
    body.invitees.add(inviterAci=inviter, inviteeAci=outsider(context).aci)
    body.invitees.add(inviterAci=inviter, inviteePni=invitee(context).pni)
    body.invitees.add()
    return Update(groupInvitationRevokedUpdate=body)


# Every update of the specification by field number, with its author.
GROUP_UPDATES: tuple[tuple[By, MakeUpdate], ...] = (
    ("other", lambda context: Update(genericGroupUpdate=pb.GenericGroupUpdate(updaterAci=context.author.aci))),
    ("other", lambda context: Update(groupCreationUpdate=pb.GroupCreationUpdate(updaterAci=context.author.aci))),
    (
        "anyone",
        lambda context: Update(
            groupNameUpdate=pb.GroupNameUpdate(updaterAci=context.author.aci, newGroupName=context.chat.title)
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupAvatarUpdate=pb.GroupAvatarUpdate(updaterAci=context.author.aci, wasRemoved=True)
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupDescriptionUpdate=pb.GroupDescriptionUpdate(
                updaterAci=context.author.aci, newDescription=context.next_text()
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupMembershipAccessLevelChangeUpdate=pb.GroupMembershipAccessLevelChangeUpdate(
                updaterAci=context.author.aci, accessLevel=pb.GroupV2AccessLevel.ADMINISTRATOR
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupAttributesAccessLevelChangeUpdate=pb.GroupAttributesAccessLevelChangeUpdate(
                updaterAci=context.author.aci, accessLevel=pb.GroupV2AccessLevel.MEMBER
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupAnnouncementOnlyChangeUpdate=pb.GroupAnnouncementOnlyChangeUpdate(
                updaterAci=context.author.aci, isAnnouncementOnly=True
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupAdminStatusUpdate=pb.GroupAdminStatusUpdate(
                updaterAci=context.author.aci,
                memberAci=context.other_participant().aci,
                wasAdminStatusGranted=True,
            )
        ),
    ),
    ("other", lambda context: Update(groupMemberLeftUpdate=pb.GroupMemberLeftUpdate(aci=context.author.aci))),
    (
        "me",
        lambda context: Update(
            groupMemberRemovedUpdate=pb.GroupMemberRemovedUpdate(
                removerAci=context.author.aci, removedAci=context.other_participant().aci
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            selfInvitedToGroupUpdate=pb.SelfInvitedToGroupUpdate(inviterAci=context.author.aci)
        ),
    ),
    (
        "me",
        lambda context: Update(
            selfInvitedOtherUserToGroupUpdate=pb.SelfInvitedOtherUserToGroupUpdate(
                inviteeServiceId=b"\x01" + invitee(context).pni
            )
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupUnknownInviteeUpdate=pb.GroupUnknownInviteeUpdate(
                inviterAci=context.author.aci, inviteeCount=context.rng.between(1, 4)
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupInvitationAcceptedUpdate=pb.GroupInvitationAcceptedUpdate(
                inviterAci=context.sample.me.aci, newMemberAci=context.author.aci
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupInvitationDeclinedUpdate=pb.GroupInvitationDeclinedUpdate(
                inviterAci=context.author.aci, inviteeAci=outsider(context).aci
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupMemberJoinedUpdate=pb.GroupMemberJoinedUpdate(newMemberAci=context.author.aci)
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupMemberAddedUpdate=pb.GroupMemberAddedUpdate(
                updaterAci=context.author.aci,
                newMemberAci=context.other_participant().aci,
                hadOpenInvitation=True,
                inviterAci=context.author.aci,
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupSelfInvitationRevokedUpdate=pb.GroupSelfInvitationRevokedUpdate(revokerAci=context.author.aci)
        ),
    ),
    ("anyone", invitations_revoked),
    (
        "anyone",
        lambda context: Update(
            groupJoinRequestUpdate=pb.GroupJoinRequestUpdate(requestorAci=outsider(context).aci)
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupJoinRequestApprovalUpdate=pb.GroupJoinRequestApprovalUpdate(
                requestorAci=context.other_participant().aci, updaterAci=context.author.aci, wasApproved=True
            )
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupJoinRequestCanceledUpdate=pb.GroupJoinRequestCanceledUpdate(requestorAci=outsider(context).aci)
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupInviteLinkResetUpdate=pb.GroupInviteLinkResetUpdate(updaterAci=context.author.aci)
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupInviteLinkEnabledUpdate=pb.GroupInviteLinkEnabledUpdate(
                updaterAci=context.author.aci, linkRequiresAdminApproval=True
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupInviteLinkAdminApprovalUpdate=pb.GroupInviteLinkAdminApprovalUpdate(
                updaterAci=context.author.aci, linkRequiresAdminApproval=True
            )
        ),
    ),
    (
        "me",
        lambda context: Update(
            groupInviteLinkDisabledUpdate=pb.GroupInviteLinkDisabledUpdate(updaterAci=context.author.aci)
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupMemberJoinedByLinkUpdate=pb.GroupMemberJoinedByLinkUpdate(newMemberAci=context.author.aci)
        ),
    ),
    ("anyone", lambda _: Update(groupV2MigrationUpdate=pb.GroupV2MigrationUpdate())),
    ("other", lambda _: Update(groupV2MigrationSelfInvitedUpdate=pb.GroupV2MigrationSelfInvitedUpdate())),
    (
        "anyone",
        lambda context: Update(
            groupV2MigrationInvitedMembersUpdate=pb.GroupV2MigrationInvitedMembersUpdate(
                invitedMembersCount=context.rng.between(1, 5)
            )
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupV2MigrationDroppedMembersUpdate=pb.GroupV2MigrationDroppedMembersUpdate(
                droppedMembersCount=context.rng.between(1, 5)
            )
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupSequenceOfRequestsAndCancelsUpdate=pb.GroupSequenceOfRequestsAndCancelsUpdate(
                requestorAci=outsider(context).aci, count=context.rng.between(2, 9)
            )
        ),
    ),
    (
        "anyone",
        lambda context: Update(
            groupExpirationTimerUpdate=pb.GroupExpirationTimerUpdate(
                expiresInMs=context.rng.pick((1, 7, 28)) * DAY, updaterAci=context.author.aci
            )
        ),
    ),
)

# The updates that were added after the specification.
LATER_GROUP_UPDATES: tuple[tuple[By, MakeUpdate], ...] = (
    (
        "me",
        lambda context: Update(
            groupMemberLabelAccessLevelChangeUpdate=pb.GroupMemberLabelAccessLevelChangeUpdate(
                updaterAci=context.author.aci, accessLevel=pb.GroupV2AccessLevel.MEMBER
            )
        ),
    ),
    (
        "other",
        lambda context: Update(
            groupTerminateChangeUpdate=pb.GroupTerminateChangeUpdate(updaterAci=context.author.aci)
        ),
    ),
)
