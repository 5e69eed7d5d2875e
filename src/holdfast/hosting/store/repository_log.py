"""The log of each repository: its refs, their updates, and the packs with their objects.

An update is written in the transaction of its events. It is a compare-and-set of every ref in it, so of two
concurrent writers the second to commit finds that the ref has changed. The row of the repository has the version
of its log, and taking the next version locks the row: writers of one repository are serialized, those of others do
not wait.
"""

import os
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    union,
    update,
)

from holdfast.hosting.errors import GitDamaged, GoneMeanwhile, StorageUnavailable
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Bind, Link, Statement
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.tables import packs, ref_log, refs, repositories

__all__ = [
    "NOT_ADOPTED",
    "LogEntry",
    "NewPack",
    "PackRow",
    "RefState",
    "add_packs",
    "append",
    "changed_refs",
    "compactions",
    "conflicting_ref",
    "count_log_entries",
    "current_default_branch",
    "current_version",
    "current_version_in",
    "delete_packs",
    "find_ref",
    "former_targets",
    "has_refs",
    "import_refs",
    "known_targets",
    "last_actor",
    "list_refs",
    "live_packs",
    "lock_default_branch",
    "log_entries",
    "log_entry",
    "pack_contents",
    "read_refs",
    "ref_name",
    "repositories_with_packs",
    "set_collected",
    "set_refs",
    "stored_name",
    "stored_pack_names",
    "supersede_packs",
    "target_of",
    "used_keys",
    "with_expired_refs",
]

ESCAPED: Final = re.compile(r"\\x([0-9a-f]{2})")
# The version of a repository from before the log: refs and objects are in its folder only (`storage.adoption`).
NOT_ADOPTED: Final = -1
# The maximum number of names in one statement.
NAMES_AT_ONCE: Final = 500

TAKE_VERSION = Statement(
    update(repositories)
    .where(repositories.c.id == bindparam("number"))
    .values(version=repositories.c.version + bindparam("count"))
    .returning(repositories.c.version)
)
VERSION = Statement(
    select(repositories.c.version, repositories.c.default_branch).where(repositories.c.id == bindparam("number"))
)
LOCK_DEFAULT_BRANCH = Statement(
    select(repositories.c.default_branch)
    .where(repositories.c.id == bindparam("number"))
    .with_for_update(key_share=True)
)
TARGET = Statement(
    select(refs.c.target).where(
        refs.c.repository_id == bindparam("repository_id"), refs.c.name == bindparam("name")
    )
)
REFS_BELOW: Final = (
    refs.c.repository_id == bindparam("repository_id"),
    refs.c.name >= bindparam("first"),
    refs.c.name < bindparam("last"),
)
BELOW = Statement(select(refs.c.name).where(*REFS_BELOW).limit(1))
REF_COUNT: Final = select(func.count()).select_from(refs).where(*REFS_BELOW)
COUNT = Statement(REF_COUNT)
PAGE = Statement(
    select(refs.c.name, refs.c.target, REF_COUNT.correlate(None).scalar_subquery())
    .where(*REFS_BELOW)
    .order_by(refs.c.name)
    .limit(bindparam("most"))
    .offset(bindparam("skip"))
)
SET = Statement(
    update(refs)
    .where(
        refs.c.repository_id == bindparam("number"),
        refs.c.name == bindparam("ref"),
        refs.c.target == bindparam("old"),
    )
    .values(target=bindparam("new"))
    .returning(refs.c.name)
)
ADD = Statement(
    insert(refs).values(
        repository_id=bindparam("repository_id"), name=bindparam("name"), target=bindparam("target")
    )
)
REMOVE = Statement(
    delete(refs)
    .where(
        refs.c.repository_id == bindparam("number"),
        refs.c.name == bindparam("ref"),
        refs.c.target == bindparam("old"),
    )
    .returning(refs.c.name)
)
LOG_COLUMNS: Final = ("repository_id", "version", "ref", "old", "new", "actor_id", "created_at")
LOG = Statement(insert(ref_log).values({name: bindparam(name) for name in LOG_COLUMNS}))
PACK_COLUMNS: Final = (
    "repository_id",
    "version",
    "name",
    "size",
    "object_count",
    "created_at",
    "store_key",
    "content",
)
ADD_PACK = Statement(insert(packs).values({name: bindparam(name) for name in PACK_COLUMNS}))


class NewPack(msgspec.Struct, frozen=True):
    """A pack to record: its bytes, or its key in the object store."""

    name: str
    size: int
    object_count: int
    store_key: str = ""
    content: bytes | None = None


