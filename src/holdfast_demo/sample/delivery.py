"""How a message arrives: the details of messages sent and received."""

from holdfast.backup.schema.backup_pb2 import ChatItem, SendStatus
from holdfast_demo.sample.item_context import Moment
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.text_messages import plain

__all__ = ["address", "delivered_in_every_way", "refused", "still_going_out", "vanish"]

# Every state a sent message can be in, for one person each.
OUTCOMES = (
    SendStatus(pending=SendStatus.Pending()),
    SendStatus(sent=SendStatus.Sent(sealedSender=True)),
    SendStatus(delivered=SendStatus.Delivered(sealedSender=True)),
    SendStatus(read=SendStatus.Read(sealedSender=True)),
    SendStatus(viewed=SendStatus.Viewed(sealedSender=True)),
    SendStatus(skipped=SendStatus.Skipped()),
    *(SendStatus(failed=SendStatus.Failed(reason=reason)) for reason in SendStatus.Failed.FailureReason.values()),
    SendStatus(read=SendStatus.Read()),
)


def address(item: ChatItem, at: Moment) -> None:
    """Say where an item belongs, who wrote it, and how it arrived."""
    room = at.room
    item.chatId = room.id
    item.authorId = at.author.id
    item.dateSent = at.sent
    if room.kind == "number":
        item.sms = True
    if at.author.id == at.stage.me.id:
        outgoing = item.outgoing
        outgoing.CopyFrom(at.dice.pick_early(room.deliveries))
        outgoing.dateReceived = at.arrived
        for status in outgoing.sendStatus:
            status.timestamp = at.arrived
    else:
        incoming = item.incoming
        incoming.dateReceived = at.arrived
        incoming.dateServerSent = at.sent + 1
        # In some rooms the last two days have not been read.
        incoming.read = room.place % 3 != 2 or at.arrived < at.stage.backup_time - 2 * DAY
        incoming.sealedSender = room.kind != "number"


def vanish(item: ChatItem, at: Moment) -> None:
    """Put a room's timer on a message, if it is so recent that it is still there when the backup is a day old."""
    timer = at.room.timer
    if at.arrived + timer < at.stage.backup_time + 2 * DAY or item.HasField("directionless"):
        return
    item.expiresInMs = timer
    if item.outgoing.sendStatus or item.incoming.read:
        item.expireStartDate = at.arrived


def delivered_in_every_way(item: ChatItem, at: Moment) -> None:
    """Say something that reached each person of the group differently."""
    plain(item, at)
    for number, status in enumerate(item.outgoing.sendStatus):
        person = status.recipientId
        status.CopyFrom(OUTCOMES[number % len(OUTCOMES)])
        status.recipientId, status.timestamp = person, at.arrived


def still_going_out(item: ChatItem, at: Moment) -> None:
    """Say something that has not left the device."""
    plain(item, at)
    for status in item.outgoing.sendStatus:
        status.pending.SetInParent()


def refused(item: ChatItem, at: Moment) -> None:
    """Say something that could not be sent."""
    plain(item, at)
    for status in item.outgoing.sendStatus:
        status.failed.reason = SendStatus.Failed.NETWORK
