"""Pull requests: issues that name two branches. They can be talked about and closed; nothing here merges them."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Final

from msgspec import Meta, field

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.issue_access import ask_to_write, sees_pulls, the_issue
from holdfast.hosting.api.issue_options import EditIssueOption, OpenOption, changes_of, new_issue
from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.errors import GitDamaged, GitTimedOut, NoSuchFolder, NoSuchObject
from holdfast.hosting.git import changes, history, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.merges import merges_cleanly
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import in_repository, not_archived, signed_in
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import RefName, Required, is_ref_name
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.pulls import PullRequest, PullState, pull_list
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import issue_lists, issues

__all__ = ["create_pull", "edit_pull", "list_pulls", "show_pull"]

# How long a request works out what branches come to; what is found is kept, so the next one gets further.
PATIENCE_SECONDS: Final = 10.0
READING = (in_repository, sees_pulls)
WRITING = (*READING, signed_in, not_archived)


class PullQuery(ListQuery, frozen=True, kw_only=True):
    """Which pull requests are wanted; labels are ids, and a milestone is an id or a title."""

    labels: Annotated[list[int], Meta(max_length=100)] = field(default_factory=list)
    milestone: str = ""
    poster: str = ""
    head: str = ""
    base: str = ""


class CreatePullRequestOption(OpenOption, frozen=True, kw_only=True):
    """A new pull request: what `head` has is to come to `base`."""

    head: Annotated[str, Meta(max_length=255), Required] = ""
    base: Annotated[str, Meta(max_length=100), Required, RefName] = ""


class EditPullRequestOption(EditIssueOption, frozen=True, kw_only=True):
    """What to change; a key that is absent keeps its value, and an empty title or base does too."""

    base: Annotated[str, Meta(max_length=100), RefName] = ""


def branches_of(request: RequestContext, target: RepositoryAccess, head: str, base: str) -> issues.Branches:
    """Return the branches a new pull request names; `head` may have the owner's name and a colon before it."""
    owner, colon, branch = head.rpartition(":")
    if colon and owner.casefold() != target.repository.owner.name.casefold():
        raise ApiError(422, f"[Head]: must be a branch of {target.repository.full_name}")
    if not branch:
        raise ApiError(422, "[Head]: Required")
    if not is_ref_name(branch):
        raise ApiError(422, "[Head]: GitRefName")
    if branch == base:
        raise ApiError(422, "[Head]: must be another branch than base")
    repo = open_git(request.app, target)
    head_sha, base_sha = tip(repo, target, branch), tip(repo, target, base)
    return issues.Branches(branch, base, head_sha, history.merge_base(repo, base_sha, head_sha) or base_sha)


def tip(repo: Repo, target: RepositoryAccess, branch: str) -> str:
    """Return the commit a branch points to; it must be there."""
    found = refs.branch(repo, branch)
    if found is None:
        raise ApiError(404, f"branch does not exist [repo_id: {target.repository.id} name: {branch}]")
    return found.id


def the_pull(request: RequestContext, target: RepositoryAccess, index: int) -> issues.Issue:
    """Return the pull request of a number; an issue is none."""
    issue = the_issue(request, target, index)
    if not issue.is_pull:
        raise ApiError(404, f"pull request does not exist [index: {index}]")
    return issue


def shown(request: RequestContext, target: RepositoryAccess, found: Sequence[issues.Issue]) -> list[PullRequest]:
    """Make the shapes of pull requests; when working out their states takes too long, the rest go without."""
    until = time.monotonic() + PATIENCE_SECONDS
    states: dict[int, PullState] = {}
    with suppress(NoSuchFolder):
        repo = open_git(request.app, target)
        for issue in found:
            if time.monotonic() > until or not target.permissions.may_read(Unit.CODE):
                break
            states[issue.id] = state_of(repo, issue)
    return pull_list(request, target.repository, target.permissions, found, states)


def state_of(repo: Repo, issue: issues.Issue) -> PullState:
    """Work out what the branches of a pull request come to now; of a closed one, what they were."""
    opened = PullState(issue.head_sha, issue.base_sha, issue.base_sha)
    head, base = refs.branch(repo, issue.head_branch), refs.branch(repo, issue.base_branch)
    is_live = not issue.is_closed and head is not None and base is not None
    head_sha = head.id if is_live and head is not None else issue.head_sha
    base_sha = base.id if is_live and base is not None else issue.base_sha
    try:
        parted = history.merge_base(repo, base_sha, head_sha)
        before = read_commit(repo, parted or base_sha).tree
        stats = changes.stats_between(repo, before, read_commit(repo, head_sha).tree)
        mergeable = is_live and merges_cleanly(repo, base_sha, head_sha)
    except (NoSuchObject, GitDamaged, GitTimedOut):
        # A branch is gone and its commits with it, or there is too much to compare.
        return opened
    return PullState(
        head_sha,
        base_sha,
        parted or base_sha,
        mergeable,
        additions=stats.additions,
        deletions=stats.deletions,
        changed_files=stats.changed_files,
    )


@endpoint("GET /repos/{owner}/{repo}/pulls", scope="repository", guards=READING, slow=True)
def list_pulls(
    request: RequestContext, target: RepositoryAccess, query: PullQuery, page: PageParams
) -> PagedList[PullRequest]:
    """List the pull requests of a repository."""
    wanted = filter_of(
        query, label_ids=tuple(query.labels), milestones=query.milestone.replace(",", " "), author=query.poster
    )
    conditions = [issue_lists.in_repository(target.repository, (True,))]
    conditions += issue_lists.between_branches(query.head.rpartition(":")[2], query.base)
    found, total = issue_lists.list_issues(
        request.app.database, conditions, wanted, sort=order_of(query), skip=page.skip, limit=page.size
    )
    return PagedList(shown(request, target, found), total)


@endpoint("POST /repos/{owner}/{repo}/pulls", scope="repository", guards=WRITING, status=201, refuses=(409, 423))
def create_pull(request: RequestContext, target: RepositoryAccess, body: CreatePullRequestOption) -> PullRequest:
    """Open a pull request; it can be talked about and closed, but it cannot be merged here."""
    wanted = new_issue(request, target, body, branches=branches_of(request, target, body.head, body.base))
    made = issues.open_issue(request.app.database, target.repository, request.user, wanted)
    return shown(request, target, [made])[0]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}", scope="repository", guards=READING, slow=True)
def show_pull(request: RequestContext, target: RepositoryAccess, index: int) -> PullRequest:
    """Show a pull request."""
    return shown(request, target, [the_pull(request, target, index)])[0]


@endpoint(
    "PATCH /repos/{owner}/{repo}/pulls/{index}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(409, 412, 423),
)
def edit_pull(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditPullRequestOption
) -> PullRequest:
    """Change a pull request; its author may change title, body and state, everything else needs write access."""
    issue = the_pull(request, target, index)
    if body.base:
        ask_to_write(target, issue)
        tip(open_git(request.app, target), target, body.base)
    wanted = changes_of(request, target, issue, body, body.base or None)
    changed = issues.change_issue(request.app.database, target.repository, issue, request.user, wanted)
    return shown(request, target, [changed])[0]
