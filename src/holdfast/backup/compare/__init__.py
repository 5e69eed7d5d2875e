"""Diff, merge and crop of backups.

roster           all records of a backup except its messages
recipient_pairs  matches recipients and chats of two backups
items            reads messages with the common ids of two backups
index            on-disk index that matches the messages of two backups
message_matches  matches messages whose bytes differ
canonical        compares two versions of a message
field_changes    compares two versions of any other record
records          lists changes of records other than messages
diff             lists the changes from one backup to another
union            merges two rosters
resolve          merges two versions of a message
merge            merges several backups
selection        parses chat names and dates
crop             writes part of a backup
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
