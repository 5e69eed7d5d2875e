"""Calls between two people and in groups."""

from holdfast.backup.schema.backup_pb2 import ChatItem, GroupCall, IndividualCall
from holdfast_demo.sample.item_context import Fill, ItemContext

__all__ = ["CALL_STATES", "CALL_TYPES", "GROUP_CALL_STATES", "call", "group_call"]

CALL_TYPES = IndividualCall.Type.values()[1:]
CALL_STATES = IndividualCall.State.values()[1:]
GROUP_CALL_STATES = GroupCall.State.values()[1:]


def call(kind: IndividualCall.Type.ValueType, state: IndividualCall.State.ValueType) -> Fill:
    """Return a function that adds an individual call."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        item.directionless.SetInParent()
        body = item.updateMessage.individualCall
        body.callId = context.rng.getrandbits(63)
        body.type = kind
        mine = context.author.id == context.sample.me.id
        body.direction = IndividualCall.OUTGOING if mine else IndividualCall.INCOMING
        body.state = state
        body.startedCallTimestamp = context.sent
        body.read = context.rng.one_in(2) or state == IndividualCall.ACCEPTED

    return fill


def group_call(state: GroupCall.State.ValueType) -> Fill:
    """Return a function that adds a group call."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        item.directionless.SetInParent()
        body = item.updateMessage.groupCall
        body.callId = context.rng.getrandbits(63)
        body.state = state
        if state != GroupCall.GENERIC:
            body.ringerRecipientId = context.author.id
        body.startedCallRecipientId = context.author.id
        body.startedCallTimestamp = context.sent
        body.endedCallTimestamp = min(context.sent + context.rng.below(3_600_000), context.sample.backup_time)
        body.read = True

    return fill
