"""The labels of a repository: listed, made, changed and deleted."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import labels as api
from holdfast.hosting.api.issue_access import MANAGING, READING
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.store import labels
from holdfast.hosting.store.labels import Label
from holdfast.web.api_actions import act
from holdfast.web.error_messages import message_for
from holdfast.web.issues.label_colors import tag
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["page_labels", "submit_delete_label", "submit_edit_label", "submit_label"]

SIZE: Final = 30
SUGGESTED: Final = "2f7d6b"


class LabelForm(msgspec.Struct, frozen=True):
    """A label as the form has it; the colour comes from the browser's own field with a # before it."""

    name: str = ""
    color: str = f"#{SUGGESTED}"
    description: str = ""
    exclusive: str = ""
    archived: str = ""

    @property
    def body(self) -> dict[str, object]:
        """What the API takes."""
        return {
            "name": self.name,
            "color": self.color,
            "description": self.description,
            "exclusive": self.exclusive == "true",
            "is_archived": self.archived == "true",
        }


EMPTY: Final = LabelForm()


@endpoint("GET /{owner}/{repo}/labels", scope="issue", guards=READING, slow=True)
def page_labels(request: RequestContext, target: RepositoryAccess, page: PageParams) -> RawResponse:
    """List the labels of a repository and those of its organization."""
    return show(request, target, number=page.number)


@endpoint("POST /{owner}/{repo}/labels", scope="issue", guards=MANAGING)
def submit_label(request: RequestContext, target: RepositoryAccess, body: LabelForm) -> RawResponse:
    """Add a label."""
    try:
        act(request, api.create_label, body=body.body)
    except ApiError as refusal:
        return show(request, target, typed=body, problem=message_for(refusal), status=refusal.status)
    return go(f"{root_path(target)}/labels", "added")


@endpoint("POST /{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGING)
def submit_edit_label(request: RequestContext, target: RepositoryAccess, id: int, body: LabelForm) -> RawResponse:  # noqa: A002  # in the path
    """Change a label."""
    try:
        act(request, api.edit_label, {"id": id}, body=body.body)
    except ApiError as refusal:
        if refusal.status == 404:
            raise
        return show(request, target, typed=body, changing=id, problem=message_for(refusal), status=refusal.status)
    return go(f"{root_path(target)}/labels", "changed")


@endpoint("POST /{owner}/{repo}/labels/{id}/delete", scope="issue", guards=MANAGING)
def submit_delete_label(request: RequestContext, target: RepositoryAccess, id: int) -> RawResponse:  # noqa: A002
    """Delete a label."""
    act(request, api.delete_label, {"id": id})
    return go(f"{root_path(target)}/labels", "deleted")


def show(
    request: RequestContext,
    target: RepositoryAccess,
    *,
    number: int = 1,
    typed: LabelForm = EMPTY,
    changing: int = 0,
    problem: str = "",
    status: int = 200,
) -> RawResponse:
    """Show the labels, with a form that was refused where it was."""
    database, repository = request.app.database, target.repository
    page = PageParams(number, SIZE)
    found, total = labels.labels_of(database, repository, skip=page.skip, limit=SIZE)
    shared: list[Label] = []
    if repository.owner.is_organization:
        shared, _ = labels.labels_of(database, repository.owner, skip=0, limit=2 * SIZE)
    return show_in(
        request,
        target,
        "issues/labels.html",
        tab=ISSUES,
        title=f"Labels · {repository.full_name}",
        status=status,
        labels=[(label, tag(label)) for label in found],
        shared=[(label, tag(label)) for label in shared],
        total=total,
        number=number,
        size=SIZE,
        may_manage=manages(request),
        typed=typed,
        changing=changing,
        problem=problem,
    )


def manages(request: RequestContext) -> bool:
    """Tell whether the page offers what the guards of labels and milestones let through."""
    try:
        # The page has been through the first ones.
        for guard in MANAGING[len(READING) :]:
            guard(request)
    except ApiError:
        return False
    return True
