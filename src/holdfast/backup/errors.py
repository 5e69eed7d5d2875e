"""What can go wrong with a chat backup.

BackupError
├── UnreadableBackup     the file cannot be opened, or is not a backup in any form we know
└── DamagedBackup        it is a backup, but its bytes break the format at a known place
"""

from holdfast.errors import HoldfastError

__all__ = ["BackupError", "DamagedBackup", "UnreadableBackup"]


class BackupError(HoldfastError):
    """A chat backup cannot be read or written."""


class UnreadableBackup(BackupError):
    """The file cannot be opened, or it is not a backup in any form we know."""


class DamagedBackup(BackupError):
    """The bytes break the format.

    `frame` counts from 0, which is the header; `offset` is the byte where the record or its length begins, in
    the plain stream.
    """

    def __init__(self, problem: str, *, frame: int, offset: int) -> None:
        super().__init__(f"{problem} (frame {frame}, byte {offset})")
        self.problem = problem
        self.frame = frame
        self.offset = offset
