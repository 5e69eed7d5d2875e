"""Related issues, limited to what the viewer may see."""

from dataclasses import dataclass

from holdfast.hosting.schemas.dependencies import HIDDEN, hidden_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.visible_issues import VisibleIssue
from holdfast.web.issues.rows import page_path

__all__ = ["RelatedIssue", "related_issue"]


@dataclass(frozen=True, slots=True)
class RelatedIssue:
    """The other issue of a relation; without a path it cannot be opened, and a hidden issue has no name either."""

    is_hidden: bool
    path: str = ""
    owner: str = ""
    repository: str = ""
    number: int = 0
    title: str = HIDDEN.title
    name: str = ""
    """The reference: the number alone for an issue of the same repository."""
    is_closed: bool = False
    is_pull: bool = False
    is_merged: bool = False
    is_draft: bool = False


def related_issue(visible_issue: VisibleIssue, here: Repository, *, writes: bool = False) -> RelatedIssue:
    """Return a related issue; `writes` is whether the viewer may edit the issue it is related to."""
    if not visible_issue.is_readable and not writes:
        return RelatedIssue(is_hidden=True)
    shape = hidden_issue(visible_issue)
    place = visible_issue.repository
    return RelatedIssue(
        is_hidden=False,
        path=page_path(place, visible_issue.issue) if visible_issue.is_readable else "",
        owner=place.owner.name,
        repository=place.name,
        number=shape.number,
        title=shape.title,
        name=f"#{shape.number}" if place.id == here.id else f"{place.full_name}#{shape.number}",
        is_closed=shape.state == "closed",
        is_pull=shape.pull_request is not None,
        is_merged=visible_issue.issue.merged_at > 0,
        is_draft=visible_issue.issue.is_draft,
    )
