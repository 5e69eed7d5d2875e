"""Checks with `git merge-tree` whether two commits merge without conflicts."""

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.history import merge_base
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo

__all__ = ["merges_cleanly"]

SECONDS: Final = 5.0
KEPT: Final = 4096


def merges_cleanly(repo: Repo, base: str, head: str) -> bool:
    """Return whether `head` merges into `base` without conflicts; False after a timeout."""
    parted = merge_base(repo, base, head)
    if parted is None:
        return False
    if parted in {base, head}:
        return True
    try:
        return merged(repo.folder, base, head)
    except GitTimedOut:
        return False


@lru_cache(maxsize=KEPT)
def merged(folder: Path, base: str, head: str) -> bool:
    """Run `git merge-tree`; the objects it writes go to a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="merge-") as scratch:
        variables = {
            "GIT_OBJECT_DIRECTORY": scratch,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(folder / "objects"),
        }
        try:
            run(
                folder,
                "merge-tree",
                "--write-tree",
                "--no-messages",
                base,
                head,
                timeout=SECONDS,
                variables=variables,
            )
        except GitTimedOut:
            raise
        except GitFailed:
            # Exit code 1 means conflicts; git before 2.38 does not know this form of the command.
            return False
    return True
