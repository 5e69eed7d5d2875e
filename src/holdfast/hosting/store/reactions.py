"""Reactions of users to issues and comments."""

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile
from holdfast.hosting.store.accounts import COLUMNS as ACCOUNT
from holdfast.hosting.store.accounts import Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.tables import reactions, users

__all__ = ["IssueReaction", "ReactionTarget", "add", "list_reactions", "remove"]


class ReactionTarget(msgspec.Struct, frozen=True):
    """The target of a reaction: a column of the table and a value."""

    column: str
    id: int


class IssueReaction(msgspec.Struct, frozen=True):
    """A reaction of a user."""

    content: str
    created_at: int
    user: Account


PLAIN: Final = (reactions.c.content, reactions.c.created_at)


def list_reactions(
    database: Database, to: ReactionTarget, *, skip: int, limit: int
) -> tuple[Sequence[IssueReaction], int]:
    """Return one page of the reactions to an issue or a comment, oldest first, and the total."""
    of_target = reactions.c[to.column] == to.id
    query = (
        select(*PLAIN, *ACCOUNT)
        .join_from(reactions, users, users.c.id == reactions.c.user_id)
        .where(of_target)
        .order_by(reactions.c.id)
        .offset(skip)
        .limit(limit)
    )
    with database.read() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
        total = connection.execute(select(func.count()).select_from(reactions).where(of_target)).scalar_one()
    return [IssueReaction(row[0], row[1], account_from(row, len(PLAIN))) for row in rows], total


def add(database: Database, to: ReactionTarget, user: Account, content: str) -> tuple[IssueReaction, bool]:
    """Add a reaction, and return it and whether it is new."""
    columns = reactions.c
    row = {to.column: to.id, "user_id": user.id, "content": content, "created_at": int(time.time())}
    existing = select(columns.created_at).where(
        columns[to.column] == to.id, columns.user_id == user.id, columns.content == content
    )
    added = upsert(database, reactions).on_conflict_do_nothing().returning(columns.created_at)
    try:
        with database.write() as connection:
            created_at = connection.execute(added, row).scalar_one_or_none()
            is_new = created_at is not None
            if created_at is None:
                created_at = connection.execute(existing).scalar_one()
    except IntegrityError as error:
        raise GoneMeanwhile("what the reaction is to was deleted in the meantime") from error
    return IssueReaction(content, created_at, user), is_new


def remove(database: Database, to: ReactionTarget, user: Account, content: str) -> None:
    """Remove a reaction of a user, if it exists."""
    columns = reactions.c
    with database.write() as connection:
        connection.execute(
            delete(reactions).where(
                columns[to.column] == to.id, columns.user_id == user.id, columns.content == content
            )
        )
