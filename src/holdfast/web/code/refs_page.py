"""The lists of branches and of tags, with forms to create and delete branches."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import Commit, read_commit, read_tag
from holdfast.hosting.git.refs import Ref
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import branch_protection, branches, ref_lists
from holdfast.hosting.store import protections
from holdfast.hosting.store.repositories import Repository
from holdfast.web.code.change_forms import check_branch_name
from holdfast.web.code.commit_rows import CommitRow, lines_of
from holdfast.web.code.location import READING, CodeLocation
from holdfast.web.code.repository_pages import may_change, number
from holdfast.web.code.switcher import choice_of, is_linkable
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, root_path, show_in

__all__ = ["page_branches", "page_new_branch", "page_remove_branch", "page_tags"]

PER_PAGE: Final = 30
# The number of refs that are searched by name; the rest of a larger repository is not found here.
SEARCHED: Final = 20_000
# Up to this number, branches are sorted with the default one first, tags with the newest first; more are by name.
SORTED: Final = 2000
COUNTING_SECONDS: Final = 0.5
LONGEST_TELLING: Final = 2000


class RefListQuery(msgspec.Struct, frozen=True):
    """The search text, and the page number."""

    q: str = ""
    page: str = ""


class NewBranch(msgspec.Struct, frozen=True):
    """The form of a new branch."""

    name: str = ""
    start: str = ""


class OldBranch(msgspec.Struct, frozen=True):
    """The form that deletes a branch."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class RefRow:
    """A branch or tag in its list."""

    name: str
    address: str
    last: CommitRow | None
    is_default: bool
    is_protected: bool
    archive: str
    compare: str
    telling: str = ""
    distance: tuple[int, int] | None = None
    """How many commits a branch is behind and ahead of the default branch."""


def page_of_refs(app: App, repository: Repository, kind: str, query: RefListQuery) -> tuple[list[Ref], int, int]:
    """Return one page of the refs whose names contain the search text, the total, and the page number."""
    page = number(query.page)
    list_refs = partial(ref_lists.list_branches if kind == "branch" else ref_lists.list_tags, app, repository)
    if not query.q:
        page_refs, total = list_refs(skip=(page - 1) * PER_PAGE, limit=PER_PAGE)
        if total > SORTED:
            return page_refs, total, page
    wanted = query.q.casefold()
    fitting = [ref for ref in list_refs(limit=SEARCHED)[0] if wanted in ref.name.casefold()]
    if len(fitting) <= SORTED and kind == "branch":
        fitting.sort(key=lambda ref: ref.name != repository.default_branch)
    elif len(fitting) <= SORTED:
        repo = ref_lists.open_with(app, repository, fitting)
        fitting.sort(key=lambda ref: -tagged_at(repo, ref))
    return fitting[(page - 1) * PER_PAGE : page * PER_PAGE], len(fitting), page


def tagged_at(repo: Repo, ref: Ref) -> int:
    """Return the time of an annotated tag, or of the commit of a lightweight tag; 0 for other objects."""
    header = repo.header(ref.id)
    if header is not None and header[0] == "tag":
        tagger = read_tag(repo, ref.id).tagger
        if tagger is not None:
            return tagger.time
    commit = commit_at(repo, ref)
    return 0 if commit is None else commit.committer.time


def distances(repo: Repo, page_refs: list[Ref], default: str) -> dict[str, tuple[int, int]]:
    """Return how many commits branches are behind and ahead of the default branch, up to a time limit."""
    base = refs.branch(repo, default)
    counted: dict[str, tuple[int, int]] = {}
    until = time.monotonic() + COUNTING_SECONDS
    for ref in page_refs if base is not None else ():
        if base is not None and ref.name != default:
            counted[ref.name] = history.ahead_behind(repo, base.id, ref.id)
            if time.monotonic() > until:
                break
    return counted


def commit_at(repo: Repo, ref: Ref) -> Commit | None:
    """Return the commit of a ref; None for a tag of another object."""
    commit_id = refs.commit_of(repo, ref.id)
    return None if commit_id is None else read_commit(repo, commit_id)


def tag_message(repo: Repo, ref: Ref, kind: str) -> str:
    """Return the message of an annotated tag."""
    header = repo.header(ref.id)
    if kind != "tag" or header is None or header[0] != "tag":
        return ""
    return read_tag(repo, ref.id).message.strip()[:LONGEST_TELLING]


