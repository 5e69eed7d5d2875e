"""Forks: repositories that share the packs of another one.

A fork's rows contain the keys of its parent's packs in the object store, so no object is copied. An object is
deleted only when no row contains its key (`repository_log.used_keys`), whichever repository is deleted or
compacted first. The parent's row is locked while its packs are read: a compaction, which changes that row, either
happened before or supersedes packs whose keys the fork's rows contain by then.
"""

import time

from sqlalchemy import ColumnElement, Connection, and_, func, insert, literal, or_, select, update

from holdfast.hosting.errors import GoneMeanwhile, StorageUnavailable
from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository, repositories_by_id
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.hosting.store.tables import (
    collaborators,
    lfs_links,
    packs,
    ref_log,
    refs,
    repositories,
    users,
)

__all__ = [
    "copy_collaborators",
    "copy_content",
    "copy_lfs_links",
    "find_fork",
    "hide_forks",
    "hide_forks_of_owner",
    "lock_parent",
    "record_fork",
]

ADMIN = 3
# The version of a fork that was never written to; its packs and refs have this version.
FIRST_VERSION = 1
FORKED = or_(
    and_(refs.c.name >= "refs/heads/", refs.c.name < "refs/heads0"),
    and_(refs.c.name >= "refs/tags/", refs.c.name < "refs/tags0"),
)


def lock_parent(connection: Connection, parent: Repository) -> Repository:
    """Return the current row of a repository, and increment its fork count, which locks it until the commit.

    The row of its owner is locked first, since a change of their visibility hides the forks that it finds.
    """
    owner = select(repositories.c.owner_id).where(repositories.c.id == parent.id).scalar_subquery()
    connection.execute(select(users.c.id).where(users.c.id == owner).with_for_update(read=True))
    counted = (
        update(repositories)
        .where(repositories.c.id == parent.id)
        .values(fork_count=repositories.c.fork_count + 1)
        .returning(repositories.c.version)
    )
    version = connection.execute(counted).scalar_one_or_none()
    if version is None:
        raise GoneMeanwhile("the repository was deleted meanwhile")
    if version == NOT_ADOPTED:
        raise StorageUnavailable("the repository is not adopted yet; `holdfast admin doctor` says more")
    return repositories_by_id(connection, [parent.id])[parent.id]


def find_fork(connection: Connection, parent: Repository, owner: Account) -> str | None:
    """Return the name of an owner's fork of a repository; None if there is none."""
    query = select(repositories.c.name).where(
        repositories.c.fork_of == parent.id, repositories.c.owner_id == owner.id
    )
    return connection.execute(query.limit(1)).scalar_one_or_none()


def copy_content(connection: Connection, parent: Repository, fork_id: int, actor: Account) -> None:
    """Copy the branches, tags, packs and LFS objects of a repository, whose row is locked, to a new one."""
    now = int(time.time())
    fork = literal(fork_id)
    its_refs = and_(refs.c.repository_id == parent.id, FORKED)
    columns = (refs.c.repository_id, refs.c.name, refs.c.target)
    connection.execute(insert(refs).from_select(columns, select(fork, refs.c.name, refs.c.target).where(its_refs)))
    logged = select(
        fork,
        literal(FIRST_VERSION),
        refs.c.name,
        # As many zeros as an object id has characters.
        func.substr(literal("0" * 64), 1, func.length(refs.c.target)),
        refs.c.target,
        literal(actor.id),
        literal(now),
    ).where(its_refs)
    names = ["repository_id", "version", "ref", "old", "new", "actor_id", "created_at"]
    connection.execute(insert(ref_log).from_select(names, logged))
    live = and_(packs.c.repository_id == parent.id, packs.c.superseded_at == 0)
    copied = ("name", "size", "object_count", "store_key", "content")
    rows = select(fork, literal(FIRST_VERSION), literal(now), *(packs.c[name] for name in copied)).where(live)
    names = ["repository_id", "version", "created_at", *copied]
    connection.execute(insert(packs).from_select(names, rows.order_by(packs.c.version, packs.c.id)))
    copy_lfs_links(connection, parent, fork_id)
    its_packs = and_(packs.c.repository_id == fork_id, packs.c.superseded_at == 0)
    size = select(func.coalesce(func.sum(packs.c.size), 0)).where(its_packs).scalar_subquery()
    columns_of_fork = {"version": FIRST_VERSION, "size": size}
    connection.execute(update(repositories).where(repositories.c.id == fork_id).values(**columns_of_fork))


def copy_lfs_links(connection: Connection, source: Repository, target_id: int) -> None:
    """Link the LFS objects of a repository to a new one."""
    linked = select(literal(target_id), lfs_links.c.oid, lfs_links.c.size, literal(int(time.time())))
    names = ("repository_id", "oid", "size", "created_at")
    its_links = linked.where(lfs_links.c.repository_id == source.id)
    connection.execute(insert(lfs_links).from_select(names, its_links))


def copy_collaborators(connection: Connection, parent: Repository, fork_id: int, owner: Account) -> None:
    """Grant the users with access to a private repository the same access to its fork."""
    columns = (collaborators.c.repository_id, collaborators.c.user_id, collaborators.c.mode)
    query = select(literal(fork_id), collaborators.c.user_id, collaborators.c.mode).where(
        collaborators.c.repository_id == parent.id,
        collaborators.c.user_id.not_in([owner.id, parent.owner.id]),
    )
    connection.execute(insert(collaborators).from_select(columns, query))
    if not parent.owner.is_organization and parent.owner.id != owner.id:
        row = {"repository_id": fork_id, "user_id": parent.owner.id, "mode": ADMIN}
        connection.execute(insert(collaborators), row)


def hide_forks(connection: Connection, parent: Repository) -> None:
    """Make the forks of a repository, and their forks, private."""
    hide(connection, repositories.c.fork_of == parent.id)


def hide_forks_of_owner(connection: Connection, owner: Account) -> None:
    """Make the forks of every repository of an owner, and their forks, private."""
    owned = select(repositories.c.id).where(repositories.c.owner_id == owner.id)
    hide(connection, repositories.c.fork_of.in_(owned))


def hide(connection: Connection, are_forks: ColumnElement[bool]) -> None:
    """Make forks, and their forks, private."""
    below = select(repositories.c.id).where(are_forks).cte(recursive=True)
    below = below.union(select(repositories.c.id).join(below, repositories.c.fork_of == below.c.id))
    connection.execute(
        update(repositories).where(repositories.c.id.in_(select(below.c.id))).values(is_private=True)
    )


def record_fork(connection: Connection, parent: Repository, fork_id: int, actor: Account) -> None:
    """Record the event that a repository was forked, for the webhooks of the repository."""
    events.record(
        connection,
        "fork",
        owner_id=parent.owner.id,
        repository_id=parent.id,
        actor_id=actor.id,
        details={"fork_id": fork_id},
    )
