"""Reactions to issues and comments; users who may comment may react."""

from collections.abc import Sequence
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import ReactionNotAllowed
from holdfast.hosting.store import reactions as store
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.reactions import IssueReaction, ReactionTarget

__all__ = ["ALLOWED", "add", "list_reactions", "remove"]

ALLOWED: Final = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def target_of(issue: Issue, comment: Comment | None) -> ReactionTarget:
    """Return the target of a reaction: the comment, or the issue without one."""
    return ReactionTarget("issue_id", issue.id) if comment is None else ReactionTarget("comment_id", comment.id)


def list_reactions(
    app: App, issue: Issue, comment: Comment | None, *, skip: int, limit: int
) -> tuple[Sequence[IssueReaction], int]:
    """Return one page of the reactions to an issue, or to a comment on it, oldest first, and the total."""
    return store.list_reactions(app.database, target_of(issue, comment), skip=skip, limit=limit)


def add(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, comment: Comment | None, *, content: str
) -> tuple[IssueReaction, bool]:
    """React to an issue or a comment; return the reaction and whether it is new."""
    user = access.require_comment(actor, target, issue)
    if content not in ALLOWED:
        raise ReactionNotAllowed(content)
    return store.add(app.database, target_of(issue, comment), user, content)


def remove(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, comment: Comment | None, *, content: str
) -> None:
    """Remove a reaction, if it exists."""
    user = access.require_comment(actor, target, issue)
    store.remove(app.database, target_of(issue, comment), user, content)
