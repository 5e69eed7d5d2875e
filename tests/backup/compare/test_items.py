"""Reading messages in order, with common ids, from frames in any encoding."""

from itertools import chain

from holdfast.backup.compare.items import renumbered_items
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem
from tests.backup.compare.snapshots import opened, snapshot
from tests.backup.streams import HEADER, record


def test_all_messages_come_in_their_order() -> None:
    """All messages are read in the order of the backup."""
    source = snapshot(200)
    same = {number: number for number in range(1000)}
    messages = list(chain.from_iterable(renumbered_items(opened(source.raw()), same, same)))
    assert [Frame.FromString(entry[-1]).chatItem for entry in messages] == source.items


def test_odd_frames_are_read_as_protobuf_reads_them() -> None:
    """The last of two records in a frame counts, and an unknown field beside a message is ignored."""
    first = Frame(chatItem=ChatItem(chatId=1, authorId=1, dateSent=1)).SerializeToString()
    second = Frame(chatItem=ChatItem(chatId=1, authorId=1, dateSent=2)).SerializeToString()
    account = Frame(account=AccountData(givenName="Ada")).SerializeToString()
    frames = [HEADER, first, account + second, second + account, b"", second + b"\x9a\x06\x01x"]
    messages = chain.from_iterable(renumbered_items(opened(b"".join(map(record, frames))), {1: 1}, {1: 1}))
    assert [entry[3] for entry in messages] == [1, 2, 2]
