"""One readable sentence for everything that happens in a chat besides messages: the table to translate.

A sentence is found by its key, and `{names}` in it are filled in. Where a sentence depends on who did it, the key
ends in `.you` (the owner of the account did it), `.who` (somebody with a name) or nothing (nobody knows). Counts
have `.one` and `.many`.
"""

from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["SENTENCES", "duration", "sentence"]

SENTENCES: Final[Mapping[str, str]] = {
    # Simple updates; {who} is whom the update is about.
    "simpleUpdate.JOINED_SERVICE": "{who} joined.",
    "simpleUpdate.IDENTITY_UPDATE": "The safety number with {who} has changed.",
    "simpleUpdate.IDENTITY_VERIFIED": "You marked the safety number with {who} as verified.",
    "simpleUpdate.IDENTITY_DEFAULT": "You marked the safety number with {who} as not verified.",
    "simpleUpdate.CHANGE_NUMBER": "{who} has a new phone number.",
    "simpleUpdate.RELEASE_CHANNEL_DONATION_REQUEST": "You were asked for a donation.",
    "simpleUpdate.END_SESSION": "The secure session was reset.",
    "simpleUpdate.CHAT_SESSION_REFRESH": "The chat session was refreshed.",
    "simpleUpdate.BAD_DECRYPT": "A message from {who} could not be decrypted.",
    "simpleUpdate.PAYMENTS_ACTIVATED": "{who} can now receive payments.",
    "simpleUpdate.PAYMENTS_ACTIVATED.you": "You can now receive payments.",
    "simpleUpdate.PAYMENT_ACTIVATION_REQUEST": "{who} asked you to turn on payments.",
    "simpleUpdate.PAYMENT_ACTIVATION_REQUEST.you": "You asked to turn on payments.",
    "simpleUpdate.UNSUPPORTED_PROTOCOL_MESSAGE": "{who} sent a message that a newer version of the app can show.",
    "simpleUpdate.REPORTED_SPAM": "You reported this chat as spam.",
    "simpleUpdate.BLOCKED": "You blocked this chat.",
    "simpleUpdate.UNBLOCKED": "You unblocked this chat.",
    "simpleUpdate.MESSAGE_REQUEST_ACCEPTED": "You accepted the message request.",
    # Updates of one-to-one chats.
    "expirationTimerChange.you": "You set messages to disappear after {time}.",
    "expirationTimerChange": "{who} set messages to disappear after {time}.",
    "expirationTimerChange.off.you": "You turned off disappearing messages.",
    "expirationTimerChange.off": "{who} turned off disappearing messages.",
    "profileChange": "{who} changed their profile name from {before} to {after}.",
    "learnedProfileChange": "You started this chat with {before}.",
    "learnedProfileChange.unknown": "You now see who this chat is with: {who}.",
    "threadMerge": "Your messages with {who} and with their number {number} were put together.",
    "threadMerge.unknown": "Your messages with {who} and with another chat of theirs were put together.",
    "sessionSwitchover": "Messages to {who} now go to their account of the number {number}.",
    "sessionSwitchover.unknown": "Messages to {who} now go to another account of theirs.",
    "pollTerminate.you": "You ended the poll “{question}”.",
    "pollTerminate": "{who} ended the poll “{question}”.",
    "pinMessage.you": "You pinned a message of {author}.",
    "pinMessage": "{who} pinned a message of {author}.",
    # Calls; {call} is "voice call" or "video call".
    "call.AUDIO_CALL": "voice call",
    "call.VIDEO_CALL": "video call",
    "individualCall.INCOMING.ACCEPTED": "{who} called you: {call}.",
    "individualCall.INCOMING.NOT_ACCEPTED": "You declined a {call} from {who}.",
    "individualCall.INCOMING.MISSED": "You missed a {call} from {who}.",
    "individualCall.INCOMING.MISSED_NOTIFICATION_PROFILE": (
        "You missed a {call} from {who} while notifications were off."
    ),
    "individualCall.OUTGOING.ACCEPTED": "You called: {call}.",
    "individualCall.OUTGOING.NOT_ACCEPTED": "You called, and nobody answered the {call}.",
    "individualCall.OUTGOING.MISSED": "You called, and the {call} was missed.",
    "individualCall.OUTGOING.MISSED_NOTIFICATION_PROFILE": "You called, and the {call} was missed.",
    "groupCall.GENERIC": "There was a group call.",
    "groupCall.GENERIC.who": "{starter} started a group call.",
    "groupCall.GENERIC.you": "You started a group call.",
    "groupCall.JOINED": "You joined a group call.",
    "groupCall.JOINED.who": "You joined a group call that {starter} started.",
    "groupCall.JOINED.you": "You started a group call and joined it.",
    "groupCall.RINGING": "A group call is ringing.",
    "groupCall.RINGING.who": "{ringer} is calling the group.",
    "groupCall.RINGING.you": "You are calling the group.",
    "groupCall.ACCEPTED": "You took a group call.",
    "groupCall.ACCEPTED.who": "You took a group call from {ringer}.",
    "groupCall.ACCEPTED.you": "You took part in your group call.",
    "groupCall.DECLINED": "You declined a group call.",
    "groupCall.DECLINED.who": "You declined a group call from {ringer}.",
    "groupCall.DECLINED.you": "Your group call was declined.",
    "groupCall.MISSED": "You missed a group call.",
    "groupCall.MISSED.who": "You missed a group call from {ringer}.",
    "groupCall.MISSED.you": "Your group call was missed.",
    "groupCall.MISSED_NOTIFICATION_PROFILE": "You missed a group call while notifications were off.",
    "groupCall.MISSED_NOTIFICATION_PROFILE.who": (
        "You missed a group call from {ringer} while notifications were off."
    ),
    "groupCall.MISSED_NOTIFICATION_PROFILE.you": "Your group call was missed.",
    "groupCall.OUTGOING_RING": "You called the group.",
    "groupCall.OUTGOING_RING.who": "You called the group.",
    "groupCall.OUTGOING_RING.you": "You called the group.",
    # Changes of a group.
    "genericGroupUpdate": "The group was changed.",
    "genericGroupUpdate.you": "You changed the group.",
    "genericGroupUpdate.who": "{who} changed the group.",
    "groupCreationUpdate": "The group was created.",
    "groupCreationUpdate.you": "You created the group.",
    "groupCreationUpdate.who": "{who} created the group.",
    "groupNameUpdate": "The group is now called “{name}”.",
    "groupNameUpdate.you": "You named the group “{name}”.",
    "groupNameUpdate.who": "{who} named the group “{name}”.",
    "groupNameUpdate.removed": "The name of the group was removed.",
    "groupNameUpdate.removed.you": "You removed the name of the group.",
    "groupNameUpdate.removed.who": "{who} removed the name of the group.",
    "groupAvatarUpdate": "The group has a new picture.",
    "groupAvatarUpdate.you": "You changed the picture of the group.",
    "groupAvatarUpdate.who": "{who} changed the picture of the group.",
    "groupAvatarUpdate.removed": "The picture of the group was removed.",
    "groupAvatarUpdate.removed.you": "You removed the picture of the group.",
    "groupAvatarUpdate.removed.who": "{who} removed the picture of the group.",
    "groupDescriptionUpdate": "The description of the group is now “{text}”.",
    "groupDescriptionUpdate.you": "You changed the description of the group to “{text}”.",
    "groupDescriptionUpdate.who": "{who} changed the description of the group to “{text}”.",
    "groupDescriptionUpdate.removed": "The description of the group was removed.",
    "groupDescriptionUpdate.removed.you": "You removed the description of the group.",
    "groupDescriptionUpdate.removed.who": "{who} removed the description of the group.",
    "level.ANY": "anybody",
    "level.MEMBER": "all members",
    "level.ADMINISTRATOR": "only admins",
    "level.UNSATISFIABLE": "nobody",
    "groupMembershipAccessLevelChangeUpdate": "Now {level} may change who is in the group.",
    "groupMembershipAccessLevelChangeUpdate.you": "You let {level} change who is in the group.",
    "groupMembershipAccessLevelChangeUpdate.who": "{who} let {level} change who is in the group.",
    "groupAttributesAccessLevelChangeUpdate": "Now {level} may change the name and picture of the group.",
    "groupAttributesAccessLevelChangeUpdate.you": "You let {level} change the name and picture of the group.",
    "groupAttributesAccessLevelChangeUpdate.who": "{who} let {level} change the name and picture of the group.",
    "groupMemberLabelAccessLevelChangeUpdate": "Now {level} may set labels of members.",
    "groupMemberLabelAccessLevelChangeUpdate.you": "You let {level} set labels of members.",
    "groupMemberLabelAccessLevelChangeUpdate.who": "{who} let {level} set labels of members.",
    "groupAnnouncementOnlyChangeUpdate.on": "Now only admins may write in the group.",
    "groupAnnouncementOnlyChangeUpdate.on.you": "You let only admins write in the group.",
    "groupAnnouncementOnlyChangeUpdate.on.who": "{who} let only admins write in the group.",
    "groupAnnouncementOnlyChangeUpdate.off": "Now all members may write in the group.",
    "groupAnnouncementOnlyChangeUpdate.off.you": "You let all members write in the group.",
    "groupAnnouncementOnlyChangeUpdate.off.who": "{who} let all members write in the group.",
    "groupAdminStatusUpdate.on": "{member} is now an admin.",
    "groupAdminStatusUpdate.on.you": "You made {member} an admin.",
    "groupAdminStatusUpdate.on.who": "{who} made {member} an admin.",
    "groupAdminStatusUpdate.off": "{member} is no longer an admin.",
    "groupAdminStatusUpdate.off.you": "You removed {member} as an admin.",
    "groupAdminStatusUpdate.off.who": "{who} removed {member} as an admin.",
    "groupMemberLeftUpdate": "{member} left the group.",
    "groupMemberRemovedUpdate": "{member} was removed from the group.",
    "groupMemberRemovedUpdate.you": "You removed {member} from the group.",
    "groupMemberRemovedUpdate.who": "{who} removed {member} from the group.",
    "selfInvitedToGroupUpdate": "You were invited to the group.",
    "selfInvitedToGroupUpdate.you": "You invited yourself to the group.",
    "selfInvitedToGroupUpdate.who": "{who} invited you to the group.",
    "selfInvitedOtherUserToGroupUpdate": "You invited {member} to the group.",
    "groupUnknownInviteeUpdate.one": "Somebody was invited to the group.",
    "groupUnknownInviteeUpdate.one.you": "You invited somebody to the group.",
    "groupUnknownInviteeUpdate.one.who": "{who} invited somebody to the group.",
    "groupUnknownInviteeUpdate.many": "{count} people were invited to the group.",
    "groupUnknownInviteeUpdate.many.you": "You invited {count} people to the group.",
    "groupUnknownInviteeUpdate.many.who": "{who} invited {count} people to the group.",
    "groupInvitationAcceptedUpdate": "{member} accepted an invitation to the group.",
    "groupInvitationAcceptedUpdate.you": "{member} accepted your invitation to the group.",
    "groupInvitationAcceptedUpdate.who": "{member} accepted an invitation of {who} to the group.",
    "groupInvitationDeclinedUpdate": "{member} declined an invitation to the group.",
    "groupInvitationDeclinedUpdate.you": "{member} declined your invitation to the group.",
    "groupInvitationDeclinedUpdate.who": "{member} declined an invitation of {who} to the group.",
    "groupMemberJoinedUpdate": "{member} joined the group.",
    "groupMemberAddedUpdate": "{member} was added to the group.",
    "groupMemberAddedUpdate.you": "You added {member} to the group.",
    "groupMemberAddedUpdate.who": "{who} added {member} to the group.",
    "groupMemberAddedUpdate.invited": "{member}, who was invited, was added to the group.",
    "groupMemberAddedUpdate.invited.you": "You added {member}, who was invited, to the group.",
    "groupMemberAddedUpdate.invited.who": "{who} added {member}, who was invited, to the group.",
    "groupSelfInvitationRevokedUpdate": "Your invitation to the group was taken back.",
    "groupSelfInvitationRevokedUpdate.you": "You took back your own invitation to the group.",
    "groupSelfInvitationRevokedUpdate.who": "{who} took back your invitation to the group.",
    "groupInvitationRevokedUpdate.one": "The invitation of {member} to the group was taken back.",
    "groupInvitationRevokedUpdate.one.you": "You took back the invitation of {member} to the group.",
    "groupInvitationRevokedUpdate.one.who": "{who} took back the invitation of {member} to the group.",
    "groupInvitationRevokedUpdate.many": "{count} invitations to the group were taken back.",
    "groupInvitationRevokedUpdate.many.you": "You took back {count} invitations to the group.",
    "groupInvitationRevokedUpdate.many.who": "{who} took back {count} invitations to the group.",
    "groupJoinRequestUpdate": "{member} asked to join the group.",
    "groupJoinRequestApprovalUpdate.on": "{member} was let into the group.",
    "groupJoinRequestApprovalUpdate.on.you": "You let {member} into the group.",
    "groupJoinRequestApprovalUpdate.on.who": "{who} let {member} into the group.",
    "groupJoinRequestApprovalUpdate.off": "{member} was not let into the group.",
    "groupJoinRequestApprovalUpdate.off.you": "You did not let {member} into the group.",
    "groupJoinRequestApprovalUpdate.off.who": "{who} did not let {member} into the group.",
    "groupJoinRequestCanceledUpdate": "{member} no longer asks to join the group.",
    "groupInviteLinkResetUpdate": "The link to the group was renewed.",
    "groupInviteLinkResetUpdate.you": "You renewed the link to the group.",
    "groupInviteLinkResetUpdate.who": "{who} renewed the link to the group.",
    "groupInviteLinkEnabledUpdate.on": "There is now a link to the group; admins decide who joins by it.",
    "groupInviteLinkEnabledUpdate.on.you": "You made a link to the group; admins decide who joins by it.",
    "groupInviteLinkEnabledUpdate.on.who": "{who} made a link to the group; admins decide who joins by it.",
    "groupInviteLinkEnabledUpdate.off": "There is now a link to the group that anybody may join by.",
    "groupInviteLinkEnabledUpdate.off.you": "You made a link to the group that anybody may join by.",
    "groupInviteLinkEnabledUpdate.off.who": "{who} made a link to the group that anybody may join by.",
    "groupInviteLinkAdminApprovalUpdate.on": "Admins now decide who joins by the link to the group.",
    "groupInviteLinkAdminApprovalUpdate.on.you": "You let admins decide who joins by the link to the group.",
    "groupInviteLinkAdminApprovalUpdate.on.who": "{who} let admins decide who joins by the link to the group.",
    "groupInviteLinkAdminApprovalUpdate.off": "Anybody may now join by the link to the group.",
    "groupInviteLinkAdminApprovalUpdate.off.you": "You let anybody join by the link to the group.",
    "groupInviteLinkAdminApprovalUpdate.off.who": "{who} let anybody join by the link to the group.",
    "groupInviteLinkDisabledUpdate": "The link to the group was turned off.",
    "groupInviteLinkDisabledUpdate.you": "You turned off the link to the group.",
    "groupInviteLinkDisabledUpdate.who": "{who} turned off the link to the group.",
    "groupMemberJoinedByLinkUpdate": "{member} joined by the link to the group.",
    "groupV2MigrationUpdate": "The group became a new kind of group.",
    "groupV2MigrationSelfInvitedUpdate": "The group became a new kind of group, and you were invited to it.",
    "groupV2MigrationInvitedMembersUpdate.one": "A member was invited to the new kind of group.",
    "groupV2MigrationInvitedMembersUpdate.many": "{count} members were invited to the new kind of group.",
    "groupV2MigrationDroppedMembersUpdate.one": "A member could not be taken into the new kind of group.",
    "groupV2MigrationDroppedMembersUpdate.many": "{count} members could not be taken into the new kind of group.",
    "groupSequenceOfRequestsAndCancelsUpdate.one": "{member} asked to join the group and took it back.",
    "groupSequenceOfRequestsAndCancelsUpdate.many": (
        "{member} asked to join the group and took it back {count} times."
    ),
    "groupExpirationTimerUpdate": "Messages now disappear after {time}.",
    "groupExpirationTimerUpdate.you": "You set messages to disappear after {time}.",
    "groupExpirationTimerUpdate.who": "{who} set messages to disappear after {time}.",
    "groupExpirationTimerUpdate.off": "Messages no longer disappear.",
    "groupExpirationTimerUpdate.off.you": "You turned off disappearing messages.",
    "groupExpirationTimerUpdate.off.who": "{who} turned off disappearing messages.",
    "groupTerminateChangeUpdate": "The group was ended.",
    "groupTerminateChangeUpdate.you": "You ended the group.",
    "groupTerminateChangeUpdate.who": "{who} ended the group.",
    # Messages that are more than their text.
    "deleted": "{who} deleted this message.",
    "deleted.you": "You deleted this message.",
    "deletedByAdmin": "{admin} deleted a message of {who}.",
    "deletedByAdmin.you": "{admin} deleted a message of yours.",
    "payment.SUCCESSFUL": "{who} sent {amount}.",
    "payment.SUCCESSFUL.you": "You sent {amount}.",
    "payment.INITIAL": "{who} is about to send {amount}.",
    "payment.INITIAL.you": "You are about to send {amount}.",
    "payment.SUBMITTED": "{who} is sending {amount}.",
    "payment.SUBMITTED.you": "You are sending {amount}.",
    "payment.FAILED": "{who} could not send {amount}.",
    "payment.FAILED.you": "You could not send {amount}.",
    "payment.money": "a payment",
    "giftBadge.UNOPENED": "{who} made a donation in your name.",
    "giftBadge.OPENED": "{who} made a donation in your name.",
    "giftBadge.REDEEMED": "{who} made a donation in your name, and you took the badge.",
    "giftBadge.FAILED": "{who} made a donation in your name, but the badge could not be taken.",
    "giftBadge.UNOPENED.you": "You made a donation in the name of {other}.",
    "giftBadge.OPENED.you": "You made a donation in the name of {other}.",
    "giftBadge.REDEEMED.you": "You made a donation in the name of {other}.",
    "giftBadge.FAILED.you": "You made a donation in the name of {other}.",
    "sticker": "Sticker {emoji}",
    "viewOnce": "Media that could be viewed once.",
    "contactCard": "Contact: {name}",
    "time.week": "{n} week",
    "time.weeks": "{n} weeks",
    "time.day": "{n} day",
    "time.days": "{n} days",
    "time.hour": "{n} hour",
    "time.hours": "{n} hours",
    "time.minute": "{n} minute",
    "time.minutes": "{n} minutes",
    "time.second": "{n} second",
    "time.seconds": "{n} seconds",
    "you": "You",
    "you.inside": "you",
    "somebody": "Somebody",
    "somebody.inside": "somebody",
}

