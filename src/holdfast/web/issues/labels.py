"""The labels page of a repository: list, create, edit and delete labels."""

from contextlib import suppress
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, NoSuchLabel, Outdated
from holdfast.hosting.guards import MANAGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import labels as service
from holdfast.hosting.services.labels import LabelEdit, NewLabel
from holdfast.hosting.store import labels
from holdfast.hosting.store.labels import Label
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.label_colors import tag
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["page_labels", "submit_delete_label", "submit_edit_label", "submit_label"]

SIZE: Final = 30
SUGGESTED: Final = "2f7d6b"
CHANGED: Final = (
    "This label was changed while you were editing. The list shows it as it is now, the form has your values; "
    "saving replaces the current ones."
)


class LabelForm(msgspec.Struct, frozen=True):
    """The form of a label, and the version that is edited; a color field sends the color with a leading #."""

    name: str = ""
    color: str = f"#{SUGGESTED}"
    description: str = ""
    exclusive: str = ""
    archived: str = ""
    version: str = ""

    @property
    def new(self) -> NewLabel:
        """The label to create."""
        return NewLabel(
            name=self.name,
            color=self.color,
            description=self.description,
            is_exclusive=self.exclusive == "true",
            is_archived=self.archived == "true",
        )

    @property
    def changes(self) -> LabelEdit:
        """The edit of an existing label: the form has every value."""
        return LabelEdit(
            name=self.name,
            color=self.color,
            description=self.description,
            is_exclusive=self.exclusive == "true",
            is_archived=self.archived == "true",
            version=self.version,
        )


EMPTY: Final = LabelForm()


@endpoint("GET /{owner}/{repo}/labels", scope="issue", guards=READ_ISSUES, slow=True)
def page_labels(request: RequestContext, target: RepositoryAccess, page: PageParams) -> RawResponse:
    """List the labels of a repository and those of its organization."""
    return show(request, target, number=page.number)


@endpoint("POST /{owner}/{repo}/labels", scope="issue", guards=MANAGE_ISSUES)
def submit_label(request: RequestContext, target: RepositoryAccess, body: LabelForm) -> RawResponse:
    """Add a label."""
    try:
        created = service.create(request.app, request.actor, target, body.new)
    except HostingError as error:
        return show(request, target, typed=body, problem=message_for(error), status=status_for(error))
    return redirect_to(f"{root_path(target)}/labels", "label-created", created.name)


@endpoint("POST /{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGE_ISSUES)
def submit_edit_label(request: RequestContext, target: RepositoryAccess, id: int, body: LabelForm) -> RawResponse:  # noqa: A002  # in the path
    """Change a label; one that changed in the meantime is not overwritten."""
    try:
        edited = service.edit(request.app, request.actor, target, id, body.changes)
    except NoSuchLabel:
        raise
    except Outdated as error:
        # Submitting the form again overwrites the values that are shown now.
        again = msgspec.structs.replace(body, version="")
        return show(request, target, typed=again, changing=id, problem=CHANGED, status=status_for(error))
    except HostingError as error:
        return show(request, target, typed=body, changing=id, problem=message_for(error), status=status_for(error))
    return redirect_to(f"{root_path(target)}/labels", "label-saved", edited.name)


@endpoint("POST /{owner}/{repo}/labels/{id}/delete", scope="issue", guards=MANAGE_ISSUES)
def submit_delete_label(request: RequestContext, target: RepositoryAccess, id: int) -> RawResponse:  # noqa: A002  # the path parameter's name
    """Delete a label."""
    label = labels.find_label(request.app.database, target.repository, id)
    service.delete(request.app, request.actor, target, id)
    return redirect_to(f"{root_path(target)}/labels", "label-deleted", label.name)


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
    """Render the labels, with a rejected form in its place."""
    database, repository = request.app.database, target.repository
    page = PageParams(number, SIZE)
    listed_labels, total = labels.labels_of(database, repository, skip=page.skip, limit=SIZE)
    if changing and all(label.id != changing for label in listed_labels):
        # It is on another page of the list.
        with suppress(NoSuchLabel):
            listed_labels = [labels.find_label(database, repository, changing), *listed_labels]
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
        labels=[(label, tag(label)) for label in listed_labels],
        shared=[(label, tag(label)) for label in shared],
        total=total,
        number=number,
        size=SIZE,
        may_manage=access.may_manage_issues(request.actor, target),
        typed=typed,
        changing=changing,
        problem=problem,
    )
