"""Payloads of release events."""

import msgspec

from holdfast.hosting.schemas.releases import ReleaseSchema, release
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store.accounts import account_by_id
from holdfast.hosting.webhooks.payloads.event_details import EventContext

__all__ = ["ReleasePayload", "release_event"]


class ReleasePayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a release that was published, updated or deleted."""

    action: str
    release: ReleaseSchema | None
    repository: RepositorySchema | None
    sender: UserSchema


def release_event(context: EventContext) -> ReleasePayload:
    """Return the payload of a release event."""
    recorded, repository = context.details.release, context.repository
    schema = None
    if recorded is not None and repository is not None:
        author_id = recorded.release.author_id
        author = None if author_id is None else account_by_id(context.viewer.app.database, author_id)
        schema = release(context.viewer, repository, recorded.release, author, recorded.assets)
    return ReleasePayload(
        action=context.details.action,
        release=schema,
        repository=context.repository_schema,
        sender=context.sender,
    )