class PackRow(msgspec.Struct, frozen=True):
    """A pack of a repository; its bytes are in the database if it has no key."""

    id: int
    version: int
    name: str
    size: int
    object_count: int
    store_key: str


class LogEntry(msgspec.Struct, frozen=True):
    """One update of a ref in the log."""

    version: int
    update: RefUpdate
    actor_id: int | None
    created_at: int


class RefState(msgspec.Struct, frozen=True):
    """The changed refs of a repository by name, with their targets; None for a deleted one."""

    version: int
    compaction: int
    default_branch: str
    refs: dict[str, str | None]


def stored_name(ref: str) -> str:
    r"""Return a ref as stored in the database: invalid UTF-8 bytes as `\xe9`, since no ref has a backslash."""
    return ref if ref.isascii() else os.fsencode(ref).decode(errors="backslashreplace")


def ref_name(stored: str) -> str:
    """Return the ref of a stored name."""
    return ESCAPED.sub(lambda match: os.fsdecode(bytes.fromhex(match[1])), stored) if "\\" in stored else stored


def current_version(database: Database, repository_id: int) -> int:
    """Return the version of a repository's log; 0 if there is no such repository."""
    row = database.row(VERSION, number=repository_id)
    return 0 if row is None else int(row[0])


def current_default_branch(database: Database, repository_id: int) -> str | None:
    """Return the name of a repository's default branch; None if there is no such repository."""
    row = database.row(VERSION, number=repository_id)
    return None if row is None else str(row[1])


def lock_default_branch(link: Link, repository_id: int) -> str:
    """Lock a repository's row until the transaction ends, and return the name of its default branch."""
    rows = LOCK_DEFAULT_BRANCH.run(link, number=repository_id)
    if not rows:
        raise GoneMeanwhile("the repository was deleted meanwhile")
    return str(rows[0][0])


def find_ref(database: Database, repository_id: int, ref: str) -> str | None:
    """Return the target of a ref; None if there is no such ref."""
    row = database.row(TARGET, repository_id=repository_id, name=stored_name(ref))
    return None if row is None else str(row[0])


def target_of(link: Link, repository_id: int, ref: str) -> str | None:
    """Return the target of a ref, in a transaction; None if there is no such ref."""
    rows = TARGET.run(link, repository_id=repository_id, name=stored_name(ref))
    return str(rows[0][0]) if rows else None


def last_actor(database: Database, repository_id: int, ref: str) -> int | None:
    """Return the user who updated a ref last, if they still exist."""
    with database.read() as connection:
        entries = log_entries(connection, repository_id, ref=ref, limit=1)
    return entries[0].actor_id if entries else None


def has_refs(database: Database, repository_id: int) -> bool:
    """Return whether a repository has a branch or a tag."""
    return any(
        database.row(BELOW, repository_id=repository_id, first=f"{prefix}/", last=f"{prefix}0") is not None
        for prefix in ("refs/heads", "refs/tags")
    )


def append(
    link: Link,
    repository_id: int,
    updates: Sequence[tuple[int | None, RefUpdate]],
    new_packs: Iterable[NewPack] = (),
) -> tuple[int, list[RefUpdate]]:
    """Append ref updates, each with its actor, to the log of a repository, one version per update.

    Returns the last version, and the updates that were rejected because their ref does not have its old id, or its
    name conflicts with another ref. The caller rolls the transaction back, or continues without them.
    """
    versions = TAKE_VERSION.run(link, number=repository_id, count=len(updates))
    if not versions:
        raise GoneMeanwhile("the repository was deleted meanwhile")
    last = int(versions[0][0])
    if last - len(updates) == NOT_ADOPTED:
        # The version is rolled back with the transaction.
        raise StorageUnavailable("the repository is not adopted yet; `holdfast admin doctor` says more")
    now = int(time.time())
    rejected: list[RefUpdate] = []
    rows: list[dict[str, Bind]] = []
    # Deletions first: after deleting `refs/heads/a`, `refs/heads/a/b` can be created.
    order = sorted(range(len(updates)), key=lambda index: not updates[index][1].deletes)
    is_set = [False] * len(updates)
    for index in order:
        is_set[index] = set_ref(link, repository_id, updates[index][1])
    for index, (actor_id, ref_update) in enumerate(updates):
        if not is_set[index]:
            rejected.append(ref_update)
            continue
        version = last - len(updates) + 1 + index
        values = (
            repository_id,
            version,
            stored_name(ref_update.ref),
            ref_update.old,
            ref_update.new,
            actor_id,
            now,
        )
        rows.append(dict(zip(LOG_COLUMNS, values, strict=True)))
    add_rows(link, LOG, rows)
    add_packs(link, repository_id, last, new_packs)
    return last, rejected


