"""Protected tags of repositories."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import InvalidValue, NoSuchProtection, Outdated, ProtectionTaken
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories, tag_protections

__all__ = [
    "MOST_RULES",
    "TagProtection",
    "add_tag_protection",
    "change_tag_protection",
    "delete_tag_protection",
    "find_tag_protection",
    "remove_tag_teams",
    "tag_protections_of",
]

MOST_RULES: Final = 100
"""The maximum number of rules of a repository."""
TAKEN: Final = "Tag protection already exist"


@dataclass(frozen=True, slots=True)
class TagProtection:
    """A rule: its name pattern, and the ids of the users and teams who may change matching tags."""

    id: int
    name_pattern: str
    users: tuple[int, ...]
    teams: tuple[int, ...]
    created_at: int
    updated_at: int


COLUMNS: Final = tuple(tag_protections.c[name] for name in TagProtection.__dataclass_fields__)
OF_REPOSITORY = Statement(
    select(*COLUMNS)
    .where(tag_protections.c.repository_id == bindparam("repository_id"))
    .order_by(tag_protections.c.id)
)
ids = msgspec.json.Decoder(tuple[int, ...])


def tag_protections_of(database: Database, repository: Repository) -> list[TagProtection]:
    """Return the rules of a repository, oldest first."""
    rows: Sequence[tuple[Any, ...]] = database.rows(OF_REPOSITORY, repository_id=repository.id)
    return [tag_protection_from(row) for row in rows]


def tag_protection_from(row: tuple[Any, ...]) -> TagProtection:
    """Build a rule from its row."""
    number, pattern, users, teams, created, updated = row
    return TagProtection(number, pattern, ids.decode(users), ids.decode(teams), created, updated)


def find_tag_protection(database: Database, repository: Repository, number: int) -> TagProtection:
    """Return a rule by id; raise `NoSuchProtection` if there is none."""
    for rule in tag_protections_of(database, repository):
        if rule.id == number:
            return rule
    raise NoSuchProtection("not found")


def add_tag_protection(
    database: Database, repository: Repository, pattern: str, users: tuple[int, ...], teams: tuple[int, ...]
) -> TagProtection:
    """Add a rule. Raise `ProtectionTaken` if the pattern exists already."""
    now = int(time.time())
    row = {
        "repository_id": repository.id,
        "name_pattern": pattern,
        "users": msgspec.json.encode(users).decode(),
        "teams": msgspec.json.encode(teams).decode(),
        "created_at": now,
        "updated_at": now,
    }
    try:
        with database.write() as connection:
            # Serializes concurrent requests, which could exceed the limit together.
            connection.execute(
                select(repositories.c.id).where(repositories.c.id == repository.id).with_for_update()
            )
            its = select(func.count()).where(tag_protections.c.repository_id == repository.id)
            if connection.execute(its).scalar_one() >= MOST_RULES:
                raise InvalidValue("NamePattern", f"a repository has at most {MOST_RULES} rules")
            protection_id = connection.execute(
                insert(tag_protections).returning(tag_protections.c.id), row
            ).scalar_one()
    except IntegrityError:
        raise ProtectionTaken(TAKEN) from None
    return find_tag_protection(database, repository, protection_id)


def change_tag_protection(
    database: Database,
    repository: Repository,
    rule: TagProtection,
    *,
    pattern: str,
    users: tuple[int, ...],
    teams: tuple[int, ...],
) -> TagProtection:
    """Replace a rule. Raise `ProtectionTaken` if another rule has the pattern.

    Raise `Outdated` if the rule is no longer as it was read.
    """
    values = {
        "name_pattern": pattern,
        "users": msgspec.json.encode(users).decode(),
        "teams": msgspec.json.encode(teams).decode(),
        "updated_at": int(time.time()),
    }
    try:
        with database.write() as connection:
            this = tag_protections.c.id == rule.id
            current = connection.execute(select(*COLUMNS).where(this).with_for_update()).all()
            if not current:
                raise NoSuchProtection("not found")
            if tag_protection_from(tuple(current[0])) != rule:
                raise Outdated("the rule was changed in the meantime")
            connection.execute(update(tag_protections).where(this).values(**values))
    except IntegrityError:
        raise ProtectionTaken(TAKEN) from None
    return find_tag_protection(database, repository, rule.id)


def delete_tag_protection(database: Database, number: int) -> None:
    """Delete a rule."""
    with database.write() as connection:
        connection.execute(delete(tag_protections).where(tag_protections.c.id == number))


def remove_tag_teams(connection: Connection, repository_id: int) -> None:
    """Remove all teams from the tag protections of a repository; they are those of another owner."""
    its_rules = tag_protections.c.repository_id == repository_id
    connection.execute(update(tag_protections).where(its_rules).values(teams="[]"))
