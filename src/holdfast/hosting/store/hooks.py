"""Webhooks: their target, events, state and lease."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Insert,
    Integer,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, NoSuchHook
from holdfast.hosting.store import deliveries
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import hooks
from holdfast.redacted_repr import redacted

__all__ = [
    "HOOK",
    "Hook",
    "HookOwner",
    "HookSummary",
    "add_hook",
    "change_hook",
    "copy_defaults",
    "copy_hooks",
    "find_hook",
    "hooks_of",
    "remove_authorizations",
    "remove_hook",
    "resume_hook",
]

Value = str | int | bool


@redacted
@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook; the fields are the columns of the table, in this order."""

    id: int
    scope: str
    """`repository`, `owner`, `system` or `default`."""
    repository_id: int | None
    owner_id: int | None
    type: str
    name: str
    url: str
    content_type: str
    secret: str
    """Encrypted; empty if there is none."""
    authorization: str
    """Encrypted; empty if there is none."""
    inherits_header: bool
    """Whether the Authorization header is that of the default webhook this is a copy of."""
    meta: str
    events: str
    branch_filter: str
    is_active: bool
    paused_at: int
    pause_reason: str
    holder: str
    held_until: int
    created_at: int
    updated_at: int


class HookSummary(msgspec.Struct, frozen=True):
    """A webhook as shown in lists."""

    id: int
    scope: str
    type: str
    name: str
    url: str
    content_type: str
    meta: str
    events: str
    branch_filter: str
    is_active: int
    """1 or 0, as SQLite returns it: converting each row would cost more than the rest of the query."""
    paused_at: int
    pause_reason: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class HookOwner:
    """The owner of webhooks: a repository or an account by id, or the service."""

    kind: Literal["repository", "owner", "service"]
    number: int = 0


HOOK: Final = tuple(hooks.c[name] for name in Hook.__dataclass_fields__)
SHOWN: Final = tuple(
    cast(hooks.c.is_active, Integer) if name == "is_active" else hooks.c[name]
    for name in HookSummary.__struct_fields__
)
CONDITIONS: Final[dict[str, ColumnElement[bool]]] = {
    "repository": hooks.c.repository_id == bindparam("number"),
    "owner": hooks.c.owner_id == bindparam("number"),
    "service": or_(hooks.c.scope == "system", hooks.c.scope == "default"),
    "system": hooks.c.scope == "system",
    "default": hooks.c.scope == "default",
}
PAGES: Final = {
    name: Statement(
        select(*SHOWN).where(condition).order_by(hooks.c.id).limit(bindparam("limit")).offset(bindparam("skip"))
    )
    for name, condition in CONDITIONS.items()
}
COUNTS: Final = {
    name: Statement(select(func.count()).select_from(hooks).where(condition))
    for name, condition in CONDITIONS.items()
}
ONE: Final = {
    name: Statement(select(*HOOK).where(hooks.c.id == bindparam("id"), condition))
    for name, condition in CONDITIONS.items()
}


def add_hook(
    database: Database, owner: HookOwner, columns: Mapping[str, Value], *, is_system: bool = False
) -> Hook:
    """Add a webhook; one of the service is a system webhook, or a default copied to new repositories."""
    scope = owner.kind if owner.kind != "service" else "system" if is_system else "default"
    now = int(time.time())
    row: dict[str, Any] = {"scope": scope, "created_at": now, "updated_at": now, **columns}
    if owner.kind != "service":
        row[f"{owner.kind}_id"] = owner.number
    try:
        with database.write() as connection:
            created = connection.execute(insert(hooks).returning(*HOOK), row).one()
    except IntegrityError as error:
        raise GoneMeanwhile("the owner of the webhook was deleted in the meantime") from error
    return Hook(*created)


def hooks_of(
    database: Database,
    owner: HookOwner,
    *,
    skip: int,
    limit: int,
    scope: Literal["system", "default"] | None = None,
) -> tuple[list[HookSummary], int]:
    """Return one page of an owner's webhooks, oldest first, and the total."""
    name = scope or owner.kind
    rows = database.rows(PAGES[name], number=owner.number, skip=skip, limit=limit)
    if rows and len(rows) < limit:
        total = skip + len(rows)
    else:
        total = database.rows(COUNTS[name], number=owner.number)[0][0]
    return [HookSummary(*row) for row in rows], total