def add_packs(link: Link, repository_id: int, version: int, new_packs: Iterable[NewPack]) -> None:
    """Record packs that contain the objects of a version, and of no later one."""
    now = int(time.time())
    for pack in new_packs:
        values = (
            repository_id,
            version,
            pack.name,
            pack.size,
            pack.object_count,
            now,
            pack.store_key,
            pack.content,
        )
        ADD_PACK.run(link, **dict(zip(PACK_COLUMNS, values, strict=True)))


def add_rows(link: Link, statement: Statement, rows: Sequence[dict[str, Bind]]) -> None:
    """Insert rows; a single row without the overhead of executemany."""
    if len(rows) == 1:
        statement.run(link, **rows[0])
    elif rows:
        statement.run_many(link, rows)


def set_ref(link: Link, repository_id: int, ref_update: RefUpdate) -> bool:
    """Compare-and-set one ref; return whether it had its old id and its name does not conflict."""
    name = stored_name(ref_update.ref)
    if ref_update.deletes:
        return bool(REMOVE.run(link, number=repository_id, ref=name, old=ref_update.old))
    if not ref_update.creates:
        return bool(SET.run(link, number=repository_id, ref=name, old=ref_update.old, new=ref_update.new))
    if TARGET.run(link, repository_id=repository_id, name=name) or conflicting_ref(
        link, repository_id, ref_update.ref
    ):
        return False
    ADD.run(link, repository_id=repository_id, name=name, target=ref_update.new)
    return True


def conflicting_ref(link: Link, repository_id: int, ref: str) -> str | None:
    """Return a ref that conflicts with a name: one below it, or one that is a parent folder of it."""
    name = stored_name(ref)
    below = BELOW.run(link, repository_id=repository_id, first=f"{name}/", last=f"{name}0")
    if below:
        return ref_name(below[0][0])
    parts = name.split("/")
    # The shortest ref is like `refs/stash`.
    for count in range(2, len(parts)):
        above = "/".join(parts[:count])
        if TARGET.run(link, repository_id=repository_id, name=above):
            return ref_name(above)
    return None


def set_refs(connection: Connection, repository_id: int, targets: dict[str, str]) -> None:
    """Record the refs of a repository that has none in the database yet."""
    rows: list[dict[str, Bind]] = [
        {"repository_id": repository_id, "name": stored_name(ref), "target": target}
        for ref, target in targets.items()
    ]
    add_rows(connection, ADD, rows)


def import_refs(
    connection: Connection,
    repository_id: int,
    actor_id: int | None,
    targets: dict[str, str],
    new_packs: Iterable[NewPack],
) -> None:
    """Record the refs of a repository that has none yet, with their objects and log entries."""
    versions = TAKE_VERSION.run(connection, number=repository_id, count=max(len(targets), 1))
    if not versions:
        raise GoneMeanwhile("the repository was deleted meanwhile")
    last, now = int(versions[0][0]), int(time.time())
    first = last - len(targets) + 1
    rows: list[dict[str, Bind]] = []
    for version, (ref, target) in enumerate(targets.items(), first):
        values = (repository_id, version, stored_name(ref), "0" * len(target), target, actor_id, now)
        rows.append(dict(zip(LOG_COLUMNS, values, strict=True)))
    set_refs(connection, repository_id, targets)
    add_rows(connection, LOG, rows)
    add_packs(connection, repository_id, last, new_packs)


def read_refs(connection: Connection, repository_id: int) -> dict[str, str]:
    """Return every ref of a repository with its target."""
    rows = connection.execute(select(refs.c.name, refs.c.target).where(refs.c.repository_id == repository_id))
    return {ref_name(name): target for name, target in rows}


def list_refs(
    database: Database, repository_id: int, first: str, last: str, *, skip: int, limit: int
) -> tuple[list[tuple[str, str]], int]:
    """Return one page of the refs from `first` up to but excluding `last`, with their targets, and the total."""
    names: dict[str, Bind] = {"repository_id": repository_id, "first": first, "last": last}
    rows = database.rows(PAGE, **names, most=limit, skip=skip)
    # A page beyond the end has no row with the total.
    total = rows[0][2] if rows else database.rows(COUNT, **names)[0][0]
    return [(ref_name(name), target) for name, target, _ in rows], int(total)


