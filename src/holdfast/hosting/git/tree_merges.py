"""Three-way merges of trees, with the same result as git's merge.

Most merges need no content to be merged: each path was changed on one side only, and no side has both removed and
added files, so that none can have been renamed. Those are merged here from the entries of the directories that
differ. All others are left to `git merge-tree`, which merges contents, detects renames and reports conflicts.
"""

import os
import tempfile
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Final

import msgspec

from holdfast.hosting.errors import GitFailed, GitTimedOut, MergeConflict, MergeTooLarge
from holdfast.hosting.git.commits import Signature, commit_content
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.packs import object_id
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import BY_NAME, Kind
from holdfast.hosting.git.tree_entries import Folder
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.git.trees import DIRECTORY

__all__ = ["TreeMerger", "open_merger"]

SECONDS: Final = 10.0
# The maximum number of conflicting files that are listed.
MOST_CONFLICTS: Final = 1000
# The maximum size of the objects a merge may write, compressed; they are held in memory.
LARGEST_MERGE: Final = 128 * 1024 * 1024
# The maximum number of entries compared here, and of the depth of directories, before git is run.
MOST_CHANGES: Final = 20_000
DEEPEST: Final = 100
CANONICAL: Final = (b"100644 ", b"40000 ", b"100755 ", b"120000 ", b"160000 ")
NOBODY: Final = Signature("holdfast", "", 0)

Entry = tuple[int, bytes]
"""The mode and id of a tree entry."""


class NeedsGit(Exception):
    """Raised for trees that only git can merge."""


class SideChanges(msgspec.Struct):
    """Whether one side of a merge added files and removed files; if both, some may have been renamed."""

    added: bool = False
    removed: bool = False

    def note(self, *, added: bool = False, removed: bool = False) -> None:
        """Record a change; raise `NeedsGit` if there may be a rename."""
        self.added |= added
        self.removed |= removed
        if self.added and self.removed:
            raise NeedsGit


