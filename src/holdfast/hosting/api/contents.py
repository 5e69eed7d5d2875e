"""Contents of a repository: a file with its content, or the entries of a directory."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar, cast

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import PathRefused
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.git import last_commits, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.trees import MissingPath, TreeEntry
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.contents import (
    WHOLE,
    CommitView,
    ContentsOptions,
    ContentsResponse,
    contents_of,
    ref_shown,
)
from holdfast.hosting.services.revisions import open_git

__all__ = [
    "entry_at_path",
    "show_contents",
    "show_contents_extended",
    "show_root",
    "show_root_extended",
    "view_at",
]

READING: Final = (in_repository, reads(Unit.CODE))
INCLUDES: Final = {
    "file_content": ContentsOptions(content=True, lfs=True),
    "lfs_metadata": ContentsOptions(lfs=True),
    "commit_metadata": ContentsOptions(commit_metadata=True),
    "commit_message": ContentsOptions(commit_message=True),
}
# Larger responses are read, encoded and compressed in a worker thread.
QUICK_BYTES: Final = 128 * 1024
KEPT_BYTES: Final = 64 * 2**20
# Directories with more entries are also read in a worker thread.
QUICK_TREE: Final = 16 * 1024

T = TypeVar("T")
responses = KeptBytes(KEPT_BYTES)
encoder = msgspec.json.Encoder()


class ContentsQuery(msgspec.Struct, frozen=True):
    """The revision: a branch, a tag or a commit; by default the default branch."""

    ref: str = ""


class ContentsExtQuery(msgspec.Struct, frozen=True):
    """The revision, and which further fields to include."""

    ref: str = ""
    includes: str = ""


class ContentsExtResponse(msgspec.Struct, frozen=True):
    """A file or the entries of a directory."""

    file_contents: ContentsResponse | UnsetType = UNSET
    dir_contents: list[ContentsResponse] | UnsetType = UNSET


def view_at(request: RequestContext, target: RepositoryAccess, ref: str) -> CommitView:
    """Return a view of the repository at a revision: a branch, a tag or a commit id."""
    repo = open_git(request.app, target)
    requested = ref.strip()
    resolved = refs.resolve(repo, requested, target.repository.default_branch)
    if resolved is None:
        name = requested or target.repository.default_branch
        raise ApiError(404, f"object does not exist [id: {name}, rel_path: ]")
    return CommitView(request, target, repo, resolved.commit, ref_shown(resolved, requested))


def entry_at_path(view: CommitView, path: str) -> TreeEntry:
    """Return the entry at a path of a request."""
    with error_status(400, PathRefused):
        normalized = requested_path(path)
    return entry_at(view, normalized)


def entry_at(view: CommitView, path: str) -> TreeEntry:
    """Return the entry at a normalized path."""
    entry = trees.find(view.repo, read_commit(view.repo, view.commit).tree, path)
    if isinstance(entry, MissingPath):
        missing = path if entry.is_last else entry.component
        raise ApiError(404, f"object does not exist [id: , rel_path: {missing}]")
    return entry


def directory_page(
    request: RequestContext, view: CommitView, directory: TreeEntry, includes: ContentsOptions, page: PageParams
) -> tuple[list[ContentsResponse], int]:
    """Return a page of a directory's entries in git's order, and the total."""
    repo = view.repo
    if repo.require(directory.id, "tree") > QUICK_TREE:
        request.require_thread()
    if includes.history and not last_commits.knows_directory(repo, view.commit, directory.raw_path):
        request.require_thread()
    tree_listing = trees.page_of_directory(repo, directory.id, directory.raw_path, skip=page.skip, limit=page.size)
    last = last_commits.of_directory(repo, view.commit, directory.raw_path) if includes.history else {}
    schemas = [contents_of(view, entry, includes, last=last.get(entry.raw_path)) for entry in tree_listing.entries]
    return schemas, tree_listing.total


def encode_entry(
    request: RequestContext, view: CommitView, entry: TreeEntry, includes: ContentsOptions
) -> ContentsResponse:
    """Encode one entry."""
    slow = includes.history and not last_commits.knows_path(view.repo, view.commit, entry.raw_path)
    if slow or entry.type == "submodule" or (includes.content and entry.size > QUICK_BYTES):
        request.require_thread()
    return contents_of(view, entry, includes)


def cached(  # noqa: PLR0917  # the parts of the cache key
    request: RequestContext,
    view: CommitView,
    path: str,
    how: str,
    page: PageParams,
    make: Callable[[TreeEntry], tuple[T, int | None]],
) -> T:
    """Return a cached response, or create it; contents at a commit are immutable.

    The cached JSON is prefixed with the number of entries of a directory.
    """
    with error_status(400, PathRefused):
        normalized = requested_path(path)
    repository = view.target.repository
    key = (
        view.repo.folder,
        view.commit,
        normalized,
        view.ref,
        how,
        page,
        request.root,
        repository.owner.name,
        repository.name,
    )
    response = responses.get(key)
    if response is None:
        encoded, total = make(entry_at(view, normalized))
        response = b"%s\n%s" % (b"" if total is None else b"%d" % total, encoder.encode(encoded))
        responses.put(key, response)
    counted, _, content = response.partition(b"\n")
    if counted:
        request.response_headers |= paging_headers(request, page, int(counted))
    return cast("T", msgspec.Raw(content))


def contents_at(
    request: RequestContext, target: RepositoryAccess, ref: str, path: str, page: PageParams
) -> ContentsResponse | list[ContentsResponse]:
    """Show a file with its content, or list a directory; not paged by default."""
    view = view_at(request, target, ref)
    page = page_or_all(request, page)

    def make(entry: TreeEntry) -> tuple[ContentsResponse | list[ContentsResponse], int | None]:
        if entry.type == "dir":
            return directory_page(request, view, entry, ContentsOptions(commit_metadata=True), page)
        return encode_entry(request, view, entry, WHOLE), None

    return cached(request, view, path, "contents", page, make)


@endpoint("GET /repos/{owner}/{repo}/contents", scope="repository", guards=READING, refuses=(400,), cacheable=True)
def show_root(
    request: RequestContext, target: RepositoryAccess, query: ContentsQuery, page: PageParams
) -> ContentsResponse | list[ContentsResponse]:
    """List the root directory."""
    return contents_at(request, target, query.ref, "", page)


@endpoint(
    "GET /repos/{owner}/{repo}/contents/{filepath...}",
    scope="repository",
    guards=READING,
    refuses=(400,),
    cacheable=True,
)
def show_contents(
    request: RequestContext, target: RepositoryAccess, filepath: str, query: ContentsQuery, page: PageParams
) -> ContentsResponse | list[ContentsResponse]:
    """Show a file with its content, or list a directory; both with the last commit that changed them."""
    return contents_at(request, target, query.ref, filepath, page)


def parse_includes(includes: str) -> ContentsOptions:
    """Decode the list of further fields to include."""
    options = [option for option in includes.split(",") if option]
    for option in options:
        if option not in INCLUDES:
            raise ApiError(400, f"unknown include option {json.dumps(option, ensure_ascii=False)}")
    chosen = [INCLUDES[option] for option in options]
    return ContentsOptions(
        content=any(contents_options.content for contents_options in chosen),
        lfs=any(contents_options.lfs for contents_options in chosen),
        commit_metadata=any(contents_options.commit_metadata for contents_options in chosen),
        commit_message=any(contents_options.commit_message for contents_options in chosen),
    )


def extended_contents(
    request: RequestContext, target: RepositoryAccess, query: ContentsExtQuery, path: str, page: PageParams
) -> ContentsExtResponse:
    """Show a file or a directory with the included fields; only a single file has its content."""
    includes = parse_includes(query.includes)
    view = view_at(request, target, query.ref)
    in_list = replace(includes, content=False, lfs="lfs_metadata" in query.includes.split(","))
    page = page_or_all(request, page)

    def make(entry: TreeEntry) -> tuple[ContentsExtResponse, int | None]:
        if entry.type == "dir":
            schemas, total = directory_page(request, view, entry, in_list, page)
            return ContentsExtResponse(dir_contents=schemas), total
        return ContentsExtResponse(file_contents=encode_entry(request, view, entry, includes)), None

    return cached(request, view, path, f"{includes} {in_list}", page, make)


@endpoint("GET /repos/{owner}/{repo}/contents-ext", scope="repository", guards=READING, refuses=(400,))
def show_root_extended(
    request: RequestContext, target: RepositoryAccess, query: ContentsExtQuery, page: PageParams
) -> ContentsExtResponse:
    """List the root directory, with the included fields of each entry."""
    return extended_contents(request, target, query, "", page)


@endpoint(
    "GET /repos/{owner}/{repo}/contents-ext/{filepath...}", scope="repository", guards=READING, refuses=(400,)
)
def show_contents_extended(
    request: RequestContext, target: RepositoryAccess, filepath: str, query: ContentsExtQuery, page: PageParams
) -> ContentsExtResponse:
    """Show a file or list a directory, with the included fields of each entry."""
    return extended_contents(request, target, query, "" if filepath in {".", "/"} else filepath, page)