def list_page(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    query: RefListQuery,
    *,
    status: int = 200,
    problem: str = "",
    typed: NewBranch | None = None,
) -> RawResponse:
    """Show a list of branches or of tags."""
    root, default = root_path(target), target.repository.default_branch
    page_refs, total, page = page_of_refs(request.app, target.repository, kind, query)
    repo = ref_lists.open_with(request.app, target.repository, page_refs)
    counted = distances(repo, page_refs, default) if kind == "branch" else {}
    commits = [commit_at(repo, ref) for ref in page_refs]
    rows_by_commit = {
        line.id: line for line in lines_of(request, [commit for commit in commits if commit is not None])
    }
    rules = protections.protections_of(request.app.database, target.repository) if kind == "branch" else []
    full_name = quote(target.repository.full_name)
    rows = []
    for ref, commit in zip(page_refs, commits, strict=True):
        location = CodeLocation(root, repo, "branch" if kind == "branch" else "tag", "", ref.id)
        ours, its = quote(default, safe="/"), quote(ref.name, safe="/")
        # A branch is compared from the default branch, a tag to the default branch.
        sides = f"{ours}...{its}" if kind == "branch" else f"{its}...{ours}"
        rows.append(
            RefRow(
                name=ref.name,
                address=choice_of(repo, location, location.kind, ref, "src").address,
                last=None if commit is None else rows_by_commit[commit.id],
                is_default=kind == "branch" and ref.name == default,
                is_protected=branch_protection.rule_for(rules, ref.name) is not None,
                archive="" if commit is None else f"/api/v1/repos/{full_name}/archive/{commit.id}",
                compare=f"{root}/compare/{sides}" if is_linkable(ref) and ref.name != default else "",
                telling=tag_message(repo, ref, kind),
                distance=counted.get(ref.name),
            )
        )
    return show_in(
        request,
        target,
        "code/refs.html",
        tab=CODE,
        title=f"{'Branches' if kind == 'branch' else 'Tags'} · {target.repository.full_name}",
        status=status,
        kind=kind,
        rows=rows,
        total=total,
        number=page,
        size=PER_PAGE,
        q=query.q,
        list_at=f"{root}/{'branches' if kind == 'branch' else 'tags'}?"
        + (f"{urlencode({'q': query.q})}&" if query.q else "")
        + "page=",
        reads_releases=target.permissions.may_read(Unit.RELEASES),
        may_write=may_change(target) and kind == "branch" and ref_lists.has_refs(request.app, target.repository),
        problem=problem,
        typed=typed or NewBranch(start=default),
    )


@endpoint("GET /{owner}/{repo}/branches", scope="repository", guards=READING, slow=True)
def page_branches(request: RequestContext, target: RepositoryAccess, query: RefListQuery) -> RawResponse:
    """List the branches."""
    return list_page(request, target, "branch", query)


@endpoint("GET /{owner}/{repo}/tags", scope="repository", guards=READING, slow=True)
def page_tags(request: RequestContext, target: RepositoryAccess, query: RefListQuery) -> RawResponse:
    """List the tags."""
    return list_page(request, target, "tag", query)


@endpoint("POST /{owner}/{repo}/branches", scope="repository", guards=(*READING, signed_in))
def page_new_branch(request: RequestContext, target: RepositoryAccess, body: NewBranch) -> RawResponse:
    """Create a branch."""
    name = body.name.strip()
    try:
        check_branch_name(body.name)
        branches.create(request.app, request.actor, target, name, body.start.strip())
    except HostingError as error:
        return list_page(
            request,
            target,
            "branch",
            RefListQuery(),
            status=status_for(error),
            problem=message_for(error),
            typed=body,
        )
    return redirect_to(f"{root_path(target)}/src/branch/{quote(name, safe='/')}", "branch-created", name)


@endpoint("POST /{owner}/{repo}/branches/delete", scope="repository", guards=(*READING, signed_in))
def page_remove_branch(request: RequestContext, target: RepositoryAccess, body: OldBranch) -> RawResponse:
    """Delete a branch."""
    try:
        branches.delete(request.app, request.actor, target, body.name)
    except HostingError as error:
        return list_page(
            request, target, "branch", RefListQuery(), status=status_for(error), problem=message_for(error)
        )
    return redirect_to(f"{root_path(target)}/branches", "branch-deleted", body.name)
