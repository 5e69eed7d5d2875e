"""File changes of a commit: preconditions, validation against the parent commit, and the resulting tree.

All checks against the parent commit are made first; then the changes are applied in order and checked against each
other. The messages are Gitea's.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from holdfast.hosting.errors import (
    ConditionFailed,
    FileExists,
    FilePathRefused,
    FileRefused,
    InvalidValue,
    NoSuchObject,
    ShaMismatch,
)
from holdfast.hosting.git import paths, special_files
from holdfast.hosting.git.commits import find_commit
from holdfast.hosting.git.encoding import is_id, well_formed
from holdfast.hosting.git.tree_entries import Folder
from holdfast.hosting.git.tree_writer import Draft, Nowhere, PathEntry
from holdfast.hosting.git.trees import DIRECTORY, SUBMODULE, SYMLINK
from holdfast.hosting.services.file_contents import FileContent

__all__ = [
    "OPERATIONS",
    "AppliedChanges",
    "Base",
    "Condition",
    "FileChange",
    "Operation",
    "apply",
    "cleaned",
    "default_message",
]

Operation = Literal["create", "update", "upload", "rename", "delete"]
OPERATIONS: Final[tuple[Operation, ...]] = ("create", "update", "upload", "rename", "delete")
FILE: Final = 0o100644
PROGRAM: Final = 0o100755
LONGEST_TARGET: Final = 4095
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
WORDS: Final = {"create": "Add", "delete": "Delete"}
FILE_IN_THE_WAY: Final = "a file exists where you’re trying to create a subdirectory"  # noqa: RUF001  # the apostrophe of Gitea's message
LINK_IN_THE_WAY: Final = "a symbolic link exists where you’re trying to create a subdirectory"  # noqa: RUF001  # the apostrophe of Gitea's message
FOLDER_IN_THE_WAY: Final = "a directory exists where you’re trying to create a file"  # noqa: RUF001  # the apostrophe of Gitea's message
MALFORMED: Final = "path contains a malformed path component"
IS_DIRECTORY: Final = "path is a directory, and only files can be changed"


@dataclass(frozen=True, slots=True)
class Condition:
    """The precondition of a change, as in `If-Match` and `If-None-Match`; an empty condition always holds."""

    is_there: bool = False
    """The file must exist."""
    is_missing: bool = False
    """The file must not exist."""
    one_of: frozenset[str] | None = None
    """Its blob must be one of these."""
    none_of: frozenset[str] = frozenset()
    """Its blob must be none of these."""

    @property
    def needs_file(self) -> bool:
        """Whether it can only hold for an existing file."""
        return self.is_there or self.one_of is not None

    def check(self, path: str, blob: str | None) -> None:
        """Raise `ConditionFailed` unless it holds for the blob at a path; None for a missing file."""
        if blob is None:
            if self.needs_file:
                raise ConditionFailed(f"object does not exist [id: , rel_path: {path}]")
            return
        if self.one_of is not None and blob not in self.one_of:
            expected = ", ".join(sorted(self.one_of)) or "none that can match"
            raise ConditionFailed(f"sha does not match [given: {expected}, expected: {blob}]")
        if self.is_missing:
            raise ConditionFailed(f"repository file already exists [path: {path}]")
        if blob in self.none_of:
            raise ConditionFailed(f"the file matches If-None-Match [path: {path}, sha: {blob}]")


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one file; `from_path` is its former path, equal to `path` unless it is moved."""

    operation: Operation
    path: str
    from_path: str = ""
    content: FileContent | None = None
    sha: str = ""
    last_commit_id: str = ""
    mode: int | None = None
    condition: Condition | None = None

    @property
    def moves(self) -> bool:
        """Whether the file is moved."""
        return self.from_path != self.path


class Base(msgspec.Struct, frozen=True):
    """The parent commit and its tree; both empty in an empty repository."""

    commit: str | None
    root: Folder


class AppliedChanges(msgspec.Struct):
    """The resulting tree, and per change the entry at its path, or None if it was deleted."""

    root: Folder
    spots: list[PathEntry | None] = msgspec.field(default_factory=list)