class MemoryMerge:
    """A three-way merge from directory entries alone."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._ours = SideChanges()
        self._theirs = SideChanges()
        self._changes = 0

    def merge(self, base: Folder, ours: Folder, theirs: Folder, depth: int = 0) -> Folder:
        """Return the merged directory, or raise `NeedsGit`."""
        if depth > DEEPEST:
            raise NeedsGit
        before = set(base.rows)
        changed = {name_of(row) for side in (ours, theirs) for row in before.symmetric_difference(side.rows)}
        self._count(len(changed))
        result: Folder | None = None
        for name in changed:
            old, our, their = entry_of(base, name), entry_of(ours, name), entry_of(theirs, name)
            merged = self._merge_entry(old, our, their, depth)
            if merged == our:
                continue
            if result is None:
                require_canonical(ours)
                result = Folder(ours.keys.copy(), ours.rows.copy())
            replace_entry(result, name, merged)
        return ours if result is None else result

    def _merge_entry(
        self, base: Entry | None, ours: Entry | None, theirs: Entry | None, depth: int
    ) -> Entry | Folder | None:
        if ours == theirs:
            self._note(base, ours, self._ours, depth)
            self._note(base, theirs, self._theirs, depth)
            return ours
        if base == ours:
            self._note(base, theirs, self._theirs, depth)
            return theirs
        if base == theirs:
            self._note(base, ours, self._ours, depth)
            return ours
        directories = [entry is None or entry[0] == DIRECTORY for entry in (base, ours, theirs)]
        if not all(directories):
            # Both sides changed a file, or one has a file where the other has a directory.
            raise NeedsGit
        inner = self.merge(self._folder(base), self._folder(ours), self._folder(theirs), depth + 1)
        return inner if inner.keys else None

    def _folder(self, entry: Entry | None) -> Folder:
        if entry is None:
            return self._draft.empty()
        folder = self._draft.folder(entry[1].hex())
        if not folder.keys:
            # git never writes an empty directory, and drops existing ones.
            raise NeedsGit
        return folder

    def _note(self, base: Entry | None, side: Entry | None, changes: SideChanges, depth: int) -> None:
        """Record which entries one side added and removed."""
        if base == side:
            return
        if depth > DEEPEST:
            raise NeedsGit
        if base is None or side is None or base[0] != side[0]:
            is_tree = DIRECTORY in (base and base[0], side and side[0])
            changes.note(
                added=base is None or (is_tree and side is not None),
                removed=side is None or (is_tree and base is not None),
            )
            return
        if base[0] != DIRECTORY:
            return
        old, new = self._folder(base), self._folder(side)
        changed = {name_of(row) for row in set(old.rows).symmetric_difference(new.rows)}
        self._count(len(changed))
        for name in changed:
            self._note(entry_of(old, name), entry_of(new, name), changes, depth + 1)

    def _count(self, changes: int) -> None:
        self._changes += changes
        if self._changes > MOST_CHANGES:
            raise NeedsGit


def name_of(row: bytes) -> bytes:
    """Return the name in a raw tree entry."""
    if not row.startswith(CANONICAL):
        raise NeedsGit
    return row[row.index(b" ") + 1 : row.index(b"\0")]


def entry_of(folder: Folder, name: bytes) -> Entry | None:
    """Return the entry of a directory that has no unwritten changes."""
    entry = folder.get(name)
    if entry is None:
        return None
    mode, at = entry
    # Directories that were read or added have no unwritten subdirectories.
    return mode, at if isinstance(at, bytes) else bytes.fromhex(str(at.id))


def require_canonical(folder: Folder) -> None:
    """Raise `NeedsGit` for a directory with non-canonical modes, which git changes when it writes it."""
    if not all(row.startswith(CANONICAL) for row in folder.rows):
        raise NeedsGit


def replace_entry(folder: Folder, name: bytes, entry: Entry | Folder | None) -> None:
    """Replace, add or remove an entry of a directory that is not shared yet."""
    for old in (name, name + b"/"):
        place = bisect_left(folder.keys, old)
        if place < len(folder.keys) and folder.keys[place] == old:
            del folder.keys[place], folder.rows[place]
    if entry is None:
        return
    if isinstance(entry, Folder) and entry.id is None:
        row = b"40000 %s\0" % name
        folder.below[name] = entry
        is_tree = True
    else:
        mode, at = (DIRECTORY, bytes.fromhex(str(entry.id))) if isinstance(entry, Folder) else entry
        row = b"%o %s\0%s" % (mode, name, at)
        is_tree = mode == DIRECTORY
    key = name + b"/" if is_tree else name
    place = bisect_left(folder.keys, key)
    folder.keys.insert(place, key)
    folder.rows.insert(place, row)


class TreeMerger:
    """Merges trees into a draft; `git merge-tree` reads the draft and writes to a temporary object folder."""

    def __init__(self, draft: Draft, *, timeout: float = SECONDS) -> None:
        self.draft = draft
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._timeout = timeout
        self._written = 0

    @property
    def _scratch(self) -> Path:
        """The temporary object folder, created when git is needed."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="merge-", ignore_cleanup_errors=True)
        return Path(os.path.realpath(self._folder.name))

    def close(self) -> None:
        """Delete the temporary folder."""
        if self._folder is not None:
            self._folder.cleanup()

    def merge(self, bases: tuple[str, ...], ours: str, theirs: str) -> Folder:
        """Merge two commits of the repository, given their merge bases; raise `MergeConflict`."""
        draft = self.draft
        if bases == (ours,):
            return draft.root(theirs)
        if len(bases) == 1:
            merged = self._merge_in_memory(draft.root(bases[0]), draft.root(ours), draft.root(theirs))
            if merged is not None:
                return merged
        return self._merge_with_git(ours, theirs)

    def apply(self, base: Folder, ours: Folder, theirs: Folder) -> Folder:
        """Apply the changes between two trees to another one, like `git cherry-pick`; raise `MergeConflict`."""
        merged = self._merge_in_memory(base, ours, theirs)
        if merged is not None:
            return merged
        # `git merge-tree` takes commits: these are built so that their merge base is `base`.
        below = self._commit(base)
        return self._merge_with_git(self._commit(ours, below), self._commit(theirs, below))

    def _merge_in_memory(self, base: Folder, ours: Folder, theirs: Folder) -> Folder | None:
        try:
            return MemoryMerge(self.draft).merge(base, ours, theirs)
        except NeedsGit:
            return None

    def _commit(self, tree: Folder, *parents: str) -> str:
        """Write a commit of a tree to the temporary folder only."""
        content = commit_content(self.draft.tree(tree), parents, NOBODY, NOBODY, "")
        return self._write("commit", content)

    def _write(self, kind: Kind, content: bytes) -> str:
        written = object_id(kind, content)
        path = self._path(written)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(content), content), 1))
        return written

    def _path(self, object_id: str) -> Path:
        return self._scratch / object_id[:2] / object_id[2:]

    def _merge_with_git(self, ours: str, theirs: str) -> Folder:
        new = self.draft.objects()[self._written :]
        for packed_object in new:
            self._write(packed_object.kind, packed_object.content)
        self._written += len(new)
        folder = self.draft.repo.folder
        variables = {
            "GIT_OBJECT_DIRECTORY": str(self._scratch),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(folder / "objects"),
            # Read by git 2.41 and later; a working copy also has the attributes of our side.
            "GIT_ATTR_SOURCE": ours,
        }
        arguments = ("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", ours, theirs)
        try:
            output = run(folder, *arguments, timeout=self._timeout, variables=variables)
        except GitTimedOut:
            raise
        except GitFailed as error:
            # 1 means conflicts; git before 2.38 does not support this form of the command.
            if error.code != 1:
                raise
            raise MergeConflict(conflict_names(error.stdout, ours, theirs)) from None
        tree = output.rstrip(b"\0\n").decode()
        self._take(tree)
        return self.draft.folder(tree)

    def _take(self, tree: str) -> None:
        """Add the objects that git has written for a tree to the draft, without intermediate ones."""
        contents: dict[str, tuple[Kind, bytes]] = {}
        size = 0
        left = [tree]
        while left:
            at = left.pop()
            path = self._path(at)
            if at in contents or not path.exists():
                continue
            size += path.stat().st_size
            if size > LARGEST_MERGE:
                raise MergeTooLarge(f"the merged files have more than {LARGEST_MERGE} bytes")
            head, _, content = zlib.decompress(path.read_bytes()).partition(b"\0")
            kind = BY_NAME[head.partition(b" ")[0]]
            contents[at] = kind, content
            if kind == "tree":
                left += tree_links(content, len(at) // 2)
        for kind, content in contents.values():
            self.draft.add(kind, content)
        self._written = len(self.draft.objects())


def conflict_names(output: bytes, *sides: str) -> tuple[str, ...]:
    """Return the paths with conflicts in the output of `git merge-tree`.

    A file that conflicts with a directory of the other side is listed with a tilde and the name of its side
    appended.
    """
    names = output.split(b"\0")[1:-1]
    suffixes = tuple(f"~{side}".encode() for side in sides)
    paths = (name[: name.rindex(b"~")] if name.endswith(suffixes) else name for name in names)
    return tuple(dict.fromkeys(map(display_name, paths)))[:MOST_CONFLICTS]


def tree_links(content: bytes, width: int) -> Iterator[str]:
    """Yield the ids in a tree that git has written."""
    position = 0
    while position < len(content):
        end = content.index(b"\0", position) + 1
        yield content[end : end + width].hex()
        position = end + width


def open_merger(draft: Draft, *, timeout: float = SECONDS) -> AbstractContextManager[TreeMerger]:
    """Open a merger; it is closed with its context."""
    return closing(TreeMerger(draft, timeout=timeout))
