"""Repositories in backups from before the repository log: bare repositories, file by file."""

import os
import re
from typing import Final

from holdfast.hosting.errors import SnapshotDamaged
from holdfast.hosting.git import refs

__all__ = ["check_head", "is_member"]

LOOSE: Final = re.compile(r"objects/[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})")
PACK: Final = re.compile(r"objects/pack/(pack-[0-9a-f]{40,64})\.(pack|idx|rev|bitmap|mtimes|promisor)")


def is_member(name: str) -> bool:
    """Return whether a backup may contain a file of a repository; settings and hooks are excluded."""
    return name in {"HEAD", "packed-refs"} or bool(LOOSE.fullmatch(name) or PACK.fullmatch(name))


def check_head(content: bytes, number: int) -> str:
    """Return the branch of a HEAD; raise `SnapshotDamaged` for anything else."""
    prefix, _, branch = content.partition(b"refs/heads/")
    name = os.fsdecode(branch.removesuffix(b"\n"))
    if prefix != b"ref: " or not refs.is_ref_name(name):
        raise SnapshotDamaged(f"the HEAD of repository {number} names no branch")
    return name
