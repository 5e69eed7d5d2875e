"""Line comments on a pull request: the original position, and the current position of the line."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    GitDamaged,
    GitFailed,
    InvalidReference,
    NoSuchComment,
    NoSuchFolder,
    NoSuchObject,
    ReviewRefused,
)
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.line_positions import FileAt, file_at, hunk_around, map_line, moved_file
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import read_blob
from holdfast.hosting.services.fields import check_length, required_text
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import line_comments, review_changes
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.review_changes import LinePlace, NewLineComment

__all__ = [
    "LONGEST_BODY",
    "CurrentPosition",
    "LineDraft",
    "current_positions",
    "new_line_comments",
    "resolve",
    "unresolve",
]

MOST_AT_ONCE: Final = 100
"""Maximum line comments per request."""
LONGEST_PATH: Final = 4096
LONGEST_BODY: Final = 65_536
# Comments whose lines were not found within this time are shown at their original position.
TIME_LIMIT_SECONDS: Final = 2.0


class LineDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A comment on a line of the old or the new file; the other position is 0."""

    path: str
    body: str
    old_position: int = 0
    new_position: int = 0


@dataclass(frozen=True, slots=True)
class CurrentPosition:
    """The current position of a commented line; 0 if the line is gone and the comment outdated."""

    path: str
    line: int
    commit_id: str


def new_line_comments(
    app: App, target: RepositoryAccess, issue: Issue, drafts: Sequence[LineDraft], commit: str
) -> list[NewLineComment]:
    """Return line comments with their diff hunks at a commit; raise an error for a line that does not exist."""
    check_length(drafts, "Comments", MOST_AT_ONCE)
    if not drafts:
        return []
    access.require_read(target, Unit.CODE)
    repo = open_git(app, target)
    base = merge_base_of(repo, issue, commit)
    files: dict[tuple[str, str], FileAt | None] = {}
    return [new_line_comment(repo, draft, commit, base, files) for draft in drafts]


def new_line_comment(
    repo: Repo, draft: LineDraft, commit: str, base: str, files: dict[tuple[str, str], FileAt | None]
) -> NewLineComment:
    """Return a line comment with its diff hunk; `files` caches the files read."""
    body = required_text(draft.body, "Body", LONGEST_BODY)
    check_length(draft.path, "Path", LONGEST_PATH)
    is_old_side = draft.old_position > 0
    line = draft.old_position if is_old_side else draft.new_position
    if line <= 0:
        raise ReviewRefused("[Comments]: a line comment needs new_position or old_position")

    def read(at: str) -> FileAt | None:
        key = (at, draft.path)
        if key not in files:
            files[key] = file_at(repo, at, draft.path)
        return files[key]

    old, new = read(base), read(commit)
    file_version = old if is_old_side else new
    if file_version is None:
        side = "before the change" if is_old_side else "after the change"
        raise InvalidReference("Path", f"there is no file {draft.path} {side}")
    if not file_version.has_line(line):
        raise InvalidReference("Position", f"{draft.path} has no line {line}")
    sides = [b"" if file is None else file.content for file in (old, new)]
    hunk = ""
    if sides[0] is not None and sides[1] is not None:
        hunk = hunk_around(sides[0], sides[1], line, is_old_side=is_old_side)
    return NewLineComment(
        body=body,
        path=draft.path,
        line=line,
        is_old_side=is_old_side,
        commit_id=commit,
        line_commit_id=base if is_old_side else commit,
        blob_id=file_version.blob_id,
        diff_hunk=hunk,
    )


def merge_base_of(repo: Repo, issue: Issue, head: str) -> str:
    """Return the commit a pull request is compared with: the merge base of its head and base branch."""
    base = None if issue.is_closed else refs.branch(repo, issue.base_branch)
    base_sha = issue.base_sha if base is None else base.id
    return history.merge_base(repo, base_sha, head) or base_sha


def current_positions(
    app: App, target: RepositoryAccess, issue: Issue, places: Sequence[LinePlace], head: str
) -> dict[int, CurrentPosition]:
    """Return the positions of commented lines in the head of a pull request, by comment id.

    A line is mapped through the diff between the commented file and the current one, which is computed once per
    file. Comments that exceed the time limit or whose file cannot be read are left out; callers show them
    at their original position.
    """
    positions = {
        place.comment_id: CurrentPosition(place.path, place.line, place.commit_id)
        for place in places
        if place.commit_id == head
    }
    if len(positions) == len(places) or not target.permissions.may_read(Unit.CODE):
        return positions
    until = time.monotonic() + TIME_LIMIT_SECONDS
    files: dict[tuple[str, str, str], FileAt | None] = {}
    with suppress(NoSuchFolder, NoSuchObject, GitDamaged, GitFailed):
        repo = open_git(app, target)
        base = merge_base_of(repo, issue, head)
        for place in places:
            if place.comment_id in positions:
                continue
            if time.monotonic() > until:
                break
            with suppress(NoSuchObject, GitDamaged, GitFailed):
                at = base if place.is_old_side else head
                key = (place.line_commit_id, at, place.path)
                if key not in files:
                    files[key] = moved_file(repo, place.line_commit_id, at, place.path)
                positions[place.comment_id] = position_in(repo, place, files[key], head)
    return positions


def position_in(repo: Repo, place: LinePlace, file: FileAt | None, head: str) -> CurrentPosition:
    """Return the position of a line in the current file; `file` is None if it was deleted."""
    if file is not None and file.blob_id == place.blob_id:
        return CurrentPosition(file.path, place.line, head)
    line = None
    if file is not None and file.content is not None:
        line = map_line(read_blob(repo, place.blob_id), file.content, place.line)
    if file is None or line is None:
        return CurrentPosition(place.path, 0, place.commit_id)
    return CurrentPosition(file.path, line, head)


def resolve(app: App, actor: Actor, target: RepositoryAccess, comment_id: int) -> None:
    """Resolve the conversation of a line comment; allowed for the pull request's author and with write access."""
    set_resolved(app, actor, target, comment_id, resolved=True)


def unresolve(app: App, actor: Actor, target: RepositoryAccess, comment_id: int) -> None:
    """Reopen the conversation of a line comment."""
    set_resolved(app, actor, target, comment_id, resolved=False)


def set_resolved(app: App, actor: Actor, target: RepositoryAccess, comment_id: int, *, resolved: bool) -> None:
    """Resolve or reopen the conversation of a line comment."""
    if not target.permissions.may_read(Unit.PULLS):
        raise NoSuchComment("not found")
    place, issue = line_comments.find_line_comment(app.database, target.repository, comment_id)
    user = access.require_issue_edit(actor, target, issue, issue.author_id)
    review_changes.set_resolved(app.database, target.repository, issue, user, place, resolved=resolved)


def delete_pending(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, comment_id: int) -> None:
    """Delete a line comment of the actor's pending review; raises `NoSuchComment` for any other comment."""
    access.require_unarchived(target)
    user = access.require_login(actor)
    if not line_comments.delete_pending_comment(app.database, issue, user, comment_id):
        raise NoSuchComment("not found")