UNITS: Final = (
    ("week", 604_800_000),
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
)
# The field that names who did it, where it is not `updaterAci`.
DOERS: Final = {
    "groupMemberRemovedUpdate": "removerAci",
    "selfInvitedToGroupUpdate": "inviterAci",
    "groupUnknownInviteeUpdate": "inviterAci",
    "groupInvitationAcceptedUpdate": "inviterAci",
    "groupInvitationDeclinedUpdate": "inviterAci",
    "groupSelfInvitationRevokedUpdate": "revokerAci",
}
MEMBERS: Final = (
    "memberAci",
    "aci",
    "removedAci",
    "inviteeServiceId",
    "newMemberAci",
    "inviteeAci",
    "requestorAci",
)
SWITCHES: Final = {
    "groupAnnouncementOnlyChangeUpdate": "isAnnouncementOnly",
    "groupAdminStatusUpdate": "wasAdminStatusGranted",
    "groupJoinRequestApprovalUpdate": "wasApproved",
    "groupInviteLinkEnabledUpdate": "linkRequiresAdminApproval",
    "groupInviteLinkAdminApprovalUpdate": "linkRequiresAdminApproval",
}
COUNTS: Final = {
    "groupUnknownInviteeUpdate": "inviteeCount",
    "groupV2MigrationInvitedMembersUpdate": "invitedMembersCount",
    "groupV2MigrationDroppedMembersUpdate": "droppedMembersCount",
    "groupSequenceOfRequestsAndCancelsUpdate": "count",
}

