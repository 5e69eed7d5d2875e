"""Directories as the rows of their trees, in git's order, so that a change costs a search and not a whole reading.

What was read or written lately is kept: whoever commits to a branch mostly goes on where the last commit ended.
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

__all__ = ["Folder", "Recent", "parse"]

DIRECTORY_MODE: Final = b"40000"
ROWS: Final = {width: re.compile(rb"(([0-7]{1,16}) ([^\0/]+)\0.{%d})" % width, re.DOTALL) for width in (20, 32)}
# About as many bytes as libgit2 keeps of the objects it reads.
MOST_ROWS: Final = 200_000
MOST_COMMITS: Final = 1000


class Folder:
    """A directory; it is never changed, putting something into it makes another.

    `keys` are the names as git sorts them, a directory's as if it ended with a slash; `rows` what stands in the
    tree. What became of the directories in `below` is in no tree yet, and their rows only hold their places.
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
        """Return the mode of what has a name, and its id or the directory it has become."""
        place = self._place(name)
        if place is None:
            return None
        row = self.rows[place]
        mode, _, rest = row.partition(b" ")
        return canonical_mode(int(mode, 8)), self.below.get(name) or rest[len(name) + 1 :]

    def put(self, name: bytes, mode: int, at: bytes) -> "Folder":
        """Return a directory in which something has a name."""
        return self._changed(name, name, b"%o %s\0%s" % (mode, name, at), None)

    def put_below(self, name: bytes, folder: "Folder") -> "Folder":
        """Return a directory in which a directory has a name."""
        return self._changed(name, name + b"/", b"%s %s\0" % (DIRECTORY_MODE, name), folder)

    def without(self, name: bytes) -> "Folder":
        """Return a directory in which nothing has a name."""
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

    def settle(self, name: bytes, tree: bytes) -> None:
        """Give a directory below the id of the tree it was written as."""
        self.rows[bisect_left(self.keys, name + b"/")] = b"%s %s\0%s" % (DIRECTORY_MODE, name, tree)
        del self.below[name]


def parse(tree: str, content: bytes) -> Folder:
    """Read a directory from its tree."""
    found = ROWS[len(tree) // 2].findall(content)
    rows, modes, names = map(list, zip(*found, strict=True)) if found else ([], [], [])
    if sum(map(len, rows)) != len(content):
        raise damaged_error(tree)
    of_directories = {mode for mode in set(modes) if canonical_mode(int(mode, 8)) == DIRECTORY}
    keys = [name + b"/" if mode in of_directories else name for mode, name in zip(modes, names, strict=True)]
    last = {name: (key, row) for name, key, row in zip(names, keys, rows, strict=True)}
    if len(last) < len(rows) or any(map(ge, keys, islice(keys, 1, None))):
        # No git wrote it. It is sorted when it is written again, and the last of a name counts.
        ordered = sorted(last.values())
        keys, rows = [key for key, _ in ordered], [row for _, row in ordered]
    return Folder(keys, rows, tree=tree)


class Recent:
    """Directories that some repository has for sure, and the trees of its commits, as long as they are used."""

    def __init__(self, most_rows: int = MOST_ROWS, most_commits: int = MOST_COMMITS) -> None:
        self._most_rows = most_rows
        self._most_commits = most_commits
        self._guard = threading.Lock()
        self._folders: OrderedDict[tuple[str, str], Folder] = OrderedDict()
        self._commits: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._rows = 0

    def folder(self, repo: Repo, tree: str) -> Folder | None:
        """Return a directory that was kept."""
        key = (repo.place, tree)
        with self._guard:
            found = self._folders.get(key)
            if found is not None:
                self._folders.move_to_end(key)
            return found

    def keep_folder(self, repo: Repo, folder: Folder) -> None:
        """Keep a directory that was read or written, and let go of others for it."""
        key = (repo.place, str(folder.id))
        with self._guard:
            if key in self._folders:
                return
            self._folders[key] = folder
            self._rows += len(folder.rows)
            while self._rows > self._most_rows:
                self._rows -= len(self._folders.popitem(last=False)[1].rows)

    def tree(self, repo: Repo, commit: str) -> str | None:
        """Return the tree of a commit that was kept."""
        with self._guard:
            return self._commits.get((repo.place, commit))

    def keep_tree(self, repo: Repo, commit: str, tree: str) -> None:
        """Keep what the tree of a commit is."""
        with self._guard:
            self._commits[repo.place, commit] = tree
            if len(self._commits) > self._most_commits:
                self._commits.popitem(last=False)
