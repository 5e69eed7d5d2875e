"""The milestones of a repository: how far they have come, made, changed, closed and deleted."""

from dataclasses import dataclass
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import milestones as api
from holdfast.hosting.api.issue_access import MANAGING, READING
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.schemas.times import NEVER, moment
from holdfast.hosting.store import milestones
from holdfast.hosting.store.milestones import Milestone
from holdfast.web.api_actions import act
from holdfast.web.error_messages import message_for
from holdfast.web.issues.choices import end_of_day
from holdfast.web.issues.issue_page import around
from holdfast.web.issues.labels import manages
from holdfast.web.issues.timeline import TextBudget
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["page_milestones", "submit_delete_milestone", "submit_edit_milestone", "submit_milestone"]

SIZE: Final = 20
STATES: Final = {"open": False, "closed": True}


class MilestoneForm(msgspec.Struct, frozen=True):
    """A milestone as the form has it; with only a state in it, that changes and nothing else."""

    title: str = ""
    description: str = ""
    due_on: str = ""
    state: str = ""

    @property
    def due(self) -> str:
        """The date as the API takes it; the zero of its clients' languages takes one away."""
        return end_of_day(self.due_on) if self.due_on.strip() else NEVER


EMPTY: Final = MilestoneForm()


class MilestoneListQuery(msgspec.Struct, frozen=True):
    """Which milestones are wanted."""

    state: str = "open"


@dataclass(frozen=True, slots=True)
class MilestoneRow:
    """A milestone on the page."""

    milestone: Milestone
    description: Markup
    typed: MilestoneForm


@endpoint("GET /{owner}/{repo}/milestones", scope="issue", guards=READING, slow=True)
def page_milestones(
    request: RequestContext, target: RepositoryAccess, query: MilestoneListQuery, page: PageParams
) -> RawResponse:
    """List the milestones of a repository."""
    return show(request, target, number=page.number, state=query.state)


@endpoint("POST /{owner}/{repo}/milestones", scope="issue", guards=MANAGING)
def submit_milestone(request: RequestContext, target: RepositoryAccess, body: MilestoneForm) -> RawResponse:
    """Add a milestone."""
    wanted = {"title": body.title, "description": body.description}
    if body.due_on.strip():
        wanted["due_on"] = body.due
    try:
        act(request, api.create_milestone, body=wanted)
    except ApiError as refusal:
        return show(request, target, typed=body, problem=message_for(refusal), status=refusal.status)
    return go(f"{root_path(target)}/milestones", "added")


@endpoint("POST /{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGING)
def submit_edit_milestone(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: MilestoneForm,  # named in the path
) -> RawResponse:  # in the path
    """Change a milestone, or close or reopen it."""
    wanted: dict[str, object] = {"state": body.state}
    if not body.state:
        # To the API an empty title says nothing; one of nothing but space it refuses.
        wanted = {"title": body.title or " ", "description": body.description, "due_on": body.due}
    try:
        act(request, api.edit_milestone, {"id": id}, body=wanted)
    except ApiError as refusal:
        if refusal.status == 404:
            raise
        return show(request, target, typed=body, changing=id, problem=message_for(refusal), status=refusal.status)
    return go(f"{root_path(target)}/milestones", "changed")


@endpoint("POST /{owner}/{repo}/milestones/{id}/delete", scope="issue", guards=MANAGING)
def submit_delete_milestone(request: RequestContext, target: RepositoryAccess, id: int) -> RawResponse:  # noqa: A002
    """Delete a milestone; its issues stay."""
    act(request, api.delete_milestone, {"id": id})
    return go(f"{root_path(target)}/milestones", "deleted")


def show(
    request: RequestContext,
    target: RepositoryAccess,
    *,
    number: int = 1,
    state: str = "open",
    typed: MilestoneForm = EMPTY,
    changing: int = 0,
    problem: str = "",
    status: int = 200,
) -> RawResponse:
    """Show the milestones, with a form that was refused where it was."""
    page, chosen = PageParams(number, SIZE), state if state in STATES else "open"
    found, total = milestones.milestones_of(
        request.app.database, target.repository, is_closed=STATES[chosen], name="", skip=page.skip, limit=SIZE
    )
    room = TextBudget(around(target), left=60_000)
    return show_in(
        request,
        target,
        "issues/milestones.html",
        tab=ISSUES,
        title=f"Milestones · {target.repository.full_name}",
        status=status,
        milestones=[shown(one, room, typed if one.id == changing else None) for one in found],
        total=total,
        number=number,
        size=SIZE,
        state=chosen,
        may_manage=manages(request),
        typed=EMPTY if changing else typed,
        changing=changing,
        problem=problem,
    )


def shown(milestone: Milestone, room: TextBudget, typed: MilestoneForm | None) -> MilestoneRow:
    """Show a milestone, with its form filled with what it is or what was typed."""
    day = moment(milestone.due_at)[:10] if milestone.due_at else ""
    own = MilestoneForm(milestone.title, milestone.description, day)
    return MilestoneRow(milestone, room.show(milestone.description)[0], typed or own)
