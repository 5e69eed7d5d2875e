"""Edits by maintainers: users with write access to a pull request's base may push to its head branch in a fork.

The author of the pull request allows it (`allow_maintainer_edit`), and must have write access to the fork.
"""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import pulls
from holdfast.hosting.store.accounts import account_by_id
from holdfast.hosting.store.repositories import Repository, repositories_by_id

__all__ = ["editable_branches", "may_write", "require_branch_write"]

# Maximum open pull requests from one fork that are examined.
MOST_PULLS: Final = 200


def editable_branches(app: App, actor: Actor, fork: Repository) -> frozenset[str]:
    """Return the branches of a fork that the actor may push to as a maintainer of the base of a pull request."""
    if actor.user is None:
        return frozenset()
    with app.database.read() as connection:
        heads = pulls.editable_heads(connection, fork.id, MOST_PULLS)
        bases = repositories_by_id(connection, {head.repository_id for head in heads})
    maintained = {
        number
        for number, base in bases.items()
        if not base.is_archived and permissions_in(app, actor, base).may_write(Unit.CODE)
    }
    left = [head for head in heads if head.repository_id in maintained]
    authors = {head.author_id for head in left if head.author_id is not None}
    allowing = {number for number in authors if may_write(app, number, fork)}
    return frozenset(head.branch for head in left if head.author_id in allowing)


def may_write(app: App, user_id: int, repository: Repository) -> bool:
    """Return whether a user has write access to the code of a repository."""
    user = account_by_id(app.database, user_id)
    return user is not None and permissions_in(app, Actor(user), repository).may_write(Unit.CODE)


def require_branch_write(app: App, actor: Actor, target: RepositoryAccess, branch: str) -> None:
    """Raise `Forbidden` unless the actor may commit to a branch: as a writer, or as a maintainer of its base."""
    if target.permissions.may_write(Unit.CODE):
        return
    if not target.permissions.may_read(Unit.CODE) or branch not in editable_branches(
        app, actor, target.repository
    ):
        access.require_branch_write(target)
