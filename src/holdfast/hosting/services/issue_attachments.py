"""Attachments of issues, pull requests and comments: add, rename and delete them."""

from pathlib import Path

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services import attachments as files
from holdfast.hosting.services import comments, issues
from holdfast.hosting.store import attachments
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder
from holdfast.hosting.store.issues import Issue

__all__ = ["FilesOwner", "add", "delete", "find", "is_readable", "list_files", "of_comment", "of_issue", "rename"]


class FilesOwner(msgspec.Struct, frozen=True):
    """An issue or comment with attachments."""

    issue: Issue
    author_id: int | None
    """The author of the issue or comment."""
    holder: AttachmentHolder


def of_issue(app: App, target: RepositoryAccess, number: int) -> FilesOwner:
    """Return the attachment owner of an issue or pull request by number."""
    issue = issues.find(app, target, number)
    return FilesOwner(issue, issue.author_id, AttachmentHolder("issue_id", issue.id))


def of_comment(app: App, target: RepositoryAccess, number: int) -> FilesOwner:
    """Return the attachment owner of a comment by id."""
    comment, issue = comments.find(app, target, number)
    return FilesOwner(issue, comment.author_id, AttachmentHolder("comment_id", comment.id))


def list_files(app: App, owner: FilesOwner) -> list[Attachment]:
    """Return the files of an issue or a comment, oldest first."""
    return attachments.attachments_of(app.database, owner.holder)


def find(app: App, owner: FilesOwner, number: int) -> Attachment:
    """Return a file of an issue or a comment by id."""
    return attachments.find_attachment(app.database, owner.holder, number)


def add(
    app: App, actor: Actor, target: RepositoryAccess, owner: FilesOwner, *, name: str, path: Path
) -> Attachment:
    """Add a file to an issue or a comment; its author and people with write access may."""
    user = access.require_issue_edit(actor, target, owner.issue, owner.author_id)
    return files.add(app, target, user, owner.holder, name=name, path=path)


def rename(
    app: App, actor: Actor, target: RepositoryAccess, owner: FilesOwner, file: Attachment, *, name: str
) -> Attachment:
    """Rename a file of an issue or a comment."""
    access.require_issue_edit(actor, target, owner.issue, owner.author_id)
    return attachments.rename_attachment(app.database, file, files.check_file_name(name))


def delete(app: App, actor: Actor, target: RepositoryAccess, owner: FilesOwner, file: Attachment) -> None:
    """Delete a file of an issue or a comment."""
    access.require_issue_edit(actor, target, owner.issue, owner.author_id)
    attachments.delete_attachment(app.database, file)


def is_readable(app: App, target: RepositoryAccess, file: Attachment) -> bool:
    """Return whether the actor may read the issue or pull request that a file is attached to."""
    is_pull = attachments.is_on_pull(app.database, file)
    return is_pull is not None and target.permissions.may_read(access.issue_unit(is_pull=is_pull))
