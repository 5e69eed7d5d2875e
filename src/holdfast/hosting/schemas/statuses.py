"""Schemas of commit statuses."""

import msgspec

from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_statuses import CommitStatus
from holdfast.hosting.store.repositories import Repository

__all__ = ["CombinedStatus", "CommitStatusSchema", "commit_status"]


class CommitStatusSchema(msgspec.Struct, frozen=True):
    """The status of a commit in one context."""

    id: int
    status: str
    target_url: str
    description: str
    url: str
    context: str
    creator: UserSchema | None
    created_at: Time
    updated_at: Time


class CombinedStatus(msgspec.Struct, frozen=True):
    """The newest status of each context of a commit, and the combined state, which is empty without a status."""

    state: str
    sha: str
    total_count: int
    statuses: list[CommitStatusSchema]
    repository: RepositorySchema
    commit_url: str
    url: str


def commit_status(
    viewer: Viewer, repository: Repository, stored: CommitStatus, creator: Account | None
) -> CommitStatusSchema:
    """Encode a commit status; statuses are immutable, so `updated_at` is the creation time."""
    return CommitStatusSchema(
        id=stored.id,
        status=stored.state,
        target_url=stored.target_url,
        description=stored.description,
        url=f"{repository_api(viewer, repository)}/statuses/{stored.sha}",
        context=stored.context,
        creator=user(viewer, creator),
        created_at=moment(stored.created_at),
        updated_at=moment(stored.created_at),
    )
