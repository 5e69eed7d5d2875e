"""Comparing two branches, tags or commits, and opening a pull request from the comparison."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError, InvalidReference, NoSuchRef
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import raw, well_formed
from holdfast.hosting.git.patches import diff_trees
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import not_archived, sees_pulls, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pulls, ref_lists
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.services.reviews import ReviewRequests
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import pulls as pull_rows
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import Repository, find_by_id
from holdfast.web.code.commit_rows import lines_of, summary_of
from holdfast.web.code.diffs import DiffQuery, diff_shown
from holdfast.web.code.location import READING, commit_by_id, path_suffix
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import as_ids, choices
from holdfast.web.issues.issue_page import preview_of
from holdfast.web.issues.rows import page_path
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import COMMITS, PULLS, root_path, show_in

__all__ = ["page_compare", "page_compare_start", "submit_new_pull"]

COMMITS_SHOWN: Final = 30
NAMES_OFFERED: Final = 100
BEFORE_RANGE: Final = 4
DRAFT: Final = "Draft: "


class CompareQuery(DiffQuery, frozen=True):
    """The base and head chosen in the form."""

    base: str = ""
    head: str = ""


class NewPullForm(msgspec.Struct, frozen=True):
    """The form of a new pull request; only users with write access see labels, assignees and milestone."""

    title: str = ""
    body: str = ""
    label: list[str] = []
    assignee: list[str] = []
    milestone: str = ""
    reviewers: str = ""
    draft: str = ""
    maintainer_edit: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullFormShown:
    """The form of a new pull request as shown, or the existing pull request."""

    typed: NewPullForm = field(default_factory=NewPullForm)
    existing: Issue | None = None
    existing_path: str = ""
    is_fork: bool = False
    writes: bool = False
    problem: str = ""
    preview: Markup | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """Base and head of a comparison: their names, and the commits they resolve to."""

    repo: Repo
    base: str
    head: str
    old: str
    new: str


def commit_for(repo: Repo, name: str) -> str | None:
    """Return the commit that a branch, a tag or an id resolves to."""
    resolved = refs.resolve(repo, name, "") if name else None
    return commit_by_id(repo, name) if resolved is None else resolved.commit


def ref_names(request: RequestContext, target: RepositoryAccess) -> list[str]:
    """Return the names to choose from: branches and tags, and the branches of the viewer's fork."""
    branches, _ = ref_lists.list_branches(request.app, target.repository, limit=NAMES_OFFERED)
    tags, _ = ref_lists.list_tags(request.app, target.repository, limit=NAMES_OFFERED)
    names = [ref.name for ref in [*branches, *tags]]
    user = request.actor.user
    if user is not None and user.id != target.repository.owner.id:
        fork = pull_rows.find_head_repository(request.app.database, target.repository, user.name)
        if fork is not None:
            with suppress(HostingError, OSError):
                theirs, _ = ref_lists.list_branches(request.app, fork, limit=NAMES_OFFERED)
                names += [f"{user.name}:{ref.name}" for ref in theirs]
    return names


def parent_of(request: RequestContext, target: RepositoryAccess) -> Repository | None:
    """Return the repository that a repository is a fork of, if the viewer may open pull requests there."""
    if target.repository.fork_of is None:
        return None
    parent = find_by_id(request.app.database, target.repository.fork_of)
    if parent is None or not permissions_in(request.app, request.actor, parent).may_read(Unit.PULLS):
        return None
    return parent


@endpoint("GET /{owner}/{repo}/compare", scope="repository", guards=READING, slow=True)
def page_compare_start(request: RequestContext, target: RepositoryAccess, query: CompareQuery) -> RawResponse:
    """Show the form of base and head, or redirect to the comparison of the chosen ones."""
    if query.base and query.head:
        names = f"{quote(raw(query.base), safe='/')}...{quote(raw(query.head), safe='/:')}"
        return redirect_to(f"{root_path(target)}/compare/{names}")
    return compare_form(request, target, base=query.base or target.repository.default_branch, head=query.head)


