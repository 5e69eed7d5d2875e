"""Payloads of repository events."""

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store.repositories import find_by_id
from holdfast.hosting.webhooks.payloads.event_details import ChangesFromPayload, EventContext

__all__ = ["ForkPayload", "RepositoryPayload", "fork_event", "repository_event"]


class RepositoryPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a repository event; `organization` is the owner, also when that is a user."""

    action: str
    repository: RepositorySchema | None
    organization: UserSchema | None
    sender: UserSchema
    changes: dict[str, ChangesFromPayload] | UnsetType = UNSET


class ForkPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a fork: `repository` is the new fork, and `forkee` the repository that was forked.

    A fork that the owner of the forked repository may not see is null.
    """

    forkee: RepositorySchema | None
    repository: RepositorySchema | None
    sender: UserSchema


def fork_event(context: EventContext) -> ForkPayload:
    """Return the payload of a fork."""
    fork = find_by_id(context.viewer.app.database, context.details.fork_id)
    return ForkPayload(
        forkee=context.repository_schema,
        repository=context.schema_of(fork) if fork is not None and context.is_shown(fork) else None,
        sender=context.sender,
    )


def repository_event(context: EventContext) -> RepositoryPayload:
    """Return the payload of a repository event."""
    repository = context.repository
    changed = {name: ChangesFromPayload(before) for name, before in context.details.changed.items()}
    return RepositoryPayload(
        action=context.details.action,
        repository=context.repository_schema,
        organization=None if repository is None else user(context.viewer, repository.owner),
        sender=context.sender,
        changes=changed or UNSET,
    )
