"""Messages with the numbers of a pairing in them, one after the other."""

from collections.abc import Iterator, Mapping

from holdfast.backup.backup_reader import Backup
from holdfast.backup.compare.recipient_pairs import PLAN
from holdfast.backup.schema import Frame
from holdfast.backup.wire import Block
from holdfast.backup.wire.renumber import Numbered, renumber_items
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["renumbered_items"]


def renumbered_items(
    backup: Backup, people: Mapping[int, int], chats: Mapping[int, int]
) -> Iterator[list[Numbered]]:
    """Yield the messages of a backup, a block at a time, in their order."""
    for block in backup.blocks():
        messages, irregular, count, fault, offset = renumber_items(block.data, NO_CAP, PLAN, people, chats)
        if fault:
            raise block.damaged(fault, count, offset)
        if irregular:
            messages, _irregular, _count, _fault, _offset = renumber_items(
                reserialized_items(block), NO_CAP, PLAN, people, chats
            )
        yield messages


def reserialized_items(block: Block) -> bytes:
    """Write the messages of a block as protobuf understands them, without anything beside them in their frames."""
    raws = (
        Frame(chatItem=message.chatItem).SerializeToString()
        for message in (frame.message for frame in block)
        if message.WhichOneof("item") == "chatItem"
    )
    return b"".join(encode_varint(len(raw)) + raw for raw in raws)
