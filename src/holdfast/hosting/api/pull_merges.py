"""The API of merging pull requests."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import MergeRefused
from holdfast.hosting.guards import in_repository, not_archived, sees_pulls, signed_in
from holdfast.hosting.http.decoders import Required, given
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pull_merges, pulls
from holdfast.hosting.services.pull_merges import MergeOrder

__all__ = ["cancel_scheduled_merge", "merge_pull", "show_merged", "update_pull"]

READING = (in_repository, sees_pulls)
WRITING = (*READING, signed_in, not_archived)


class MergePullRequestOption(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a merge; an empty title is the default of the merge style."""

    key_aliases: ClassVar = {
        "MergeTitleField": "merge_title_field",
        "MergeMessageField": "merge_message_field",
        "MergeCommitID": "merge_commit_id",
    }
    do: Annotated[str, Meta(title="Do"), Required] = ""
    merge_title_field: Annotated[str, Meta(max_length=1000)] = ""
    merge_message_field: Annotated[str, Meta(max_length=65_536)] = ""
    merge_commit_id: Annotated[str, Meta(max_length=64)] = ""
    head_commit_id: Annotated[str, Meta(max_length=64)] = ""
    delete_branch_after_merge: bool | UnsetType = UNSET
    force_merge: bool = False
    merge_when_checks_succeed: bool = False


class UpdateQuery(msgspec.Struct, frozen=True, kw_only=True):
    """How the head branch is updated: `merge` or `rebase`."""

    style: str = "merge"


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}/merge", scope="repository", guards=READING)
def show_merged(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Respond with 204 if a pull request is merged, else 404."""
    if not pull_merges.is_merged(pulls.find(request.app, target, index)):
        raise ApiError(404)


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/merge",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(405, 409, 423),
    also={201: RawResponse},
)
def merge_pull(
    request: RequestContext, target: RepositoryAccess, index: int, body: MergePullRequestOption
) -> RawResponse:
    """Merge a pull request; 201 if it was scheduled to be merged when its checks succeed."""
    order = MergeOrder(
        style=body.do,
        title=body.merge_title_field,
        message=body.merge_message_field,
        head_commit_id=body.head_commit_id,
        merge_commit_id=body.merge_commit_id,
        delete_branch=given(body.delete_branch_after_merge),
        force=body.force_merge,
        when_checks_succeed=body.merge_when_checks_succeed,
    )
    issue = pulls.find(request.app, target, index)
    merged = pull_merges.merge(request.app, request.actor, target, issue, order)
    return RawResponse((), status=200 if merged else 201)


@endpoint("DELETE /repos/{owner}/{repo}/pulls/{index}/merge", scope="repository", guards=WRITING, refuses=(423,))
def cancel_scheduled_merge(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Cancel the scheduled merge of a pull request."""
    pull_merges.cancel_scheduled(request.app, request.actor, target, pulls.find(request.app, target, index))


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/update",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(409, 423),
)
def update_pull(request: RequestContext, target: RepositoryAccess, index: int, query: UpdateQuery) -> RawResponse:
    """Merge the base branch into the head branch of a pull request, or rebase the head branch on it."""
    issue = pulls.find(request.app, target, index)
    with error_status(409, MergeRefused):
        pull_merges.update_head(request.app, request.actor, target, issue, query.style)
    return RawResponse(())
