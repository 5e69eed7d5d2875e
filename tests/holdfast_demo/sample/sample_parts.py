"""Functions that iterate over the records, fields and file pointers of a sample."""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.schema.backup_pb2 import BackupInfo, ChatItem, FilePointer, Frame
from holdfast_demo.sample import Edition, sample_records

PACKAGE = "holdfast.backup."


def frames(messages: int, seed: int = 1, edition: Edition = "current") -> list[Frame]:
    """Parse every frame of a sample."""
    records = sample_records(messages, seed, edition=edition)
    next(records)
    return [Frame.FromString(record) for record in records]


def header(messages: int, seed: int = 1, edition: Edition = "current") -> BackupInfo:
    """Parse the header of a sample."""
    return BackupInfo.FromString(next(sample_records(messages, seed, edition=edition)))


def items(messages: int, seed: int = 1, edition: Edition = "current") -> list[ChatItem]:
    """Parse every chat item of a sample."""
    return [frame.chatItem for frame in frames(messages, seed, edition) if frame.HasField("chatItem")]


def values(message: Message) -> Iterator[tuple[FieldDescriptor, object]]:
    """Find every field that is set in a message or below it, once per value."""
    for descriptor, content in message.ListFields():
        for value in content if descriptor.is_repeated else (content,):
            yield descriptor, value
            if isinstance(value, Message):
                yield from values(value)


def pointers(message: Message) -> Iterator[FilePointer]:
    """Find every file pointer in a message or below it."""
    for _, value in values(message):
        if isinstance(value, FilePointer):
            yield value


def local_name(descriptor: FieldDescriptor) -> str:
    """Name a field without the package."""
    return descriptor.full_name.removeprefix(PACKAGE)