def find_hook(database: Database, owner: HookOwner, number: int) -> Hook:
    """Return a webhook of an owner."""
    row = database.row(ONE[owner.kind], id=number, number=owner.number)
    if row is None:
        raise NoSuchHook("not found")
    return Hook(*row)


def change_hook(database: Database, owner: HookOwner, hook: Hook, columns: Mapping[str, Value]) -> Hook:
    """Change a webhook and return it.

    Deactivating it cancels waiting deliveries; changing the URL resumes a paused one.
    """
    stops = hook.is_active and columns.get("is_active") is False
    moves = "url" in columns and columns["url"] != hook.url
    now = int(time.time())
    with database.write() as connection:
        connection.execute(update(hooks).where(hooks.c.id == hook.id).values({**columns, "updated_at": now}))
        if stops:
            deliveries.cancel_waiting(connection, hook.id, "the webhook was deactivated", now=now)
        if stops or moves:
            reset_attempts(connection, hook.id)
    return find_hook(database, owner, hook.id)


def resume_hook(database: Database, owner: HookOwner, hook: Hook) -> Hook:
    """Resume a paused webhook: waiting deliveries are due at once, with their attempt counts reset."""
    with database.write() as connection:
        reset_attempts(connection, hook.id)
    return find_hook(database, owner, hook.id)


def reset_attempts(connection: Connection, hook_id: int) -> None:
    """End a pause and reset the attempt counts of waiting deliveries."""
    connection.execute(update(hooks).where(hooks.c.id == hook_id).values(paused_at=0, pause_reason=""))
    deliveries.retry_waiting(connection, hook_id)


def remove_hook(database: Database, hook: Hook) -> None:
    """Delete a webhook with its deliveries."""
    with database.write() as connection:
        connection.execute(delete(hooks).where(hooks.c.id == hook.id))


# Columns that are not copied: identity, and the state of the original.
NOT_COPIED: Final = frozenset(
    [
        *("id", "scope", "repository_id", "owner_id", "created_at", "updated_at"),
        *("paused_at", "pause_reason", "holder", "held_until", "inherits_header"),
    ]
)
COPIED: Final = tuple(column for column in HOOK if column.name not in NOT_COPIED)
COPY_COLUMNS: Final = [
    *("scope", "repository_id", "created_at", "updated_at", "inherits_header"),
    *(column.name for column in COPIED),
]


def copy_of(inherits_header: ColumnElement[bool], *conditions: ColumnElement[bool]) -> Insert:
    """Return the statement that copies webhooks to a repository."""
    rows = select(
        literal("repository"),
        *(bindparam(name, type_=BigInteger) for name in ("repository_id", "now", "now")),
        inherits_header,
        *COPIED,
    )
    return insert(hooks).from_select(COPY_COLUMNS, rows.where(*conditions).order_by(hooks.c.id))


COPY_DEFAULTS: Final = copy_of(hooks.c.authorization != "", hooks.c.scope == "default")
COPY_OF_REPOSITORY: Final = copy_of(
    hooks.c.inherits_header,
    hooks.c.scope == "repository",
    hooks.c.repository_id == bindparam("source_id", type_=BigInteger),
)


def remove_authorizations(connection: Connection, repository_id: int) -> None:
    """Remove the Authorization headers of a repository's webhooks, but not those of default webhooks."""
    own = (hooks.c.repository_id == repository_id, hooks.c.authorization != "", ~hooks.c.inherits_header)
    connection.execute(update(hooks).where(*own).values(authorization="", updated_at=int(time.time())))


def copy_defaults(connection: Connection, repository_id: int) -> None:
    """Copy the default webhooks to a new repository."""
    connection.execute(COPY_DEFAULTS, {"repository_id": repository_id, "now": int(time.time())})


def copy_hooks(connection: Connection, source_id: int, repository_id: int) -> None:
    """Copy the webhooks of a repository to a new one."""
    values = {"source_id": source_id, "repository_id": repository_id, "now": int(time.time())}
    connection.execute(COPY_OF_REPOSITORY, values)
