"""Milestones of a repository."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_queries import State, closed
from holdfast.hosting.guards import MANAGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.decoders import Required, given
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import MilestoneSchema, milestone
from holdfast.hosting.services import milestones as service
from holdfast.hosting.services.milestones import DESCRIPTION_LENGTH, MilestoneEdit, NewMilestone
from holdfast.hosting.store import milestones

__all__ = ["create_milestone", "delete_milestone", "edit_milestone", "list_milestones", "show_milestone"]

Title = Annotated[str, Meta(max_length=255)]
Description = Annotated[str, Meta(max_length=DESCRIPTION_LENGTH)]


class MilestonesQuery(msgspec.Struct, frozen=True):
    """Filters of milestones; the name matches part of the title."""

    state: State = "open"
    name: str = ""


class CreateMilestoneOption(msgspec.Struct, frozen=True):
    """A new milestone."""

    title: Annotated[str, Meta(max_length=255), Required] = ""
    description: Description = ""
    due_on: datetime | None = None
    state: Literal["open", "closed", ""] = "open"

    @property
    def new(self) -> NewMilestone:
        """The milestone to create."""
        return NewMilestone(
            title=self.title,
            description=self.description,
            due_on=self.due_on,
            is_closed=self.state == "closed",
        )


class EditMilestoneOption(msgspec.Struct, frozen=True):
    """Changes; an absent key and an empty title or state keep the value."""

    title: Title = ""
    description: Description | UnsetType = UNSET
    state: Literal["open", "closed", ""] = ""
    due_on: datetime | None = None

    @property
    def changes(self) -> MilestoneEdit:
        """The changes for the service."""
        return MilestoneEdit(
            title=self.title or None,
            description=given(self.description),
            due_on=self.due_on,
            is_closed=self.state == "closed" if self.state else None,
        )


@endpoint("GET /repos/{owner}/{repo}/milestones", scope="issue", guards=READ_ISSUES, cacheable=True)
def list_milestones(
    request: RequestContext, target: RepositoryAccess, query: MilestonesQuery, page: PageParams
) -> PagedList[MilestoneSchema]:
    """List the milestones of a repository by due date."""
    stored_milestones, total = milestones.milestones_of(
        request.app.database,
        target.repository,
        is_closed=closed(query.state),
        name=query.name,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList([milestone(stored) for stored in stored_milestones], total)


@endpoint("POST /repos/{owner}/{repo}/milestones", scope="issue", guards=MANAGE_ISSUES, status=201, refuses=(423,))
def create_milestone(
    request: RequestContext, target: RepositoryAccess, body: CreateMilestoneOption
) -> MilestoneSchema:
    """Add a milestone to a repository."""
    return milestone(service.create(request.app, request.actor, target, body.new))


@endpoint("GET /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=READ_ISSUES)
def show_milestone(request: RequestContext, target: RepositoryAccess, id: str) -> MilestoneSchema:  # noqa: A002  # the name in the path
    """Show a milestone by id or title."""
    return milestone(milestones.find_milestone(request.app.database, target.repository, id))


@endpoint("PATCH /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGE_ISSUES, refuses=(423,))
def edit_milestone(
    request: RequestContext,
    target: RepositoryAccess,
    id: str,  # noqa: A002  # named in the path
    body: EditMilestoneOption,
) -> MilestoneSchema:
    """Change a milestone."""
    stored = milestones.find_milestone(request.app.database, target.repository, id)
    return milestone(service.edit(request.app, request.actor, target, stored, body.changes))


@endpoint("DELETE /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGE_ISSUES, refuses=(423,))
def delete_milestone(request: RequestContext, target: RepositoryAccess, id: str) -> None:  # noqa: A002  # the path parameter's name
    """Delete a milestone; its issues are kept without a milestone."""
    milestone = milestones.find_milestone(request.app.database, target.repository, id)
    service.delete(request.app, request.actor, target, milestone)
