"""Updates of a chat as events: their kinds, and their details with the ids of the archive."""

import uuid

from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.archives.updates import events_of
from holdfast.backup.schema import backup_pb2 as pb

ACI = bytes(range(16))
PEOPLE = {7: 7001}


def skipped_and_defaulted(notes: Notes) -> list[tuple[str, str]]:
    """Return the notes of skipped records and of values replaced by defaults."""
    return [(action, note) for _, _, action, note in notes.counts]


def test_a_simple_update_is_named_by_its_type() -> None:
    """A simple update is one event with the name of its type and no details."""
    update = pb.ChatUpdateMessage(simpleUpdate=pb.SimpleChatUpdate(type=pb.SimpleChatUpdate.BLOCKED))
    notes = Notes()
    assert events_of(update, PEOPLE, notes) == [("simpleUpdate.BLOCKED", {})]
    assert skipped_and_defaulted(notes) == []


def test_an_update_without_a_meaning_is_left_out_and_noted() -> None:
    """An empty update and one of an unknown type give no event, and a note says so."""
    notes = Notes()
    assert events_of(pb.ChatUpdateMessage(), PEOPLE, notes) == []
    assert skipped_and_defaulted(notes) == [("skipped", "ChatUpdateMessage.update not set")]
    for number in (0, 9999):
        notes = Notes()
        update = pb.ChatUpdateMessage()
        update.simpleUpdate.type = number  # type: ignore[assignment]  # a later version may have it
        assert events_of(update, PEOPLE, notes) == []
        assert [action for action, _ in skipped_and_defaulted(notes)] == ["defaulted"]


def test_each_change_of_a_group_is_an_event() -> None:
    """The changes of a group become events in their order, and an empty one becomes a generic update."""
    update = pb.ChatUpdateMessage()
    first, _, third = (update.groupChange.updates.add() for _ in range(3))
    first.groupNameUpdate.newGroupName = "Boats"
    third.groupMemberLeftUpdate.aci = ACI
    notes = Notes()
    assert events_of(update, PEOPLE, notes) == [
        ("groupNameUpdate", {"newGroupName": "Boats"}),
        ("genericGroupUpdate", {}),
        ("groupMemberLeftUpdate", {"aci": str(uuid.UUID(bytes=ACI))}),
    ]
    assert [action for action, _ in skipped_and_defaulted(notes)] == ["defaulted"]


def test_details_hold_what_is_set_with_ids_of_the_archive() -> None:
    """Recipient ids of the file are replaced by those of the archive, or by None if the file lacks them."""
    update = pb.ChatUpdateMessage()
    update.groupCall.ringerRecipientId = 7
    update.groupCall.startedCallRecipientId = 8
    update.groupCall.callId = 2**60
    ((kind, details),) = events_of(update, PEOPLE, Notes())
    assert kind == "groupCall"
    assert (details["ringerRecipientId"], details["startedCallRecipientId"]) == (7001, None)
    # As text: a number beyond 2**53 would not survive in a JavaScript program.
    assert details["callId"] == str(2**60)
    assert details["state"] == "GENERIC"


def test_optional_fields_that_are_not_set_are_left_out() -> None:
    """An optional field that is not set is missing from the details and has no default."""
    update = pb.ChatUpdateMessage()
    update.groupCall.SetInParent()
    ((_, details),) = events_of(update, PEOPLE, Notes())
    assert "ringerRecipientId" not in details
    assert "callId" not in details
