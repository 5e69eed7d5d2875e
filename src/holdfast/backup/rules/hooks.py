"""Hooks: the checks of several fields at once, called by the message they are about."""

import cython

from holdfast.backup.rules import rule_numbers as numbers
from holdfast.backup.rules.checks import MESSAGE_BY_NAME
from holdfast.backup.rules.items import Items

if not cython.compiled:
    from holdfast.backup.rules.rule_numbers import Hook

__all__ = ["HOOKS", "Hooks"]

# The hook of each message that has one.
HOOKS: dict[str, int] = {
    "ChatItem": Hook.CHAT_ITEM,  # type: ignore[possibly-undefined]  # compiled, it comes from numbers.pxd
    "SendStatus": Hook.SEND_STATUS,
    "StandardMessage": Hook.STANDARD_MESSAGE,
    "Text": Hook.TEXT,
    "ChatItem.IncomingMessageDetails": Hook.INCOMING,
    "ChatItem.OutgoingMessageDetails": Hook.OUTGOING,
    "Reaction": Hook.REACTION,
    "MessageAttachment": Hook.ATTACHMENT,
    "FilePointer": Hook.FILE_POINTER,
    "FilePointer.LocatorInfo": Hook.LOCATOR,
    "Quote": Hook.QUOTE,
    "BodyRange": Hook.BODY_RANGE,
    "ChatUpdateMessage": Hook.UPDATE,
    "SimpleChatUpdate": Hook.SIMPLE_UPDATE,
    "Poll": Hook.POLL,
    "Poll.PollOption.PollVote": Hook.POLL_VOTE,
    "ViewOnceMessage": Hook.VIEW_ONCE,
    "DirectStoryReplyMessage.TextReply": Hook.STORY_TEXT_REPLY,
    "ContactAttachment.Name": Hook.CARD_NAME,
    "ContactAttachment.PostalAddress": Hook.CARD_ADDRESS,
    "PaymentNotification.TransactionDetails.CoinTxoIdentification": Hook.PAYMENT_COINS,
    "GiftBadge": Hook.GIFT_BADGE,
    "ChatItem.PinDetails": Hook.PIN_DETAILS,
    "GroupMemberAddedUpdate": Hook.MEMBER_ADDED,
    "Contact": Hook.CONTACT,
    "Contact.Name": Hook.NICKNAME,
    "Group": Hook.GROUP,
    "Group.GroupAttributeBlob": Hook.GROUP_ATTRIBUTE,
    "Group.Member": Hook.GROUP_MEMBER,
    "Group.MemberPendingProfileKey": Hook.PENDING_MEMBER,
    "DistributionListItem": Hook.DISTRIBUTION_LIST_ITEM,
    "DistributionList": Hook.DISTRIBUTION_LIST,
    "Chat": Hook.CHAT,
    "ChatStyle": Hook.CHAT_STYLE,
    "ChatStyle.Gradient": Hook.GRADIENT,
    "ChatFolder": Hook.CHAT_FOLDER,
    "AccountData": Hook.ACCOUNT,
    "AccountData.AccountSettings": Hook.ACCOUNT_SETTINGS,
    "CallLink": Hook.CALL_LINK,
}

if unknown := HOOKS.keys() - MESSAGE_BY_NAME:
    raise ImportError(f"hooks of messages that the schema does not have: {', '.join(sorted(unknown))}")
if sorted(HOOKS.values()) != [hook.value for hook in numbers.Hook if hook is not numbers.Hook.NONE]:
    raise ImportError(
        "a hook has no message, two messages have the same hook, or numbers.pxd differs from numbers.py: "
        "correct it and build the compiled modules again"
    )


class Hooks(Items):
    """A rule context that checks the fields of a message together."""

    def run_hook(self, hook: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915  # one line per hook
        """Check the fields of a message together, by its hook."""
        if hook == Hook.CHAT_ITEM:
            self.item(depth)
        elif hook == Hook.SEND_STATUS:
            self.send_status(depth)
        elif hook == Hook.STANDARD_MESSAGE:
            self.standard(depth)
        elif hook == Hook.TEXT:
            self.text(depth)
        elif hook == Hook.INCOMING:
            self.incoming(depth)
        elif hook == Hook.OUTGOING:
            self.outgoing(depth)
        elif hook == Hook.REACTION:
            self.reaction(depth)
        elif hook == Hook.ATTACHMENT:
            self.attachment(depth)
        elif hook == Hook.FILE_POINTER:
            self.file(depth)
        elif hook == Hook.LOCATOR:
            self.locator(depth)
        elif hook == Hook.QUOTE:
            self.quote(depth)
        elif hook == Hook.BODY_RANGE:
            self.body_range(depth)
        elif hook == Hook.UPDATE:
            self.update(depth)
        elif hook == Hook.SIMPLE_UPDATE:
            self.simple_update(depth)
        elif hook == Hook.POLL:
            self.poll(depth)
        elif hook == Hook.POLL_VOTE:
            self.vote(depth)
        elif hook == Hook.VIEW_ONCE:
            self.view_once(depth)
        elif hook == Hook.STORY_TEXT_REPLY:
            self.text_reply(depth)
        elif hook == Hook.CARD_NAME:
            self.card_name(depth)
        elif hook == Hook.CARD_ADDRESS:
            self.address(depth)
        elif hook == Hook.PAYMENT_COINS:
            self.coins(depth)
        elif hook == Hook.GIFT_BADGE:
            self.gift(depth)
        elif hook == Hook.PIN_DETAILS:
            self.pin(depth)
        elif hook == Hook.MEMBER_ADDED:
            self.member_added(depth)
        else:
            self.run_record_hook(hook, depth)

    def run_record_hook(self, hook: cython.uint, depth: cython.int) -> cython.void:
        """Do the same for records other than messages."""
        if hook == Hook.CONTACT:
            self.contact(depth)
        elif hook == Hook.NICKNAME:
            self.nickname(depth)
        elif hook == Hook.GROUP:
            self.group(depth)
        elif hook == Hook.GROUP_ATTRIBUTE:
            self.attribute(depth)
        elif hook == Hook.GROUP_MEMBER:
            self.member(depth)
        elif hook == Hook.PENDING_MEMBER:
            self.invited(depth)
        elif hook == Hook.DISTRIBUTION_LIST_ITEM:
            self.list_item(depth)
        elif hook == Hook.DISTRIBUTION_LIST:
            self.distribution_list(depth)
        elif hook == Hook.CHAT:
            self.chat(depth)
        elif hook == Hook.CHAT_STYLE:
            self.style(depth)
        elif hook == Hook.GRADIENT:
            self.gradient(depth)
        elif hook == Hook.CHAT_FOLDER:
            self.folder(depth)
        elif hook == Hook.ACCOUNT:
            self.account(depth)
        elif hook == Hook.ACCOUNT_SETTINGS:
            self.settings(depth)
        elif hook == Hook.CALL_LINK:
            self.call_link(depth)
