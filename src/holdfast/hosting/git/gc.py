"""Garbage collection (`git gc`) and integrity checks (`git fsck`).

Collecting runs beside readers and writers: git moves objects before it removes them from where they were, and what
no ref leads to stays for a grace period, longer than any push takes.
"""

import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import NoSuchFolder
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.git.program import environment, find_git, run
from holdfast.hosting.git.repository import locked

__all__ = ["FsckResult", "collect_garbage", "fsck"]

SECONDS: Final = 4 * 3600.0
GRACE: Final = 14 * 24 * 3600
PROBLEMS_KEPT: Final = 100
# What pushes may hold, a check must not complain of.
HARMLESS: Final = ("badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode")


@dataclass(frozen=True, slots=True)
class FsckResult:
    """The problems `git fsck` reports; `count` may exceed the number that is kept."""

    problems: tuple[str, ...]
    count: int

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.count


def collect_garbage(folder: Path, *, grace: int = GRACE) -> bool:
    """Pack a repository and drop what nothing leads to; return false when another process is at it already."""
    try:
        descriptor = os.open(folder / "objects", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise NoSuchFolder(f"there is no repository in {folder.name}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        expiry = f"{grace}.seconds.ago" if grace else "now"
        with locked(folder):
            run(folder, "pack-refs", "--all")
        loosen = ("-A", f"--unpack-unreachable={expiry}")
        run(folder, "repack", "-d", "-l", "-q", "--write-bitmap-index", *loosen, timeout=SECONDS)
        run(folder, "prune", f"--expire={expiry}", timeout=SECONDS)
        refresh_commit_graph(folder)
    finally:
        os.close(descriptor)
    return True


def fsck(folder: Path) -> FsckResult:
    """Read every object of a repository, and hold it against its id and against what it names."""
    settings = [(f"fsck.{name}", "ignore") for name in HARMLESS]
    problems: list[str] = []
    count = 0
    with subprocess.Popen(  # noqa: S603  # a list of arguments: no shell reads them
        [find_git(), "fsck", "--full", "--no-dangling", "--no-progress"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment({"GIT_DIR": str(folder)}, settings),
        process_group=0,
    ) as process:
        # A HEAD without a commit and the like are notices, not problems.
        for line in process.stdout or ():
            told = line.decode(errors="replace").strip()
            if told.startswith(("notice:", "warning in ")):
                continue
            count += 1
            if len(problems) < PROBLEMS_KEPT:
                problems.append(told)
    if process.returncode and not count:
        count, problems = 1, [f"git fsck ended with exit code {process.returncode}"]
    return FsckResult(tuple(problems), count)
