"""Two backups side by side, and parts of one: what changed, both in one, or less of one.

roster     everything of a backup but its messages
pairing    who is who in two backups
items      messages with the numbers of a pairing
index      which message of one backup is which of the other, held on disk
canonical  what two versions of a message differ in
facts      what two versions of any other record differ in
matching   messages that are not the same to the byte
records    what changed in records that are no messages
diff       what changed from one backup to another
union      two rosters made one
resolve    two versions of a message made one
merge      several backups made one
choosing   chats and times by the names people give them
crop       part of a backup
"""

from holdfast.backup.compare.crop import CropResult, crop
from holdfast.backup.compare.diff import ChatDifference, Difference, MessageChange, diff
from holdfast.backup.compare.field_changes import FieldChange, RecordChange
from holdfast.backup.compare.merge import MergeResult, merge
from holdfast.backup.compare.selection import Window
from holdfast.backup.compare.union import Conflict

__all__ = [
    "ChatDifference",
    "Conflict",
    "CropResult",
    "Difference",
    "FieldChange",
    "MergeResult",
    "MessageChange",
    "RecordChange",
    "Window",
    "crop",
    "diff",
    "merge",
]
