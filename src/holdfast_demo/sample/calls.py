"""Calls between two people and in groups."""

from holdfast.backup.schema.backup_pb2 import ChatItem, GroupCall, IndividualCall
from holdfast_demo.sample.item_context import Fill, Moment

__all__ = ["CALL_STATES", "CALL_TYPES", "GROUP_CALL_STATES", "call", "group_call"]

CALL_TYPES = IndividualCall.Type.values()[1:]
CALL_STATES = IndividualCall.State.values()[1:]
GROUP_CALL_STATES = GroupCall.State.values()[1:]


def call(kind: IndividualCall.Type.ValueType, state: IndividualCall.State.ValueType) -> Fill:
    """Call somebody, or be called."""

    def fill(item: ChatItem, at: Moment) -> None:
        item.directionless.SetInParent()
        body = item.updateMessage.individualCall
        body.callId = at.dice.getrandbits(63)
        body.type = kind
        mine = at.author.id == at.stage.me.id
        body.direction = IndividualCall.OUTGOING if mine else IndividualCall.INCOMING
        body.state = state
        body.startedCallTimestamp = at.sent
        body.read = at.dice.one_in(2) or state == IndividualCall.ACCEPTED

    return fill


def group_call(state: GroupCall.State.ValueType) -> Fill:
    """Call a whole group."""

    def fill(item: ChatItem, at: Moment) -> None:
        item.directionless.SetInParent()
        body = item.updateMessage.groupCall
        body.callId = at.dice.getrandbits(63)
        body.state = state
        if state != GroupCall.GENERIC:
            body.ringerRecipientId = at.author.id
        body.startedCallRecipientId = at.author.id
        body.startedCallTimestamp = at.sent
        body.endedCallTimestamp = min(at.sent + at.dice.below(3_600_000), at.stage.backup_time)
        body.read = True

    return fill
