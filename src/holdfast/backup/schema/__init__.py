"""The schema of the format, and the message classes generated from it (`make schema`).

`backup.proto` defines the plain stream, `local.proto` the metadata of containers and folders.
"""

from collections.abc import Iterable

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from holdfast.backup.schema import backup_pb2, local_pb2
from holdfast.backup.schema.backup_pb2 import BackupInfo, Frame

__all__ = ["RECORDS", "BackupInfo", "Frame"]

# The name of each record type of a frame, by field number; 0 is a frame without a record.
RECORDS: tuple[str, ...] = (
    "empty",
    *(
        field.name
        for field in sorted(Frame.DESCRIPTOR.oneofs_by_name["item"].fields, key=lambda field: field.number)
    ),
)


def describe(message: Message) -> str:
    """Return the type and the size of a message, and none of its content."""
    return f"<{type(message).DESCRIPTOR.name}, {message.ByteSize()} bytes>"


def redact_reprs(kinds: Iterable[Descriptor]) -> None:
    """Replace the repr of messages, nested ones included, so that no content appears in logs and tracebacks."""
    for kind in kinds:
        message_class = GetMessageClass(kind)
        message_class.__repr__ = describe  # type: ignore[method-assign,assignment]  # protobuf's own repr shows content
        message_class.__str__ = describe  # type: ignore[method-assign,assignment]  # protobuf's own repr shows content
        redact_reprs(kind.nested_types)


for described in (backup_pb2.DESCRIPTOR, local_pb2.DESCRIPTOR):
    redact_reprs(described.message_types_by_name.values())
