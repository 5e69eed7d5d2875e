"""The milestones page of a repository: list milestones with their progress, create, edit and delete them."""

from dataclasses import dataclass
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, NoSuchMilestone, Outdated, UnknownState
from holdfast.hosting.guards import MANAGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import moment
from holdfast.hosting.services import milestones as service
from holdfast.hosting.services.milestones import NO_DUE_DATE, MilestoneEdit, NewMilestone
from holdfast.hosting.store import milestones
from holdfast.hosting.store.milestones import Milestone
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import end_of_day
from holdfast.web.issues.issue_page import markdown_context
from holdfast.web.issues.timeline import TextBudget
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["page_milestones", "submit_delete_milestone", "submit_edit_milestone", "submit_milestone"]

SIZE: Final = 20
CHANGED: Final = (
    "This milestone was changed while you were editing. The list shows it as it is now, the form has your values; "
    "saving replaces the current ones."
)
STATES: Final = {"open": False, "closed": True}
STATE_NOTICES: Final = {"open": "reopened", "closed": "closed"}


class MilestoneForm(msgspec.Struct, frozen=True):
    """The form of a milestone, and the version that is edited; with a state, only that changes."""

    title: str = ""
    description: str = ""
    due_on: str = ""
    state: str = ""
    version: str = ""

    @property
    def new(self) -> NewMilestone:
        """The milestone to create."""
        return NewMilestone(
            title=self.title, description=self.description, due_on=end_of_day(self.due_on, "DueOn")
        )

    @property
    def changes(self) -> MilestoneEdit:
        """The edit: the state alone, or all other fields; an empty date removes the due date."""
        if self.state:
            return MilestoneEdit(is_closed=self.state == "closed")
        due_on = end_of_day(self.due_on, "DueOn") or NO_DUE_DATE
        return MilestoneEdit(title=self.title, description=self.description, due_on=due_on, version=self.version)


EMPTY: Final = MilestoneForm()


class MilestoneListQuery(msgspec.Struct, frozen=True):
    """The query of the list."""

    state: str = "open"


@dataclass(frozen=True, slots=True)
class MilestoneRow:
    """A milestone on the page."""

    milestone: Milestone
    description: Markup
    typed: MilestoneForm


@endpoint("GET /{owner}/{repo}/milestones", scope="issue", guards=READ_ISSUES, slow=True)
def page_milestones(
    request: RequestContext, target: RepositoryAccess, query: MilestoneListQuery, page: PageParams
) -> RawResponse:
    """List the milestones of a repository."""
    return show(request, target, number=page.number, state=query.state)


@endpoint("POST /{owner}/{repo}/milestones", scope="issue", guards=MANAGE_ISSUES, keeps_form=True)
def submit_milestone(request: RequestContext, target: RepositoryAccess, body: MilestoneForm) -> RawResponse:
    """Add a milestone."""
    try:
        created = service.create(request.app, request.actor, target, body.new)
    except HostingError as error:
        return show(request, target, typed=body, problem=message_for(error), status=status_for(error))
    return redirect_to(f"{root_path(target)}/milestones", "milestone-created", created.title)


@endpoint("POST /{owner}/{repo}/milestones/{id}", scope="issue", guards=MANAGE_ISSUES, keeps_form=True)
def submit_edit_milestone(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: MilestoneForm,
) -> RawResponse:
    """Change a milestone, or close or reopen it; one that changed in the meantime is not overwritten."""
    if body.state not in {"", *STATES}:
        raise UnknownState(body.state)
    milestone = milestones.find_milestone(request.app.database, target.repository, id)
    try:
        edited = service.edit(request.app, request.actor, target, milestone, body.changes)
    except NoSuchMilestone:
        raise
    except Outdated as error:
        # Submitting the form again overwrites the values that are shown now.
        again = msgspec.structs.replace(body, version="")
        now = milestones.find_milestone(request.app.database, target.repository, id)
        return show(request, target, typed=again, changing=now, problem=CHANGED, status=status_for(error))
    except HostingError as error:
        return show(
            request, target, typed=body, changing=milestone, problem=message_for(error), status=status_for(error)
        )
    notice = f"milestone-{STATE_NOTICES.get(body.state, 'saved')}"
    return redirect_to(f"{root_path(target)}/milestones", notice, edited.title)


@endpoint("POST /{owner}/{repo}/milestones/{id}/delete", scope="issue", guards=MANAGE_ISSUES)
def submit_delete_milestone(request: RequestContext, target: RepositoryAccess, id: int) -> RawResponse:  # noqa: A002  # the path parameter's name
    """Delete a milestone; its issues stay."""
    milestone = milestones.find_milestone(request.app.database, target.repository, id)
    service.delete(request.app, request.actor, target, milestone)
    return redirect_to(f"{root_path(target)}/milestones", "milestone-deleted", milestone.title)


def show(
    request: RequestContext,
    target: RepositoryAccess,
    *,
    number: int = 1,
    state: str = "open",
    typed: MilestoneForm = EMPTY,
    changing: Milestone | None = None,
    problem: str = "",
    status: int = 200,
) -> RawResponse:
    """Render the milestones, with a rejected form in its place."""
    if changing is not None:
        state = "closed" if changing.is_closed else "open"
    page, chosen = PageParams(number, SIZE), state if state in STATES else "open"
    listed_milestones, total = milestones.milestones_of(
        request.app.database, target.repository, is_closed=STATES[chosen], name="", skip=page.skip, limit=SIZE
    )
    if changing is not None and all(milestone.id != changing.id for milestone in listed_milestones):
        # It is on another page of the list.
        listed_milestones = [changing, *listed_milestones]
    changing_id = 0 if changing is None else changing.id
    budget = TextBudget(markdown_context(target), left=60_000)
    return show_in(
        request,
        target,
        "issues/milestones.html",
        tab=ISSUES,
        title=f"Milestones · {target.repository.full_name}",
        status=status,
        milestones=[
            milestone_row(milestone, budget, typed if milestone.id == changing_id else None)
            for milestone in listed_milestones
        ],
        total=total,
        number=number,
        size=SIZE,
        state=chosen,
        may_manage=access.may_manage_issues(request.actor, target),
        typed=EMPTY if changing else typed,
        changing=changing_id,
        problem=problem,
    )


def milestone_row(milestone: Milestone, budget: TextBudget, typed: MilestoneForm | None) -> MilestoneRow:
    """Return the row of a milestone, with its form filled with its values or the typed ones."""
    day = moment(milestone.due_at)[:10] if milestone.due_at else ""
    own = MilestoneForm(milestone.title, milestone.description, day, version=milestone.version)
    shown = own if typed is None else msgspec.structs.replace(typed, version=typed.version or own.version)
    return MilestoneRow(milestone, budget.show(milestone.description)[0], shown)
