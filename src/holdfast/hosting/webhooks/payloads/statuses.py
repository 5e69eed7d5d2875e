"""Payloads of commit status events."""

import msgspec

from holdfast.hosting.errors import GitError
from holdfast.hosting.git.commits import Commit, find_commit
from holdfast.hosting.schemas.git import PayloadCommit, payload_commit, people_of
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.times import NEVER, Time, moment
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.webhooks.payloads.event_details import EventContext

__all__ = ["CommitStatusPayload", "status_event"]


class CommitStatusPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a new status of a commit."""

    commit: PayloadCommit | None
    context: str
    created_at: Time
    description: str
    id: int
    repository: RepositorySchema | None
    sender: UserSchema
    sha: str
    state: str
    target_url: str
    updated_at: Time | None


def status_event(context: EventContext) -> CommitStatusPayload:
    """Return the payload of a commit status."""
    status = context.details.status
    created_at = NEVER if status is None else moment(status.created_at)
    return CommitStatusPayload(
        commit=commit_of(context),
        context="" if status is None else status.context,
        created_at=created_at,
        description="" if status is None else status.description,
        id=0 if status is None else status.id,
        repository=context.repository_schema,
        sender=context.sender,
        sha="" if status is None else status.sha,
        state="" if status is None else status.state,
        target_url="" if status is None else status.target_url,
        updated_at=None if status is None else created_at,
    )


def commit_of(context: EventContext) -> PayloadCommit | None:
    """Return the schema of the commit; None if git no longer has it."""
    status, repository, commit = context.details.status, context.repository, context.known
    if status is None or repository is None:
        return None
    if not isinstance(commit, Commit):
        try:
            commit = find_commit(context.viewer.app.copies.open(repository), status.sha)
        except (GitError, OSError):
            commit = None
    if commit is None:
        return None
    people = people_of(context.viewer, [commit])
    return msgspec.structs.replace(payload_commit(context.viewer, repository, commit, people), verification=None)