def known_targets(connection: Connection, repository_id: int, targets: Sequence[str]) -> set[str]:
    """Return which of these objects are targets of a repository's refs."""
    recorded: set[str] = set()
    for start in range(0, len(targets), NAMES_AT_ONCE):
        some = refs.c.target.in_(targets[start : start + NAMES_AT_ONCE])
        recorded.update(
            connection.execute(select(refs.c.target).where(refs.c.repository_id == repository_id, some)).scalars()
        )
    return recorded


def changed_refs(connection: Connection, repository_id: int, after: int) -> RefState | None:
    """Return the current state of the refs that changed after a version; None if there is no such repository."""
    row = connection.execute(
        select(repositories.c.version, repositories.c.compaction, repositories.c.default_branch).where(
            repositories.c.id == repository_id
        )
    ).one_or_none()
    if row is None:
        return None
    if after <= 0:
        targets: dict[str, str | None] = {**read_refs(connection, repository_id)}
        return RefState(row.version, row.compaction, row.default_branch, targets)
    changed = (
        select(ref_log.c.ref)
        .where(ref_log.c.repository_id == repository_id, ref_log.c.version > after)
        .distinct()
        .subquery()
    )
    statement = select(changed.c.ref, refs.c.target).select_from(
        changed.outerjoin(refs, and_(refs.c.repository_id == literal(repository_id), refs.c.name == changed.c.ref))
    )
    targets = {ref_name(name): target for name, target in connection.execute(statement)}
    return RefState(row.version, row.compaction, row.default_branch, targets)


def compactions(database: Database, repository_ids: Sequence[int]) -> dict[int, int]:
    """Return how often the packs of repositories were replaced, for those whose packs were."""
    counts: dict[int, int] = {}
    with database.read() as connection:
        for start in range(0, len(repository_ids), NAMES_AT_ONCE):
            some = repositories.c.id.in_(repository_ids[start : start + NAMES_AT_ONCE])
            statement = select(repositories.c.id, repositories.c.compaction).where(
                some, repositories.c.compaction > 0
            )
            counts.update((row.id, row.compaction) for row in connection.execute(statement))
    return counts


def live_packs(connection: Connection, repository_id: int, after: int) -> list[PackRow]:
    """Return the packs with objects of versions after one, except superseded packs, oldest first."""
    statement = (
        select(packs.c.id, packs.c.version, packs.c.name, packs.c.size, packs.c.object_count, packs.c.store_key)
        .where(packs.c.repository_id == repository_id, packs.c.version > after, packs.c.superseded_at == 0)
        .order_by(packs.c.version, packs.c.id)
    )
    return [PackRow(*row) for row in connection.execute(statement)]


def stored_pack_names(connection: Connection, repository_id: int) -> set[str]:
    """Return the names of all packs of a repository in the object store, superseded ones included."""
    statement = select(packs.c.name).where(packs.c.repository_id == repository_id, packs.c.store_key != "")
    return set(connection.execute(statement).scalars())


def pack_contents(connection: Connection, pack_rows: Iterable[PackRow]) -> list[bytes]:
    """Return the bytes of the packs that are stored in the database, in their order.

    Raises `GitDamaged` if a pack has none: a copy built without its objects would be incomplete.
    """
    ids = [pack.id for pack in pack_rows if not pack.store_key]
    contents: dict[int, bytes] = {}
    for start in range(0, len(ids), NAMES_AT_ONCE):
        some = packs.c.id.in_(ids[start : start + NAMES_AT_ONCE])
        rows = connection.execute(select(packs.c.id, packs.c.content).where(some))
        contents.update((number, content) for number, content in rows)
    lost = [number for number in ids if contents.get(number) is None]
    if lost:
        raise GitDamaged(f"the pack with the id {lost[0]} has no content")
    return [contents[number] for number in ids]


def repositories_with_packs(database: Database, *, at_least: int = 2) -> list[int]:
    """Return the repositories that have at least `at_least` packs."""
    live = packs.c.superseded_at == 0
    statement = select(packs.c.repository_id).where(live).group_by(packs.c.repository_id)
    with database.read() as connection:
        return list(connection.execute(statement.having(func.count() >= at_least)).scalars())


