"""Contributors to a branch (`git shortlog`), by the name and e-mail of authors, corrected by `.mailmap`."""

import re
from typing import Final

import msgspec

from holdfast.hosting.git.command_output import git_output
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo

__all__ = ["Contributor", "ContributorList", "count_contributors"]

# Only this many contributors with the most commits are listed; the others are counted.
MOST_KEPT: Final = 100
LONGEST_NAME: Final = 200
LINE: Final = re.compile(rb"\s*(\d+)\t(.*?)\s*<([^<>]*)>")


class Contributor(msgspec.Struct, frozen=True):
    """An author, and the number of their commits."""

    name: str
    email: str
    commits: int


class ContributorList(msgspec.Struct, frozen=True):
    """The contributors to a commit and its ancestors, by number of commits in descending order."""

    commit: str
    total: int
    first: tuple[Contributor, ...]


def count_contributors(repo: Repo, commit: str) -> ContributorList:
    """Count all commits reachable from a commit by author; takes about a second for 100,000 commits."""
    repo.require(commit, "commit")
    output = git_output(repo.folder, "shortlog", "--summary", "--numbered", "--email", commit, "--")
    lines = output.splitlines()
    contributors = [
        Contributor(display_name(match[2])[:LONGEST_NAME], display_name(match[3]), int(match[1]))
        for line in lines[:MOST_KEPT]
        if (match := LINE.fullmatch(line)) is not None
    ]
    return ContributorList(commit, len(lines), tuple(contributors))
