"""Integrity checks of a repository (`git fsck`)."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.git.program import environment, find_git

__all__ = ["FsckResult", "fsck"]

PROBLEMS_KEPT: Final = 100
# Findings that are accepted in pushes, and therefore ignored here.
HARMLESS: Final = ("badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode")


@dataclass(frozen=True, slots=True)
class FsckResult:
    """The problems `git fsck` reports; `count` may exceed the number of stored messages."""

    problems: tuple[str, ...]
    count: int

    @property
    def whole(self) -> bool:
        """Whether no problem was found."""
        return not self.count


def fsck(folder: Path) -> FsckResult:
    """Read every object of a repository, and verify its id and the objects it refers to."""
    settings = [(f"fsck.{name}", "ignore") for name in HARMLESS]
    problems: list[str] = []
    count = 0
    with subprocess.Popen(  # noqa: S603  # an argument list, without a shell
        [find_git(), "fsck", "--full", "--no-dangling", "--no-progress"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment({"GIT_DIR": str(folder)}, settings),
        process_group=0,
    ) as process:
        # Such as a HEAD without a commit: notices, not problems.
        for line in process.stdout or ():
            message = line.decode(errors="replace").strip()
            if message.startswith(("notice:", "warning in ")):
                continue
            count += 1
            if len(problems) < PROBLEMS_KEPT:
                problems.append(message)
    if process.returncode and not count:
        count, problems = 1, [f"git fsck ended with exit code {process.returncode}"]
    return FsckResult(tuple(problems), count)
