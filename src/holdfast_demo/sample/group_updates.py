"""What happens to a group: who comes and goes, and who may do what."""

from collections.abc import Callable

from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast_demo.sample.item_context import By, Fill, Moment
from holdfast_demo.sample.people import DAY, SamplePerson

__all__ = ["GROUP_UPDATES", "LATER_GROUP_UPDATES", "change"]

Update = pb.GroupChangeChatUpdate.Update
Change = Callable[[Moment], Update]


def outsider(at: Moment) -> SamplePerson:
    """Somebody who is not in the group."""
    return at.dice.pick(at.stage.outsiders)


def invitee(at: Moment) -> SamplePerson:
    """Somebody who was invited by phone number."""
    return at.dice.pick(at.stage.invitees)


def change(*changes: Change) -> Fill:
    """Note changes that were made at once."""

    def fill(item: ChatItem, at: Moment) -> None:
        item.directionless.SetInParent()
        item.updateMessage.groupChange.updates.extend(made(at) for made in changes)

    return fill


def revoked(at: Moment) -> Update:
    """Take back the invitations of a person, of a phone number, and of somebody unknown."""
    inviter = at.other().aci
    body = pb.GroupInvitationRevokedUpdate(updaterAci=at.author.aci)
    body.invitees.add(inviterAci=inviter, inviteeAci=outsider(at).aci)
    body.invitees.add(inviterAci=inviter, inviteePni=invitee(at).pni)
    body.invitees.add()
    return Update(groupInvitationRevokedUpdate=body)


