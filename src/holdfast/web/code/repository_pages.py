"""The home page of a repository, and the pages of its directories and files."""

from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git import history, last_commits, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.guards import in_repository
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import ref_lists
from holdfast.hosting.services.revisions import open_git
from holdfast.web.chats.repository_files import conversation_link
from holdfast.web.code.commit_rows import lines_of
from holdfast.web.code.directory import directory
from holdfast.web.code.file_page import FileShown, file_shown
from holdfast.web.code.location import READING, CodeLocation, location_at
from holdfast.web.code.recent_pushes import recent_pushes
from holdfast.web.code.side_column import side_column
from holdfast.web.code.switcher import switcher
from holdfast.web.pages import redirect_to
from holdfast.web.release_pages import may_change_releases
from holdfast.web.repository_frame import CODE, root_path, show_in

__all__ = ["page_source", "show_repository"]


class SourceQuery(msgspec.Struct, frozen=True):
    """The page or first line, and how the file is shown."""

    page: str = ""
    view: str = ""
    line: str = ""


def number(text: str) -> int:
    """Parse a page or line number; 1 if it is invalid."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1


@endpoint("GET /{owner}/{repo}", scope="repository", guards=(in_repository,), slow=True)
def show_repository(request: RequestContext, target: RepositoryAccess, query: SourceQuery) -> RawResponse:
    """Show the default branch, or how to start; viewers without code access are redirected to the issues."""
    root = root_path(target)
    if not target.permissions.may_read(Unit.CODE):
        if target.permissions.may_read(Unit.ISSUES):
            return redirect_to(f"{root}/issues")
        raise ApiError(404)
    repo = open_git(request.app, target)
    name = target.repository.default_branch
    branch = refs.branch(repo, name)
    if branch is None:
        others, _ = ref_lists.list_branches(request.app, target.repository, limit=20)
        return empty_page(request, target, [ref.name for ref in others])
    return directory_page(
        request, target, CodeLocation(root, repo, "branch", name, branch.id), query, is_first=True
    )


@endpoint("GET /{owner}/{repo}/src/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_source(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    filepath: str,  # noqa: ARG001  # named in the path
    query: SourceQuery,  # named in the path
) -> RawResponse:
    """Show a file or a directory."""
    location = location_at(request, target, kind)
    entry = trees.find(location.repo, read_commit(location.repo, location.commit).tree, location.path)
    if not isinstance(entry, TreeEntry) or entry.type == "submodule":
        return missing_page(request, target, location)
    if entry.type == "dir":
        return directory_page(request, target, location, query)
    return file_page(request, target, location, entry, query)


def empty_page(request: RequestContext, target: RepositoryAccess, branches: list[str]) -> RawResponse:
    """Show how to push the first commit to an empty repository."""
    repository = target.repository
    return show_in(
        request,
        target,
        "code/empty.html",
        tab=CODE,
        title=repository.full_name,
        address=clone_address(request, target),
        branch=repository.default_branch,
        branches=branches,
        may_write=may_change(target),
    )


def clone_address(request: RequestContext, target: RepositoryAccess) -> str:
    """Return the clone URL."""
    return f"{request.root}/{quote(target.repository.full_name)}.git"


def may_change(target: RepositoryAccess) -> bool:
    """Return whether the viewer may edit files."""
    repository = target.repository
    return target.permissions.may_write(Unit.CODE) and not (repository.is_archived or repository.is_mirror)


def may_edit_in_fork(request: RequestContext, target: RepositoryAccess) -> bool:
    """Return whether the form of a file offers the viewer a fork, since they may not edit it here."""
    is_reader = request.actor.user is not None and not target.permissions.may_write(Unit.CODE)
    return is_reader and not (target.repository.is_archived or target.repository.is_mirror)


def missing_page(request: RequestContext, target: RepositoryAccess, location: CodeLocation) -> RawResponse:
    """Render the 404 page of a path."""
    return show_in(
        request,
        target,
        "code/missing.html",
        tab=CODE,
        title="Nothing here",
        status=404,
        location=location,
        switch=switcher(request.app, target.repository, location),
    )


def directory_page(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    query: SourceQuery,
    *,
    is_first: bool = False,
) -> RawResponse:
    """Show a directory."""
    tree = read_commit(location.repo, location.commit).tree
    if location.path:
        entry = trees.find(location.repo, tree, location.path)
        tree = entry.id if isinstance(entry, TreeEntry) else tree
    directory_shown = directory(request, location, tree, number(query.page))
    repository = target.repository
    return show_in(
        request,
        target,
        "code/directory.html",
        tab=CODE,
        title=f"{repository.full_name}: {location.title}" if location.path else repository.full_name,
        location=location,
        crumbs=location.crumbs(),
        shown=directory_shown,
        above=location.address("src", location.path.rpartition(b"/")[0]) if location.path else "",
        switch=switcher(request.app, repository, location),
        commit_count=history.count(location.repo, history.commit_range(location.repo, location.commit)),
        address=clone_address(request, target),
        may_write=may_change(target) and location.kind == "branch",
        is_first=is_first,
        pushes=recent_pushes(request, target, location.repo) if is_first else [],
        side=side_column(request, target, location) if is_first else None,
        may_release=may_change_releases(request, target),
        may_sync=target.permissions.may_write(Unit.CODE) and not target.repository.is_archived,
    )


def file_page(
    request: RequestContext, target: RepositoryAccess, location: CodeLocation, entry: TreeEntry, query: SourceQuery
) -> RawResponse:
    """Show a file."""
    shown_file = file_shown(
        request, target, location, entry, source=query.view == "source", first=number(query.line)
    )
    last = last_commits.of_path(location.repo, location.commit, location.path)
    return show_in(
        request,
        target,
        "code/file.html",
        tab=CODE,
        title=f"{location.title} · {target.repository.full_name}",
        location=location,
        crumbs=location.crumbs(),
        entry=entry,
        shown=shown_file,
        last=None if last is None else lines_of(request, [last])[0],
        switch=switcher(request.app, target.repository, location),
        bytes_at=location.address("media" if shown_file.is_stored_apart else "raw"),
        may_write=may_change(target) and location.kind == "branch",
        may_edit=is_editable(location, shown_file),
        may_edit_in_fork=may_edit_in_fork(request, target) and location.kind == "branch",
        conversation=conversation_link(request, target, location, entry),
    )


def is_editable(location: CodeLocation, shown_file: FileShown) -> bool:
    """Return whether a file can be edited in a form: it is text, and its name is UTF-8."""
    return shown_file.is_text and shown_file.way != "large" and raw(location.title) == location.path
