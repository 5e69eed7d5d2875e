"""The head of every page of a pull request: its branches, its state, and its tabs with their counts."""

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut, NoSuchFolder, NoSuchObject
from holdfast.hosting.git import history
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pull_changes
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import accounts, pulls
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.pulls import Pull
from holdfast.hosting.store.repositories import Repository, find_by_id
from holdfast.web.issues.rows import page_path

__all__ = ["PullHead", "pull_head"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullHead:
    """The header that the pages of a pull request share."""

    path: str
    pull: Pull
    author: Account | None
    merger: Account | None
    head: str
    """The head branch, with its owner if it is in a fork."""
    head_address: str
    """The page of the head branch; empty if it does not exist or the viewer may not see it."""
    base_address: str
    commits: int | None
    """How many commits it has; None if they cannot be read."""
    files: int
    reads_code: bool


def pull_head(request: RequestContext, target: RepositoryAccess, issue: Issue) -> PullHead:
    """Return the head of the pages of a pull request."""
    database, repository = request.app.database, target.repository
    pull = pulls.find_pull(database, issue)
    source: Repository | None = repository
    if issue.head_repository_id != repository.id:
        source = None if issue.head_repository_id is None else find_by_id(database, issue.head_repository_id)
        if source is not None and not permissions_in(request.app, request.actor, source).may_read(Unit.CODE):
            source = None
    reads_code = target.permissions.may_read(Unit.CODE)
    root = f"/{quote(repository.owner.name)}/{quote(repository.name)}"
    head_address = ""
    if source is not None and pull.head_tip is not None and reads_code:
        place = f"/{quote(source.owner.name)}/{quote(source.name)}"
        head_address = f"{place}/src/branch/{quote(raw(issue.head_branch))}"
    author = None if issue.author_id is None else accounts.account_by_id(database, issue.author_id)
    merger = None if pull.merged_by_id is None else accounts.account_by_id(database, pull.merged_by_id)
    is_own = issue.head_repository_id == repository.id
    return PullHead(
        path=page_path(repository, issue),
        pull=pull,
        author=author,
        merger=merger,
        head=issue.head_branch if is_own or source is None else pull.head_label or issue.head_branch,
        head_address=head_address,
        base_address=f"{root}/src/branch/{quote(raw(issue.base_branch))}" if pull.base_tip and reads_code else "",
        commits=commit_count(request, target, issue) if reads_code else None,
        files=pull.changed_files,
        reads_code=reads_code,
    )


def commit_count(request: RequestContext, target: RepositoryAccess, issue: Issue) -> int | None:
    """Return how many commits a pull request has; None if they cannot be read."""
    with suppress(NoSuchFolder, NoSuchObject, GitDamaged, GitFailed, GitTimedOut):
        span = pull_changes.open_span(request.app, target, issue)
        return history.count(span.repo, history.commit_range(span.repo, span.head, exclude=[span.base]))
    return None
