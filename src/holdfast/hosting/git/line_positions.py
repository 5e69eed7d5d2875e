"""Lines of files in different commits: the hunk around a line, and the position of a line after a change."""

from dataclasses import dataclass
from typing import Final

from holdfast.hosting.errors import GitDamaged, GitFailed, NoSuchObject
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import display_name, raw
from holdfast.hosting.git.patches import LARGEST, DiffLine, Hunk, diff_trees, hunks_between
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import MissingPath, find, read_blob

__all__ = ["FileAt", "file_at", "hunk_around", "map_line", "moved_file"]

# More lines than a file that is compared can have.
MOST_LINES: Final = 2 * LARGEST
CONTEXT: Final = 3
"""The number of lines that a hunk shows before the line."""
LONGEST_LINE: Final = 1000


@dataclass(frozen=True, slots=True)
class FileAt:
    """A file in a commit; `content` is None if it is too large to compare."""

    path: str
    blob_id: str
    content: bytes | None

    def has_line(self, line: int) -> bool:
        """Return whether a line number, counted from 1, is in the file; unknown for a large file."""
        if self.content is None:
            return True
        count = self.content.count(b"\n") + (not self.content.endswith(b"\n") and bool(self.content))
        return line <= max(count, 1)


def file_at(repo: Repo, commit: str, path: str) -> FileAt | None:
    """Return a file of a commit; None if the commit has no file at that path."""
    entry = find(repo, read_commit(repo, commit).tree, raw(path))
    if isinstance(entry, MissingPath) or entry.type not in {"file", "symlink"}:
        return None
    return FileAt(path, entry.id, read_blob(repo, entry.id) if entry.size <= LARGEST else None)


def moved_file(repo: Repo, old_commit: str, new_commit: str, path: str) -> FileAt | None:
    """Return a file in another commit, under its new name if it was renamed; None if it was deleted."""
    same = file_at(repo, new_commit, path)
    if same is not None:
        return same
    try:
        changed = diff_trees(repo, read_commit(repo, old_commit).tree, read_commit(repo, new_commit).tree)
    except (GitDamaged, GitFailed, NoSuchObject):
        # The commit of a force-pushed branch may not exist any more.
        return None
    for file in changed.files:
        if file.status == "renamed" and file.old_path == raw(path):
            return file_at(repo, new_commit, display_name(file.new_path))
    return None


def map_line(old: bytes, new: bytes, line: int) -> int | None:
    """Return the number of a line after a change, or None if the line was deleted or changed."""
    offset = 0
    for hunk in hunks_between(old, new, most=MOST_LINES)[0]:
        numbered = [hunk_line for hunk_line in hunk.lines if hunk_line.old is not None]
        if numbered and numbered[0].old is not None and line < numbered[0].old:
            return line + offset
        for diff_line in numbered:
            if diff_line.old == line:
                return diff_line.new
        offset += sum(hunk_line.sign == "+" for hunk_line in hunk.lines) - sum(
            hunk_line.sign == "-" for hunk_line in hunk.lines
        )
    return line + offset


def hunk_around(old: bytes, new: bytes, line: int, *, is_old_side: bool) -> str:
    """Return the end of the hunk at a line, or the unchanged lines before it, as a unified diff shows them."""
    for hunk in hunks_between(old, new, most=MOST_LINES)[0]:
        for index, diff_line in enumerate(hunk.lines):
            if (diff_line.old if is_old_side else diff_line.new) == line:
                return unified(hunk.lines[max(index - CONTEXT, 0) : index + 1], hunk)
    # Not changed, and not next to a change: the line is on both sides.
    before, after = (old, new) if is_old_side else (new, old)
    first = max(line - CONTEXT, 1)
    mapped = map_line(before, after, first)
    texts = before.split(b"\n")[first - 1 : line]
    start, other_start = first, first if mapped is None else mapped
    lines = tuple(
        DiffLine(" ", number, number, display_name(text).rstrip("\r")) for number, text in enumerate(texts, start)
    )
    old_start, new_start = (start, other_start) if is_old_side else (other_start, start)
    return unified(lines, Hunk(old_start, new_start, "", lines), starts=(old_start, new_start))


def unified(lines: tuple[DiffLine, ...], hunk: Hunk, starts: tuple[int, int] | None = None) -> str:
    """Return lines of a hunk with a header of their own."""
    old = [diff_line.old for diff_line in lines if diff_line.old is not None]
    new = [diff_line.new for diff_line in lines if diff_line.new is not None]
    old_start, new_start = starts or (old[0] if old else 0, new[0] if new else 0)
    heading = f" {hunk.heading}" if hunk.heading else ""
    header = f"@@ -{old_start},{len(old)} +{new_start},{len(new)} @@{heading}"
    return "\n".join([header, *(f"{diff_line.sign}{diff_line.text[:LONGEST_LINE]}" for diff_line in lines)])
