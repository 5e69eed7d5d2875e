"""Issues as rows of a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issue_relations import IssueParts, issue_parts
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.milestones import Milestone
from holdfast.hosting.store.repositories import Repository
from holdfast.web.issues.label_colors import LabelBadge, tag

__all__ = ["IssueRow", "issue_path", "page_path", "rows_of"]


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue with the data a list shows."""

    issue: Issue
    repository: Repository
    path: str
    forms: str
    """The path that the forms of the issue are below."""
    author: Account | None
    tags: list[LabelBadge]
    people: list[Account]
    milestone: Milestone | None
    blockers: int


def issue_path(repository: Repository, number: int) -> str:
    """Return the path of an issue page."""
    return f"/{quote(repository.owner.name)}/{quote(repository.name)}/issues/{number}"


def page_path(repository: Repository, issue: Issue) -> str:
    """Return the path of the page of an issue or a pull request."""
    kind = "pulls" if issue.is_pull else "issues"
    return f"/{quote(repository.owner.name)}/{quote(repository.name)}/{kind}/{issue.number}"


def rows_of(request: RequestContext, issues: Sequence[Issue], *loaded_repositories: Repository) -> list[IssueRow]:
    """Return the rows of a list; issues of deleted repositories are skipped."""
    parts = issue_parts(request.app.database, issues, *loaded_repositories)
    return [row(issue, parts) for issue in issues if issue.repository_id in parts.repositories]


def row(issue: Issue, parts: IssueParts) -> IssueRow:
    """Return one row from the data loaded for all of them."""
    repository = parts.repositories[issue.repository_id]
    return IssueRow(
        issue=issue,
        repository=repository,
        path=page_path(repository, issue),
        forms=issue_path(repository, issue.number),
        author=parts.authors.get(issue.author_id or 0),
        tags=[tag(label) for label in parts.labels.get(issue.id, [])],
        people=parts.assignees.get(issue.id, []),
        milestone=parts.milestones.get(issue.milestone_id or 0),
        blockers=parts.blockers.get(issue.id, 0) if repository.allows_dependencies else 0,
    )
