"""Tags, lightweight and annotated: list, show, create and delete them."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature, read_commit, read_tag
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import (
    CommitMeta,
    CommitUser,
    Verification,
    commit_meta,
    git_time,
    repository_api,
    repository_page,
)
from holdfast.hosting.services import branches, ref_lists
from holdfast.hosting.services.branches import LONGEST_REF, NewTag
from holdfast.hosting.services.revisions import open_git

__all__ = ["create_tag", "delete_tag", "list_tags", "show_annotated_tag", "show_tag"]

READING: Final = (in_repository, reads(Unit.CODE))
WRITING: Final = (in_repository, reads(Unit.CODE), not_archived, signed_in, writes(Unit.CODE))


class Tag(msgspec.Struct, frozen=True):
    """A tag and its commit."""

    name: str
    message: str
    id: str
    commit: CommitMeta
    zipball_url: str
    tarball_url: str


class AnnotatedTagObject(msgspec.Struct, frozen=True):
    """The object a tag points to."""

    type: str
    url: str
    sha: str


class AnnotatedTag(msgspec.Struct, frozen=True):
    """An annotated tag, with tagger and message."""

    tag: str
    sha: str
    url: str
    message: str
    tagger: CommitUser
    object: AnnotatedTagObject
    verification: Verification


class CreateTagOption(msgspec.Struct, frozen=True):
    """A new tag; annotated if it has a message."""

    tag_name: Annotated[str, Meta(max_length=LONGEST_REF), RefName, Required] = ""
    message: str = ""
    target: str = ""


def tag_shape(request: RequestContext, target: RepositoryAccess, repo: Repo, ref: refs.Ref) -> Tag:
    """Encode a tag."""
    message = ""
    commit = refs.commit_of(repo, ref.id) or ref.id
    kind = repo.header(ref.id)
    if kind is not None and kind[0] == "tag":
        message = read_tag(repo, ref.id).message
    elif kind is not None and kind[0] == "commit":
        message = read_commit(repo, ref.id).message
    api, page = repository_api(request, target.repository), repository_page(request, target.repository)
    return Tag(
        name=ref.name,
        message=message,
        id=ref.id,
        commit=commit_meta(api, commit),
        zipball_url=f"{page}/archive/{ref.name}.zip",
        tarball_url=f"{page}/archive/{ref.name}.tar.gz",
    )


@endpoint("GET /repos/{owner}/{repo}/tags", scope="repository", guards=READING, slow=True, cacheable=True)
def list_tags(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[Tag]:
    """List the tags by name."""
    tag_refs, total = ref_lists.list_tags(request.app, target.repository, skip=page.skip, limit=page.size)
    repo = ref_lists.open_with(request.app, target.repository, tag_refs)
    return PagedList([tag_shape(request, target, repo, ref) for ref in tag_refs], total)


@endpoint("GET /repos/{owner}/{repo}/tags/{tag...}", scope="repository", guards=READING)
def show_tag(request: RequestContext, target: RepositoryAccess, tag: str) -> Tag:
    """Show a tag."""
    repo = open_git(request.app, target)
    return tag_shape(request, target, repo, branches.find_tag(repo, tag))


@endpoint(
    "POST /repos/{owner}/{repo}/tags",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(401, 403, 404, 409, 423),
)
def create_tag(request: RequestContext, target: RepositoryAccess, body: CreateTagOption) -> Tag:
    """Create a tag at a branch, another tag or a commit."""
    if target.repository.is_empty:
        raise ApiError(404, "Git Repository is empty.")
    new = NewTag(name=body.tag_name, message=body.message, revision=body.target)
    created = branches.create_tag(request.app, request.actor, target, new)
    return tag_shape(request, target, open_git(request.app, target), created)


@endpoint(
    "DELETE /repos/{owner}/{repo}/tags/{tag...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def delete_tag(request: RequestContext, target: RepositoryAccess, tag: str) -> None:
    """Delete a tag; a tag with a release cannot be deleted, delete the release first."""
    branches.delete_tag(request.app, request.actor, target, tag)


@endpoint("GET /repos/{owner}/{repo}/git/tags/{sha}", scope="repository", guards=READING, refuses=(400,))
def show_annotated_tag(request: RequestContext, target: RepositoryAccess, sha: str) -> AnnotatedTag:
    """Show an annotated tag by the id of its tag object."""
    repo = open_git(request.app, target)
    tag = read_tag(repo, sha)
    api = repository_api(request, target.repository)
    tagger = tag.tagger or Signature("", "", 0)
    reason = "gpg.error.no_gpg_keys_found" if tag.signature else "gpg.error.not_signed_commit"
    return AnnotatedTag(
        tag=tag.name,
        sha=sha,
        url=f"{api}/git/tags/{sha}",
        message=tag.message,
        tagger=CommitUser(tagger.name, tagger.email, git_time(tagger.time, tagger.offset)),
        object=AnnotatedTagObject(tag.kind, f"{api}/git/{tag.kind}s/{tag.target}", tag.target),
        verification=Verification(False, reason, tag.signature, None, tag.payload),
    )
