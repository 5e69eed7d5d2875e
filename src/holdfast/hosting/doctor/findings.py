"""The kinds of inconsistencies, each with advice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["DoctorFinding", "FindingKind"]


class FindingKind(Enum):
    """The kinds of findings: a stable id, and advice for the administrator."""

    advice: str

    def __new__(cls, value: str, advice: str) -> "FindingKind":
        """Create a member with its id and advice."""
        member = object.__new__(cls)
        member._value_ = value
        member.advice = advice
        return member

    MIGRATIONS = "migrations", "run `holdfast admin migrate`"
    DATABASE_NEWER = "database-newer", "install the newer version again, or restore the backup made before it"
    MIGRATION_FAILS = "migration-fails", "stay on the version that is running, and report it"
    DISK_SPACE = "disk-space", "make room on the disk of the data folder"
    DATABASE_DAMAGED = "database-damaged", "restore a backup; the file is not to be trusted"
    ROW_WITHOUT_PARENT = "row-without-parent", "restore a backup, or remove the row by hand"
    INSTANCE = "instance", "name the folder that belongs to the database, or run `holdfast admin instance --adopt`"
    PERMISSIONS = "permissions", "run with --fix, or take the rights of others away with chmod"
    COPY_WITHOUT_ROW = "copy-without-row", "run with --fix to move it to lost-and-found"
    NOT_ADOPTED = "not-adopted", "start the service, which adopts it; else restore its folder from a backup"
    OBJECT_STORE = "object-store", "check the bucket, and the settings that begin with s3_"
    PACK_MISSING = "pack-missing", "restore the pack from a backup"
    UNREADABLE = "unreadable", "restore the repository from a backup"
    DAMAGED = "damaged", "restore the repository from a backup, or push again what is missing"
    DEFAULT_BRANCH = "default-branch", "run with --fix to make its first branch the default"
    EMPTY = "empty", "run with --fix to set it from the refs"
    BRANCH_COUNT = "branch-count", "run with --fix to count again"
    SIZE = "size", "run with --fix to measure again"
    ISSUE_COUNT = "issue-count", "run with --fix to count again"
    ISSUE_NUMBER = "issue-number", "run with --fix, or no new issue can be created"
    COMMENT_COUNT = "comment-count", "run with --fix to count again"
    LABEL_ROWS = "label-rows", "run with --fix to copy the state of the issue again"
    REDIRECT = "redirect", "run with --fix to remove it; the name belongs to another now"
    KEY = "key", "restore the key from a backup, or set secret_key to the one that was used"
    SEAL = "seal", "restore the key it was encrypted with from a backup, or set the webhook's secret again"
    LFS_STORE = "lfs-store", "check the bucket, and the settings that begin with s3_"
    LFS_MISSING = "lfs-missing", "push the file again, or restore it from a backup"
    LFS_SIZE = "lfs-size", "push the file again, or restore it from a backup"
    LFS_UNLINKED = "lfs-unlinked", "run `holdfast admin gc` to remove it"
    ATTACHMENT_MISSING = "attachment-missing", "upload the file again, or restore it from a backup"
    ATTACHMENT_SIZE = "attachment-size", "restore the file from a backup"
    ATTACHMENT_UNUSED = "attachment-unused", "run `holdfast admin gc` to remove it"
    CHAT_PART_MISSING = "chat-part-missing", "upload the chat backup again, or restore it from a backup"
    CHAT_PART_SIZE = "chat-part-size", "upload the chat backup again, or restore it from a backup"
    CHAT_PART_UNUSED = "chat-part-unused", "run `holdfast admin gc` to remove it"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """An inconsistency, with its repair if there is a safe one."""

    kind: FindingKind
    where: str
    what: str
    repair: Callable[[], object] | None = field(default=None, compare=False, repr=False)
    """The repair of `--fix`; None if the administrator has to decide."""
