"""Collaborators of a repository: list, add and remove them, and the permissions of a user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidValue,
    NoSuchAccount,
    NoSuchUser,
    OwnerIsNoCollaborator,
    Permission,
)
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store import collaborators as store
from holdfast.hosting.store.accounts import Account

__all__ = ["CollaboratorPage", "add", "is_collaborator", "list_all", "permission_of", "remove"]

MODES: Final = {"": Mode.WRITE, "read": Mode.READ, "write": Mode.WRITE, "admin": Mode.ADMIN}


@dataclass(frozen=True, slots=True)
class CollaboratorPage:
    """One page of the collaborators of a repository, and the total."""

    accounts: Sequence[Account]
    total: int


def find_person(app: App, name: str) -> Account:
    """Return a user by name; raise `NoSuchAccount` if there is none."""
    try:
        return accounts.find_user(app.database, name)
    except NoSuchUser:
        raise NoSuchAccount(name) from None


def list_all(app: App, actor: Actor, target: RepositoryAccess, *, skip: int, limit: int) -> CollaboratorPage:
    """List the collaborators of a repository by name."""
    access.require_repository_admin(actor, target)
    collaborators, total = store.collaborators_of(app.database, target.repository, skip=skip, limit=limit)
    return CollaboratorPage(collaborators, total)


def is_collaborator(app: App, actor: Actor, target: RepositoryAccess, name: str) -> bool:
    """Return whether a user is a collaborator of a repository."""
    access.require_repository_admin(actor, target)
    return store.is_collaborator(app.database, target.repository, find_person(app, name))


def add(app: App, actor: Actor, target: RepositoryAccess, name: str, permission: str = "") -> None:
    """Add a collaborator, or change their permission: `read`, `write` (the default) or `admin`."""
    access.require_repository_admin(actor, target)
    account = find_person(app, name)
    mode = MODES.get(permission)
    if mode is None:
        raise InvalidValue("Permission", "must be read, write or admin")
    if account.id == target.repository.owner.id:
        raise OwnerIsNoCollaborator
    store.set_collaborator(app.database, target.repository, account, mode)


def remove(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Remove a collaborator; does nothing for other users."""
    access.require_repository_admin(actor, target)
    store.remove_collaborator(app.database, target.repository, find_person(app, name))


def permission_of(app: App, actor: Actor, target: RepositoryAccess, name: str) -> tuple[Account, Mode]:
    """Return a user and their access mode; only administrators may see that of others."""
    user = access.require_login(actor)
    if name.casefold() != user.name.casefold() and not target.permissions.is_admin:
        raise Forbidden(Permission.OWN_PERMISSION)
    account = find_person(app, name)
    grants = repositories.grants_of(app.database, account, target.repository)
    return account, access.repository_access(Actor(account), target.repository, grants).mode
