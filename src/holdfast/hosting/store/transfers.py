"""Pending transfers of repositories, which the new owner has to accept; a repository has at most one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, literal, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NoSuchTransfer, TransferPending
from holdfast.hosting.store.accounts import Account, account_by_id
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.notification_writes import end_transfer, may_act_for, notify_of_transfer
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories, repository_transfers, users

__all__ = ["Transfer", "WaitingTransfer", "add_transfer", "find_transfer", "remove_transfer", "transfers_for"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """A pending transfer: who started it, and the new owner."""

    actor: Account
    recipient: Account
    team_ids: tuple[int, ...] = ()
    """The teams of the new owner that get access; some may have been deleted since."""


@dataclass(frozen=True, slots=True)
class WaitingTransfer:
    """A repository with a pending transfer: its owner and name, the new owner, and the start time."""

    owner: str
    name: str
    recipient: str
    created_at: int


OF_REPOSITORY = Statement(
    select(
        repository_transfers.c.actor_id, repository_transfers.c.recipient_id, repository_transfers.c.team_ids
    ).where(repository_transfers.c.repository_id == bindparam("repository_id"))
)


def find_transfer(database: Database, repository: Repository) -> Transfer | None:
    """Return the pending transfer of a repository; None if there is none."""
    row = database.row(OF_REPOSITORY, repository_id=repository.id)
    if row is None:
        return None
    actor, recipient = account_by_id(database, row[0]), account_by_id(database, row[1])
    if actor is None or recipient is None:
        return None
    return Transfer(actor, recipient, msgspec.json.decode(row[2], type=tuple[int, ...]))


def transfers_for(connection: Connection, user: Account, *, limit: int) -> list[WaitingTransfer]:
    """Return the repositories whose transfer a user can accept, newest first."""
    old, new = users.alias("owner"), users.alias("recipient")
    statement = (
        select(old.c.name, repositories.c.name, new.c.name, repository_transfers.c.created_at)
        .join_from(repository_transfers, repositories, repositories.c.id == repository_transfers.c.repository_id)
        .join(old, old.c.id == repositories.c.owner_id)
        .join(new, new.c.id == repository_transfers.c.recipient_id)
        .where(may_act_for(repository_transfers.c.recipient_id, literal(user.id)))
        .order_by(repository_transfers.c.created_at.desc(), repository_transfers.c.repository_id.desc())
        .limit(limit)
    )
    return [WaitingTransfer(*row) for row in connection.execute(statement)]


def add_transfer(
    database: Database, repository: Repository, actor: Account, recipient: Account, team_ids: Sequence[int] = ()
) -> None:
    """Add a pending transfer, and notify the users who can accept it. Raise `TransferPending` if there is one."""
    now = int(time.time())
    row = {
        "repository_id": repository.id,
        "recipient_id": recipient.id,
        "actor_id": actor.id,
        "created_at": now,
        "team_ids": msgspec.json.encode(list(team_ids)).decode(),
    }
    try:
        with database.write() as connection:
            connection.execute(insert(repository_transfers), row)
            notify_of_transfer(
                connection, repository_id=repository.id, recipient_id=recipient.id, actor_id=actor.id, now=now
            )
    except IntegrityError:
        raise TransferPending(repository.full_name) from None


def remove_transfer(connection: Connection, repository: Repository, recipient: Account | None = None) -> None:
    """Remove the pending transfer, if given only one to `recipient`. Raise `NoSuchTransfer` if there is none."""
    gone = delete(repository_transfers).where(repository_transfers.c.repository_id == repository.id)
    if recipient is not None:
        gone = gone.where(repository_transfers.c.recipient_id == recipient.id)
    if not connection.execute(gone).rowcount:
        raise NoSuchTransfer("the repository has no transfer that waits")
    end_transfer(connection, repository.id)
