"""Builds changed trees as objects, reading and writing only the directories on the changed paths.

A draft holds the blobs, trees and commits of some changes in memory until all of them are valid. Folders are
immutable: each change creates a new one, so a change that fails midway has no effect.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.commits import Signature, commit_content, parse_commit
from holdfast.hosting.git.encoding import display_name, raw
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.git.repository import Kind, Repo
from holdfast.hosting.git.tree_entries import Folder, TreeCache, parse
from holdfast.hosting.git.trees import DIRECTORY, EntryType, TreeEntry, type_of, with_size

__all__ = ["Draft", "Nowhere", "PathEntry"]

recent: Final = TreeCache()


class PathEntry(msgspec.Struct, frozen=True):
    """The entry at a path: mode and id."""

    mode: int
    id: str

    @property
    def type(self) -> EntryType:
        """The type of the entry."""
        return type_of(self.mode)


class Nowhere(msgspec.Struct, frozen=True):
    """A failed path lookup: the component that is missing or not a directory, or the path if only its end is."""

    path: str


class PathWalk(msgspec.Struct, frozen=True):
    """The result of walking a path, as far as it exists: its components, entries and directories."""

    parts: list[bytes]
    entries: list[PathEntry]
    folders: list[Folder]


class Draft:
    """Trees and commits in memory, on top of the objects of a local copy.

    The copy may be older than the commit they are based on; `refresh` updates it when an object is missing.
    """

    def __init__(self, repo: Repo, refresh: Callable[[], Repo] | None = None) -> None:
        self.repo = repo
        self._refresh = refresh
        self._objects: dict[str, PackedObject] = {}
        self._folders: dict[str, Folder] = {}
        self._trees: dict[str, str] = {}
        self._added = 0
        # A change of one file looks up the same path several times.
        self._last: tuple[Folder, str, PathWalk] | None = None

    def read(self, object_id: str, kind: Kind) -> bytes:
        """Return the content of an object."""
        packed_object = self._objects.get(object_id)
        if packed_object is not None:
            return packed_object.content
        self.require(object_id)
        return self.repo.read(object_id, kind)

    def require(self, object_id: str) -> None:
        """Update the local copy if it lacks an object."""
        if self._refresh is not None and self.repo.header(object_id) is None:
            self.repo = self._refresh()

    def make_readable(self, object_id: str) -> None:
        """Let git read an object from the local copy, which may be older, or lack what was added to this draft."""
        if object_id in self._objects:
            self.add_to_copy()
        else:
            self.require(object_id)

    def empty(self) -> Folder:
        """Return an empty directory."""
        return Folder([], [])

    def folder(self, tree: str) -> Folder:
        """Return a directory, read from the repository or from memory."""
        folder = self._folders.get(tree) or recent.folder(self.repo, tree)
        if folder is None:
            folder = parse(tree, self.read(tree, "tree"))
            recent.keep_folder(self.repo, folder)
        self._folders[tree] = folder
        return folder

    def root(self, commit: str) -> Folder:
        """Return the root directory of a commit, which may have been added to this draft."""
        tree = self._trees.get(commit) or recent.tree(self.repo, commit)
        if tree is None:
            tree = parse_commit(commit, self.read(commit, "commit")).tree
            recent.keep_tree(self.repo, commit, tree)
        return self.folder(tree)

    def find(self, root: Folder, path: str) -> PathEntry | Nowhere:
        """Return the entry at a path."""
        walk = self.walk_path(root, path)
        parts, entries = walk.parts, walk.entries
        if len(entries) == len(parts):
            return entries[-1]
        if entries and entries[-1].mode != DIRECTORY:
            return Nowhere(display_name(parts[len(entries) - 1]))
        return Nowhere(path if len(entries) == len(parts) - 1 else display_name(parts[len(entries)]))

    def walk_path(self, root: Folder, path: str) -> PathWalk:
        """Walk a path from a directory."""
        if self._last is not None and self._last[0] is root and self._last[1] == path:
            return self._last[2]
        walk = PathWalk(raw(path).split(b"/"), [], [])
        mode: int = DIRECTORY
        at: bytes | Folder = root
        for part in walk.parts:
            if mode != DIRECTORY:
                break
            folder = at if isinstance(at, Folder) else self.folder(at.hex())
            walk.folders.append(folder)
            entry = folder.get(part)
            if entry is None:
                break
            mode, at = entry
            walk.entries.append(PathEntry(mode, at.hex() if isinstance(at, bytes) else ""))
        self._last = root, path, walk
        return walk

    def put(self, root: Folder, path: str, mode: int, at: str) -> Folder:
        """Return a directory with an entry at a path; missing parent directories are created."""
        walk = self.walk_path(root, path)
        *above, name = walk.parts
        for part, entry in zip(above, walk.entries, strict=False):
            if entry.mode != DIRECTORY:
                raise GitDamaged(f"{display_name(part)} is no directory")
        folders = walk.folders.copy()
        while len(folders) < len(walk.parts):
            folders.append(self.empty())
        folder = folders.pop().put(name, mode, bytes.fromhex(at))
        while folders:
            folder = folders.pop().put_below(above.pop(), folder)
        return folder

    def remove(self, root: Folder, path: str) -> Folder:
        """Return a directory without the entry at a path; parent directories that become empty are removed too."""
        return self._remove(root, raw(path).split(b"/"))

    def _remove(self, folder: Folder, parts: list[bytes]) -> Folder:
        if len(parts) == 1:
            return folder.without(parts[0])
        below = self._remove(self._below(folder, parts[0]), parts[1:])
        return folder.put_below(parts[0], below) if below.keys else folder.without(parts[0])

    def _below(self, folder: Folder, name: bytes) -> Folder:
        """Return a subdirectory; a missing one is empty."""
        entry = folder.get(name)
        if entry is None:
            return self.empty()
        mode, at = entry
        if isinstance(at, Folder):
            return at
        if mode != DIRECTORY:
            raise GitDamaged(f"{display_name(name)} is no directory")
        return self.folder(at.hex())

    def tree(self, folder: Folder) -> str:
        """Add a directory and its new subdirectories, and return the id of its tree."""
        if folder.id is None:
            # The cached path may contain entries that have no id yet.
            self._last = None
            for name, below in list(folder.below.items()):
                folder.set_subtree(name, bytes.fromhex(self.tree(below)))
            folder.id = self._add("tree", b"".join(folder.rows))
            self._folders[folder.id] = folder
        return folder.id

    def blob(self, content: bytes) -> str:
        """Add a blob and return its id."""
        return self._add("blob", content)

    def entry(self, path: str, entry: PathEntry) -> TreeEntry:
        """Return an entry with its path and size."""
        packed_object = self._objects.get(entry.id)
        if packed_object is not None:
            return TreeEntry(raw(path), entry.mode, entry.id, len(packed_object.content))
        self.require(entry.id)
        return with_size(self.repo, (entry.mode, raw(path), entry.id))

    def commit(
        self, tree: str, parents: tuple[str, ...], *, author: Signature, committer: Signature, message: str
    ) -> str:
        """Add a commit and return its id; the message is written unchanged."""
        commit_id = self._add("commit", commit_content(tree, parents, author, committer, message))
        self._trees[commit_id] = tree
        return commit_id

    def add(self, kind: Kind, content: bytes) -> str:
        """Add an object built by git or the caller, and return its id."""
        new_id = self._add(kind, content)
        if kind == "commit":
            self._trees[new_id] = parse_commit(new_id, content).tree
        return new_id

    def content(self, oid: str) -> bytes:
        """Return the content of an added object."""
        return self._objects[oid].content

    def _add(self, kind: Kind, content: bytes) -> str:
        new_id = object_id(kind, content)
        self._objects[new_id] = PackedObject(kind, content)
        return new_id

    def objects(self) -> list[PackedObject]:
        """Return all added objects."""
        return list(self._objects.values())

    def add_to_copy(self) -> None:
        """Write the objects added since the last call to the local copy, where git can read them."""
        if self._refresh is not None:
            self.repo = self._refresh()
        new = list(self._objects.values())[self._added :]
        self._added += len(new)
        for packed_object in new:
            self.repo.write(packed_object.kind, packed_object.content)

    def keep_recent(self) -> None:
        """Cache the added trees for the next commit on top of them, after they were recorded."""
        for oid, packed_object in self._objects.items():
            if packed_object.kind == "tree":
                recent.keep_folder(self.repo, self.folder(oid))
            elif packed_object.kind == "commit":
                recent.keep_tree(self.repo, oid, self._trees[oid])
