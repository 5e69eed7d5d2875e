"""A plan lists the repairs of each frame, and drops data only if allowed."""

import io
from collections.abc import Iterable

from holdfast import backup
from holdfast.backup import Backup
from holdfast.backup.repairs.plan import RepairPlan, make_plan
from holdfast.backup.rules import Finding, ValidationRun
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire.varint import varint_at
from tests.backup.rules.example_backup import ADA, CID, ExampleBackup, uuid
from tests.backup.streams import stream_of


def check(view: Backup) -> Iterable[Finding]:
    """Validate a backup."""
    return ValidationRun(view, edition="current", threads=1)


def plan_of(example: ExampleBackup, *, drop: bool = False) -> RepairPlan:
    """Plan the repair of a backup."""
    with backup.open(io.BytesIO(stream_of(example.records()))) as source:
        return make_plan(source, check, drop=drop)


def message(record: bytes) -> Frame:
    """Read a record."""
    return Frame.FromString(record[varint_at(record, 0)[1] :])


def test_a_valid_backup_needs_nothing() -> None:
    """The plan for a valid backup has no steps, no remaining errors and no changed frames."""
    plan = plan_of(ExampleBackup())
    assert (plan.steps, plan.remaining_errors, plan.places) == ((), (), {})


def test_steps_name_the_frame_of_the_original() -> None:
    """Steps have the frame numbers of the original, also after earlier frames were left out."""
    example = ExampleBackup()
    example.frames["club"].Clear()
    example.frames["all chats"].chatFolder.showMutedChats = False
    plan = plan_of(example, drop=True)
    assert plan.remaining_errors == ()
    steps = {step.frame: step.rule for step in plan.steps}
    assert steps[example.number("club")] == "frame.item.set"
    assert steps[example.number("all chats")] == "chat-folder.all.muted"
    assert steps[example.number("in club")] == "chat.recipient.known"
    assert steps[example.number("poll")] == "chat-item.chat.known"


def test_leaving_one_record_out_takes_what_leads_to_it_along() -> None:
    """With `drop`, records that refer to a dropped one are dropped too; without it nothing is changed."""
    example = ExampleBackup()
    example.frames["ada"].recipient.ClearField("contact")
    plan = plan_of(example)
    assert plan.steps == ()
    assert {problem.needs_drop for problem in plan.remaining_errors} == {True}
    plan = plan_of(example, drop=True)
    assert plan.remaining_errors == ()
    assert all(plan.places[example.number(name)] == () for name in ("ada", "with ada", "hello"))


def test_several_repairs_of_one_frame_are_made_together() -> None:
    """Several elements of one list are removed together by their original indexes."""
    example = ExampleBackup()
    folder = example.frames["friends"].chatFolder
    folder.includedRecipientIds[:] = [ADA, 99, ADA, 98, CID, 97]
    plan = plan_of(example, drop=True)
    (new,) = plan.places[example.number("friends")]
    assert message(new).chatFolder.includedRecipientIds == [ADA, CID]
    assert len(plan.steps) == 4


def test_what_comes_too_late_is_moved_and_not_left_out() -> None:
    """A chat and its recipient that both come after the message are moved before it in order."""
    example = ExampleBackup()
    example.frame("late chat").chat.MergeFrom(backup_pb2.Chat(id=70, recipientId=60))
    recipient = example.frame("late").recipient
    recipient.id = 60
    recipient.contact.aci = uuid(60)
    recipient.contact.registered.SetInParent()
    example.frames["reply"].chatItem.chatId = 70
    example.frames["reply"].chatItem.authorId = 60
    plan = plan_of(example, drop=True)
    assert plan.remaining_errors == ()
    assert not any(step.loses for step in plan.steps)
    position = plan.places[example.number("reply")]
    assert [message(record).WhichOneof("item") for record in position] == ["recipient", "chat", "chatItem"]
    assert plan.places[example.number("late chat")] == ()


def test_every_kind_of_reference_can_be_mended_by_moving() -> None:
    """If all recipients come last, moving those that are referred to repairs every reference."""
    example = ExampleBackup()
    people = [name for name, frame in example.frames.items() if frame.WhichOneof("item") == "recipient"]
    for name in people:
        example.frames[name] = example.frames.pop(name)
    plan = plan_of(example)
    assert plan.remaining_errors == ()
    moved = {frame for frame, records in plan.places.items() if not records}
    assert moved <= {example.number(name) for name in people}
    assert moved >= {example.number(name) for name in ("me", "ada", "club", "link")}


def test_what_cannot_be_mended_is_said() -> None:
    """A missing own recipient cannot be repaired and is reported as a remaining error."""
    example = ExampleBackup()
    example.frames["profile"].notificationProfile.name = ""
    example.frames["me"].recipient.releaseNotes.SetInParent()
    del example.frames["news"], example.frames["releases"], example.frames["release"]
    plan = plan_of(example, drop=True)
    left = {problem.rule: problem for problem in plan.remaining_errors}
    assert list(left) == ["self.present"]
    assert left["self.present"].frame is None
    assert not any(problem.needs_drop for problem in plan.remaining_errors)


def test_pinned_chats_get_places_of_their_own() -> None:
    """Of three chats pinned at the same position, two get new positions."""
    example = ExampleBackup()
    for name in ("with ada", "in club", "notes"):
        example.frames[name].chat.pinnedOrder = 5
    plan = plan_of(example)
    assert plan.remaining_errors == ()
    assert sorted(message(record).chat.pinnedOrder for (record,) in plan.places.values()) == [6, 7]


def test_what_breaks_a_rule_in_a_revision_is_left_out_without_the_message() -> None:
    """Only the invalid revision is dropped, and the message is kept."""
    example = ExampleBackup()
    example.frames["hello"].chatItem.revisions[0].ClearField("incoming")
    plan = plan_of(example, drop=True)
    assert plan.remaining_errors == ()
    (new,) = plan.places[example.number("hello")]
    assert message(new).chatItem.standardMessage.text.body == "Hello"
    assert len(message(new).chatItem.revisions) == 0


def test_a_record_that_is_left_out_is_not_moved_any_more() -> None:
    """A record that refers to a dropped record is dropped in the next round instead of waiting for it."""
    example = ExampleBackup()
    recipient = example.frame("late").recipient
    recipient.id = 60
    recipient.contact.registered.SetInParent()
    example.frames["poll"].chatItem.authorId = 60
    example.frames["payment"].Clear()
    plan = plan_of(example, drop=True)
    assert plan.remaining_errors == ()
    assert {example.number(name) for name in ("late", "poll", "payment")} == set(plan.places)
    assert set(plan.places.values()) == {()}