# Every update of the specification in the order of its field number, and who makes it.
GROUP_UPDATES: tuple[tuple[By, Change], ...] = (
    ("other", lambda at: Update(genericGroupUpdate=pb.GenericGroupUpdate(updaterAci=at.author.aci))),
    ("other", lambda at: Update(groupCreationUpdate=pb.GroupCreationUpdate(updaterAci=at.author.aci))),
    (
        "anyone",
        lambda at: Update(
            groupNameUpdate=pb.GroupNameUpdate(updaterAci=at.author.aci, newGroupName=at.room.title)
        ),
    ),
    (
        "anyone",
        lambda at: Update(groupAvatarUpdate=pb.GroupAvatarUpdate(updaterAci=at.author.aci, wasRemoved=True)),
    ),
    (
        "anyone",
        lambda at: Update(
            groupDescriptionUpdate=pb.GroupDescriptionUpdate(updaterAci=at.author.aci, newDescription=at.say())
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupMembershipAccessLevelChangeUpdate=pb.GroupMembershipAccessLevelChangeUpdate(
                updaterAci=at.author.aci, accessLevel=pb.GroupV2AccessLevel.ADMINISTRATOR
            )
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupAttributesAccessLevelChangeUpdate=pb.GroupAttributesAccessLevelChangeUpdate(
                updaterAci=at.author.aci, accessLevel=pb.GroupV2AccessLevel.MEMBER
            )
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupAnnouncementOnlyChangeUpdate=pb.GroupAnnouncementOnlyChangeUpdate(
                updaterAci=at.author.aci, isAnnouncementOnly=True
            )
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupAdminStatusUpdate=pb.GroupAdminStatusUpdate(
                updaterAci=at.author.aci, memberAci=at.other().aci, wasAdminStatusGranted=True
            )
        ),
    ),
    ("other", lambda at: Update(groupMemberLeftUpdate=pb.GroupMemberLeftUpdate(aci=at.author.aci))),
    (
        "me",
        lambda at: Update(
            groupMemberRemovedUpdate=pb.GroupMemberRemovedUpdate(
                removerAci=at.author.aci, removedAci=at.other().aci
            )
        ),
    ),
    ("other", lambda at: Update(selfInvitedToGroupUpdate=pb.SelfInvitedToGroupUpdate(inviterAci=at.author.aci))),
    (
        "me",
        lambda at: Update(
            selfInvitedOtherUserToGroupUpdate=pb.SelfInvitedOtherUserToGroupUpdate(
                inviteeServiceId=b"\x01" + invitee(at).pni
            )
        ),
    ),
    (
        "anyone",
        lambda at: Update(
            groupUnknownInviteeUpdate=pb.GroupUnknownInviteeUpdate(
                inviterAci=at.author.aci, inviteeCount=at.dice.between(1, 4)
            )
        ),
    ),
    (
        "other",
        lambda at: Update(
            groupInvitationAcceptedUpdate=pb.GroupInvitationAcceptedUpdate(
                inviterAci=at.stage.me.aci, newMemberAci=at.author.aci
            )
        ),
    ),
    (
        "other",
        lambda at: Update(
            groupInvitationDeclinedUpdate=pb.GroupInvitationDeclinedUpdate(
                inviterAci=at.author.aci, inviteeAci=outsider(at).aci
            )
        ),
    ),
    ("other", lambda at: Update(groupMemberJoinedUpdate=pb.GroupMemberJoinedUpdate(newMemberAci=at.author.aci))),
    (
        "me",
        lambda at: Update(
            groupMemberAddedUpdate=pb.GroupMemberAddedUpdate(
                updaterAci=at.author.aci,
                newMemberAci=at.other().aci,
                hadOpenInvitation=True,
                inviterAci=at.author.aci,
            )
        ),
    ),
    (
        "other",
        lambda at: Update(
            groupSelfInvitationRevokedUpdate=pb.GroupSelfInvitationRevokedUpdate(revokerAci=at.author.aci)
        ),
    ),
    ("anyone", revoked),
    (
        "anyone",
        lambda at: Update(groupJoinRequestUpdate=pb.GroupJoinRequestUpdate(requestorAci=outsider(at).aci)),
    ),
    (
        "me",
        lambda at: Update(
            groupJoinRequestApprovalUpdate=pb.GroupJoinRequestApprovalUpdate(
                requestorAci=at.other().aci, updaterAci=at.author.aci, wasApproved=True
            )
        ),
    ),
    (
        "anyone",
        lambda at: Update(
            groupJoinRequestCanceledUpdate=pb.GroupJoinRequestCanceledUpdate(requestorAci=outsider(at).aci)
        ),
    ),
    ("me", lambda at: Update(groupInviteLinkResetUpdate=pb.GroupInviteLinkResetUpdate(updaterAci=at.author.aci))),
    (
        "me",
        lambda at: Update(
            groupInviteLinkEnabledUpdate=pb.GroupInviteLinkEnabledUpdate(
                updaterAci=at.author.aci, linkRequiresAdminApproval=True
            )
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupInviteLinkAdminApprovalUpdate=pb.GroupInviteLinkAdminApprovalUpdate(
                updaterAci=at.author.aci, linkRequiresAdminApproval=True
            )
        ),
    ),
    (
        "me",
        lambda at: Update(
            groupInviteLinkDisabledUpdate=pb.GroupInviteLinkDisabledUpdate(updaterAci=at.author.aci)
        ),
    ),
    (
        "other",
        lambda at: Update(
            groupMemberJoinedByLinkUpdate=pb.GroupMemberJoinedByLinkUpdate(newMemberAci=at.author.aci)
        ),
    ),
    ("anyone", lambda _: Update(groupV2MigrationUpdate=pb.GroupV2MigrationUpdate())),
    ("other", lambda _: Update(groupV2MigrationSelfInvitedUpdate=pb.GroupV2MigrationSelfInvitedUpdate())),
    (
        "anyone",
        lambda at: Update(
            groupV2MigrationInvitedMembersUpdate=pb.GroupV2MigrationInvitedMembersUpdate(
                invitedMembersCount=at.dice.between(1, 5)
            )
        ),
    ),
    (
        "anyone",
        lambda at: Update(
            groupV2MigrationDroppedMembersUpdate=pb.GroupV2MigrationDroppedMembersUpdate(
                droppedMembersCount=at.dice.between(1, 5)
            )
        ),
    ),
    (
        "anyone",
        lambda at: Update(
            groupSequenceOfRequestsAndCancelsUpdate=pb.GroupSequenceOfRequestsAndCancelsUpdate(
                requestorAci=outsider(at).aci, count=at.dice.between(2, 9)
            )
        ),
    ),
    (
        "anyone",
        lambda at: Update(
            groupExpirationTimerUpdate=pb.GroupExpirationTimerUpdate(
                expiresInMs=at.dice.pick((1, 7, 28)) * DAY, updaterAci=at.author.aci
            )
        ),
    ),
)

# The updates that came after the specification.
LATER_GROUP_UPDATES: tuple[tuple[By, Change], ...] = (
    (
        "me",
        lambda at: Update(
            groupMemberLabelAccessLevelChangeUpdate=pb.GroupMemberLabelAccessLevelChangeUpdate(
                updaterAci=at.author.aci, accessLevel=pb.GroupV2AccessLevel.MEMBER
            )
        ),
    ),
    (
        "other",
        lambda at: Update(groupTerminateChangeUpdate=pb.GroupTerminateChangeUpdate(updaterAci=at.author.aci)),
    ),
)
