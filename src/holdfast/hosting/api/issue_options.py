"""What clients say about an issue or a pull request they open or change, and what the host makes of it."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess, issue_unit
from holdfast.hosting.api.issue_access import ask_to_edit, may_write
from holdfast.hosting.guards import NO_WRITE
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.dates import due
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.assignees import people_named
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.labels import labels_named
from holdfast.hosting.store.milestones import check_milestone

__all__ = ["EditIssueOption", "OpenOption", "changes_of", "new_issue"]

Title = Annotated[str, Meta(max_length=255)]
Names = Annotated[list[str], Meta(max_length=100)]
LabelKeys = Annotated[list[int | str], Meta(max_length=100)]


class OpenOption(msgspec.Struct, frozen=True, kw_only=True):
    """What can be said of a new issue and of a new pull request; labels go by id or by name."""

    title: Annotated[str, Meta(max_length=255), Required] = ""
    body: str = ""
    assignee: str = ""
    assignees: Names = []
    due_date: datetime | None = None
    milestone: int = 0
    labels: LabelKeys = []


class EditIssueOption(msgspec.Struct, frozen=True, kw_only=True):
    """What to change; a key that is absent keeps its value, and an empty title does too."""

    title: Title = ""
    body: str | UnsetType = UNSET
    ref: Title | UnsetType = UNSET
    assignee: str | UnsetType = UNSET
    assignees: Names | UnsetType = UNSET
    milestone: int | UnsetType = UNSET
    labels: LabelKeys | UnsetType = UNSET
    state: str = ""
    due_date: datetime | None = None
    unset_due_date: bool = False
    content_version: int | None = None

    @property
    def is_for_writers(self) -> bool:
        """Whether something is to change that an author without write access may not change."""
        given = (self.assignee, self.assignees, self.milestone, self.labels)
        return self.due_date is not None or self.unset_due_date or any(one is not UNSET for one in given)


def people(assignee: str | UnsetType, assignees: list[str] | UnsetType) -> list[str]:
    """Join the two ways of naming assignees."""
    several = [] if assignees is UNSET else assignees
    return [name for name in (*several, "" if assignee is UNSET else assignee) if name]


def given_title(title: str) -> str:
    """Return a title without the space around it; one of nothing else is none."""
    if not title.strip():
        raise ApiError(422, "[Title]: Required")
    return title.strip()


def new_issue(
    request: RequestContext,
    target: RepositoryAccess,
    body: OpenOption,
    *,
    ref: str = "",
    is_closed: bool = False,
    branches: Branches | None = None,
) -> NewIssue:
    """Gather what is to be opened; what only writers may say is left out when others say it, as clients expect."""
    words = NewIssue(title=given_title(body.title), body=body.body, ref=ref, branches=branches)
    if not target.permissions.may_write(issue_unit(is_pull=branches is not None)):
        return words
    database, repository = request.app.database, target.repository
    check_milestone(database, repository, body.milestone)
    return NewIssue(
        title=words.title,
        body=words.body,
        ref=ref,
        due_at=due(body.due_date, "DueDate") or 0,
        milestone_id=body.milestone,
        labels=labels_named(database, repository, body.labels),
        assignees=people_named(database, repository, people(body.assignee, body.assignees)),
        is_closed=is_closed,
        branches=branches,
    )


def changes_of(
    request: RequestContext,
    target: RepositoryAccess,
    issue: Issue,
    body: EditIssueOption,
    base_branch: str | None = None,
) -> IssueChanges:
    """Gather what is to change, when the caller may change it."""
    ask_to_edit(request, target, issue, issue.author_id)
    if body.is_for_writers and not may_write(target, issue):
        raise ApiError(403, NO_WRITE)
    if body.state not in {"", "open", "closed"}:
        raise ApiError(412, f"unknown state: {body.state}")
    database, repository = request.app.database, target.repository
    if body.milestone is not UNSET:
        check_milestone(database, repository, body.milestone)
    assigns = body.assignee is not UNSET or body.assignees is not UNSET
    return IssueChanges(
        title=given_title(body.title) if body.title else None,
        body=None if body.body is UNSET else body.body,
        ref=None if body.ref is UNSET else body.ref,
        due_at=0 if body.unset_due_date else due(body.due_date, "DueDate"),
        milestone_id=None if body.milestone is UNSET else body.milestone,
        labels=None if body.labels is UNSET else labels_named(database, repository, body.labels),
        assignees=(people_named(database, repository, people(body.assignee, body.assignees)) if assigns else None),
        is_closed=None if not body.state else body.state == "closed",
        base_branch=base_branch,
        content_version=body.content_version,
    )
