"""Chat backups: a library of its own.

    >>> from holdfast import backup
    >>> backup.info("signal.binproto").counts["chatItem"]
    1042

A backup is a header and an ordered stream of frames; each frame holds one record. Raw bytes stay with the frame,
so what is written back is what was read, and memory does not grow with the number of messages.
"""

from holdfast.backup.errors import BackupError, DamagedBackup, UnreadableBackup
from holdfast.backup.info import Header, Info, info
from holdfast.backup.wire import COMPILED, Frame, FrameStream, Limits

__all__ = [
    "COMPILED",
    "BackupError",
    "DamagedBackup",
    "Frame",
    "FrameStream",
    "Header",
    "Info",
    "Limits",
    "UnreadableBackup",
    "info",
]
