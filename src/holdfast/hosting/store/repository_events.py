"""Events of a repository itself: created, renamed, transferred, changed, deleted."""

from collections.abc import Mapping
from typing import Final

import msgspec
from sqlalchemy import Connection

from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import DeclaredSettings, Repository

__all__ = ["record_changed", "record_created", "record_deleted", "record_renamed", "record_transferred"]

Value = str | bool | int
# Field names in the API where they differ from the columns.
KEYS: Final = {
    "has_dependencies": "enable_issue_dependencies",
    "has_pulls": "has_pull_requests",
    "is_template": "template",
}


def record_repository_event(
    connection: Connection,
    repository_id: int | None,
    owner: Account | None,
    actor: Account,
    action: str,
    **details: object,
) -> None:
    """Record an event of a repository."""
    events.record(
        connection,
        "repository",
        owner_id=None if owner is None else owner.id,
        repository_id=repository_id,
        actor_id=actor.id,
        details={"action": action, **details},
    )


def record_created(connection: Connection, repository_id: int, owner: Account, actor: Account) -> None:
    """Record that a repository was created."""
    record_repository_event(connection, repository_id, owner, actor, "created")


def record_deleted(
    connection: Connection, repository: Repository, actor: Account, *, with_owner: bool = False
) -> None:
    """Record that a repository is about to be deleted, possibly with its owner, including its last state."""
    owner = repository.owner
    # E-mail addresses of users are not retained after their deletion.
    account = owner if owner.is_organization else msgspec.structs.replace(owner, email="")
    was = msgspec.to_builtins(msgspec.structs.replace(repository, owner=account))
    facts = {"repository": repository.id, "name": repository.full_name, "was": was}
    record_repository_event(connection, None, None if with_owner else owner, actor, "deleted", **facts)


def record_renamed(connection: Connection, repository: Repository, actor: Account) -> None:
    """Record that a repository was renamed; `repository` is its former state."""
    record_repository_event(
        connection, repository.id, repository.owner, actor, "renamed", changed={"name": repository.name}
    )


def record_transferred(connection: Connection, repository: Repository, owner: Account, actor: Account) -> None:
    """Record that a repository was transferred to `owner`; `repository` is its former state."""
    record_repository_event(
        connection, repository.id, owner, actor, "transferred", changed={"owner": repository.owner.name}
    )


def record_changed(
    connection: Connection, repository: Repository, actor: Account, columns: Mapping[str, Value]
) -> None:
    """Record changed settings; `repository` is the former state, and unchanged columns are ignored."""
    changed = {
        name: value
        for name, value in columns.items()
        if name in Repository.__struct_fields__ and getattr(repository, name) != value
    }
    if bool(changed.pop("archived_at", repository.archived_at)) != repository.is_archived:
        record_repository_event(
            connection,
            repository.id,
            repository.owner,
            actor,
            "unarchived" if repository.is_archived else "archived",
        )
    if "is_private" in changed:
        action = "privatized" if changed.pop("is_private") else "publicized"
        record_repository_event(connection, repository.id, repository.owner, actor, action)
    if changed:
        before = before_change(repository, changed)
        record_repository_event(connection, repository.id, repository.owner, actor, "edited", changed=before)


def before_change(repository: Repository, changed: Mapping[str, Value]) -> dict[str, object]:
    """Return the former values of settings by their API field names."""
    before: dict[str, object] = {}
    for name, value in changed.items():
        if name == "declared":
            old = msgspec.json.decode(repository.declared, type=DeclaredSettings)
            new = msgspec.json.decode(str(value), type=DeclaredSettings)
            fields = DeclaredSettings.__struct_fields__
            before |= {key: getattr(old, key) for key in fields if getattr(old, key) != getattr(new, key)}
        elif name == "topics":
            before["topics"] = msgspec.json.decode(repository.topics, type=list[str])
        else:
            before[KEYS.get(name, name)] = getattr(repository, name)
    return before
