"""Branch protection rules: who may push to the branches a pattern matches."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NoSuchProtection, Outdated, ProtectionTaken
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import protections

__all__ = [
    "Protection",
    "ProtectionRule",
    "change_protection",
    "copy_protections",
    "create_protection",
    "delete_protection",
    "find_protection",
    "protections_in",
    "protections_of",
    "remove_teams",
]


class ProtectionRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of a branch protection; users and teams are stored by id."""

    enable_push: bool = False
    enable_push_whitelist: bool = False
    push_users: tuple[int, ...] = ()
    push_teams: tuple[int, ...] = ()
    push_whitelist_deploy_keys: bool = False
    enable_force_push: bool = False
    enable_force_push_allowlist: bool = False
    force_push_users: tuple[int, ...] = ()
    force_push_teams: tuple[int, ...] = ()
    force_push_allowlist_deploy_keys: bool = False
    enable_merge_whitelist: bool = False
    merge_users: tuple[int, ...] = ()
    merge_teams: tuple[int, ...] = ()
    enable_bypass_allowlist: bool = False
    bypass_users: tuple[int, ...] = ()
    bypass_teams: tuple[int, ...] = ()
    enable_status_check: bool = False
    status_check_contexts: tuple[str, ...] = ()
    required_approvals: int = 0
    enable_approvals_whitelist: bool = False
    approvals_users: tuple[int, ...] = ()
    approvals_teams: tuple[int, ...] = ()
    block_on_rejected_reviews: bool = False
    block_on_official_review_requests: bool = False
    block_on_codeowner_reviews: bool = False
    block_on_outdated_branch: bool = False
    dismiss_stale_approvals: bool = False
    ignore_stale_approvals: bool = False
    require_signed_commits: bool = False
    protected_file_patterns: str = ""
    unprotected_file_patterns: str = ""
    block_admin_merge_override: bool = False


@dataclass(frozen=True, slots=True)
class Protection:
    """A branch protection: a rule and the pattern of the branches it applies to."""

    id: int
    rule_name: str
    priority: int
    rule: ProtectionRule
    created_at: int
    updated_at: int


COLUMNS: Final = tuple(protections.c[name] for name in Protection.__dataclass_fields__)
OF_REPOSITORY = Statement(
    select(*COLUMNS)
    .where(protections.c.repository_id == bindparam("repository_id"))
    .order_by(protections.c.priority, protections.c.id)
)
decoder = msgspec.json.Decoder(ProtectionRule)


def protections_of(database: Database, repository: Repository) -> list[Protection]:
    """Return a repository's protections by priority."""
    return protections_from(database.rows(OF_REPOSITORY, repository_id=repository.id))


def protections_in(link: Link, repository: Repository) -> list[Protection]:
    """Return a repository's protections by priority, in a transaction."""
    return protections_from(OF_REPOSITORY.read(link, repository_id=repository.id))


def protections_from(rows: Sequence[tuple[Any, ...]]) -> list[Protection]:
    """Build protections from their rows."""
    return [
        Protection(number, name, priority, decoder.decode(rule), created, updated)
        for number, name, priority, rule, created, updated in rows
    ]


def find_protection(database: Database, repository: Repository, name: str) -> Protection:
    """Return the protection with exactly this name."""
    for protection in protections_of(database, repository):
        if protection.rule_name == name:
            return protection
    raise NoSuchProtection("not found")


def create_protection(
    database: Database, repository: Repository, name: str, rule: ProtectionRule, *, priority: int = 0
) -> Protection:
    """Add a protection; without a priority it comes last."""
    now = int(time.time())
    try:
        with database.write() as connection:
            last = connection.execute(
                select(func.coalesce(func.max(protections.c.priority), 0)).where(
                    protections.c.repository_id == repository.id
                )
            ).scalar_one()
            row = {
                "repository_id": repository.id,
                "rule_name": name,
                "priority": priority or last + 1,
                "rule": msgspec.json.encode(rule).decode(),
                "created_at": now,
                "updated_at": now,
            }
            connection.execute(insert(protections), row)
    except IntegrityError as error:
        raise ProtectionTaken("Branch protection already exist") from error
    return find_protection(database, repository, name)


def change_protection(
    database: Database,
    repository: Repository,
    protection: Protection,
    rule: ProtectionRule,
    *,
    priority: int | None = None,
) -> Protection:
    """Replace the rule of a protection; raise `Outdated` if it is no longer as it was read."""
    values: dict[str, str | int] = {
        "rule": msgspec.json.encode(rule).decode(),
        "updated_at": int(time.time()),
        "priority": protection.priority if priority is None else priority,
    }
    with database.write() as connection:
        this = protections.c.id == protection.id
        current = connection.execute(select(*COLUMNS).where(this).with_for_update()).all()
        if not current:
            raise NoSuchProtection("not found")
        if protections_from([tuple(row) for row in current]) != [protection]:
            raise Outdated("the rule was changed in the meantime")
        connection.execute(update(protections).where(this).values(**values))
    return find_protection(database, repository, protection.rule_name)


def delete_protection(database: Database, protection: Protection) -> None:
    """Delete a protection."""
    with database.write() as connection:
        connection.execute(delete(protections).where(protections.c.id == protection.id))


def copy_protections(connection: Connection, source_id: int, repository_id: int) -> None:
    """Copy the branch protections of a repository to a new one."""
    now = int(time.time())
    copied = ("rule_name", "priority", "rule")
    rows = select(literal(repository_id), literal(now), literal(now), *(protections.c[name] for name in copied))
    names = ["repository_id", "created_at", "updated_at", *copied]
    its_rules = rows.where(protections.c.repository_id == source_id).order_by(protections.c.id)
    connection.execute(insert(protections).from_select(names, its_rules))


def remove_teams(connection: Connection, repository_id: int) -> None:
    """Remove all teams from the branch protections of a repository; they are those of another owner."""
    without = dict.fromkeys((name for name in ProtectionRule.__struct_fields__ if name.endswith("_teams")), ())
    its_rules = select(protections.c.id, protections.c.rule).where(protections.c.repository_id == repository_id)
    for number, text in connection.execute(its_rules).all():
        rule = msgspec.json.encode(msgspec.structs.replace(decoder.decode(text), **without)).decode()
        connection.execute(update(protections).where(protections.c.id == number).values(rule=rule))
