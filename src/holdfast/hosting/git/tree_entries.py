"""Tree objects as sorted rows, so that a change is a binary search instead of a full parse.

Recently used trees are cached: a commit usually builds on the last one.
"""

import re
import threading
from bisect import bisect_left
from collections import OrderedDict
from itertools import islice
from operator import ge
from typing import Final

from holdfast.hosting.git.repository import Repo, damaged_error
from holdfast.hosting.git.trees import DIRECTORY, canonical_mode

__all__ = ["Folder", "TreeCache", "parse"]

DIRECTORY_MODE: Final = b"40000"
ROWS: Final = {width: re.compile(rb"(([0-7]{1,16}) ([^\0/]+)\0.{%d})" % width, re.DOTALL) for width in (20, 32)}
# About the size of libgit2's object cache.
MOST_ROWS: Final = 200_000
MOST_COMMITS: Final = 1000


class Folder:
    """An immutable directory; changes return a new one.

    `keys` are the names as git sorts them, a directory's with a slash at the end; `rows` are the raw tree entries.
    Changed subdirectories are in `below` until they are written, and their rows are placeholders.
    """

    __slots__ = ("below", "id", "keys", "rows")

    def __init__(
        self,
        keys: list[bytes],
        rows: list[bytes],
        below: "dict[bytes, Folder] | None" = None,
        tree: str | None = None,
    ) -> None:
        self.keys = keys
        self.rows = rows
        self.below = {} if below is None else below
        self.id = tree
        """The id of its tree, unless it has not been written yet."""

    def __contains__(self, name: bytes) -> bool:
        return self._place(name) is not None

    def _place(self, name: bytes) -> int | None:
        for key in (name, name + b"/"):
            place = bisect_left(self.keys, key)
            if place < len(self.keys) and self.keys[place] == key:
                return place
        return None

    def get(self, name: bytes) -> "tuple[int, bytes | Folder] | None":
        """Return the mode of an entry, and its id or the changed directory."""
        place = self._place(name)
        if place is None:
            return None
        row = self.rows[place]
        mode, _, rest = row.partition(b" ")
        return canonical_mode(int(mode, 8)), self.below.get(name) or rest[len(name) + 1 :]

    def put(self, name: bytes, mode: int, at: bytes) -> "Folder":
        """Return a directory with an entry added or replaced."""
        return self._changed(name, name, b"%o %s\0%s" % (mode, name, at), None)

    def put_below(self, name: bytes, folder: "Folder") -> "Folder":
        """Return a directory with a subdirectory added or replaced."""
        return self._changed(name, name + b"/", b"%s %s\0" % (DIRECTORY_MODE, name), folder)

    def without(self, name: bytes) -> "Folder":
        """Return a directory without an entry."""
        return self._changed(name, None, b"", None)

    def _changed(self, name: bytes, key: bytes | None, row: bytes, folder: "Folder | None") -> "Folder":
        keys, rows, below = self.keys.copy(), self.rows.copy(), self.below.copy()
        below.pop(name, None)
        place = self._place(name)
        if place is not None and keys[place] != key:
            del keys[place], rows[place]
            place = None
        if key is not None:
            if place is None:
                place = bisect_left(keys, key)
                keys.insert(place, key)
                rows.insert(place, row)
            else:
                rows[place] = row
            if folder is not None:
                below[name] = folder
        return Folder(keys, rows, below)

    def set_subtree(self, name: bytes, tree: bytes) -> None:
        """Set the id of a changed subdirectory that has been written."""
        self.rows[bisect_left(self.keys, name + b"/")] = b"%s %s\0%s" % (DIRECTORY_MODE, name, tree)
        del self.below[name]


def parse(tree: str, content: bytes) -> Folder:
    """Parse a tree object."""
    matches = ROWS[len(tree) // 2].findall(content)
    rows, modes, names = map(list, zip(*matches, strict=True)) if matches else ([], [], [])
    if sum(map(len, rows)) != len(content):
        raise damaged_error(tree)
    of_directories = {mode for mode in set(modes) if canonical_mode(int(mode, 8)) == DIRECTORY}
    keys = [name + b"/" if mode in of_directories else name for mode, name in zip(modes, names, strict=True)]
    last = {name: (key, row) for name, key, row in zip(names, keys, rows, strict=True)}
    if len(last) < len(rows) or any(map(ge, keys, islice(keys, 1, None))):
        # An unsorted tree, which git does not write. It is sorted when written again; the last of equal names
        # wins.
        ordered = sorted(last.values())
        keys, rows = [key for key, _ in ordered], [row for _, row in ordered]
    return Folder(keys, rows, tree=tree)


class TreeCache:
    """An LRU cache of directories, and of the trees of commits."""

    def __init__(self, most_rows: int = MOST_ROWS, most_commits: int = MOST_COMMITS) -> None:
        self._most_rows = most_rows
        self._most_commits = most_commits
        self._guard = threading.Lock()
        self._folders: OrderedDict[tuple[str, str], Folder] = OrderedDict()
        self._commits: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._rows = 0

    def folder(self, repo: Repo, tree: str) -> Folder | None:
        """Return a cached directory."""
        key = (repo.place, tree)
        with self._guard:
            folder = self._folders.get(key)
            if folder is not None:
                self._folders.move_to_end(key)
            return folder

    def keep_folder(self, repo: Repo, folder: Folder) -> None:
        """Cache a directory."""
        key = (repo.place, str(folder.id))
        with self._guard:
            if key in self._folders:
                return
            self._folders[key] = folder
            self._rows += len(folder.rows)
            while self._rows > self._most_rows:
                self._rows -= len(self._folders.popitem(last=False)[1].rows)

    def tree(self, repo: Repo, commit: str) -> str | None:
        """Return the cached tree of a commit."""
        with self._guard:
            return self._commits.get((repo.place, commit))

    def keep_tree(self, repo: Repo, commit: str, tree: str) -> None:
        """Cache the tree of a commit."""
        with self._guard:
            self._commits[repo.place, commit] = tree
            if len(self._commits) > self._most_commits:
                self._commits.popitem(last=False)
