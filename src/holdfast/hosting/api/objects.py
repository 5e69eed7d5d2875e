"""Git objects: refs, trees and blobs."""

import base64
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import is_id
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import LAST_PAGE, PagedList, PageParams, count_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.services import ref_lists
from holdfast.hosting.services.revisions import open_git

__all__ = ["list_refs", "list_refs_below", "show_blob", "show_tree"]

READING: Final = (in_repository, reads(Unit.CODE))
TREES_PER_PAGE: Final = 1000
LARGEST_BLOB: Final = 10 * 2**20
KINDS: Final = {"file": "blob", "symlink": "blob", "dir": "tree", "submodule": "commit"}


class GitObject(msgspec.Struct, frozen=True):
    """The object that a ref points to."""

    type: str
    sha: str
    url: str


class Reference(msgspec.Struct, frozen=True):
    """A ref by its full name."""

    ref: str
    url: str
    object: GitObject


class GitEntry(msgspec.Struct, frozen=True):
    """One entry of a tree."""

    path: str
    mode: str
    type: str
    size: int
    sha: str
    url: str


class GitTreeResponse(msgspec.Struct, frozen=True):
    """A page of a tree's entries."""

    sha: str
    url: str
    tree: list[GitEntry]
    truncated: bool
    page: int
    total_count: int


class GitBlobResponse(msgspec.Struct, frozen=True):
    """A blob; without content if it is too large for JSON."""

    content: str | None
    encoding: str | None
    url: str
    sha: str
    size: int
    lfs_oid: str | UnsetType = UNSET
    lfs_size: int | UnsetType = UNSET


class TreeQuery(msgspec.Struct, frozen=True):
    """Which part of a tree to return."""

    recursive: str = ""
    page: Annotated[int, Meta(ge=0, le=LAST_PAGE)] = 1
    per_page: Annotated[int, Meta(ge=0, le=2**31)] = 0


def references(
    request: RequestContext, target: RepositoryAccess, beginning: str, page: PageParams
) -> PagedList[Reference]:
    """List the refs whose names start with a prefix."""
    listed_refs, total = ref_lists.list_full_names(
        request.app, target.repository, beginning, skip=page.skip, limit=page.size
    )
    repo = ref_lists.open_with(request.app, target.repository, listed_refs)
    api = repository_api(request, target.repository)
    schemas = []
    for ref in listed_refs:
        # None if the ref was deleted meanwhile, and its objects too.
        header = repo.header(ref.id)
        if header is not None:
            kind = header[0]
            git_object = GitObject(kind, ref.id, f"{api}/git/{kind}s/{ref.id}")
            schemas.append(Reference(ref.name, f"{api}/git/{ref.name}", git_object))
    return PagedList(schemas, total)


@endpoint("GET /repos/{owner}/{repo}/git/refs", scope="repository", guards=READING, slow=True)
def list_refs(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[Reference]:
    """List the branches and tags by their full names."""
    return references(request, target, "refs/", page)


@endpoint("GET /repos/{owner}/{repo}/git/refs/{ref...}", scope="repository", guards=READING, slow=True)
def list_refs_below(
    request: RequestContext, target: RepositoryAccess, ref: str, page: PageParams
) -> PagedList[Reference]:
    """List the refs with a prefix."""
    paged_list = references(request, target, f"refs/{ref.removeprefix('refs/')}", page)
    if not paged_list.total:
        raise ApiError(404)
    return paged_list


@endpoint(
    "GET /repos/{owner}/{repo}/git/trees/{sha...}",
    scope="repository",
    guards=READING,
    refuses=(400, 422),
    slow=True,
)
def show_tree(request: RequestContext, target: RepositoryAccess, sha: str, query: TreeQuery) -> GitTreeResponse:
    """Show a tree by its id, or by a commit, branch or tag; recursively if requested."""
    repo = open_git(request.app, target)
    tree = tree_named(repo, target, sha)
    size = TREES_PER_PAGE if query.per_page <= 0 else min(query.per_page, TREES_PER_PAGE)
    page = max(query.page, 1)
    recursive = query.recursive.lower() in {"1", "true", "t", "yes"}
    tree_listing = trees.listing(repo, tree, recursive=recursive, page=page, per_page=size)
    api = repository_api(request, target.repository)
    request.response_headers |= count_headers(tree_listing.total)
    entries = [
        GitEntry(
            path=entry.path,
            mode=f"{entry.mode:06o}",
            type=KINDS[entry.type],
            size=entry.size,
            sha=entry.id,
            url="" if entry.type == "submodule" else f"{api}/git/{KINDS[entry.type]}s/{entry.id}",
        )
        for entry in tree_listing.entries
    ]
    return GitTreeResponse(
        tree, f"{api}/git/trees/{tree}", entries, tree_listing.truncated, page, tree_listing.total
    )


def tree_named(repo: Repo, target: RepositoryAccess, name: str) -> str:
    """Return the tree of a revision or a tree id."""
    kind = repo.header(name) if is_id(name) else None
    if kind is not None and kind[0] == "tree":
        return name
    commit = name if kind is not None and kind[0] == "commit" else None
    if commit is None:
        resolved = refs.resolve(repo, name, target.repository.default_branch)
        commit = refs.rev_parse(repo, name) if resolved is None else resolved.commit
    if commit is None:
        raise ApiError(400, f"sha not found: {name}")
    return read_commit(repo, commit).tree


@endpoint(
    "GET /repos/{owner}/{repo}/git/blobs/{sha}", scope="repository", guards=READING, refuses=(400,), slow=True
)
def show_blob(request: RequestContext, target: RepositoryAccess, sha: str) -> GitBlobResponse:
    """Show a blob by its id."""
    repo = open_git(request.app, target)
    kind = repo.header(sha) if is_id(sha) else None
    if kind is None or kind[0] != "blob":
        raise ApiError(404 if is_id(sha) else 400, f"sha not found: {sha}")
    url = f"{repository_api(request, target.repository)}/git/blobs/{sha}"
    if kind[1] > LARGEST_BLOB:
        return GitBlobResponse(None, None, url, sha, kind[1])
    content = base64.b64encode(trees.read_blob(repo, sha)).decode()
    return GitBlobResponse(content, "base64", url, sha, kind[1])