def compare_form(
    request: RequestContext, target: RepositoryAccess, *, base: str, head: str, missing: str = ""
) -> RawResponse:
    """Render the form; `missing` is the name that does not exist."""
    parent = parent_of(request, target)
    return show_in(
        request,
        target,
        "code/compare.html",
        tab=PULLS if target.permissions.may_read(Unit.PULLS) else COMMITS,
        title=f"Compare · {target.repository.full_name}",
        status=404 if missing else 200,
        base=base,
        head=head,
        names=ref_names(request, target),
        missing=missing,
        parent=parent,
        result=None,
    )


@endpoint("GET /{owner}/{repo}/compare/{range...}", scope="repository", guards=READING, slow=True)
def page_compare(
    request: RequestContext,
    target: RepositoryAccess,
    range: str,  # noqa: A002, ARG001  # named in the path
    query: CompareQuery,  # named in the path
) -> RawResponse:
    """Show the commits of the head that are not in the base, and the diff since the merge base."""
    sides = find_sides(request, target)
    return sides if isinstance(sides, RawResponse) else compare_page(request, target, sides, query)


def find_sides(request: RequestContext, target: RepositoryAccess) -> ComparedSides | RawResponse:
    """Return the base and head of a URL, or the form that says which of them does not exist.

    The head may be a branch of a fork: `owner:branch` or `owner/repo:branch`.
    """
    repo = open_git(request.app, target)
    base, dots, head = path_suffix(request, BEFORE_RANGE).partition("...")
    if not dots:
        base, head = target.repository.default_branch, base
    new: str | None = None
    if ":" in head:
        with suppress(InvalidReference, NoSuchRef):
            repo, new = pulls.open_head(request.app, request.actor, target, head)
    else:
        new = commit_for(repo, head)
    old = commit_for(repo, base)
    if old is None or new is None:
        unknown = base if old is None else head
        clean = [name.encode(errors="replace").decode() for name in (base, head, unknown)]
        return compare_form(request, target, base=clean[0], head=clean[1], missing=clean[2] or "nothing")
    return ComparedSides(repo, base, head, old, new)


def compare_page(
    request: RequestContext,
    target: RepositoryAccess,
    sides: ComparedSides,
    query: CompareQuery,
    form: PullFormShown | None = None,
) -> RawResponse:
    """Render a comparison, with the form of a pull request if one can be opened."""
    repo, root, old, new = sides.repo, root_path(target), sides.old, sides.new
    base, head = well_formed(sides.base), well_formed(sides.head)
    parted = history.merge_base(repo, old, new)
    behind, ahead = history.ahead_behind(repo, old, new)
    before = parted or old
    commits = history.commits(repo, history.commit_range(repo, new, exclude=[old]), limit=COMMITS_SHOWN)
    here = f"{root}/compare/{quote(raw(sides.base), safe='/')}...{quote(raw(sides.head), safe='/:')}"
    diff = diff_shown(
        repo,
        root,
        diff_trees(repo, read_commit(repo, before).tree, read_commit(repo, new).tree),
        query,
        old=before,
        new=new,
        whole=here,
    )
    form = form or (pull_form(request, target, sides, commits) if ahead and parted else None)
    offers = choices(request, target) if form is not None and form.writes and form.existing is None else None
    return show_in(
        request,
        target,
        "code/compare.html",
        tab=PULLS if target.permissions.may_read(Unit.PULLS) else COMMITS,
        title=f"{base}...{head} · {target.repository.full_name}",
        status=200 if form is None else form.status,
        base=base,
        head=head,
        names=ref_names(request, target),
        missing="",
        parent=None,
        result=diff,
        lines=lines_of(request, commits),
        ahead=ahead,
        behind=behind,
        more=max(0, ahead - len(commits)),
        parted=parted,
        turned=""
        if ":" in head
        else f"{root}/compare/{quote(raw(sides.head), safe='/')}...{quote(raw(sides.base))}",
        whole=here,
        diff=diff,
        form=form,
        choices=offers,
        chosen=set(as_ids(form.typed.label)) if form else set(),
        people=set(form.typed.assignee) if form else set(),
    )