def clean(path: str, *, new: bool = False) -> str:
    """Normalize a path; raise `FileRefused` for an invalid path. A new path must be UTF-8."""
    normalized = paths.clean(path)
    if not paths.may_hold_file(normalized) or (new and well_formed(normalized) != normalized):
        shown = path if len(path) <= paths.LONGEST_PATH else f"{path[: paths.LONGEST_PATH]}…"
        raise FilePathRefused(MALFORMED, shown)
    return normalized


def cleaned(change: FileChange) -> FileChange:
    """Return a change with normalized paths."""
    is_there = change.operation in {"update", "delete"} or (change.condition and change.condition.needs_file)
    stays = is_there and not change.from_path
    path = clean(change.path, new=not stays)
    return FileChange(
        operation=change.operation,
        path=path,
        from_path=clean(change.from_path) if change.from_path else path,
        content=change.content,
        sha=change.sha,
        last_commit_id=change.last_commit_id,
        mode=change.mode,
        condition=change.condition,
    )


def quoted(path: str) -> str:
    """Return a path for a message; with control characters it is quoted as git does."""
    if not CONTROL.search(path):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + CONTROL.sub(lambda match: f"\\{ord(match[0]):03o}", escaped) + '"'


def default_message(changes: Sequence[FileChange]) -> str:
    """Return the default commit message, which names the changed files."""
    paths_by_verb: dict[str, list[str]] = {"Add": [], "Update": [], "Delete": []}
    for change in changes:
        paths_by_verb[WORDS.get(change.operation, "Update")].append(quoted(well_formed(change.path)))
    return "\n".join([f"{verb} {', '.join(named)}" for verb, named in paths_by_verb.items() if named])


def apply(
    draft: Draft, base: Base, changes: Sequence[FileChange], keep: Callable[[FileChange, PathEntry | None], str]
) -> AppliedChanges:
    """Check the changes against the base, then apply them in order; `keep` stores the content of a file."""
    for change in changes:
        if change.condition is not None:
            change.condition.check(change.path, file_at(draft, base.root, change.path))
    if base.commit is not None:
        for change in changes:
            check_source(draft, base, change)
            if change.operation != "delete":
                check_target(draft, base.root, change)
    applied = AppliedChanges(base.root)
    changed_paths: set[str] = set()
    for change in changes:
        if change.operation != "delete" and applied.root is not base.root:
            check_target(draft, applied.root, change)
        make(draft, applied, change, keep, again=change.path in changed_paths)
        changed_paths.add(change.path)
    return applied


def file_at(draft: Draft, root: Folder, path: str) -> str | None:
    """Return the blob of the file at a path; None if it does not exist."""
    entry = draft.find(root, path)
    return None if isinstance(entry, Nowhere) or entry.mode in {DIRECTORY, SUBMODULE} else entry.id


def check_source(draft: Draft, base: Base, change: FileChange) -> None:
    """Raise an error unless the file to change exists and is the version the client has seen."""
    if change.operation == "create":
        return
    entry = draft.find(base.root, change.from_path)
    if isinstance(entry, Nowhere):
        if change.operation != "upload":
            raise missing_path(entry)
        if change.sha:
            raise mismatch(change.sha, "")
        return
    if change.sha:
        if change.sha != entry.id:
            raise mismatch(change.sha, entry.id)
    elif change.last_commit_id:
        check_unchanged(draft, base, change, entry)
    elif change.operation != "upload":
        raise FileRefused("a SHA or commit ID must be proved when updating a file")
    if entry.mode == DIRECTORY and (change.operation == "delete" or change.moves):
        raise FilePathRefused(IS_DIRECTORY, change.from_path)


def check_unchanged(draft: Draft, base: Base, change: FileChange, spot: PathEntry) -> None:
    """Raise `ShaMismatch` unless a path is unchanged since the commit the client knows."""
    last_commit = None
    if is_id(change.last_commit_id):
        draft.require(change.last_commit_id)
        last_commit = find_commit(draft.repo, change.last_commit_id)
    before = None if last_commit is None else draft.find(draft.folder(last_commit.tree), change.from_path)
    if before != spot:
        raise ShaMismatch(f"commit id does not match [given: {change.last_commit_id}, expected: {base.commit}]")


