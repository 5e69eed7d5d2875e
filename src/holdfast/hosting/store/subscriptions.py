"""Stars and watches of repositories.

Their counts are stored in the row of the repository, updated in the same transaction, so that lists of
repositories need no further query.
"""

import time
from typing import Final, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from holdfast.hosting.errors import GoneMeanwhile
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories, stars, users, watches

__all__ = [
    "Kind",
    "add",
    "chosen",
    "count_stars",
    "has_one_of",
    "remove",
    "since",
    "subscribers",
    "uncount",
    "watch_new",
]

Kind = Literal["star", "watch"]
CHOSEN = Statement(
    select(
        *(
            exists()
            .where(table.c.repository_id == bindparam("repository"), table.c.user_id == bindparam("user"))
            .label(table.name)
            for table in (stars, watches)
        )
    )
)
STARS_OF = Statement(select(func.count()).select_from(stars).where(stars.c.user_id == bindparam("user_id")))
TABLES: Final[dict[Kind, Table]] = {"star": stars, "watch": watches}


def add(database: Database, kind: Kind, repository: Repository, user: Account) -> None:
    """Star or watch a repository; idempotent."""
    table = TABLES[kind]
    row = {"repository_id": repository.id, "user_id": user.id, "created_at": int(time.time())}
    with database.write() as connection:
        lock(connection, repository, user)
        added = upsert(database, table).on_conflict_do_nothing().returning(table.c.user_id)
        if connection.execute(added, row).one_or_none() is not None:
            count(connection, kind, repositories.c.id == repository.id, 1)


def watch_new(connection: Connection, repository_id: int, user: Account) -> None:
    """Add a watch of a repository that is created in this transaction."""
    row = {"repository_id": repository_id, "user_id": user.id, "created_at": int(time.time())}
    connection.execute(insert(watches), row)
    count(connection, "watch", repositories.c.id == repository_id, 1)


def remove(database: Database, kind: Kind, repository: Repository, user: Account) -> None:
    """Remove a star or a watch, if it exists."""
    table = TABLES[kind]
    with database.write() as connection:
        lock(connection, repository, user)
        gone = delete(table).where(table.c.repository_id == repository.id, table.c.user_id == user.id)
        if connection.execute(gone).rowcount:
            count(connection, kind, repositories.c.id == repository.id, -1)


def lock(connection: Connection, repository: Repository, user: Account) -> None:
    """Lock the user and then the repository, as a deletion does; raise `GoneMeanwhile` if one is missing.

    Stars and watches are only changed under the lock of their repository, so the counters match the rows.
    """
    kept = select(users.c.id).where(users.c.id == user.id).with_for_update(read=True, key_share=True)
    locked = select(repositories.c.id).where(repositories.c.id == repository.id).with_for_update()
    if any(connection.execute(statement).one_or_none() is None for statement in (kept, locked)):
        raise GoneMeanwhile("the user or the repository was deleted")


def count(connection: Connection, kind: Kind, which: ColumnElement[bool], change: int) -> None:
    """Change the counter of repositories."""
    column = repositories.c[f"{kind}_count"]
    connection.execute(update(repositories).where(which).values({column: column + change}))


def uncount(connection: Connection, user_id: int) -> None:
    """Subtract the stars and watches of a user from the counters, before the user is deleted."""
    for kind, table in TABLES.items():
        its = select(table.c.repository_id).where(table.c.user_id == user_id)
        count(connection, kind, repositories.c.id.in_(its), -1)


def since(database: Database, kind: Kind, repository: Repository, user: Account) -> int | None:
    """Return when a user starred or began to watch a repository; None if they did not."""
    table = TABLES[kind]
    with database.read() as connection:
        query = select(table.c.created_at).where(
            table.c.repository_id == repository.id, table.c.user_id == user.id
        )
        moment: int | None = connection.execute(query).scalar_one_or_none()
    return moment


def chosen(database: Database, repository: Repository, user: Account) -> frozenset[Kind]:
    """Return whether a user has starred a repository and whether they watch it, in one query."""
    starred, watched = database.row(CHOSEN, repository=repository.id, user=user.id) or (False, False)
    has: dict[Kind, bool] = {"star": starred, "watch": watched}
    return frozenset(kind for kind, is_chosen in has.items() if is_chosen)


def count_stars(database: Database, user: Account) -> int:
    """Return how many repositories a user has starred (`ix_stars_user_id`)."""
    row = database.row(STARS_OF, user_id=user.id)
    return 0 if row is None else int(row[0])


def has_one_of(kind: Kind, user: Account) -> ColumnElement[bool]:
    """Return the SQL condition that a user has starred a repository, or watches it (`ix_..._user_id`)."""
    table = TABLES[kind]
    return repositories.c.id.in_(select(table.c.repository_id).where(table.c.user_id == user.id))


def subscribers(
    database: Database, kind: Kind, repository: Repository, viewer: Account | None, *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the users who starred or watch a repository and whom a viewer may see, and the total."""
    table = TABLES[kind]
    visible = visible_to(viewer)
    conditions = (table.c.repository_id == repository.id, visible)
    about_users = users in select(table.c.user_id).where(visible).get_final_froms()
    source = table.join(users, table.c.user_id == users.c.id) if about_users else table
    with database.read() as connection:
        counted = select(func.count()).select_from(source).where(*conditions)
        total: int = connection.execute(counted).scalar_one()
        ids = page_ids(
            connection,
            select(table.c.user_id).select_from(source).where(*conditions),
            table.c.created_at,
            table.c.user_id,
            skip=skip,
            limit=limit,
            total=total,
        )
        accounts = accounts_by_id(connection, ids)
    return [accounts[number] for number in ids if number in accounts], total


def visible_to(viewer: Account | None) -> ColumnElement[bool]:
    """Return the SQL condition that a viewer may see a user."""
    if viewer is None:
        return users.c.visibility == "public"
    if viewer.is_admin:
        return true()
    shown = ("public",) if viewer.is_restricted else ("public", "limited")
    return or_(users.c.visibility.in_(shown), users.c.id == viewer.id)
