"""Releases: list, show, create, edit and delete them."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required, given
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.releases import ReleaseSchema, release
from holdfast.hosting.services import releases as service
from holdfast.hosting.services.releases import BODY_LENGTH, NAME_LENGTH, TAG_LENGTH, ReleaseEdit
from holdfast.hosting.store import releases
from holdfast.hosting.store.accounts import accounts_by_id
from holdfast.hosting.store.attachments import stored_attachments
from holdfast.hosting.store.releases import Release, ReleaseFields

__all__ = [
    "READING",
    "WRITING",
    "create_release",
    "delete_release",
    "delete_release_of_tag",
    "edit_release",
    "list_releases",
    "show_latest_release",
    "show_release",
    "show_release_of_tag",
]

READING: Final = (in_repository, reads(Unit.RELEASES))
WRITING: Final = (*READING, not_archived, signed_in, writes(Unit.RELEASES))

Name = Annotated[str, Meta(max_length=NAME_LENGTH)]
Body = Annotated[str, Meta(max_length=BODY_LENGTH)]


class ReleasesQuery(msgspec.Struct, frozen=True):
    """Filters of releases; by default drafts are included if the caller may see them."""

    draft: bool | UnsetType = UNSET
    pre_release: bool | UnsetType = field(name="pre-release", default=UNSET)


class CreateReleaseOption(msgspec.Struct, frozen=True):
    """A new release; a missing tag is created at the target, annotated if there is a message."""

    tag_name: Annotated[str, Meta(max_length=TAG_LENGTH), RefName, Required] = ""
    tag_message: Body = ""
    target_commitish: Name = ""
    name: Name = ""
    body: Body = ""
    draft: bool = False
    prerelease: bool = False

    @property
    def fields(self) -> ReleaseFields:
        """The fields of the release."""
        return ReleaseFields(
            tag_name=self.tag_name,
            target=self.target_commitish,
            name=self.name,
            body=self.body,
            is_draft=self.draft,
            is_prerelease=self.prerelease,
        )


class EditReleaseOption(msgspec.Struct, frozen=True):
    """Changes; an absent key and an empty tag or target keep the value."""

    tag_name: Annotated[str, Meta(max_length=TAG_LENGTH), RefName] = ""
    target_commitish: Name = ""
    name: Name | UnsetType = UNSET
    body: Annotated[str, Meta(description=f"At most {BODY_LENGTH} characters")] | UnsetType = UNSET
    draft: bool | None = None
    prerelease: bool | None = None

    @property
    def changes(self) -> ReleaseEdit:
        """The changes for the service."""
        return ReleaseEdit(
            tag_name=self.tag_name or None,
            target=self.target_commitish or None,
            name=given(self.name),
            body=given(self.body),
            is_draft=self.draft,
            is_prerelease=self.prerelease,
        )


def encoded(
    request: RequestContext, target: RepositoryAccess, stored_releases: Sequence[Release]
) -> list[ReleaseSchema]:
    """Encode releases; authors and files are loaded with one query each."""
    with request.app.database.read() as connection:
        authors = accounts_by_id(
            connection, {stored.author_id for stored in stored_releases if stored.author_id is not None}
        )
        assets = stored_attachments(connection, "release_id", [stored.id for stored in stored_releases])
    return [
        release(request, target.repository, stored, authors.get(stored.author_id or 0), assets[stored.id])
        for stored in stored_releases
    ]


def encoded_one(request: RequestContext, target: RepositoryAccess, stored: Release) -> ReleaseSchema:
    """Encode one release."""
    return encoded(request, target, [stored])[0]


@endpoint("GET /repos/{owner}/{repo}/releases", scope="repository", guards=READING, cacheable=True)
def list_releases(
    request: RequestContext, target: RepositoryAccess, query: ReleasesQuery, page: PageParams
) -> PagedList[ReleaseSchema]:
    """List the releases of a repository, newest first; drafts only with write access to releases."""
    is_draft = given(query.draft)
    if not service.may_see_drafts(target):
        if is_draft:
            return PagedList([], 0)
        is_draft = False
    stored_releases, total = releases.releases_of(
        request.app.database,
        target.repository,
        is_draft=is_draft,
        is_prerelease=given(query.pre_release),
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(encoded(request, target, stored_releases), total)


@endpoint(
    "POST /repos/{owner}/{repo}/releases",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(404, 409, 423),
    slow=True,
)
def create_release(request: RequestContext, target: RepositoryAccess, body: CreateReleaseOption) -> ReleaseSchema:
    """Create a release, and its tag if it is missing."""
    created = service.create(request.app, request.actor, target, body.fields, tag_message=body.tag_message)
    return encoded_one(request, target, created)


@endpoint("GET /repos/{owner}/{repo}/releases/latest", scope="repository", guards=READING)
def show_latest_release(request: RequestContext, target: RepositoryAccess) -> ReleaseSchema:
    """Show the newest release that is neither a draft nor a pre-release."""
    return encoded_one(request, target, service.find_latest(request.app, target))


@endpoint("GET /repos/{owner}/{repo}/releases/tags/{tag...}", scope="repository", guards=READING)
def show_release_of_tag(request: RequestContext, target: RepositoryAccess, tag: str) -> ReleaseSchema:
    """Show the release of a tag."""
    return encoded_one(request, target, service.find_tagged(request.app, target, tag))


@endpoint(
    "DELETE /repos/{owner}/{repo}/releases/tags/{tag...}", scope="repository", guards=WRITING, refuses=(423,)
)
def delete_release_of_tag(request: RequestContext, target: RepositoryAccess, tag: str) -> None:
    """Delete the release of a tag; the tag is kept."""
    service.delete(request.app, request.actor, target, service.find_tagged(request.app, target, tag))


@endpoint("GET /repos/{owner}/{repo}/releases/{id}", scope="repository", guards=READING)
def show_release(request: RequestContext, target: RepositoryAccess, id: int) -> ReleaseSchema:  # noqa: A002  # the name in the path
    """Show a release."""
    return encoded_one(request, target, service.find(request.app, target, id))


@endpoint(
    "PATCH /repos/{owner}/{repo}/releases/{id}",
    scope="repository",
    guards=WRITING,
    refuses=(404, 409, 423),
    slow=True,
)
def edit_release(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: EditReleaseOption,
) -> ReleaseSchema:
    """Edit a release; also publishes a draft."""
    stored = service.find(request.app, target, id)
    return encoded_one(request, target, service.edit(request.app, request.actor, target, stored, body.changes))


@endpoint("DELETE /repos/{owner}/{repo}/releases/{id}", scope="repository", guards=WRITING, refuses=(423,))
def delete_release(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a release with its files; its tag is kept."""
    service.delete(request.app, request.actor, target, service.find(request.app, target, id))
