"""User administration: create, change and delete accounts; at least one administrator always remains."""

import time
from collections.abc import Callable

from sqlalchemy import Connection, delete, func, select, update

from holdfast.hosting.errors import EmailTaken, LastAdmin, LastOwner, NoSuchUser, StillInUse
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependencies import record_unblocked_by_deletion
from holdfast.hosting.store.forks import hide_forks_of_owner
from holdfast.hosting.store.issue_transactions import lock_graph
from holdfast.hosting.store.members import OWNER
from holdfast.hosting.store.repositories import repositories_by_id, uncount_forks
from holdfast.hosting.store.repository_events import record_deleted
from holdfast.hosting.store.subscriptions import uncount
from holdfast.hosting.store.tables import (
    email_addresses,
    members,
    repositories,
    sessions,
    team_members,
    teams,
    tokens,
    users,
)
from holdfast.secret import Secret

__all__ = ["change_user", "delete_user", "register"]


def register(database: Database, name: str, password: Secret, *, email: str, **columns: str | bool) -> Account:
    """Add a user; the e-mail address must be unique."""
    accounts.check_new_password(password)
    hashed = accounts.hash_password(password)
    with database.write() as connection:
        check_free(connection, email)
        account_id = accounts.add_account(connection, name, email=email, password_hash=hashed, **columns)
    return accounts.find_account(database, account_id)


def check_free(connection: Connection, email: str, owner: Account | None = None) -> None:
    """Raise `EmailTaken` if another account has the e-mail address."""
    if not email:
        return
    others = select(users.c.id).where(func.lower(users.c.email) == email.lower(), ~users.c.is_organization)
    if owner is not None:
        others = others.where(users.c.id != owner.id)
    if connection.execute(others.limit(1)).first() is not None:
        raise EmailTaken(f"e-mail already exists [email: {email}]")
    beside = select(email_addresses.c.user_id).where(email_addresses.c.folded_email == email.lower())
    if owner is not None:
        beside = beside.where(email_addresses.c.user_id != owner.id)
    if connection.execute(beside).first() is not None:
        raise EmailTaken(f"e-mail already exists [email: {email}]")


def change_user(
    database: Database, user: Account, *, password: Secret | None = None, **columns: str | bool
) -> Account:
    """Change a user in one transaction; a new password or a deactivated account ends the user's sessions.

    A new password revokes the access tokens too, since someone who knew the old one may have created some.
    """
    if password is not None:
        accounts.check_new_password(password)
        columns["password_hash"] = accounts.hash_password(password)
    accounts.check_email(str(columns.get("email", "")))
    closed = columns.get("is_active") is False or columns.get("may_not_log_in") is True
    with database.write() as connection:
        if user.is_admin:
            lock_admins(connection)
        check_free(connection, str(columns.get("email", "")), user)
        changed = connection.execute(
            update(users).where(users.c.id == user.id).values(updated_at=int(time.time()), **columns)
        )
        if not changed.rowcount:
            raise NoSuchUser("the user does not exist")
        if columns.get("visibility") == "private":
            hide_forks_of_owner(connection, user)
        # An additional address that becomes the main one is no longer an additional one.
        email = str(columns.get("email", "")).lower()
        if email:
            connection.execute(delete(email_addresses).where(email_addresses.c.folded_email == email))
        if user.is_admin:
            admins_remain(connection)
        if password is not None or closed:
            connection.execute(delete(sessions).where(sessions.c.user_id == user.id))
        if password is not None:
            connection.execute(delete(tokens).where(tokens.c.user_id == user.id))
    return accounts.find_account(database, user.id)


def lock_admins(connection: Connection) -> None:
    """Lock the administrators' rows, so that two concurrent changes cannot remove the last two administrators."""
    connection.execute(select(users.c.id).where(users.c.is_admin).order_by(users.c.id).with_for_update())


def admins_remain(connection: Connection) -> None:
    """Raise `LastAdmin` if no active administrator is left."""
    usable = select(users.c.id).where(users.c.is_admin, users.c.is_active, ~users.c.may_not_log_in).limit(1)
    if connection.execute(usable).first() is None:
        raise LastAdmin("the last administrator must stay one; make another user an administrator first")


def delete_user(
    database: Database,
    user: Account,
    *,
    actor: Account,
    purge: bool = False,
    first: Callable[[Connection], None] | None = None,
) -> tuple[int, ...]:
    """Delete a user and return the ids of the deleted repositories; removing their folders is up to the caller.

    Only `purge` deletes repositories and ends memberships. Content the user wrote stays, without an author.
    `first` runs in the same transaction, before anything is deleted.
    """
    with database.write() as connection:
        lock_graph(connection)
        if user.is_admin:
            lock_admins(connection)
        # Lock order: organizations before users, as in `members.join`.
        its_organizations = (
            select(users.c.id, users.c.name)
            .join(members, members.c.organization_id == users.c.id)
            .where(members.c.user_id == user.id)
            .order_by(users.c.id)
        )
        organizations = connection.execute(its_organizations.with_for_update(of=users)).all()
        locked = connection.execute(select(users.c.id).where(users.c.id == user.id).with_for_update())
        if locked.one_or_none() is None:
            raise NoSuchUser("the user does not exist")
        its_repositories = select(repositories.c.id).where(repositories.c.owner_id == user.id)
        owned = repositories_by_id(connection, connection.execute(its_repositories).scalars().all())
        if not purge:
            refuse_if_needed(user, len(owned), len(organizations))
        record_unblocked_by_deletion(connection, list(owned), actor)
        for repository in owned.values():
            record_deleted(connection, repository, actor, with_owner=True)
        if first is not None:
            first(connection)
        uncount_forks(connection, repositories.c.owner_id == user.id)
        uncount(connection, user.id)
        accounts.delete_account(connection, user.id)
        if user.is_admin:
            admins_remain(connection)
        without = ownerless(connection, [row.id for row in organizations])
        if without is not None:
            raise LastOwner(f"{user.name} is the last owner of {without}; add another owner first")
    return tuple(owned)


def refuse_if_needed(user: Account, owned: int, organizations: int) -> None:
    """Raise `StillInUse` for a user who owns repositories or is a member of organizations."""
    reasons = []
    if owned:
        reasons.append("owns a repository" if owned == 1 else f"owns {owned} repositories")
    if organizations:
        reasons.append("is in an organization" if organizations == 1 else f"is in {organizations} organizations")
    if reasons:
        raise StillInUse(f"{user.name} still {' and '.join(reasons)}; remove them first, or use purge")


def ownerless(connection: Connection, organization_ids: list[int]) -> str | None:
    """Return the name of one of these organizations that has no owner left."""
    if not organization_ids:
        return None
    owned = (
        select(teams.c.organization_id)
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(teams.c.mode == OWNER)
    )
    statement = select(users.c.name).where(users.c.id.in_(organization_ids), users.c.id.not_in(owned)).limit(1)
    name: str | None = connection.execute(statement).scalar_one_or_none()
    return name
