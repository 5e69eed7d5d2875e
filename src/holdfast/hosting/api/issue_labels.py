"""The labels on an issue."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import READING, WRITING, ask_to_write, the_issue
from holdfast.hosting.errors import NotHere
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.issues import LabelSchema, label_in
from holdfast.hosting.store import issue_labels
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.labels import labels_named

__all__ = [
    "add_issue_labels",
    "clear_issue_labels",
    "list_issue_labels",
    "remove_issue_label",
    "replace_issue_labels",
]


class IssueLabelsOption(msgspec.Struct, frozen=True):
    """Labels by id or by name; the list may also come alone, without the object around it."""

    labels: Annotated[list[int | str], Meta(max_length=100)] = []
    bare_list: ClassVar[str] = "labels"


def writable(request: RequestContext, target: RepositoryAccess, index: int) -> Issue:
    """Return an issue whose labels the caller may change."""
    issue = the_issue(request, target, index)
    ask_to_write(target, issue)
    return issue


def shown(request: RequestContext, target: RepositoryAccess, issue: Issue) -> list[LabelSchema]:
    """Show the labels an issue has now."""
    with request.app.database.read() as connection:
        found = issue_labels.labels_on(connection, issue)
    return [label_in(request, kept, target.repository) for kept in found]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=READING)
def list_issue_labels(request: RequestContext, target: RepositoryAccess, index: int) -> list[LabelSchema]:
    """List the labels of an issue."""
    return shown(request, target, the_issue(request, target, index))


@endpoint("POST /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def add_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueLabelsOption
) -> list[LabelSchema]:
    """Put labels on an issue besides those it has; an exclusive one takes the place of another of its scope."""
    issue = writable(request, target, index)
    more = labels_named(request.app.database, target.repository, body.labels)
    issue_labels.add_labels(request.app.database, target.repository, issue, request.user, more)
    return shown(request, target, issue)


@endpoint("PUT /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def replace_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueLabelsOption
) -> list[LabelSchema]:
    """Give an issue exactly these labels."""
    issue = writable(request, target, index)
    wanted = labels_named(request.app.database, target.repository, body.labels)
    issue_labels.replace_labels(request.app.database, target.repository, issue, request.user, wanted)
    return shown(request, target, issue)


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def clear_issue_labels(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Take all labels off an issue."""
    issue = writable(request, target, index)
    issue_labels.replace_labels(request.app.database, target.repository, issue, request.user, ())


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels/{label}", scope="issue", guards=WRITING, refuses=(423,)
)
def remove_issue_label(request: RequestContext, target: RepositoryAccess, index: int, label: str) -> None:
    """Take a label, by its id or its name, off an issue."""
    issue = writable(request, target, index)
    try:
        less = labels_named(request.app.database, target.repository, [label])
    except NotHere:
        raise ApiError(404, f"label does not exist [label_id: {label}]") from None
    issue_labels.remove_labels(request.app.database, target.repository, issue, request.user, less)