def pull_form(
    request: RequestContext, target: RepositoryAccess, sides: ComparedSides, commits: Sequence[Commit]
) -> PullFormShown | None:
    """Return the form of a pull request from one branch into another; None if none can be opened."""
    repository = target.repository
    if not target.permissions.may_read(Unit.PULLS) or not are_branches(sides):
        return None
    owner, _, branch = sides.head.rpartition(":")
    existing = pull_rows.pull_between(
        request.app.database, repository, sides.base, branch, owner.partition("/")[0]
    )
    if existing is not None and not existing.is_closed:
        return PullFormShown(existing=existing, existing_path=page_path(repository, existing))
    if request.actor.user is None or repository.is_archived:
        return None
    title, body = default_words(branch, commits)
    return PullFormShown(
        typed=NewPullForm(title=title, body=body),
        is_fork=bool(owner),
        writes=target.permissions.may_write(Unit.PULLS),
    )


def are_branches(sides: ComparedSides) -> bool:
    """Return whether both sides are branches with UTF-8 names; a head with an owner counts as a branch."""
    if well_formed(sides.base) != sides.base or well_formed(sides.head) != sides.head:
        return False
    has_head = ":" in sides.head or refs.branch(sides.repo, sides.head) is not None
    return has_head and sides.base != sides.head and refs.branch(sides.repo, sides.base) is not None


def default_words(branch: str, commits: Sequence[Commit]) -> tuple[str, str]:
    """Return the title and description of a new pull request: those of its only commit, else the branch name."""
    if len(commits) == 1:
        return summary_of(commits[0].message)
    title = branch.rpartition("/")[2].replace("-", " ").replace("_", " ").strip()
    return f"{title[:1].upper()}{title[1:]}", ""


@endpoint(
    "POST /{owner}/{repo}/compare/{range...}",
    scope="issue",
    guards=(*READING, sees_pulls, signed_in, not_archived),
    keeps_form=True,
)
def submit_new_pull(
    request: RequestContext,
    target: RepositoryAccess,
    range: str,  # noqa: A002, ARG001  # named in the path
    body: NewPullForm,
) -> RawResponse:
    """Open a pull request, or show its preview."""
    sides = find_sides(request, target)
    if isinstance(sides, RawResponse):
        return sides
    if body.then == "preview":
        return compare_page(
            request, target, sides, CompareQuery(), typed_form(target, sides, body, preview_of(target, body.body))
        )
    try:
        issue = pulls.create(
            request.app,
            request.actor,
            target,
            draft_of(body),
            head=well_formed(sides.head),
            base=well_formed(sides.base),
            allow_maintainer_edit=body.maintainer_edit == "true",
            asked=asked_in(body),
        )
    except HostingError as error:
        again = replace(typed_form(target, sides, body), problem=message_for(error), status=status_for(error))
        return compare_page(request, target, sides, CompareQuery(), again)
    return redirect_to(page_path(target.repository, issue), "pull-created", f"#{issue.number}")


def typed_form(
    target: RepositoryAccess, sides: ComparedSides, typed: NewPullForm, preview: Markup | None = None
) -> PullFormShown:
    """Return the form with the typed values."""
    writes = target.permissions.may_write(Unit.PULLS)
    return PullFormShown(typed=typed, is_fork=":" in sides.head, writes=writes, preview=preview)


def draft_of(body: NewPullForm) -> IssueDraft:
    """Return the draft of the pull request in a form."""
    title = body.title.strip()
    return IssueDraft(
        title=f"{DRAFT}{title}" if title and body.draft == "true" else title,
        body=body.body,
        labels=as_ids(body.label),
        assignees=[name for name in body.assignee if name],
        milestone_id=next(iter(as_ids([body.milestone])), 0),
    )


def asked_in(body: NewPullForm) -> ReviewRequests | None:
    """Return the requested reviewers: names separated by commas or spaces."""
    names = body.reviewers.replace(",", " ").split()
    return ReviewRequests(reviewers=names) if names else None