def check_target(draft: Draft, root: Folder, change: FileChange) -> None:
    """Raise an error if a file cannot be created at its path."""
    spots = draft.walk_path(root, change.path).entries
    parts = change.path.split("/")
    for count, spot in enumerate(spots[: len(parts) - 1], 1):
        if spot.mode != DIRECTORY:
            raise FilePathRefused(FILE_IN_THE_WAY, "/".join(parts[:count]))
    if len(spots) < len(parts):
        return
    spot = spots[-1]
    is_new = change.moves or change.operation in {"create", "rename"}
    if spot.mode == SYMLINK and (is_new or change.mode != SYMLINK):
        raise FilePathRefused(LINK_IN_THE_WAY, change.path)
    if spot.mode == DIRECTORY:
        raise FilePathRefused(FOLDER_IN_THE_WAY, change.path)
    if is_new:
        raise FileExists(change.path)


def make(
    draft: Draft,
    applied: AppliedChanges,
    change: FileChange,
    keep: Callable[[FileChange, PathEntry | None], str],
    *,
    again: bool,
) -> None:
    """Apply one change on top of the previous ones."""
    before = draft.find(applied.root, change.from_path)
    source = None if isinstance(before, Nowhere) else before
    if again:
        raise FilePathRefused("path is changed more than once in one request", change.path)
    if change.operation in {"delete", "rename"} and isinstance(before, Nowhere):
        raise missing_path(before)
    if change.operation == "delete":
        applied.root = draft.remove(applied.root, change.path)
        applied.spots.append(None)
        return
    if source is not None and source.mode == DIRECTORY:
        raise FilePathRefused(IS_DIRECTORY, change.from_path)
    mode = mode_of(change, source)
    if mode == SYMLINK and not paths.may_hold_link(change.path):
        raise FilePathRefused(MALFORMED, change.path)
    check_content(change, mode)
    at = keep(change, source)
    if change.content is None and mode in {FILE, PROGRAM} and special_files.is_special(change.path):
        check_renamed(draft, change.path, at)
    root = applied.root
    if source is not None and change.moves:
        root = draft.remove(root, change.from_path)
    applied.root = draft.put(root, change.path, mode, at)
    applied.spots.append(PathEntry(mode, at))


def check_content(change: FileChange, mode: int) -> None:
    """Raise `InvalidValue` for an empty symbolic link target, or a malicious git control file."""
    if change.content is None:
        return
    if mode == SYMLINK:
        target = change.content.beginning(LONGEST_TARGET + 1)
        if not 0 < len(target) <= LONGEST_TARGET or b"\0" in target:
            raise InvalidValue("Content", f"a symbolic link needs a target of 1 to {LONGEST_TARGET} bytes")
    elif special_files.is_special(change.path):
        check_special_file(change.path, change.content.beginning(special_files.LARGEST + 1))


def check_renamed(draft: Draft, path: str, at: str) -> None:
    """Raise `InvalidValue` for a file that is renamed to a git control file and is a malicious one."""
    is_large = draft.entry(path, PathEntry(FILE, at)).size > special_files.LARGEST
    check_special_file(path, bytes(special_files.LARGEST + 1) if is_large else draft.read(at, "blob"))


def check_special_file(path: str, content: bytes) -> None:
    """Raise `InvalidValue` for the content of a git control file that git would refuse."""
    problem = special_files.problem_with(path, content)
    if problem is not None:
        raise InvalidValue("Content", f"git would refuse {path}: {problem}")


def mode_of(change: FileChange, source: PathEntry | None) -> int:
    """Return the mode of a file: the requested mode, or else its former mode."""
    if change.operation == "rename" and source is not None:
        if change.mode is not None and source.mode == SUBMODULE:
            raise InvalidValue("Mode", f"a submodule keeps its mode [path: {change.from_path}]")
        return source.mode if change.mode is None else change.mode
    if change.mode is not None:
        return change.mode
    return PROGRAM if source is not None and source.mode == PROGRAM and change.operation != "create" else FILE


def missing_path(nowhere: Nowhere) -> NoSuchObject:
    """Return the error for a path that does not exist."""
    return NoSuchObject(f"object does not exist [id: , rel_path: {nowhere.path}]")


def mismatch(sha: str, expected: str) -> ShaMismatch:
    """Return the error for a blob that is not the expected one."""
    return ShaMismatch(f"sha does not match [given: {sha}, expected: {expected}]")
