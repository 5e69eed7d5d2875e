"""Reports of corrupt repositories: what git and libgit2 could not read, by folder.

The next reader of a local copy acts on a report (`hosting.storage.local_copies`). A report is made where an error
occurs, since some callers have sent part of their response by then, and others do without what cannot be read.
"""

import re
from pathlib import Path
from typing import Final

__all__ = ["report", "report_failure", "take_report"]

# The input of these commands comes from a client, who can send anything.
OF_CLIENTS: Final = frozenset({"index-pack", "receive-pack", "unpack-objects"})
# How git reports a corrupt or missing object, or a corrupt file; not `bad object`, which a request for an unknown
# commit also leads to.
CORRUPT: Final = re.compile(
    r"is corrupt|possible repository corruption|does not match index|inflate: |unable to (?:read|unpack)"
    r"|(?:could not|cannot) read (?:blob |tree |commit )?[0-9a-f]{40}|failed to read delta base"
    r"|bad (?:packed object CRC|object header|tree object)|missing (?:object|blob|tree|commit)"
    r"|unknown object type \d+ at offset|too short to be a packfile|index unavailable",
    re.IGNORECASE,
)
reported: set[str] = set()


def report(folder: Path | str) -> None:
    """Report that an object of a repository is corrupt."""
    reported.add(str(folder))


def report_failure(folder: Path | str | None, command: str, stderr: str) -> None:
    """Report a repository if a git command failed because it is corrupt."""
    if folder is not None and command not in OF_CLIENTS and CORRUPT.search(stderr):
        report(folder)


def take_report(folder: Path) -> bool:
    """Return whether a repository was reported, and remove the report."""
    # Almost always empty, and read for every request.
    if not reported or str(folder) not in reported:
        return False
    reported.discard(str(folder))
    return True
