"""One field is changed, and every other byte is as it was written."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.repairs.field_edits import CannotEdit, EditableRecord, ancestor_path, element_path
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire import tables
from holdfast.backup.wire.walk import walk_record
from tests.backup.streams import HEADER
from tests.backup.wire.encoding import delimited, group, number, tag, varint
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames

# A chat folder with an unknown group first, a list half packed, and numbers that take more bytes than they need.
FOLDER = (
    group(90, delimited(3, b"news") + number(1, 7))
    + delimited(7, varint(3) + varint(300) + varint(5, size=3))
    + tag(7, 0)
    + varint(9, size=2)
    + tag(1, 2)
    + varint(4, size=2)
    + b"work"
    + number(6, 2)
)
FRAME = delimited(8, FOLDER)


def test_a_field_is_cleared_and_the_rest_keeps_its_bytes() -> None:
    """Clearing a field changes only the field and the lengths of the messages around it."""
    record = EditableRecord(FRAME)
    record.clear("chatFolder.folderType")
    assert record.encode() == delimited(8, FOLDER.removesuffix(number(6, 2)))


def test_elements_of_a_list_are_counted_packed_or_not() -> None:
    """Elements keep their original index after others are cleared, in packed and unpacked lists."""
    record = EditableRecord(FRAME)
    record.clear("chatFolder.includedRecipientIds[1]")
    record.clear("chatFolder.includedRecipientIds[3]")
    assert record.encode() == delimited(
        8,
        FOLDER.replace(varint(300), b"")
        .replace(tag(7, 0) + varint(9, size=2), b"")
        .replace(tag(7, 2) + varint(6), tag(7, 2) + varint(4)),
    )
    for index in range(4):
        record.clear(f"chatFolder.includedRecipientIds[{index}]")
    assert Frame.FromString(record.encode()).chatFolder.includedRecipientIds == []


def test_messages_in_a_list_are_left_out_one_by_one() -> None:
    """Elements are removed by their index in the original list, in any order."""
    frame = Frame()
    for author in (5, 6, 7):
        frame.chatItem.standardMessage.reactions.add(authorId=author, emoji="x")
    record = EditableRecord(frame.SerializeToString())
    record.clear("chatItem.standardMessage.reactions[1]")
    record.clear("chatItem.standardMessage.reactions[0]")
    left = Frame.FromString(record.encode()).chatItem.standardMessage.reactions
    assert [reaction.authorId for reaction in left] == [7]


def test_a_value_is_put_where_it_was_or_where_it_belongs() -> None:
    """A value replaces the field, or is inserted in the order of field numbers."""
    record = EditableRecord(FRAME)
    record.put("chatFolder.folderType", varint(1))
    assert record.encode() == delimited(8, FOLDER.replace(number(6, 2), number(6, 1)))
    record = EditableRecord(delimited(8, number(2, 1) + number(6, 2)))
    record.put("chatFolder.showMutedChats", varint(1))
    record.put("chatFolder.name", b"work")
    assert record.encode() == delimited(8, delimited(1, b"work") + number(2, 1) + number(3, 1) + number(6, 2))


def test_values_are_put_inside_beside_or_on_the_way() -> None:
    """`put_near` sets a field in the message of the path, beside it, or at the path itself."""
    frame = Frame()
    frame.chat.expirationTimerMs = 5
    frame.chat.style.wallpaperPreset = backup_pb2.ChatStyle.SOLID_BLUSH
    record = EditableRecord(frame.SerializeToString())
    record.put_near("chat.expirationTimerMs", {"expireTimerVersion": b"\x01"})
    record.put_near("chat.style", {"autoBubbleColor": b""})
    record.put_near("chat.style.wallpaperPreset", {"wallpaperPreset": b"\x07"})
    chat = Frame.FromString(record.encode()).chat
    assert (chat.expireTimerVersion, chat.style.WhichOneof("bubbleColor"), chat.style.wallpaperPreset) == (
        *(1, "autoBubbleColor", 7),
    )
    with pytest.raises(CannotEdit):
        record.put_near("chatItem.incoming", {"read": b"\x01"})


def test_numbers_are_read() -> None:
    """`number` returns the value of a field or an element, and 0 for an absent field."""
    record = EditableRecord(FRAME)
    assert record.number("chatFolder.includedRecipientIds[1]") == 300
    assert record.number("chatFolder.includedRecipientIds[3]") == 9
    assert record.number("chatFolder.folderType") == 2
    assert record.number("chatFolder.showOnlyUnread") == 0


def test_the_field_a_path_leads_through() -> None:
    """The path to an ancestor is found by its name; a name that is not in the path is an error."""
    assert ancestor_path("chatItem.standardMessage.quote.text.body", "quote") == "chatItem.standardMessage.quote"
    with pytest.raises(CannotEdit):
        ancestor_path("chatItem.chatId", "quote")


def test_an_empty_message_can_be_put() -> None:
    """An empty message can be set, which is how most choices of a oneof are made."""
    frame = Frame()
    frame.chatItem.outgoing.sendStatus.add(recipientId=4)
    record = EditableRecord(frame.SerializeToString())
    record.put("chatItem.outgoing.sendStatus[0].pending", b"")
    assert (
        Frame.FromString(record.encode()).chatItem.outgoing.sendStatus[0].WhichOneof("deliveryStatus") == "pending"
    )


def test_a_header_can_be_changed_too() -> None:
    """The paths of a header begin with its own fields."""
    record = EditableRecord(HEADER, tables.BACKUP_INFO)
    record.clear("firstAppVersion")
    assert record.encode() == HEADER.removesuffix(delimited(5, b"App 1.0"))


def test_what_is_there_is_told() -> None:
    """`has` answers whether a path exists and does not change the record."""
    record = EditableRecord(FRAME)
    assert record.has("chatFolder.includedRecipientIds[3]")
    assert not record.has("chatFolder.includedRecipientIds[4]")
    assert not record.has("chatFolder.excludedRecipientIds")
    assert not record.has("chatItem.standardMessage.text")
    assert record.encode() == FRAME


@pytest.mark.parametrize(
    "path",
    ["", "nonsense", "chatFolder.nonsense", "chatFolder.name.x", "chatItem.chatId", "chatFolder.id", "field 99"],
)
def test_what_is_not_there_cannot_be_cleared(path: str) -> None:
    """Clearing an unknown or absent field is an error and leaves the record unchanged."""
    record = EditableRecord(FRAME)
    with pytest.raises(CannotEdit):
        record.clear(path)
    assert record.encode() == FRAME


def test_a_message_in_pieces_is_left_alone() -> None:
    """A message that is written in two pieces is not edited, since its indexes are ambiguous."""
    piece = delimited(11, delimited(6, delimited(1, b"x")))
    record = EditableRecord(delimited(4, piece + piece))
    with pytest.raises(CannotEdit, match="in pieces"):
        record.clear("chatItem.standardMessage.reactions[0]")


def test_an_element_of_a_list_is_replaced_in_its_place() -> None:
    """An element of a list is replaced, packed or not; a whole list and an absent index are errors."""
    record = EditableRecord(FRAME)
    record.put("chatFolder.includedRecipientIds[1]", varint(4))
    record.put("chatFolder.includedRecipientIds[3]", varint(6))
    assert Frame.FromString(record.encode()).chatFolder.includedRecipientIds == [3, 4, 5, 6]
    for path in ("chatFolder.includedRecipientIds", "chatFolder.includedRecipientIds[7]"):
        with pytest.raises(CannotEdit, match="no one place"):
            record.put(path, varint(1))


def test_a_field_written_twice_is_cleared_and_put_twice() -> None:
    """An edit changes every occurrence of a field that is written twice."""
    record = EditableRecord(delimited(8, number(6, 0) + delimited(1, b"x") + number(6, 0)))
    record.put("chatFolder.folderType", varint(2))
    assert Frame.FromString(record.encode()).chatFolder.folderType == 2
    record.clear("chatFolder.folderType")
    assert record.encode() == delimited(8, delimited(1, b"x"))


def test_the_element_a_path_leads_through() -> None:
    """The path is cut after its last list index, and a path without one is an error."""
    assert element_path("chatItem.revisions[1].standardMessage.reactions[2].authorId") == (
        "chatItem.revisions[1].standardMessage.reactions[2]"
    )
    assert element_path("chatFolder.includedRecipientIds[4]") == "chatFolder.includedRecipientIds[4]"
    with pytest.raises(CannotEdit):
        element_path("chatItem.chatId")


@settings(max_examples=60)
@given(seed=st.integers(0, 1 << 32))
def test_whatever_can_be_parsed_comes_back_byte_for_byte(seed: int) -> None:
    """Reading does not change the bytes of a record, and clearing its item removes it."""
    rng = random.Random(seed)
    for raw in random_frames(4, seed):
        mutated = mutate(rng, raw)
        if walk_record(mutated).fault:
            continue
        record = EditableRecord(mutated)
        for _depth in range(3):
            record.has("chatItem.standardMessage.text.body")
            record.has("account.accountSettings.autoDownloadSettings.images")
        assert record.encode() == mutated
        kind = Frame.FromString(mutated).WhichOneof("item")
        if kind is not None:
            record.clear(kind)
            left = Frame.FromString(record.encode())
            assert left.WhichOneof("item") != kind
            assert len(record.encode()) < len(mutated)
