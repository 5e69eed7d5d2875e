"""Calls the rules about several fields at once, by the message they are about."""

import cython

from holdfast.backup.wire.items import Items

__all__ = ["HOOKS", "Hooks"]

# The messages that have rules of their own, the most frequent first.
RULED = (
    "ChatItem",
    "SendStatus",
    "StandardMessage",
    "Text",
    "ChatItem.IncomingMessageDetails",
    "ChatItem.OutgoingMessageDetails",
    "Reaction",
    "MessageAttachment",
    "FilePointer",
    "FilePointer.LocatorInfo",
    "Quote",
    "BodyRange",
    "ChatUpdateMessage",
    "SimpleChatUpdate",
    "Poll",
    "Poll.PollOption.PollVote",
    "ViewOnceMessage",
    "DirectStoryReplyMessage.TextReply",
    "ContactAttachment.Name",
    "ContactAttachment.PostalAddress",
    "PaymentNotification.TransactionDetails.CoinTxoIdentification",
    "GiftBadge",
    "ChatItem.PinDetails",
    "GroupMemberAddedUpdate",
    "Contact",
    "Contact.Name",
    "Group",
    "Group.GroupAttributeBlob",
    "Group.Member",
    "Group.MemberPendingProfileKey",
    "DistributionListItem",
    "DistributionList",
    "Chat",
    "ChatStyle",
    "ChatStyle.Gradient",
    "ChatFolder",
    "AccountData",
    "AccountData.AccountSettings",
    "CallLink",
)
HOOKS = {name: number for number, name in enumerate(RULED, start=1)}


class Hooks(Items):
    """A ground on which the fields of a message are checked together."""

    def together(self, hook: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915  # one line per hook
        """Check the fields of a message together, by its hook."""
        if hook == 1:
            self.item(depth)
        elif hook == 2:
            self.send_status(depth)
        elif hook == 3:
            self.standard(depth)
        elif hook == 4:
            self.text(depth)
        elif hook == 5:
            self.incoming(depth)
        elif hook == 6:
            self.outgoing(depth)
        elif hook == 7:
            self.reaction(depth)
        elif hook == 8:
            self.attachment(depth)
        elif hook == 9:
            self.file(depth)
        elif hook == 10:
            self.locator(depth)
        elif hook == 11:
            self.quote(depth)
        elif hook == 12:
            self.body_range(depth)
        elif hook == 13:
            self.update(depth)
        elif hook == 14:
            self.simple_update(depth)
        elif hook == 15:
            self.poll(depth)
        elif hook == 16:
            self.vote(depth)
        elif hook == 17:
            self.view_once(depth)
        elif hook == 18:
            self.text_reply(depth)
        elif hook == 19:
            self.card_name(depth)
        elif hook == 20:
            self.address(depth)
        elif hook == 21:
            self.coins(depth)
        elif hook == 22:
            self.gift(depth)
        elif hook == 23:
            self.pin(depth)
        elif hook == 24:
            self.member_added(depth)
        else:
            self.together_in_records(hook, depth)

    def together_in_records(self, hook: cython.uint, depth: cython.int) -> cython.void:
        """Do the same for records other than messages."""
        if hook == 25:
            self.contact(depth)
        elif hook == 26:
            self.nickname(depth)
        elif hook == 27:
            self.group(depth)
        elif hook == 28:
            self.attribute(depth)
        elif hook == 29:
            self.member(depth)
        elif hook == 30:
            self.invited(depth)
        elif hook == 31:
            self.list_item(depth)
        elif hook == 32:
            self.distribution_list(depth)
        elif hook == 33:
            self.chat(depth)
        elif hook == 34:
            self.style(depth)
        elif hook == 35:
            self.gradient(depth)
        elif hook == 36:
            self.folder(depth)
        elif hook == 37:
            self.account(depth)
        elif hook == 38:
            self.settings(depth)
        else:
            self.call_link(depth)
