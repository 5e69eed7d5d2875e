"""The one description of the format and the message classes generated from it (`make schema`).

`backup.proto` describes the plain stream, `local.proto` the small records around it.
"""

from holdfast.backup.schema.backup_pb2 import BackupInfo, Frame

__all__ = ["RECORDS", "BackupInfo", "Frame"]

# The name of each record a frame can hold, by field number; number 0 stands for a frame that holds none.
RECORDS: tuple[str, ...] = (
    "empty",
    *(
        field.name
        for field in sorted(Frame.DESCRIPTOR.oneofs_by_name["item"].fields, key=lambda field: field.number)
    ),
)
