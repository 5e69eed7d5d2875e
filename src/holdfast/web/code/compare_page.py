"""Comparing two branches, tags or commits."""

from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import raw, well_formed
from holdfast.hosting.git.patches import diff_trees
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.web.code.commit_rows import lines_of
from holdfast.web.code.diffs import DiffQuery, diff_shown
from holdfast.web.code.location import READING, commit_by_id, rest_of
from holdfast.web.pages import go
from holdfast.web.repository_frame import COMMITS, root_path, show_in

__all__ = ["page_compare", "page_compare_start"]

COMMITS_SHOWN: Final = 30
NAMES_OFFERED: Final = 100
BEFORE_RANGE: Final = 4


class CompareQuery(DiffQuery, frozen=True):
    """What to compare, when it is chosen in the form."""

    base: str = ""
    head: str = ""


def commit_for(repo: Repo, name: str) -> str | None:
    """Return the commit a branch, a tag or an id stands for."""
    found = refs.resolve(repo, name, "") if name else None
    return commit_by_id(repo, name) if found is None else found.commit


def offered(repo: Repo) -> list[str]:
    """Return the names the form offers."""
    branches, _ = refs.branches(repo, limit=NAMES_OFFERED)
    tags, _ = refs.tags(repo, limit=NAMES_OFFERED)
    return [ref.name for ref in [*branches, *tags]]


@endpoint("GET /{owner}/{repo}/compare", scope="repository", guards=READING, slow=True)
def page_compare_start(request: RequestContext, target: RepositoryAccess, query: CompareQuery) -> RawResponse:
    """Ask what to compare, or go there."""
    if query.base and query.head:
        names = f"{quote(raw(query.base), safe='/')}...{quote(raw(query.head), safe='/')}"
        return go(f"{root_path(target)}/compare/{names}")
    repo = open_git(request.app, target)
    return asked(request, target, repo, base=query.base or target.repository.default_branch, head=query.head)


def asked(
    request: RequestContext, target: RepositoryAccess, repo: Repo, *, base: str, head: str, missing: str = ""
) -> RawResponse:
    """Show the form; `missing` is the name nothing stands for."""
    return show_in(
        request,
        target,
        "code/compare.html",
        tab=COMMITS,
        title=f"Compare · {target.repository.full_name}",
        status=404 if missing else 200,
        base=base,
        head=head,
        names=offered(repo),
        missing=missing,
        result=None,
    )


@endpoint("GET /{owner}/{repo}/compare/{range...}", scope="repository", guards=READING, slow=True)
def page_compare(
    request: RequestContext,
    target: RepositoryAccess,
    range: str,  # noqa: A002, ARG001  # named in the path
    query: CompareQuery,  # named in the path
) -> RawResponse:
    """Show what one has that the other has not, and what differs since they parted."""
    repo, root = open_git(request.app, target), root_path(target)
    base, dots, head = rest_of(request, BEFORE_RANGE).partition("...")
    if not dots:
        base, head = target.repository.default_branch, base
    old, new = commit_for(repo, base), commit_for(repo, head)
    if old is None or new is None:
        unknown = base if old is None else head
        clean = [name.encode(errors="replace").decode() for name in (base, head, unknown)]
        return asked(request, target, repo, base=clean[0], head=clean[1], missing=clean[2] or "nothing")
    parted = history.merge_base(repo, old, new)
    behind, ahead = history.ahead_behind(repo, old, new)
    before = parted or old
    found = history.commits(repo, history.commit_range(repo, new, exclude=[old]), limit=COMMITS_SHOWN)
    here = f"{root}/compare/{quote(raw(base), safe='/')}...{quote(raw(head), safe='/')}"
    diff = diff_shown(
        repo,
        root,
        diff_trees(repo, read_commit(repo, before).tree, read_commit(repo, new).tree),
        query,
        old=before,
        new=new,
        whole=here,
    )
    return show_in(
        request,
        target,
        "code/compare.html",
        tab=COMMITS,
        title=f"{well_formed(base)}...{well_formed(head)} · {target.repository.full_name}",
        base=well_formed(base),
        head=well_formed(head),
        names=offered(repo),
        missing="",
        result=diff,
        lines=lines_of(request, found),
        ahead=ahead,
        behind=behind,
        more=max(0, ahead - len(found)),
        parted=parted,
        turned=f"{root}/compare/{quote(raw(head), safe='/')}...{quote(raw(base), safe='/')}",
        whole=here,
        diff=diff,
    )
