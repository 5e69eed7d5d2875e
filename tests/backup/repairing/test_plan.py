"""A plan says what would be done to each frame, and does it only as far as it is allowed to."""

import io
from collections.abc import Iterable

from holdfast import backup
from holdfast.backup import Backup
from holdfast.backup.repairing.plan import Plan, make_plan
from holdfast.backup.rules import Finding, Validation
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire.varint import varint_at
from tests.backup.rules.world import ADA, CID, World, uuid
from tests.backup.streams import stream_of


def check(view: Backup) -> Iterable[Finding]:
    """Find what is wrong."""
    return Validation(view, edition="current", threads=1)


def plan_of(world: World, *, drop: bool = False) -> Plan:
    """Plan the repair of a backup."""
    with backup.open(io.BytesIO(stream_of(world.records()))) as source:
        return make_plan(source, check, drop=drop)


def message(record: bytes) -> Frame:
    """Read a record."""
    return Frame.FromString(record[varint_at(record, 0)[1] :])


def test_a_valid_backup_needs_nothing() -> None:
    """So nothing would be written differently."""
    plan = plan_of(World())
    assert (plan.steps, plan.unmended, plan.places) == ((), (), {})


def test_steps_name_the_frame_of_the_original() -> None:
    """Also after frames before it were left out."""
    world = World()
    world.frames["club"].Clear()
    world.frames["all chats"].chatFolder.showMutedChats = False
    plan = plan_of(world, drop=True)
    assert plan.unmended == ()
    steps = {step.frame: step.rule for step in plan.steps}
    assert steps[world.number("club")] == "frame.item.set"
    assert steps[world.number("all chats")] == "chat-folder.all.muted"
    assert steps[world.number("in club")] == "chat.recipient.known"
    assert steps[world.number("poll")] == "chat-item.chat.known"


def test_leaving_one_record_out_takes_what_leads_to_it_along() -> None:
    """Each listed by itself; without leave everything stays, and is said to stay."""
    world = World()
    world.frames["ada"].recipient.ClearField("contact")
    plan = plan_of(world)
    assert plan.steps == ()
    assert {one.needs_drop for one in plan.unmended} == {True}
    plan = plan_of(world, drop=True)
    assert plan.unmended == ()
    assert all(plan.places[world.number(name)] == () for name in ("ada", "with ada", "hello"))


def test_several_repairs_of_one_frame_are_made_together() -> None:
    """Elements are counted as they were."""
    world = World()
    folder = world.frames["friends"].chatFolder
    folder.includedRecipientIds[:] = [ADA, 99, ADA, 98, CID, 97]
    plan = plan_of(world, drop=True)
    (new,) = plan.places[world.number("friends")]
    assert message(new).chatFolder.includedRecipientIds == [ADA, CID]
    assert len(plan.steps) == 4


def test_what_comes_too_late_is_moved_and_not_left_out() -> None:
    """Also where it leads to something that comes too late itself."""
    world = World()
    world.frame("late chat").chat.MergeFrom(backup_pb2.Chat(id=70, recipientId=60))
    late = world.frame("late").recipient
    late.id = 60
    late.contact.aci = uuid(60)
    late.contact.registered.SetInParent()
    world.frames["reply"].chatItem.chatId = 70
    world.frames["reply"].chatItem.authorId = 60
    plan = plan_of(world, drop=True)
    assert plan.unmended == ()
    assert not any(step.loses for step in plan.steps)
    place = plan.places[world.number("reply")]
    assert [message(record).WhichOneof("item") for record in place] == ["recipient", "chat", "chatItem"]
    assert plan.places[world.number("late chat")] == ()


def test_every_kind_of_reference_can_be_mended_by_moving() -> None:
    """A backup whose people come last needs nothing left out; whom nothing refers to may stay where they are."""
    world = World()
    people = [name for name, frame in world.frames.items() if frame.WhichOneof("item") == "recipient"]
    for name in people:
        world.frames[name] = world.frames.pop(name)
    plan = plan_of(world)
    assert plan.unmended == ()
    moved = {frame for frame, records in plan.places.items() if not records}
    assert moved <= {world.number(name) for name in people}
    assert moved >= {world.number(name) for name in ("me", "ada", "club", "link")}


def test_what_cannot_be_mended_is_said() -> None:
    """What is missing would have to be invented."""
    world = World()
    world.frames["profile"].notificationProfile.name = ""
    world.frames["me"].recipient.releaseNotes.SetInParent()
    del world.frames["news"], world.frames["releases"], world.frames["release"]
    plan = plan_of(world, drop=True)
    left = {one.rule: one for one in plan.unmended}
    assert list(left) == ["self.present"]
    assert left["self.present"].frame is None
    assert not any(one.needs_drop for one in plan.unmended)


def test_pinned_chats_get_places_of_their_own() -> None:
    """However many have the same one."""
    world = World()
    for name in ("with ada", "in club", "notes"):
        world.frames[name].chat.pinnedOrder = 5
    plan = plan_of(world)
    assert plan.unmended == ()
    assert sorted(message(record).chat.pinnedOrder for (record,) in plan.places.values()) == [6, 7]


def test_what_breaks_a_rule_in_a_revision_is_left_out_without_the_message() -> None:
    """The message itself was never wrong."""
    world = World()
    world.frames["hello"].chatItem.revisions[0].ClearField("incoming")
    plan = plan_of(world, drop=True)
    assert plan.unmended == ()
    (new,) = plan.places[world.number("hello")]
    assert message(new).chatItem.standardMessage.text.body == "Hello"
    assert len(message(new).chatItem.revisions) == 0


def test_a_record_that_is_left_out_is_not_moved_any_more() -> None:
    """Whoever waits for it is left out in the next round."""
    world = World()
    late = world.frame("late").recipient
    late.id = 60
    late.contact.registered.SetInParent()
    world.frames["poll"].chatItem.authorId = 60
    world.frames["payment"].Clear()
    plan = plan_of(world, drop=True)
    assert plan.unmended == ()
    assert {world.number(name) for name in ("late", "poll", "payment")} == set(plan.places)
    assert set(plan.places.values()) == {()}
