"""The labels of a repository: listed, made, changed and deleted."""

from typing import Final

import msgspec

from holdfast.hosting.api import labels as api
from holdfast.hosting.api.issue_access import MANAGING, READING
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw, endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.pagination import Page
from holdfast.hosting.store import labels
from holdfast.hosting.store.labels import Label
from holdfast.web.api_actions import act, problem_with
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
def page_labels(call: Call, place: Place, page: Page) -> Raw:
    """List the labels of a repository and those of its organization."""
    return show(call, place, number=page.number)


@endpoint("POST /{owner}/{repo}/labels", scope="issue", guards=MANAGING)
def submit_label(call: Call, place: Place, body: LabelForm) -> Raw:
    """Add a label."""
    try:
        act(call, api.create_label, body=body.body)
    except Refusal as refusal:
        return show(call, place, typed=body, problem=problem_with(refusal), status=refusal.status)
    return go(f"{root_path(place)}/labels", "added")


@endpoint("POST /{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGING)
def submit_edit_label(call: Call, place: Place, id: int, body: LabelForm) -> Raw:  # noqa: A002  # in the path
    """Change a label."""
    try:
        act(call, api.edit_label, {"id": id}, body=body.body)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        return show(call, place, typed=body, changing=id, problem=problem_with(refusal), status=refusal.status)
    return go(f"{root_path(place)}/labels", "changed")


@endpoint("POST /{owner}/{repo}/labels/{id}/delete", scope="issue", guards=MANAGING)
def submit_delete_label(call: Call, place: Place, id: int) -> Raw:  # noqa: A002
    """Delete a label."""
    act(call, api.delete_label, {"id": id})
    return go(f"{root_path(place)}/labels", "deleted")


def show(
    call: Call,
    place: Place,
    *,
    number: int = 1,
    typed: LabelForm = EMPTY,
    changing: int = 0,
    problem: str = "",
    status: int = 200,
) -> Raw:
    """Show the labels, with a form that was refused where it was."""
    database, repository = call.host.database, place.repository
    page = Page(number, SIZE)
    found, total = labels.labels_of(database, repository, skip=page.skip, limit=SIZE)
    shared: list[Label] = []
    if repository.owner.is_organization:
        shared, _ = labels.labels_of(database, repository.owner, skip=0, limit=2 * SIZE)
    return show_in(
        call,
        place,
        "issues/labels.html",
        tab=ISSUES,
        title=f"Labels · {repository.full_name}",
        status=status,
        labels=[(label, tag(label)) for label in found],
        shared=[(label, tag(label)) for label in shared],
        total=total,
        number=number,
        size=SIZE,
        may_manage=manages(call),
        typed=typed,
        changing=changing,
        problem=problem,
    )


def manages(call: Call) -> bool:
    """Tell whether the page offers what the guards of labels and milestones let through."""
    try:
        # The page has been through the first ones.
        for guard in MANAGING[len(READING) :]:
            guard(call)
    except Refusal:
        return False
    return True
