"""The delivery of messages: details of incoming and outgoing messages, and expiration."""

from holdfast.backup.schema.backup_pb2 import ChatItem, SendStatus
from holdfast_demo.sample.item_context import ItemContext
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.text_messages import plain

__all__ = ["failed", "fill_delivery", "fill_expiration", "pending", "with_all_send_statuses"]

# Every send status, for one recipient each.
SEND_STATUSES = (
    SendStatus(pending=SendStatus.Pending()),
    SendStatus(sent=SendStatus.Sent(sealedSender=True)),
    SendStatus(delivered=SendStatus.Delivered(sealedSender=True)),
    SendStatus(read=SendStatus.Read(sealedSender=True)),
    SendStatus(viewed=SendStatus.Viewed(sealedSender=True)),
    SendStatus(skipped=SendStatus.Skipped()),
    *(SendStatus(failed=SendStatus.Failed(reason=reason)) for reason in SendStatus.Failed.FailureReason.values()),
    SendStatus(read=SendStatus.Read()),
)


def fill_delivery(item: ChatItem, context: ItemContext) -> None:
    """Fill in the chat, the author, the times and the delivery of an item."""
    chat = context.chat
    item.chatId = chat.id
    item.authorId = context.author.id
    item.dateSent = context.sent
    if chat.kind == "number":
        item.sms = True
    if context.author.id == context.sample.me.id:
        outgoing = item.outgoing
        outgoing.CopyFrom(context.rng.pick_biased(chat.deliveries))
        outgoing.dateReceived = context.arrived
        for status in outgoing.sendStatus:
            status.timestamp = context.arrived
    else:
        incoming = item.incoming
        incoming.dateReceived = context.arrived
        incoming.dateServerSent = context.sent + 1
        # In some chats the messages of the last two days are unread.
        incoming.read = chat.index % 3 != 2 or context.arrived < context.sample.backup_time - 2 * DAY
        incoming.sealedSender = chat.kind != "number"


def fill_expiration(item: ChatItem, context: ItemContext) -> None:
    """Apply the timer of a chat to a message, unless it would have expired a day after the backup."""
    timer = context.chat.timer
    if context.arrived + timer < context.sample.backup_time + 2 * DAY or item.HasField("directionless"):
        return
    item.expiresInMs = timer
    if item.outgoing.sendStatus or item.incoming.read:
        item.expireStartDate = context.arrived


def with_all_send_statuses(item: ChatItem, context: ItemContext) -> None:
    """Add a text message with a different send status for each recipient."""
    plain(item, context)
    for number, status in enumerate(item.outgoing.sendStatus):
        person = status.recipientId
        status.CopyFrom(SEND_STATUSES[number % len(SEND_STATUSES)])
        status.recipientId, status.timestamp = person, context.arrived


def pending(item: ChatItem, context: ItemContext) -> None:
    """Add a text message that is still being sent."""
    plain(item, context)
    for status in item.outgoing.sendStatus:
        status.pending.SetInParent()


def failed(item: ChatItem, context: ItemContext) -> None:
    """Add a text message that could not be sent."""
    plain(item, context)
    for status in item.outgoing.sendStatus:
        status.failed.reason = SendStatus.Failed.NETWORK
