"""The API of the labels of an issue."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import LabelSchema, label_in
from holdfast.hosting.services import issues
from holdfast.hosting.store import issue_labels
from holdfast.hosting.store.issues import Issue

__all__ = [
    "add_issue_labels",
    "clear_issue_labels",
    "list_issue_labels",
    "remove_issue_label",
    "replace_issue_labels",
]


class IssueLabelsOption(msgspec.Struct, frozen=True):
    """Labels by id or name; also accepted as a bare list."""

    labels: Annotated[list[int | str], Meta(max_length=100)] = []
    bare_list: ClassVar[str] = "labels"


def label_list(request: RequestContext, target: RepositoryAccess, issue: Issue) -> list[LabelSchema]:
    """Encode the labels of an issue."""
    with request.app.database.read() as connection:
        labels = issue_labels.labels_on(connection, issue)
    return [label_in(request, label, target.repository) for label in labels]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=READ_ISSUES)
def list_issue_labels(request: RequestContext, target: RepositoryAccess, index: int) -> list[LabelSchema]:
    """List the labels of an issue."""
    return label_list(request, target, issues.find(request.app, target, index))


@endpoint("POST /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=CHANGE_ISSUES, refuses=(423,))
def add_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueLabelsOption
) -> list[LabelSchema]:
    """Add labels to an issue; an exclusive label replaces another of its scope."""
    issue = issues.find(request.app, target, index)
    issues.add_labels(request.app, request.actor, target, issue, body.labels)
    return label_list(request, target, issue)


@endpoint("PUT /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=CHANGE_ISSUES, refuses=(423,))
def replace_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueLabelsOption
) -> list[LabelSchema]:
    """Replace the labels of an issue."""
    issue = issues.find(request.app, target, index)
    issues.replace_labels(request.app, request.actor, target, issue, body.labels)
    return label_list(request, target, issue)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=CHANGE_ISSUES, refuses=(423,)
)
def clear_issue_labels(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Remove all labels from an issue."""
    issues.replace_labels(request.app, request.actor, target, issues.find(request.app, target, index), ())


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels/{label}",
    scope="issue",
    guards=CHANGE_ISSUES,
    refuses=(423,),
)
def remove_issue_label(request: RequestContext, target: RepositoryAccess, index: int, label: str) -> None:
    """Remove a label, by id or name, from an issue."""
    issues.remove_label(request.app, request.actor, target, issues.find(request.app, target, index), label)
