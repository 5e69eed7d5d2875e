"""Transfers of repositories: immediate if the actor may create repositories for the new owner, else pending.

A pending transfer changes nothing until the new owner accepts it; they may reject it, and the owners of the
repository may cancel it.
"""

from collections.abc import Sequence
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidValue, NoSuchAccount, NoSuchTransfer, NoSuchUser, Permission
from holdfast.hosting.services import organizations, repositories, users
from holdfast.hosting.services.fields import check_required
from holdfast.hosting.services.repositories import may_create_for
from holdfast.hosting.store import accounts, teams
from holdfast.hosting.store import repositories as repository_rows
from holdfast.hosting.store import transfers as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.teams import Team
from holdfast.hosting.store.transfers import Transfer, WaitingTransfer

__all__ = ["accept", "find", "find_visible", "list_waiting", "may_accept", "reject", "start", "visible_teams"]

MOST_TEAMS: Final = 100
MOST_LISTED: Final = 20


def find(app: App, repository: Repository) -> Transfer | None:
    """Return the pending transfer of a repository, or None."""
    return store.find_transfer(app.database, repository)


def find_visible(app: App, actor: Actor, target: RepositoryAccess) -> Transfer | None:
    """Return the pending transfer to administrators of the repository and to those who may accept it.

    The new owner may be an organization that other readers may not know of.
    """
    transfer = find(app, target.repository)
    if transfer is None or not (target.permissions.is_admin or may_create_for(app, actor, transfer.recipient)):
        return None
    return transfer


def may_accept(app: App, actor: Actor, repository: Repository) -> bool:
    """Return whether the actor may accept a repository's pending transfer, for themselves or an organization."""
    transfer = store.find_transfer(app.database, repository)
    is_public = not repository.is_private and repository.owner.visibility == "public"
    if transfer is None or (actor.public_only and not is_public):
        return False
    return may_create_for(app, actor, transfer.recipient)


def list_waiting(app: App, actor: Actor) -> list[WaitingTransfer]:
    """Return the pending transfers to the actor or their organizations, newest first."""
    user = access.require_login(actor)
    with app.database.read() as connection:
        return store.transfers_for(connection, user, limit=MOST_LISTED)


def start(
    app: App, actor: Actor, target: RepositoryAccess, new_owner: str, team_ids: Sequence[int] = ()
) -> Repository:
    """Transfer a repository; the transfer is pending if the actor may not create repositories for the new owner.

    `team_ids` are the teams of the new owner that get access. Raises `TransferPending` if one is already pending.
    """
    user = access.require_repository_owner(actor, target)
    check_required(new_owner, "NewOwner")
    try:
        recipient = accounts.find_account(app.database, new_owner)
    except NoSuchUser:
        raise NoSuchAccount(new_owner) from None
    is_direct = may_create_for(app, actor, recipient)
    if not is_direct and not users.is_visible(app, actor, recipient):
        raise NoSuchAccount(new_owner)
    wanted = tuple(dict.fromkeys(team_ids))
    check_teams(app, recipient, wanted)
    if is_direct:
        return repositories.transfer(app, actor, target, new_owner, wanted)
    store.add_transfer(app.database, target.repository, user, recipient, wanted)
    return target.repository


def check_teams(app: App, recipient: Account, team_ids: Sequence[int]) -> None:
    """Raise `InvalidValue` unless the new owner is an organization that has teams with these ids."""
    if not team_ids:
        return
    if not recipient.is_organization:
        raise InvalidValue("TeamIDs", "only an organization has teams")
    if len(team_ids) > MOST_TEAMS:
        raise InvalidValue("TeamIDs", f"at most {MOST_TEAMS} teams can be named")
    allowed_teams = teams_of(app, Transfer(recipient, recipient, tuple(team_ids)))
    for number in team_ids:
        if number not in {team.id for team in allowed_teams}:
            raise InvalidValue("TeamIDs", f"team {number} does not belong to {recipient.name}")


def teams_of(app: App, transfer: Transfer) -> list[Team]:
    """Return the teams that get access by a transfer and still exist."""
    with app.database.read() as connection:
        teams_by_id = teams.teams_by_id(connection, transfer.team_ids)
    return [
        team
        for number in transfer.team_ids
        if (team := teams_by_id.get(number)) is not None and team.organization_id == transfer.recipient.id
    ]


def visible_teams(app: App, actor: Actor, transfer: Transfer) -> list[Team]:
    """Return the teams that get access by a transfer; only for members of their organization, none for others."""
    if not transfer.team_ids:
        return []
    organization = organizations.access_in(app, actor, transfer.recipient)
    return teams_of(app, transfer) if access.is_member_mode(organization.mode) else []


def accept(app: App, actor: Actor, target: RepositoryAccess) -> Repository:
    """Accept a pending transfer to the actor or their organization."""
    user = access.require_login(actor)
    transfer = find_transfer(app, target)
    if not may_create_for(app, actor, transfer.recipient):
        raise Forbidden(Permission.ACCEPT_TRANSFER)
    with app.database.write() as connection:
        store.remove_transfer(connection, target.repository, transfer.recipient)
        repositories.move_to(connection, target.repository, transfer.recipient, user, transfer.team_ids)
    return repository_rows.repository_by_id(app.database, target.repository.id)


def reject(app: App, actor: Actor, target: RepositoryAccess) -> Repository:
    """Reject a pending transfer as its recipient, or cancel it as an owner of the repository."""
    access.require_login(actor)
    transfer = find_transfer(app, target)
    if not may_create_for(app, actor, transfer.recipient) and not target.permissions.is_owner:
        raise Forbidden(Permission.ACCEPT_TRANSFER)
    with app.database.write() as connection:
        store.remove_transfer(connection, target.repository, transfer.recipient)
    return target.repository


def find_transfer(app: App, target: RepositoryAccess) -> Transfer:
    """Return the pending transfer; raise `NoSuchTransfer` if there is none."""
    transfer = store.find_transfer(app.database, target.repository)
    if transfer is None:
        raise NoSuchTransfer("the repository has no transfer that waits")
    return transfer
