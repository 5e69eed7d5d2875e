"""The parts of a pull request's conversation page that an issue does not have: head, reviewers and merge box."""

from dataclasses import dataclass

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store.issues import Issue, is_draft_title
from holdfast.web.pulls.merge_box import MergeBox, merge_box
from holdfast.web.pulls.pull_head import PullHead, pull_head
from holdfast.web.pulls.reviewers import Reviewers, reviewers_shown

__all__ = ["PullConversation", "pull_conversation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullConversation:
    """The parts of a pull request's page that the page of an issue does not have."""

    head: PullHead
    box: MergeBox | None
    """The merge box; None once it is closed."""
    reviewers: Reviewers
    may_ask: bool
    """Whether the viewer may request reviews."""
    may_delete_branch: bool
    is_draft_by_title: bool


def pull_conversation(
    request: RequestContext, target: RepositoryAccess, issue: Issue, *, may_edit: bool
) -> PullConversation:
    """Return the parts of a pull request's page."""
    head, repository = pull_head(request, target, issue), target.repository
    is_own = issue.head_repository_id == repository.id
    writes = request.actor.user is not None and target.permissions.may_write(Unit.CODE)
    may_ask = may_edit and not issue.is_closed
    return PullConversation(
        head=head,
        box=None if issue.is_closed else merge_box(request, target, issue, head.pull),
        reviewers=reviewers_shown(request, target, issue, may_ask=may_ask),
        may_ask=may_ask,
        may_delete_branch=issue.is_closed
        and is_own
        and writes
        and not repository.is_archived
        and head.pull.head_tip is not None
        and issue.head_branch not in {repository.default_branch, issue.base_branch},
        is_draft_by_title=is_draft_title(issue.title),
    )
