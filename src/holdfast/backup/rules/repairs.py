"""Which rule is mended how: the one table, by the id of the rule.

A repair is safe when an importer reads the same thing afterwards as before, or when what is left out says nothing
to anybody. Whatever else can be done loses something that nothing can import, and is only done when it is asked
for. A rule that is not in the table cannot be mended: what is missing would have to be invented.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

__all__ = ["LEFT_OUT", "REPAIRS", "WRITTEN_ANEW", "Fix", "How", "first_repair"]


class How(StrEnum):
    """What is done to the field, or the record, that breaks the rule."""

    CLEAR = "clear"  # leave it out
    PUT = "put"  # write a value
    DROP_ELEMENT = "drop-element"  # leave the innermost element of a list out that it stands in
    DROP_RECORD = "drop-record"  # leave the whole frame out, or the earlier revision that it stands in
    MOVE = "move"  # move what is referred to up to where it is needed
    MOVE_FIRST = "move-first"  # move the account to the beginning
    RENUMBER = "renumber"  # give a chat a place among the pinned ones that is free
    REWRITE = "rewrite"  # write the whole backup anew, with all that can be read
    DROP_BYTES = "drop-bytes"  # leave out bytes in which no record can be read


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to mend a finding.

    `words` says what is done. `loses` is set where something is left out that somebody wrote or chose, however
    useless it became. `up` names a message around the field, `down` fields inside the message, that the repair is
    about instead of what the finding is about. `values` are what `PUT` writes, by the name of a field: that of the
    finding itself, one beside it, or, where the finding is about a message, one inside of it.
    """

    how: How
    words: str
    loses: bool = False
    up: str = ""
    down: tuple[str, ...] = ()
    values: Mapping[str, bytes] = field(default_factory=dict)


ON: Final = b"\x01"
EMPTY: Final = b""
# A file of which nothing is known but that it is lost: an empty locator says so.
LOST: Final = b"\x6a\x00"


def clear(words: str, *down: str) -> Fix:
    """Leave out what says nothing."""
    return Fix(How.CLEAR, words, down=down)


def put(words: str, *down: str, **values: bytes | int) -> Fix:
    """Write what importers read in any case; a number is below 128."""
    bodies = {name: bytes((value,)) if isinstance(value, int) else value for name, value in values.items()}
    return Fix(How.PUT, words, down=down, values=bodies)


def lose(words: str, *down: str, up: str = "") -> Fix:
    """Leave out a field that nothing can import, or one in it, or the message around it."""
    return Fix(How.CLEAR, words, loses=True, up=up, down=down)


ELEMENT: Final = Fix(How.DROP_ELEMENT, "The entry is left out of its list.", loses=True)
RECORD: Final = Fix(How.DROP_RECORD, "The record is left out.", loses=True)
MOVE: Final = Fix(How.MOVE, "What it refers to is moved up to before it.")
TWICE: Final = Fix(How.DROP_ELEMENT, "The second of the two is left out.")
COLOR: Final = lose("The colour, which cannot be one, is left out.", up="customChatColors")
UNKNOWN_FILE: Final = Fix(
    How.PUT, "The file, which nobody can find, is said to be lost.", loses=True, values={"locatorInfo": EMPTY}
)

