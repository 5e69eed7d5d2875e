"""Pull requests: open them from a branch or a fork, edit and close them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidField,
    InvalidReference,
    NoSuchBranch,
    NoSuchIssue,
    Permission,
    RefMoved,
    Violation,
)
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import code_owners, forks, issues, pull_comparisons, pull_heads, reviews
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.services.reviews import ReviewRequests
from holdfast.hosting.store import pulls, repository_log
from holdfast.hosting.store.issues import Branches, Issue
from holdfast.hosting.store.pulls import NewPull
from holdfast.hosting.store.repositories import Repository

__all__ = ["create", "edit", "find", "find_between", "find_merged", "head_repository", "open_head"]

HEAD_LENGTH: Final = 255
# Maximum attempts when the head branch is updated while a pull request is created.
ATTEMPTS: Final = 5


def find(app: App, target: RepositoryAccess, number: int) -> Issue:
    """Return a pull request by number; raise `NoSuchIssue` for an issue that is not a pull request."""
    issue = issues.find(app, target, number)
    if not issue.is_pull:
        raise NoSuchIssue(f"pull request does not exist [index: {number}]")
    return issue


def find_between(app: App, target: RepositoryAccess, base: str, head: str) -> Issue:
    """Return the newest pull request from a head (`branch` or `owner:branch`) into a base, open ones first."""
    owner, _, branch = head.rpartition(":")
    issue = pulls.pull_between(app.database, target.repository, base, branch, owner)
    if issue is None or not target.permissions.may_read(Unit.PULLS):
        raise NoSuchIssue(f"pull request does not exist [head_branch: {head}, base_branch: {base}]")
    return issue


def find_merged(app: App, target: RepositoryAccess, sha: str) -> Issue | None:
    """Return the pull request whose merge created a commit; None if there is none."""
    return pulls.merged_with(app.database, target.repository, sha)


def create(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    draft: IssueDraft,
    *,
    head: str,
    base: str,
    allow_maintainer_edit: bool = False,
    asked: ReviewRequests | None = None,
) -> Issue:
    """Open a pull request to merge `head` (`branch`, `owner:branch` or `owner/repo:branch`) into `base`.

    Requires read access to the repository and to the head's repository, and write access to a private fork: its
    commits can be read by all readers of the repository from then on.
    """
    user = access.require_login(actor)
    access.require_unarchived(target)
    access.require_read(target, Unit.PULLS)
    if asked is not None:
        reviews.check_reviewers(app, target, asked, user)

    def attempt() -> Issue:
        branches = find_branches(app, actor, target, head, base, allow_maintainer_edit=allow_maintainer_edit)
        return issues.create(app, actor, target, draft, branches)

    issue = keep_trying(attempt)
    compare_at_once(app, issue)
    with suppress(HostingError, OSError):
        code_owners.request_reviews(app, user, target.repository, issue)
    if asked is not None:
        reviews.request(app, actor, target, issue, asked)
    return issue


def keep_trying(attempt: Callable[[], Issue]) -> Issue:
    """Retry on the new commit when the head branch was updated meanwhile."""
    for _ in range(ATTEMPTS - 1):
        with suppress(RefMoved):
            return attempt()
    return attempt()


def edit(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    issue: Issue,
    changes: IssueEdit,
    *,
    allow_maintainer_edit: bool | None = None,
) -> Issue:
    """Edit a pull request; a new base branch requires write access and must exist."""
    if changes.base_branch is not None:
        access.require_issue_write(actor, target, issue)
        branch_tip(app, target.repository, changes.base_branch)
    allowed_before = pulls.find_pull(app.database, issue).allow_maintainer_edit
    is_allowed = allowed_before if allow_maintainer_edit is None else allow_maintainer_edit
    # Grants others access to the fork, so only the author may change it.
    if is_allowed != allowed_before and access.require_login(actor).id != issue.author_id:
        raise Forbidden(Permission.AUTHOR)
    changed = issues.edit(app, actor, target, issue, changes)
    if is_allowed != allowed_before:
        with app.database.write() as connection:
            pulls.set_maintainer_edit(connection, issue, is_allowed=is_allowed)
    if changed.base_branch != issue.base_branch or changed.is_closed != issue.is_closed:
        compare_at_once(app, changed)
    return changed


def compare_at_once(app: App, issue: Issue) -> None:
    """Compare a new pull request; a failure or timeout is left to the background task."""
    if not issue.is_closed:
        with suppress(HostingError, OSError):
            pull_comparisons.compare_now(app, app.copies.update(issue.repository_id), issue)


def find_branches(
    app: App, actor: Actor, target: RepositoryAccess, head: str, base: str, *, allow_maintainer_edit: bool
) -> Branches:
    """Return the branches of a new pull request, with the packed objects of a fork's branch."""
    check_length(head, "Head", HEAD_LENGTH)
    owner, _, branch = head.rpartition(":")
    if not branch:
        raise InvalidField("Head", Violation.REQUIRED)
    if not refs.is_ref_name(branch):
        raise InvalidField("Head", Violation.REF_NAME)
    source, own = head_repository(app, actor, target, owner), target.repository
    if branch == base and source.id == own.id:
        raise InvalidReference("Head", "must be another branch than base")
    is_fork = source.id != own.id
    if is_fork and pull_heads.is_hidden(source) and not permissions_in(app, actor, source).may_write(Unit.CODE):
        raise InvalidReference("Head", "must be a branch that you may push to, as its fork is private")
    head_sha, base_sha = branch_tip(app, source, branch), branch_tip(app, own, base)
    merge_base = "" if is_fork else history.merge_base(app.copies.update(own.id), base_sha, head_sha)
    return Branches(
        branch,
        base,
        head_sha,
        base_sha,
        source.id,
        pull_heads.objects_for(app, own, source, head_sha) if is_fork else (),
        NewPull(
            merge_base=merge_base or base_sha,
            allow_maintainer_edit=allow_maintainer_edit,
            head_label=f"{source.owner.name}:{branch}",
        ),
    )


