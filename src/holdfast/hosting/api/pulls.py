"""Pull requests: issues that name two branches. They can be talked about and closed; nothing here merges them."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Final

from msgspec import Meta, field

from holdfast.hosting.access import Unit
from holdfast.hosting.api.issue_access import ask_to_write, sees_pulls, the_issue
from holdfast.hosting.api.issue_options import EditIssueOption, OpenOption, changes_of, new_issue
from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.api.opening import git_of
from holdfast.hosting.errors import GitDamaged, GitTimedOut, NoSuchFolder, NoSuchObject
from holdfast.hosting.git import changes, history, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.merges import merges_cleanly
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import Place, in_repository, not_archived, signed_in
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.decoders import RefName, Required, is_ref_name
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.pagination import Listed, Page
from holdfast.hosting.schemas.pulls import PullRequest, PullState, pull_list
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


def branches_of(call: Call, place: Place, head: str, base: str) -> issues.Branches:
    """Return the branches a new pull request names; `head` may have the owner's name and a colon before it."""
    owner, colon, branch = head.rpartition(":")
    if colon and owner.casefold() != place.repository.owner.name.casefold():
        raise Refusal(422, f"[Head]: must be a branch of {place.repository.full_name}")
    if not branch:
        raise Refusal(422, "[Head]: Required")
    if not is_ref_name(branch):
        raise Refusal(422, "[Head]: GitRefName")
    if branch == base:
        raise Refusal(422, "[Head]: must be another branch than base")
    repo = git_of(call, place)
    head_sha, base_sha = tip(repo, place, branch), tip(repo, place, base)
    return issues.Branches(branch, base, head_sha, history.merge_base(repo, base_sha, head_sha) or base_sha)


def tip(repo: Repo, place: Place, branch: str) -> str:
    """Return the commit a branch points to; it must be there."""
    found = refs.branch(repo, branch)
    if found is None:
        raise Refusal(404, f"branch does not exist [repo_id: {place.repository.id} name: {branch}]")
    return found.id


def the_pull(call: Call, place: Place, index: int) -> issues.Issue:
    """Return the pull request of a number; an issue is none."""
    issue = the_issue(call, place, index)
    if not issue.is_pull:
        raise Refusal(404, f"pull request does not exist [index: {index}]")
    return issue


def shown(call: Call, place: Place, found: Sequence[issues.Issue]) -> list[PullRequest]:
    """Make the shapes of pull requests; when working out their states takes too long, the rest go without."""
    until = time.monotonic() + PATIENCE_SECONDS
    states: dict[int, PullState] = {}
    with suppress(NoSuchFolder):
        repo = git_of(call, place)
        for issue in found:
            if time.monotonic() > until or not place.access.may_read(Unit.CODE):
                break
            states[issue.id] = state_of(repo, issue)
    return pull_list(call, place.repository, place.access, found, states)


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
def list_pulls(call: Call, place: Place, query: PullQuery, page: Page) -> Listed[PullRequest]:
    """List the pull requests of a repository."""
    wanted = filter_of(
        query, label_ids=tuple(query.labels), milestones=query.milestone.replace(",", " "), author=query.poster
    )
    conditions = [issue_lists.in_repository(place.repository, (True,))]
    conditions += issue_lists.between_branches(query.head.rpartition(":")[2], query.base)
    found, total = issue_lists.list_issues(
        call.host.database, conditions, wanted, sort=order_of(query), skip=page.skip, limit=page.size
    )
    return Listed(shown(call, place, found), total)


@endpoint("POST /repos/{owner}/{repo}/pulls", scope="repository", guards=WRITING, status=201, refuses=(409, 423))
def create_pull(call: Call, place: Place, body: CreatePullRequestOption) -> PullRequest:
    """Open a pull request; it can be talked about and closed, but it cannot be merged here."""
    wanted = new_issue(call, place, body, branches=branches_of(call, place, body.head, body.base))
    made = issues.open_issue(call.host.database, place.repository, call.user, wanted)
    return shown(call, place, [made])[0]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}", scope="repository", guards=READING, slow=True)
def show_pull(call: Call, place: Place, index: int) -> PullRequest:
    """Show a pull request."""
    return shown(call, place, [the_pull(call, place, index)])[0]


@endpoint(
    "PATCH /repos/{owner}/{repo}/pulls/{index}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(409, 412, 423),
)
def edit_pull(call: Call, place: Place, index: int, body: EditPullRequestOption) -> PullRequest:
    """Change a pull request; its author may change title, body and state, everything else needs write access."""
    issue = the_pull(call, place, index)
    if body.base:
        ask_to_write(place, issue)
        tip(git_of(call, place), place, body.base)
    wanted = changes_of(call, place, issue, body, body.base or None)
    changed = issues.change_issue(call.host.database, place.repository, issue, call.user, wanted)
    return shown(call, place, [changed])[0]
