"""Reads the messages of a backup with the common ids of two backups in place of its own."""

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
    """Yield the messages of a backup in order, a block at a time, with recipient and chat ids replaced."""
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
    """Parse and serialize the messages of a block, dropping any other fields of their frames."""
    raws = (
        Frame(chatItem=message.chatItem).SerializeToString()
        for message in (frame.message for frame in block)
        if message.WhichOneof("item") == "chatItem"
    )
    return b"".join(encode_varint(len(raw)) + raw for raw in raws)