# Names whoever a service id or an id of the archive belongs to: empty for the owner, None for nobody known.
Namer = Callable[[object], str | None]


def duration(milliseconds: int, table: Mapping[str, str] = SENTENCES) -> str:
    """Say how long a time is, in the largest unit that fits evenly."""
    for unit, size in UNITS:
        if milliseconds >= size and milliseconds % size == 0:
            n = milliseconds // size
            return table[f"time.{unit}" if n == 1 else f"time.{unit}s"].format(n=n)
    seconds = max(1, milliseconds // 1000)
    return table["time.second" if seconds == 1 else "time.seconds"].format(n=seconds)


def sentence(
    kind: str, details: Mapping[str, object], author: object, name: Namer, table: Mapping[str, str] = SENTENCES
) -> str:
    """Say in one sentence what happened; `author` is who the message is from."""
    filled = Filled(details, author, name, table)
    return filled.say(kind)


class Filled:
    """Fills one sentence."""

    def __init__(
        self, details: Mapping[str, object], author: object, name: Namer, table: Mapping[str, str]
    ) -> None:
        self.details = details
        self.author = author
        self.name = name
        self.table = table

    def called(self, whom: object, *, first: bool) -> str:
        """Name somebody, at the beginning of a sentence or inside it."""
        name = None if whom is None or whom == "" else self.name(whom)
        key = "you" if name == "" else "somebody"
        return name or self.table[key if first else f"{key}.inside"]

    def by(self, key: str, doer: object, **values: object) -> str:
        """Choose the sentence by who did it."""
        name = None if doer is None or doer == "" else self.name(doer)
        end = "" if name is None else ".you" if name == "" else ".who"
        template = self.table.get(key + end) or self.table[key]
        values.setdefault("who", self.called(doer, first=template.startswith("{who}")))
        values.setdefault("member", self.called(self.member(), first=template.startswith("{member}")))
        return spoken(template.format(**values), template, values)

    def member(self) -> object:
        """Find whom a change of a group is about."""
        return next((self.details[field] for field in MEMBERS if self.details.get(field)), None)

    def number(self, field: str) -> int:
        """Read a number."""
        value = self.details.get(field, 0)
        return value if isinstance(value, int) else 0

    def say(self, kind: str) -> str:
        """Say it."""
        special = getattr(self, f"say_{kind}", None)
        if special is not None:
            return str(special())
        if kind.startswith("simpleUpdate."):
            return self.by(kind, self.author) if kind in self.table else self.table["genericGroupUpdate"]
        key, values = kind, dict[str, object]()
        if kind in SWITCHES:
            key += ".on" if self.details.get(SWITCHES[kind]) else ".off"
        elif kind in COUNTS:
            values["count"] = self.number(COUNTS[kind])
            key += ".one" if values["count"] == 1 else ".many"
        elif "accessLevel" in self.details:
            values["level"] = self.table.get(
                f"level.{self.details['accessLevel']}", self.table["level.UNSATISFIABLE"]
            )
        if key not in self.table:
            key = "genericGroupUpdate"
        return self.by(key, self.details.get(DOERS.get(kind, "updaterAci")), **values)

    def say_groupNameUpdate(self) -> str:  # noqa: N802  # named after the field
        """Say how a group is called now."""
        name = self.details.get("newGroupName")
        key = "groupNameUpdate" if name else "groupNameUpdate.removed"
        return self.by(key, self.details.get("updaterAci"), name=name)

    def say_groupDescriptionUpdate(self) -> str:  # noqa: N802
        """Say how a group is described now."""
        text = self.details.get("newDescription")
        key = "groupDescriptionUpdate" if text else "groupDescriptionUpdate.removed"
        return self.by(key, self.details.get("updaterAci"), text=text)

    def say_groupAvatarUpdate(self) -> str:  # noqa: N802
        """Say what became of the picture."""
        key = "groupAvatarUpdate.removed" if self.details.get("wasRemoved") else "groupAvatarUpdate"
        return self.by(key, self.details.get("updaterAci"))

    def say_groupMemberAddedUpdate(self) -> str:  # noqa: N802
        """Say who was added."""
        invited = self.details.get("hadOpenInvitation")
        return self.by(
            "groupMemberAddedUpdate.invited" if invited else "groupMemberAddedUpdate",
            self.details.get("updaterAci"),
        )

    def say_groupInvitationRevokedUpdate(self) -> str:  # noqa: N802
        """Say whose invitation was taken back."""
        invitees = self.details.get("invitees")
        people = invitees if isinstance(invitees, list) else []
        doer = self.details.get("updaterAci")
        if len(people) == 1:
            pni = people[0].get("inviteePni")
            whom = people[0].get("inviteeAci") or (f"PNI:{pni}" if pni else None)
            member = self.called(whom, first=False)
            return self.by("groupInvitationRevokedUpdate.one", doer, member=member)
        return self.by("groupInvitationRevokedUpdate.many", doer, count=len(people))

    def say_groupExpirationTimerUpdate(self) -> str:  # noqa: N802
        """Say how long messages stay in a group."""
        return self.timer("groupExpirationTimerUpdate", self.details.get("updaterAci"))

    def say_expirationTimerChange(self) -> str:  # noqa: N802
        """Say how long messages stay."""
        return self.timer("expirationTimerChange", self.author)

    def timer(self, key: str, doer: object) -> str:
        """Say how long messages stay, and who decided it."""
        time = self.number("expiresInMs")
        if not time:
            return self.by(f"{key}.off", doer)
        return self.by(key, doer, time=duration(time, self.table))

    def say_profileChange(self) -> str:  # noqa: N802
        """Say how somebody is called now."""
        before, after = self.details.get("previousName"), self.details.get("newName")
        return self.by("profileChange", self.author, before=before, after=after)

    def say_learnedProfileChange(self) -> str:  # noqa: N802
        """Say who somebody was before the name was known."""
        number = self.number("e164")
        before = f"+{number}" if number else self.details.get("username")
        return self.by(
            "learnedProfileChange" if before else "learnedProfileChange.unknown", self.author, before=before
        )

    def say_threadMerge(self) -> str:  # noqa: N802
        """Say that two chats became one."""
        return self.numbered("threadMerge", "previousE164")

    def say_sessionSwitchover(self) -> str:  # noqa: N802
        """Say that messages go elsewhere."""
        return self.numbered("sessionSwitchover", "e164")

    def numbered(self, key: str, field: str) -> str:
        """Say something about a phone number, which may be missing."""
        number = self.number(field)
        return self.by(key if number else f"{key}.unknown", self.author, number=f"+{number}")

    def say_pollTerminate(self) -> str:  # noqa: N802
        """Say which poll was ended."""
        return self.by("pollTerminate", self.author, question=self.details.get("question"))

    def say_pinMessage(self) -> str:  # noqa: N802
        """Say whose message was pinned."""
        author = self.called(self.details.get("authorId"), first=False)
        return self.by("pinMessage", self.author, author=author)

    def say_individualCall(self) -> str:  # noqa: N802
        """Say how a call went."""
        call = self.table[f"call.{self.details.get('type') or 'AUDIO_CALL'}"]
        direction, state = self.details.get("direction") or "INCOMING", self.details.get("state") or "ACCEPTED"
        return self.by(f"individualCall.{direction}.{state}", self.author, call=call)

    def say_groupCall(self) -> str:  # noqa: N802
        """Say how a call of the group went."""
        state = self.details.get("state") or "GENERIC"
        starter, ringer = self.details.get("startedCallRecipientId"), self.details.get("ringerRecipientId")
        doer = starter if state in {"GENERIC", "JOINED"} else ringer
        key = f"groupCall.{state}"
        template = self.table[key]
        return self.by(
            key,
            doer,
            starter=self.called(starter, first=not template.startswith("You")),
            ringer=self.called(ringer, first=not template.startswith("You")),
        )


def spoken(text: str, template: str, values: Mapping[str, object]) -> str:
    """Put right what a sentence about the owner gets wrong in English: You is, You has, You was."""
    start = next((name for name in ("{who}", "{member}") if template.startswith(name)), None)
    if start is None or values.get(start.strip("{}")) != "You":
        return text
    for wrong, right in (("You is ", "You are "), ("You was ", "You were "), ("You has ", "You have ")):
        text = text.replace(wrong, right, 1) if text.startswith(wrong) else text
    return text.replace("their profile name", "your profile name").replace("no longer asks", "no longer ask")