def open_head(app: App, actor: Actor, target: RepositoryAccess, head: str) -> tuple[Repo, str]:
    """Return a local copy that has the commit of a head (`branch`, `owner:branch`), and that commit.

    The objects of a fork's branch are added to the local copy of the base, which requires a login. Readers of the
    base could then read them, so branches of a private fork are refused: only a pull request that somebody who may
    push there has opened shows them.
    """
    access.require_read(target, Unit.CODE)
    owner, _, branch = head.rpartition(":")
    source = head_repository(app, actor, target, owner)
    sha = branch_tip(app, source, branch)
    repo = app.copies.update(target.repository.id)
    if repo.header(sha) is None:
        access.require_login(actor)
        if pull_heads.is_hidden(source):
            raise InvalidReference("Head", "the branches of a private fork cannot be compared here")
        source_copy = app.copies.update(source.id)
        with app.copies.writing(target.repository.id) as copy:
            repo = forks.add_objects(copy, source_copy, sha)
    return repo, sha


def head_repository(app: App, actor: Actor, target: RepositoryAccess, named: str) -> Repository:
    """Return the repository of a head: the base's own if empty, the fork of an owner, or `owner/repo`."""
    own = target.repository
    owner, _, name = named.partition("/")
    is_own = owner.casefold() == own.owner.name.casefold() and name.casefold() in {"", own.name.casefold()}
    if not named or is_own:
        return own
    repository = pulls.find_head_repository(app.database, own, owner, name)
    if repository is not None and permissions_in(app, actor, repository).may_read(Unit.CODE):
        return repository
    raise InvalidReference("Head", f"must be a branch of {own.full_name} or of a fork")


def branch_tip(app: App, repository: Repository, branch: str) -> str:
    """Return the commit of a branch; raise `NoSuchBranch` if it does not exist."""
    tip = repository_log.find_ref(app.database, repository.id, f"refs/heads/{branch}")
    if tip is None:
        raise NoSuchBranch(repository.id, branch)
    return tip
