"""Comments on issues and pull requests: create, edit and delete them."""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, NoSuchComment, Violation
from holdfast.hosting.services.cross_references import references_of_text
from holdfast.hosting.services.fields import check_body
from holdfast.hosting.store import comments
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

__all__ = ["BODY_LENGTH", "create", "delete", "edit", "find"]

BODY_LENGTH: Final = 65_536
"""Maximum length of a comment, in characters: the list of an issue repeats thousands of them."""


def find(app: App, target: RepositoryAccess, comment_id: int) -> tuple[Comment, Issue]:
    """Return a comment and its issue; raise `NoSuchComment` if the actor may not read it."""
    comment, issue = comments.find_comment(app.database, target.repository, comment_id)
    if not target.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise NoSuchComment("not found")
    return comment, issue


def create(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, body: str) -> Comment:
    """Comment on an issue; on a locked one only people with write access may."""
    user = access.require_comment(actor, target, issue)
    require_body(body)
    check_body(body, BODY_LENGTH)
    references = references_of_text(app, actor, target, body)
    return comments.add_comment(app.database, target.repository, issue, user, body, references=references)


def edit(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    comment_with_issue: tuple[Comment, Issue],
    body: str,
    *,
    version: str = "",
) -> Comment:
    """Change the body of a comment; its author and people with write access may.

    Raises `Outdated` if a version is given and the body is not of it any more.
    """
    comment, issue = comment_with_issue
    user = access.require_issue_edit(actor, target, issue, comment.author_id)
    require_body(body)
    check_body(body, BODY_LENGTH, comment.body)
    references = references_of_text(app, actor, target, body)
    return comments.edit_comment(
        app.database,
        target.repository,
        issue,
        comment,
        actor=user,
        body=body,
        version=version,
        references=references,
    )


def delete(app: App, actor: Actor, target: RepositoryAccess, comment_with_issue: tuple[Comment, Issue]) -> None:
    """Delete a comment; its author and people with write access may."""
    comment, issue = comment_with_issue
    user = access.require_issue_edit(actor, target, issue, comment.author_id)
    first = before_deleting(app, DeletedEntity(comment_id=comment.id))
    comments.delete_comment(app.database, target.repository, issue, comment, actor=user, first=first)


def require_body(body: str) -> None:
    """Raise `InvalidField` for an empty comment."""
    if not body:
        raise InvalidField("Body", Violation.REQUIRED)
