"""The API of issues: listed, opened, shown, edited, locked and deleted."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_options import EditIssueOption, OpenOption
from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.guards import (
    CHANGE_ISSUES,
    READ_ISSUES,
    administers,
    in_repository,
    not_archived,
    reads_issues,
    sees_issues,
    signed_in,
)
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import IssueSchema, issue_list, one_issue
from holdfast.hosting.schemas.times import Time, moment_or_none
from holdfast.hosting.services import issues
from holdfast.hosting.store import issue_lists

__all__ = [
    "create_issue",
    "delete_issue",
    "edit_issue",
    "list_issues",
    "lock_issue",
    "set_issue_deadline",
    "show_issue",
    "unlock_issue",
]


class IssueQuery(ListQuery, frozen=True, kw_only=True):
    """Filters of issues; `creator`, `assignee`, `mentioned` and `milestone` are synonyms."""

    type: Literal["issues", "pulls", "all"] = "all"
    labels: str = ""
    milestones: str = ""
    milestone: str = ""
    created_by: str = ""
    creator: str = ""
    assigned_by: str = ""
    assignee: str = ""
    mentioned_by: str = ""
    mentioned: str = ""


class CreateIssueOption(OpenOption, frozen=True, kw_only=True):
    """A new issue."""

    ref: Annotated[str, Meta(max_length=255)] = ""
    closed: bool = False


class EditDeadlineOption(msgspec.Struct, frozen=True):
    """The due date of an issue; absent or null to remove it."""

    due_date: datetime | None = None


class IssueDeadline(msgspec.Struct, frozen=True):
    """The due date of an issue."""

    due_date: Time | None


class LockIssueOption(msgspec.Struct, frozen=True):
    """The reason for locking an issue."""

    lock_reason: Annotated[str, Meta(max_length=255)] = ""


@endpoint("GET /repos/{owner}/{repo}/issues", scope="issue", guards=READ_ISSUES, slow=True, cacheable=True)
def list_issues(
    request: RequestContext, target: RepositoryAccess, query: IssueQuery, page: PageParams
) -> PagedList[IssueSchema]:
    """List the issues of a repository, including pull requests."""
    filters = filter_of(
        query,
        labels=query.labels,
        milestones=f"{query.milestones},{query.milestone}",
        author=query.created_by or query.creator,
        assignee=query.assigned_by or query.assignee,
        mentioned=query.mentioned_by or query.mentioned,
    )
    kinds = access.issue_kinds(target.permissions, query.type)
    stored_issues, total = issue_lists.list_issues(
        request.app.database,
        [issue_lists.in_repository(target.repository, kinds)],
        filters,
        sort=order_of(query),
        kept=issue_lists.kept_in(target.repository, kinds),
        repository_id=target.repository.id,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(issue_list(request, stored_issues, target.repository), total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues",
    scope="issue",
    guards=(in_repository, sees_issues, signed_in, not_archived),
    status=201,
    refuses=(412, 423),
)
def create_issue(request: RequestContext, target: RepositoryAccess, body: CreateIssueOption) -> IssueSchema:
    """Open an issue.

    Requires read access. Labels, assignees, milestone, due date and `closed` need write access: without it they
    are ignored, as in Gitea.
    """
    draft = body.draft(ref=body.ref, is_closed=body.closed)
    return one_issue(request, target.repository, issues.create(request.app, request.actor, target, draft))


@endpoint("GET /repos/{owner}/{repo}/issues/{index}", scope="issue", guards=READ_ISSUES, slow=True)
def show_issue(request: RequestContext, target: RepositoryAccess, index: int) -> IssueSchema:
    """Show an issue or a pull request."""
    return one_issue(request, target.repository, issues.find(request.app, target, index))


@endpoint(
    "PATCH /repos/{owner}/{repo}/issues/{index}",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(409, 412, 423),
)
def edit_issue(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditIssueOption
) -> IssueSchema:
    """Change an issue; its author may change title, body and state, everything else needs write access."""
    issue = issues.find(request.app, target, index)
    changed = issues.edit(request.app, request.actor, target, issue, body.changes())
    return one_issue(request, target.repository, changed)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}",
    scope="issue",
    guards=(in_repository, reads_issues, administers, not_archived),
    refuses=(423,),
)
def delete_issue(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Delete an issue."""
    issue = issues.find(request.app, target, index)
    issues.delete(request.app, request.actor, target, issue)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/deadline",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(423,),
)
def set_issue_deadline(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditDeadlineOption
) -> IssueDeadline:
    """Set, change or remove the due date of an issue."""
    issue = issues.find(request.app, target, index)
    changed = issues.set_due_date(request.app, request.actor, target, issue, body.due_date)
    return IssueDeadline(moment_or_none(changed.due_at))


@endpoint(
    "PUT /repos/{owner}/{repo}/issues/{index}/lock",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=204,
    refuses=(423,),
)
def lock_issue(request: RequestContext, target: RepositoryAccess, index: int, body: LockIssueOption) -> None:
    """Restrict commenting to users with write access."""
    issue = issues.find(request.app, target, index)
    issues.lock(request.app, request.actor, target, issue, body.lock_reason)


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/lock", scope="issue", guards=CHANGE_ISSUES, refuses=(423,))
def unlock_issue(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Allow everyone to comment again."""
    issue = issues.find(request.app, target, index)
    issues.unlock(request.app, request.actor, target, issue)