def with_expired_refs(database: Database, until: int) -> dict[int, int]:
    """Return the repositories in which an existing ref was updated or deleted before a time and not collected.

    The values are the times until which they were collected.
    """
    since = repositories.c.collected_until
    moved = exists().where(
        ref_log.c.repository_id == repositories.c.id,
        ref_log.c.created_at >= since,
        ref_log.c.created_at < until,
        ref_log.c.old.not_like("00000000%"),
    )
    with database.read() as connection:
        rows = connection.execute(select(repositories.c.id, since).where(moved).order_by(repositories.c.id))
        return {row.id: row.collected_until for row in rows}


def set_collected(database: Database, repository_id: int, until: int) -> None:
    """Record that ref updates of a repository before a time have left no garbage."""
    this = repositories.c.id == repository_id
    with database.write() as connection:
        connection.execute(update(repositories).where(this).values(collected_until=until))


def former_targets(connection: Connection, repository_id: int, since: int, until: int | None = None) -> set[str]:
    """Return the old and new targets of ref updates since a time, or in a time range."""
    moved = [ref_log.c.repository_id == repository_id, ref_log.c.created_at >= since]
    if until is not None:
        moved.append(ref_log.c.created_at < until)
    statement = union(select(ref_log.c.old).where(*moved), select(ref_log.c.new).where(*moved))
    return {target for target in connection.execute(statement).scalars() if target.strip("0")}


def current_version_in(connection: Connection, repository_id: int) -> int:
    """Return the version of a repository's log, in a transaction."""
    statement = select(repositories.c.version).where(repositories.c.id == repository_id)
    return connection.execute(statement).scalar() or 0


def delete_packs(connection: Connection, ids: Sequence[int]) -> None:
    """Delete the rows of packs."""
    for start in range(0, len(ids), NAMES_AT_ONCE):
        connection.execute(delete(packs).where(packs.c.id.in_(ids[start : start + NAMES_AT_ONCE])))


def supersede_packs(connection: Connection, pack_rows: Sequence[PackRow], moment: ColumnElement[int]) -> int:
    """Mark packs as replaced at a moment; return how many of them were not replaced before."""
    count = 0
    for start in range(0, len(pack_rows), NAMES_AT_ONCE):
        some = packs.c.id.in_([pack.id for pack in pack_rows[start : start + NAMES_AT_ONCE]])
        superseded = update(packs).where(some, packs.c.superseded_at == 0).values(superseded_at=moment)
        count += connection.execute(superseded).rowcount
    return count


def used_keys(connection: Connection, keys: Sequence[str]) -> set[str]:
    """Return which keys of the object store a pack refers to."""
    used: set[str] = set()
    for start in range(0, len(keys), NAMES_AT_ONCE):
        some = packs.c.store_key.in_(keys[start : start + NAMES_AT_ONCE])
        # The condition of the partial index.
        used.update(connection.execute(select(packs.c.store_key).where(some, packs.c.store_key != "")).scalars())
    return used


def log_entries(
    connection: Connection,
    repository_id: int,
    *,
    ref: str | None = None,
    skip: int = 0,
    limit: int = 50,
) -> list[LogEntry]:
    """Return entries of a repository's log, newest first, optionally of one ref."""
    statement = select(ref_log).where(of_ref(repository_id, ref)).order_by(ref_log.c.version.desc())
    return [log_row(row) for row in connection.execute(statement.offset(skip).limit(limit))]


def log_entry(connection: Connection, repository_id: int, version: int) -> LogEntry | None:
    """Return the entry of a version; None if there is none."""
    statement = select(ref_log).where(ref_log.c.repository_id == repository_id, ref_log.c.version == version)
    row = connection.execute(statement).first()
    return None if row is None else log_row(row)


def count_log_entries(connection: Connection, repository_id: int, *, ref: str | None = None) -> int:
    """Return the number of entries of a repository's log, optionally of one ref."""
    statement = select(func.count()).select_from(ref_log).where(of_ref(repository_id, ref))
    return connection.execute(statement).scalar_one()


def of_ref(repository_id: int, ref: str | None) -> ColumnElement[bool]:
    """Return the condition of the entries of a repository, optionally of one ref."""
    of_repository = ref_log.c.repository_id == repository_id
    return of_repository if ref is None else and_(of_repository, ref_log.c.ref == stored_name(ref))


def log_row(row: Row[tuple[Any, ...]]) -> LogEntry:
    """Build a log entry from a row."""
    return LogEntry(row.version, RefUpdate(ref_name(row.ref), row.old, row.new), row.actor_id, row.created_at)
