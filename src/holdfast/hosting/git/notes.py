"""Git notes: texts attached to objects, in a tree whose paths are object ids."""

from typing import Final

from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry

__all__ = ["note_about"]

REF: Final = "refs/notes/commits"
LARGEST: Final = 1 << 20
# The maximum number of fan-out levels: git splits ids into folders of two digits when there are many notes.
MOST_FOLDERS: Final = 4


def note_about(repo: Repo, object_id: str) -> str | None:
    """Return the note attached to an object, or None; also None if it is very large."""
    at = refs.target(repo, REF)
    if at is None:
        return None
    tree = read_commit(repo, at).tree
    for folders in range(MOST_FOLDERS + 1):
        split = 2 * folders
        path = "/".join([*(object_id[place : place + 2] for place in range(0, split, 2)), object_id[split:]])
        entry = trees.find(repo, tree, path)
        if isinstance(entry, TreeEntry) and entry.type == "file" and entry.size <= LARGEST:
            return trees.read_blob(repo, entry.id).decode(errors="replace")
    return None
