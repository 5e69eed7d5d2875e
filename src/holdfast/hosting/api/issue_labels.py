"""The labels on an issue."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from holdfast.hosting.api.issue_access import READING, WRITING, ask_to_write, the_issue
from holdfast.hosting.errors import NotHere
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.schemas.issues import Label, label_in
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


def writable(call: Call, place: Place, index: int) -> Issue:
    """Return an issue whose labels the caller may change."""
    issue = the_issue(call, place, index)
    ask_to_write(place, issue)
    return issue


def shown(call: Call, place: Place, issue: Issue) -> list[Label]:
    """Show the labels an issue has now."""
    with call.host.database.read() as connection:
        found = issue_labels.labels_on(connection, issue)
    return [label_in(call, kept, place.repository) for kept in found]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=READING)
def list_issue_labels(call: Call, place: Place, index: int) -> list[Label]:
    """List the labels of an issue."""
    return shown(call, place, the_issue(call, place, index))


@endpoint("POST /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def add_issue_labels(call: Call, place: Place, index: int, body: IssueLabelsOption) -> list[Label]:
    """Put labels on an issue besides those it has; an exclusive one takes the place of another of its scope."""
    issue = writable(call, place, index)
    more = labels_named(call.host.database, place.repository, body.labels)
    issue_labels.add_labels(call.host.database, place.repository, issue, call.user, more)
    return shown(call, place, issue)


@endpoint("PUT /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def replace_issue_labels(call: Call, place: Place, index: int, body: IssueLabelsOption) -> list[Label]:
    """Give an issue exactly these labels."""
    issue = writable(call, place, index)
    wanted = labels_named(call.host.database, place.repository, body.labels)
    issue_labels.replace_labels(call.host.database, place.repository, issue, call.user, wanted)
    return shown(call, place, issue)


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING, refuses=(423,))
def clear_issue_labels(call: Call, place: Place, index: int) -> None:
    """Take all labels off an issue."""
    issue = writable(call, place, index)
    issue_labels.replace_labels(call.host.database, place.repository, issue, call.user, ())


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels/{label}", scope="issue", guards=WRITING, refuses=(423,)
)
def remove_issue_label(call: Call, place: Place, index: int, label: str) -> None:
    """Take a label, by its id or its name, off an issue."""
    issue = writable(call, place, index)
    try:
        less = labels_named(call.host.database, place.repository, [label])
    except NotHere:
        raise Refusal(404, f"label does not exist [label_id: {label}]") from None
    issue_labels.remove_labels(call.host.database, place.repository, issue, call.user, less)
