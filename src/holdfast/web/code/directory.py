"""The page of a directory: its entries with their last commits, and the README."""

from dataclasses import dataclass
from typing import Final

from holdfast.hosting.git import last_commits, trees
from holdfast.hosting.git.commits import Commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.trees import EntryType, TreeEntry
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code.commit_rows import CommitRow, lines_of, summary_of
from holdfast.web.code.location import CodeLocation
from holdfast.web.code.readme import Readme, readme_of

__all__ = ["Directory", "DirectoryRow", "directory"]

# The number of entries on a page; a larger directory has several pages.
PER_PAGE: Final = 150


@dataclass(frozen=True, slots=True)
class DirectoryRow:
    """An entry of a directory; a submodule has no URL here."""

    name: str
    type: EntryType
    size: int
    address: str
    summary: str = ""
    commit: str = ""
    time: int = 0


@dataclass(frozen=True, slots=True)
class Directory:
    """A page of a directory."""

    rows: list[DirectoryRow]
    total: int
    number: int
    size: int
    last: CommitRow | None
    readme: Readme | None


def order(entry: TreeEntry) -> tuple[bool, bytes]:
    """Return the sort key of an entry: directories first, then by name, ignoring case."""
    return entry.type != "dir", entry.raw_path.lower()


def directory(request: RequestContext, location: CodeLocation, tree: str, number: int) -> Directory:
    """Return page `number` of a directory."""
    nodes = trees.children(location.repo, tree)
    total = len(nodes)
    number = max(1, min(number, (total + PER_PAGE - 1) // PER_PAGE))
    prefix = location.path + b"/" if location.path else b""
    entries = [trees.with_size(location.repo, (mode, prefix + name, at)) for mode, name, at in nodes]
    entries.sort(key=order)
    shown_now = entries[(number - 1) * PER_PAGE : number * PER_PAGE]
    commits = last_commits.of_directory(location.repo, location.commit, location.path)
    newest = max(commits.values(), key=lambda commit: commit.committer.time, default=None)
    rows = [row_of(location, entry, commits.get(entry.raw_path)) for entry in shown_now]
    last = None if newest is None else lines_of(request, [newest])[0]
    readme = readme_of(location, entries)
    return Directory(rows, total, number, PER_PAGE, last, readme)


def row_of(location: CodeLocation, entry: TreeEntry, commit: Commit | None) -> DirectoryRow:
    """Return the row of an entry."""
    address = "" if entry.type == "submodule" else location.address("src", entry.raw_path)
    name = display_name(entry.raw_path.rpartition(b"/")[2])
    if commit is None:
        return DirectoryRow(name, entry.type, entry.size, address)
    summary, _ = summary_of(commit.message)
    return DirectoryRow(name, entry.type, entry.size, address, summary, commit.id, commit.committer.time)
