"""Milestones of a repository."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import MANAGING, READING
from holdfast.hosting.api.issue_queries import State, closed
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.dates import due
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.issues import MilestoneSchema, milestone
from holdfast.hosting.store import milestones

__all__ = ["create_milestone", "delete_milestone", "edit_milestone", "list_milestones", "show_milestone"]

Title = Annotated[str, Meta(max_length=255)]


class MilestonesQuery(msgspec.Struct, frozen=True):
    """Which milestones are wanted; the name may be a part of the title."""

    state: State = "open"
    name: str = ""


class CreateMilestoneOption(msgspec.Struct, frozen=True):
    """A new milestone."""

    title: Annotated[str, Meta(max_length=255), Required] = ""
    description: str = ""
    due_on: datetime | None = None
    state: Literal["open", "closed", ""] = "open"


class EditMilestoneOption(msgspec.Struct, frozen=True):
    """What to change; a key that is absent keeps its value, and an empty title or state does too."""

    title: Title = ""
    description: str | UnsetType = UNSET
    state: Literal["open", "closed", ""] = ""
    due_on: datetime | None = None


def given_title(title: str) -> str:
    """Return a title without the space around it; one of nothing else is none."""
    if not title.strip():
        raise ApiError(422, "[Title]: Required")
    return title.strip()


@endpoint("GET /repos/{owner}/{repo}/milestones", scope="issue", guards=READING)
def list_milestones(
    request: RequestContext, target: RepositoryAccess, query: MilestonesQuery, page: PageParams
) -> PagedList[MilestoneSchema]:
    """List the milestones of a repository, the next to come first."""
    found, total = milestones.milestones_of(
        request.app.database,
        target.repository,
        is_closed=closed(query.state),
        name=query.name,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList([milestone(kept) for kept in found], total)


@endpoint("POST /repos/{owner}/{repo}/milestones", scope="issue", guards=MANAGING, status=201, refuses=(423,))
def create_milestone(
    request: RequestContext, target: RepositoryAccess, body: CreateMilestoneOption
) -> MilestoneSchema:
    """Add a milestone to a repository."""
    made = milestones.add_milestone(
        request.app.database,
        target.repository,
        request.user,
        given_title(body.title),
        description=body.description,
        due_at=due(body.due_on, "DueOn") or 0,
        is_closed=body.state == "closed",
    )
    return milestone(made)


@endpoint("GET /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=READING)
def show_milestone(request: RequestContext, target: RepositoryAccess, id: str) -> MilestoneSchema:  # noqa: A002  # the name in the path
    """Show a milestone by its id or its title."""
    return milestone(milestones.find_milestone(request.app.database, target.repository, id))


@endpoint("PATCH /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGING, refuses=(423,))
def edit_milestone(
    request: RequestContext,
    target: RepositoryAccess,
    id: str,  # noqa: A002  # named in the path
    body: EditMilestoneOption,  # named in the path
) -> MilestoneSchema:
    """Change a milestone."""
    kept = milestones.find_milestone(request.app.database, target.repository, id)
    columns: dict[str, str | bool | int] = {}
    if body.title:
        columns["title"] = given_title(body.title)
    if body.description is not UNSET:
        columns["description"] = body.description
    if body.state:
        columns["is_closed"] = body.state == "closed"
    due_at = due(body.due_on, "DueOn")
    if due_at is not None:
        columns["due_at"] = due_at
    return milestone(
        milestones.change_milestone(request.app.database, target.repository, request.user, kept, **columns)
    )


@endpoint("DELETE /repos/{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGING, refuses=(423,))
def delete_milestone(request: RequestContext, target: RepositoryAccess, id: str) -> None:  # noqa: A002
    """Remove a milestone; its issues stay, without one."""
    kept = milestones.find_milestone(request.app.database, target.repository, id)
    milestones.delete_milestone(request.app.database, target.repository, request.user, kept)
