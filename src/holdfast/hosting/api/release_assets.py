"""Release attachments: list, upload, rename and delete them."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.releases import READING, WRITING
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.multipart import extract_file
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.attachments import AttachmentSchema, release_asset
from holdfast.hosting.services import release_assets as service
from holdfast.hosting.services import releases
from holdfast.hosting.services.attachments import NAME_LENGTH
from holdfast.hosting.store.attachments import attachments_of
from holdfast.hosting.store.releases import holder_of
from holdfast.settings import Settings

__all__ = [
    "AttachmentQuery",
    "EditAttachmentOptions",
    "create_release_asset",
    "delete_release_asset",
    "edit_release_asset",
    "largest_attachment",
    "list_release_assets",
    "show_release_asset",
    "uploaded_file",
]


class AttachmentQuery(msgspec.Struct, frozen=True):
    """The name of the uploaded file; defaults to the file name in the form."""

    name: str = ""


class EditAttachmentOptions(msgspec.Struct, frozen=True):
    """The new name of a file; empty keeps the name."""

    name: Annotated[str, Meta(max_length=NAME_LENGTH)] = ""


def largest_attachment(settings: Settings) -> int:
    """Return the maximum size of a request: that of an LFS object, plus the overhead of the form."""
    return settings.max_lfs_mb * 2**20 + 65_536


def uploaded_file(request: RequestContext, upload: Upload, query: AttachmentQuery) -> tuple[str, Path]:
    """Return the name and the path of an uploaded file: the field `attachment` of a form, or the whole body."""
    content_type = request.headers.get("content-type", "")
    name, path = query.name, upload.path
    if content_type.lower().startswith("multipart/form-data"):
        path = upload.path.with_name("attachment")
        file_name = extract_file(upload.path, content_type, "attachment", path)
        name = query.name or file_name
    if not name:
        raise ApiError(400, "the name of the file is missing: send a form with a file, or ?name=")
    if path.stat().st_size > request.app.settings.max_lfs_mb * 2**20:
        raise ApiError(413, f"files may have at most {request.app.settings.max_lfs_mb} MB")
    return name, path


@endpoint("GET /repos/{owner}/{repo}/releases/{id}/assets", scope="repository", guards=READING)
def list_release_assets(request: RequestContext, target: RepositoryAccess, id: int) -> list[AttachmentSchema]:  # noqa: A002  # the name in the path
    """List the files of a release."""
    release = releases.find(request.app, target, id)
    files = attachments_of(request.app.database, holder_of(release))
    return [release_asset(request, target.repository, release.tag_name, attachment) for attachment in files]


@endpoint(
    "POST /repos/{owner}/{repo}/releases/{id}/assets",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(400, 404, 409, 413, 423),
    largest_body=largest_attachment,
)
def create_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    query: AttachmentQuery,
    upload: Upload,
) -> AttachmentSchema:
    """Add a file to a release: the field `attachment` of a form, or the body with `?name=`."""
    release = releases.find(request.app, target, id)
    name, path = uploaded_file(request, upload, query)
    attachment = service.add(request.app, request.actor, target, release, name=name, path=path)
    return release_asset(request, target.repository, release.tag_name, attachment)


@endpoint("GET /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}", scope="repository", guards=READING)
def show_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
) -> AttachmentSchema:
    """Show a file of a release."""
    release = releases.find(request.app, target, id)
    asset = service.find(request.app, release, attachment_id)
    return release_asset(request, target.repository, release.tag_name, asset)


@endpoint(
    "PATCH /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(404, 409, 423),
)
def edit_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
    body: EditAttachmentOptions,
) -> AttachmentSchema:
    """Rename a file of a release."""
    release = releases.find(request.app, target, id)
    asset = service.find(request.app, release, attachment_id)
    if body.name:
        asset = service.rename(request.app, request.actor, target, asset, body.name)
    return release_asset(request, target.repository, release.tag_name, asset)


@endpoint(
    "DELETE /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}",
    scope="repository",
    guards=WRITING,
    refuses=(423,),
)
def delete_release_asset(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
) -> None:
    """Delete a file of a release."""
    asset = service.find(request.app, releases.find(request.app, target, id), attachment_id)
    service.delete(request.app, request.actor, target, asset)
