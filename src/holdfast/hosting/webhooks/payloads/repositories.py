"""Payloads of repository events."""

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.webhooks.payloads.event_details import ChangesFromPayload, EventContext

__all__ = ["RepositoryPayload", "repository_event"]


class RepositoryPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a repository event; `organization` is the owner, also when that is a user."""

    action: str
    repository: RepositorySchema | None
    organization: UserSchema | None
    sender: UserSchema
    changes: dict[str, ChangesFromPayload] | UnsetType = UNSET


def repository_event(happened: EventContext) -> RepositoryPayload:
    """Tell what happened to a repository."""
    kept = happened.repository
    changed = {name: ChangesFromPayload(before) for name, before in happened.facts.changed.items()}
    return RepositoryPayload(
        action=happened.facts.action,
        repository=happened.place,
        organization=None if kept is None else user(happened.viewer, kept.owner),
        sender=happened.sender,
        changes=changed or UNSET,
    )