# For each rule the ways to mend it, in the order in which they are tried.
REPAIRS: Final[Mapping[str, tuple[Fix, ...]]] = {
    # the stream
    "frame.readable": (RECORD,),
    "frame.item.set": (RECORD,),
    "account.once": (RECORD,),
    "account.first": (Fix(How.MOVE_FIRST, "The account is moved to the beginning."),),
    "self.once": (RECORD,),
    "release-notes.once": (RECORD,),
    # the account
    "account.username.form": (lose("The user name, which cannot be one, is left out."),),
    "account.username-link.username": (lose("The link, which leads to no name, is left out."),),
    "account.username-link.entropy.length": (
        lose("The link, which cannot be opened, is left out.", up="usernameLink"),
    ),
    "account.username-link.server-id.length": (
        lose("The link, which cannot be opened, is left out.", up="usernameLink"),
    ),
    "account.donation.id.length": (lose("The subscription is left out.", up="donationSubscriberData"),),
    "account.donation.currency": (lose("The subscription is left out.", up="donationSubscriberData"),),
    "account.subscription.id.length": (lose("The subscription is left out.", up="backupsSubscriberData"),),
    "account.subscription.token": (lose("The subscription is left out.", up="backupsSubscriberData"),),
    "account.subscription.purchase": (clear("The subscription, which importers ignore, is left out."),),
    "account.navigation-bar.known": (put("The size is the normal one.", navigationBarSize=1),),
    "settings.number-sharing.known": (put("Nobody may see the number.", phoneNumberSharingMode=2),),
    "settings.media-quality.known": (put("The quality is the standard one.", defaultSentMediaQuality=1),),
    "settings.app-theme.known": (put("The theme is that of the system.", appTheme=1),),
    "settings.call-data.known": (put("Calls never use less data.", callsUseLessDataSetting=1),),
    "settings.auto-download.known": (
        put("These media are never downloaded by themselves.", images=1, audio=1, video=1, documents=1),
    ),
    "settings.backup-tier.known": (lose("The tier, which does not exist, is left out."),),
    "settings.optimize-storage.tier": (clear("Optimizing storage, which needs the paid tier, is off."),),
    # styles
    "chat-style.bubble.set": (put("The colour is the automatic one.", autoBubbleColor=EMPTY),),
    "chat-style.preset.known": (lose("The preset, which has no name, is left out."),),
    "chat-style.color.known": (lose("The name of a colour that is not there is left out."),),
    "custom-color.id.zero": (COLOR,),
    "custom-color.id.unique": (COLOR,),
    "custom-color.set": (COLOR,),
    "custom-color.opaque": (COLOR,),
    "gradient.stops": (COLOR,),
    # recipients
    "recipient.destination.set": (RECORD,),
    "recipient.id.zero": (RECORD,),
    "recipient.id.unique": (RECORD,),
    "contact.aci.length": (lose("The id, which cannot be one, is left out."),),
    "contact.pni.length": (lose("The id, which cannot be one, is left out."),),
    "contact.e164.zero": (clear("The number 0 is left out."),),
    "contact.identifier": (RECORD,),
    "contact.username.form": (lose("The user name, which cannot be one, is left out."),),
    "contact.profile-key.length": (lose("The key, which opens nothing, is left out."),),
    "contact.registration.set": (put("The contact is registered.", registered=EMPTY),),
    "contact.blocked-at.blocked": (clear("The date of blocking somebody who is not blocked is left out."),),
    "contact.identity-key.form": (lose("The key, which cannot be one, is left out."),),
    "contact.identity-state.key": (clear("Whether a key was verified that is not there is left out."),),
    "contact.nickname.empty": (clear("The empty nickname is left out."),),
    "group.blocked-at.blocked": (clear("The date of blocking a group that is not blocked is left out."),),
    "group.attribute.set": (clear("The empty attribute is left out."),),
    "group.member.id": (ELEMENT,),
    "group.member.role": (put("The member is an ordinary one.", role=1),),
    "group.member.label": (lose("The emoji of a label that is not there is left out."),),
    "group.pending-member.present": (ELEMENT,),
    "group.pending-member.id": (ELEMENT,),
    "group.pending-member.inviter": (ELEMENT,),
    "group.pending-member.inviter.other": (ELEMENT,),
    "group.pending-member.label": (lose("The label is left out.", "labelEmoji", "labelString"),),
    "group.requesting-member.id": (ELEMENT,),
    "group.banned-member.id": (ELEMENT,),
    "recipient.list.unique": (RECORD,),
    "recipient.call-link.unique": (RECORD,),
    "distribution-list.id.length": (RECORD,),
    "distribution-list.privacy-mode.my-story": (RECORD,),
    "distribution-list.item.set": (RECORD,),
    "distribution-list.my-story.kept": (RECORD,),
    "distribution-list.my-story.all": (
        lose("The members of a list that is for all are left out.", "distributionList.memberRecipientIds"),
    ),
    "distribution-list.my-story.except": (put("The list is for all.", "distributionList", privacyMode=3),),
    "distribution-list.member.known": (MOVE, ELEMENT),
    "distribution-list.member.kind": (ELEMENT,),
    "distribution-list.member.unique": (TWICE,),
    "distribution-list.privacy-mode.known": (put("The list is only for its members.", privacyMode=1),),
    "call-link.root-key.length": (RECORD,),
    "call-link.admin-key.empty": (clear("The empty key is left out."),),
    # what nothing refers to
    "notification-profile.name": (RECORD,),
    "notification-profile.color.opaque": (RECORD,),
    "notification-profile.schedule.time": (RECORD,),
    "notification-profile.id.length": (RECORD,),
    "chat-folder.id.length": (RECORD,),
    "chat-folder.custom.name": (RECORD,),
    # chats, and what is around them
    "chat.id.zero": (RECORD,),
    "chat.id.unique": (RECORD,),
    "chat.recipient.known": (MOVE, RECORD),
    "chat.recipient.kind": (RECORD,),
    "chat.pinned-order.unique": (Fix(How.RENUMBER, "The chat is pinned after the others."),),
    "chat.expiration-timer.version": (put("The timer has the first version.", expireTimerVersion=1),),
    "ad-hoc-call.recipient.known": (MOVE, RECORD),
    "ad-hoc-call.recipient.kind": (RECORD,),
    "ad-hoc-call.state.known": (put("The call is generic.", state=1),),
    "sticker-pack.id.length": (RECORD,),
    "sticker-pack.key.length": (RECORD,),
    "sticker-pack.id.unique": (RECORD,),
    "notification-profile.emoji.empty": (clear("The empty emoji is left out."),),
    "notification-profile.member.known": (MOVE, ELEMENT),
    "notification-profile.member.kind": (ELEMENT,),
    "notification-profile.member.unique": (TWICE,),
    "notification-profile.day.known": (put("The day is Monday.", scheduleDaysEnabled=1),),
    "notification-profile.day.unique": (TWICE,),
    "chat-folder.type.known": (put("The folder is the user's own.", folderType=2),),
    "chat-folder.all.name": (lose("The name, which every app has its own for, is left out."),),
    "chat-folder.all.unread": (clear("All chats are shown, not only unread ones."),),
    "chat-folder.all.muted": (put("Muted chats are shown.", showMutedChats=ON),),
    "chat-folder.all.everybody": (
        put("All chats are shown.", includeAllIndividualChats=ON, includeAllGroupChats=ON),
    ),
    "chat-folder.all.recipients": (clear("The list of chats in the folder of all chats is left out."),),
    "chat-folder.all.once": (RECORD,),
    "chat-folder.recipient.known": (MOVE, ELEMENT),
    "chat-folder.recipient.kind": (ELEMENT,),
    "chat-folder.recipient.unique": (TWICE,),
    "chat-folder.recipients.apart": (ELEMENT,),
    # messages as a whole
    "chat-item.direction.set": (RECORD,),
    "chat-item.item.set": (RECORD,),
    "chat-item.author.known": (MOVE, RECORD),
    "chat-item.author.kind": (RECORD,),
    "chat-item.author.chat": (RECORD,),
    "chat-item.author.release-notes": (RECORD,),
    "chat-item.incoming.author": (RECORD,),
    "chat-item.incoming.reachable": (RECORD,),
    "chat-item.outgoing.author": (RECORD,),
    "chat-item.direction.update": (RECORD,),
    "chat-item.chat.known": (MOVE, RECORD),
    "chat-item.chat.direct": (RECORD,),
    "chat-item.expire-start.duration": (clear("The start of a countdown that there is not is left out."),),
    "chat-item.expiry.started": (RECORD,),
    "chat-item.expiry.soon": (RECORD,),
    "chat-item.expiry.takeout": (RECORD,),
    "chat-item.revisions.kind": (lose("The earlier revisions are left out."),),
    "revision.author": (RECORD,),
    "revision.direction": (RECORD,),
    "revision.kind": (RECORD,),
    "revision.nested": (lose("The revisions of a revision are left out."),),
    "pin.expiry.set": (lose("The message is no longer pinned.", up="pinDetails"),),
    "pin.expiry.later": (lose("The message is no longer pinned.", up="pinDetails"),),
    "send-status.recipient.known": (MOVE, ELEMENT),
    "send-status.recipient.kind": (ELEMENT,),
    "send-status.status.set": (put("The message waits to be sent.", pending=EMPTY),),
    "view-once.takeout": (lose("What may be viewed once is left out.", "attachment"),),
    "admin-deleted.admin.known": (MOVE, RECORD),
    "admin-deleted.admin.kind": (RECORD,),
    "admin-deleted.chat": (RECORD,),
    # what messages hold
    "standard-message.content": (RECORD,),
    "text.long.text": (lose("The file of the long text is left out."),),
    "text.body.empty": (lose("The empty text is left out, with what is said about ranges of it.", up="text"),),
    "body-range.value.set": (Fix(How.DROP_ELEMENT, "The range, which importers ignore, is left out."),),
    "body-range.mention.length": (ELEMENT,),
    "link-preview.url": (ELEMENT,),
    "quote.author.known": (MOVE, lose("The quote is left out.", up="quote")),
    "quote.author.kind": (lose("The quote is left out.", up="quote"),),
    "quote.type.known": (put("The quote is a normal one.", type=1),),
    "quote.content": (lose("The quote is left out.", up="quote"),),
    "quote.thumbnail.voice": (clear("The flag, which a picture cannot have, is left out."),),
    "reaction.emoji": (ELEMENT,),
    "reaction.author.known": (MOVE, ELEMENT),
    "reaction.author.kind": (ELEMENT,),
    "reaction.author.unique": (ELEMENT,),
    "contact-card.present": (RECORD,),
    "contact-card.name.empty": (clear("The empty name is left out."),),
    "contact-card.value.empty": (ELEMENT,),
    "contact-card.type.known": (put("It is the one at home.", type=1),),
    "contact-card.address.empty": (ELEMENT,),
    "sticker.present": (RECORD,),
    "sticker.data.present": (put("The file of the sticker is said to be lost.", data=LOST),),
    "story-reply.reply.set": (RECORD,),
    "story-reply.text.present": (RECORD,),
    "story-reply.emoji.empty": (RECORD,),
    "payment.amount.form": (lose("The amount, which is no number, is left out."),),
    "payment.details.set": (clear("The details, which say nothing, are left out."),),
    "payment.identification.one": (lose("What links the payment to the ledger is left out."),),
    "gift-badge.failed.empty": (lose("The receipt of the badge that failed is left out."),),
    "poll.vote.voter.known": (MOVE, ELEMENT),
    "poll.vote.voter.kind": (ELEMENT,),
    "poll.vote.voter.unique": (ELEMENT,),
    "poll.chat": (RECORD,),
    # files
    "attachment.pointer.present": (put("The file of the attachment is said to be lost.", pointer=LOST),),
    "attachment.client-id.length": (lose("The id, which cannot be one, is left out."),),
    "file.locator.present": (put("The file is said to be lost.", locatorInfo=EMPTY),),
    "file.incremental-mac.pair": (clear("The half that is there is left out."),),
    "file.incremental-mac.empty": (clear("The empty MAC is left out."),),
    "locator.transit.pair": (lose("The half that is there is left out."),),
    "locator.transit.empty": (clear("The empty key is left out."),),
    "locator.transit.uploaded": (clear("The date of an upload to nowhere is left out."),),
    "locator.integrity.set": (UNKNOWN_FILE,),
    "locator.integrity.empty": (UNKNOWN_FILE,),
    "locator.digest.transit": (UNKNOWN_FILE,),
    "locator.key.set": (UNKNOWN_FILE,),
    "locator.local-key.hash": (lose("The key of the local copy is left out."),),
    "locator.media-tier.hash": (lose("The number of the media tier is left out."),),
    # updates
    "update.set": (RECORD,),
    "update.author": (RECORD,),
    "update.chat": (RECORD,),
    "simple-update.type.known": (RECORD,),
    "profile-change.names": (RECORD,),
    "thread-merge.e164.zero": (RECORD,),
    "session-switchover.e164.zero": (RECORD,),
    "learned-profile.name.set": (put("The name is the empty one.", username=EMPTY),),
    "pin-message.author.known": (MOVE, RECORD),
    "pin-message.author.kind": (RECORD,),
    "individual-call.type.known": (put("It was an audio call.", type=1),),
    "individual-call.direction.known": (put("The call was incoming.", direction=1),),
    "individual-call.state.known": (put("The call was accepted.", state=1),),
    "group-call.state.known": (put("The call was one without ringing.", state=1),),
    "group-call.caller.known": (MOVE, lose("Who called is left out.")),
    "group-call.caller.kind": (lose("Who called is left out."),),
    "group-change.updates.present": (RECORD,),
    "group-update.set": (put("The group was changed in some way.", genericGroupUpdate=EMPTY),),
    "group-update.id.length": (ELEMENT,),
    "group-update.invitee.id": (ELEMENT,),
    "group-update.count.zero": (ELEMENT,),
    "group-update.revoked.present": (ELEMENT,),
    "group-update.access.level": (ELEMENT,),
    "group-update.inviter.invitation": (lose("Who invited the member is left out."),),
}


# What is wrong with the file rather than with a record is mended by writing it, as far as it can be read.
WRITTEN_ANEW: Final = frozenset(
    {
        *("container.length", "container.tokens", "container.mac", "container.padding", "container.checksum"),
        *("folder.main.present", "folder.metadata.present", "folder.metadata.readable"),
    }
)
LEFT_OUT: Final = frozenset({"stream.whole", "container.compression"})


def first_repair(rule: str, *, loses: bool) -> How | None:
    """Tell what is done first about a broken rule: what is safe, or, with `loses`, what has to be asked for."""
    if rule in WRITTEN_ANEW:
        return None if loses else How.REWRITE
    if rule in LEFT_OUT:
        return How.DROP_BYTES if loses else None
    return next((fix.how for fix in REPAIRS.get(rule, ()) if fix.loses == loses), None)
