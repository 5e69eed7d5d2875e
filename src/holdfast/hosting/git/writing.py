"""Changes of a tree, straight to objects: only the directories on the way to what changes are read and written.

A draft holds the trees and commits of some changes in memory until they are all known to be good. A folder is
never changed: putting something into one makes another, so a change that fails half-way has changed nothing.
"""

from dataclasses import dataclass
from typing import Final

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git import loose
from holdfast.hosting.git.commits import Signature, commit_content
from holdfast.hosting.git.names import shown
from holdfast.hosting.git.repository import Kind, Repo, damaged
from holdfast.hosting.git.trees import DIRECTORY, LINES, Entry, EntryType, canonical, sized, type_of

__all__ = ["Draft", "Folder", "Nowhere", "Spot"]

DIRECTORY_MODE: Final = b"40000"


class Folder:
    """A directory: by name, each entry's mode as it is written and its id, or the folder it has become."""

    __slots__ = ("entries", "id")

    def __init__(self, entries: "dict[bytes, tuple[bytes, bytes | Folder]]", tree: str | None = None) -> None:
        self.entries = entries
        self.id = tree
        """The id of its tree, unless it has not been written yet."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What lies at a path."""

    mode: int
    id: str

    @property
    def type(self) -> EntryType:
        """What kind of thing it is."""
        return type_of(self.mode)


@dataclass(frozen=True, slots=True)
class Nowhere:
    """Where a path leads nowhere, in the words clients know: a part that is no directory, or the whole path."""

    path: str


class Draft:
    """Trees and commits that are not on the disk yet, on top of those that are."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._objects: dict[str, tuple[Kind, bytes]] = {}
        self._folders: dict[str, Folder] = {}
        self._paths: list[str] = []

    def empty(self) -> Folder:
        """Return a directory with nothing in it."""
        return Folder({})

    def folder(self, tree: str) -> Folder:
        """Read a directory, or return the one that was read or made before."""
        known = self._folders.get(tree)
        if known is None:
            content = self.repo.read(tree, "tree")
            width = len(tree) // 2
            found = LINES[width].findall(content)
            modes, names, _ = zip(*found, strict=True) if found else ((), (), ())
            if sum(map(len, modes)) + sum(map(len, names)) + len(found) * (2 + width) != len(content):
                raise damaged(tree)
            known = self._folders[tree] = Folder({name: (mode, at) for mode, name, at in found}, tree)
        return known

    def find(self, root: Folder, path: str) -> Spot | Nowhere:
        """Return what lies at a path."""
        at: bytes | Folder = b""
        mode = DIRECTORY
        folder: Folder | None = root
        parts = path.encode().split(b"/")
        for number, part in enumerate(parts, 1):
            entry = None if folder is None else folder.entries.get(part)
            if entry is None:
                return Nowhere(path if number == len(parts) else shown(part))
            mode, at = canonical(int(entry[0], 8)), entry[1]
            if number < len(parts):
                if mode != DIRECTORY:
                    return Nowhere(shown(part))
                folder = at if isinstance(at, Folder) else self.folder(at.hex())
        return Spot(mode, at.hex() if isinstance(at, bytes) else "")

    def put(self, root: Folder, path: str, mode: int, at: str) -> Folder:
        """Return a directory in which something lies at a path; directories on the way are made."""
        return self._put(root, path.encode().split(b"/"), b"%o" % mode, bytes.fromhex(at))

    def _put(self, folder: Folder, parts: list[bytes], mode: bytes, at: bytes) -> Folder:
        entries = dict(folder.entries)
        if len(parts) == 1:
            entries[parts[0]] = mode, at
        else:
            entries[parts[0]] = DIRECTORY_MODE, self._put(self._below(folder, parts[0]), parts[1:], mode, at)
        return Folder(entries)

    def remove(self, root: Folder, path: str) -> Folder:
        """Return a directory without what lies at a path; directories that would be empty go with it."""
        return self._remove(root, path.encode().split(b"/"))

    def _remove(self, folder: Folder, parts: list[bytes]) -> Folder:
        entries = dict(folder.entries)
        if len(parts) == 1:
            entries.pop(parts[0], None)
            return Folder(entries)
        below = self._remove(self._below(folder, parts[0]), parts[1:])
        if below.entries:
            entries[parts[0]] = DIRECTORY_MODE, below
        else:
            entries.pop(parts[0], None)
        return Folder(entries)

    def _below(self, folder: Folder, name: bytes) -> Folder:
        """Return a directory in another one; one that is not there is empty."""
        entry = folder.entries.get(name)
        if entry is None:
            return Folder({})
        at = entry[1]
        if isinstance(at, Folder):
            return at
        if canonical(int(entry[0], 8)) != DIRECTORY:
            raise GitDamaged(f"{shown(name)} is no directory")
        return self.folder(at.hex())

    def directory(self, folder: Folder, name: bytes) -> Folder | None:
        """Return a directory in another one, if there is one of that name."""
        entry = folder.entries.get(name)
        return None if entry is None or entry[0][:1] != b"4" else self._below(folder, name)

    def tree(self, folder: Folder) -> str:
        """Add a directory and what is new below it, and return the id of its tree."""
        if folder.id is not None:
            return folder.id
        for name, (mode, at) in folder.entries.items():
            if isinstance(at, Folder):
                folder.entries[name] = mode, bytes.fromhex(self.tree(at))
        # git sorts a directory as if its name ended with a slash.
        order = sorted(
            folder.entries.items(), key=lambda entry: entry[0] + b"/" if entry[1][0][:1] == b"4" else entry[0]
        )
        folder.id = self._add("tree", b"".join([b"%s %s\0%s" % (mode, name, at) for name, (mode, at) in order]))
        self._folders[folder.id] = folder
        return folder.id

    def blob(self, content: bytes) -> str:
        """Add a blob and return its id."""
        return self._add("blob", content)

    def entry(self, path: str, spot: Spot) -> Entry:
        """Add the path and the size to what lies somewhere."""
        known = self._objects.get(spot.id)
        if known is not None:
            return Entry(path.encode(), spot.mode, spot.id, len(known[1]))
        return sized(self.repo, (spot.mode, path.encode(), spot.id))

    def commit(
        self, tree: str, parents: tuple[str, ...], *, author: Signature, committer: Signature, message: str
    ) -> str:
        """Add a commit and return its id; the message is written as it is."""
        return self._add("commit", commit_content(tree, parents, author, committer, message))

    def content(self, made: str) -> bytes:
        """Return an object that was added."""
        return self._objects[made][1]

    def find_content(self, made: str) -> bytes | None:
        """Return an object if it was added here."""
        found = self._objects.get(made)
        return None if found is None else found[1]

    def _add(self, kind: Kind, content: bytes) -> str:
        made = loose.object_id(kind, content)
        self._objects[made] = kind, content
        return made

    def write(self, *, durable: bool) -> list[str]:
        """Write what was added, and return the files whose names must be synced before anything leads to them."""
        new = list(self._objects.items())[len(self._paths) :]
        objects = [(made, kind, content) for made, (kind, content) in new]
        self._paths += loose.write_objects(self.repo, objects, durable=durable)
        return self._paths
