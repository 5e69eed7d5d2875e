"""The release URLs that other programs construct: downloads, and the latest release."""

from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import NoSuchRelease
from holdfast.hosting.file_responses.attachments import attachment_response
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_page
from holdfast.hosting.services import issue_attachments, releases
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store.attachments import Attachment, attachments_of, find_by_uuid
from holdfast.hosting.store.releases import holder_of
from holdfast.hosting.store.repositories import find_by_id

__all__ = ["download_attachment", "download_release_asset", "go_to_latest_release"]

READING: Final = (in_repository, reads(Unit.RELEASES))


@endpoint("GET /{owner}/{repo}/releases/download/{file...}", scope="repository", guards=READING, slow=True)
def download_release_asset(request: RequestContext, target: RepositoryAccess, file: str) -> RawResponse:
    """Download a file of a release by tag and name."""
    tag, _, name = file.rpartition("/")
    try:
        release = releases.find_tagged(request.app, target, tag)
    except NoSuchRelease:
        raise ApiError(404) from None
    for attachment in attachments_of(request.app.database, holder_of(release)):
        if attachment.name == name:
            return attachment_response(request, target, attachment)
    raise ApiError(404)


@endpoint("GET /{owner}/{repo}/releases/latest", scope="repository", guards=READING)
def go_to_latest_release(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Redirect to the newest release that is neither a draft nor a pre-release."""
    try:
        release = releases.find_latest(request.app, target)
    except NoSuchRelease:
        raise ApiError(404) from None
    address = f"{repository_page(request, target.repository)}/releases/tag/{quote(release.tag_name)}"
    return RawResponse(b"", "text/plain;charset=utf-8", 302, {"Location": address})


@endpoint("GET /attachments/{uuid}", scope="repository", slow=True)
def download_attachment(request: RequestContext, uuid: str) -> RawResponse:
    """Download an attachment by its UUID, if the caller may read the object it is attached to."""
    file = find_by_uuid(request.app.database, uuid)
    repository = None if file is None else find_by_id(request.app.database, file.repository_id)
    if file is None or repository is None:
        raise ApiError(404)
    target = RepositoryAccess(repository, permissions_in(request.app, request.actor, repository))
    if not is_readable(request, target, file):
        raise ApiError(404)
    return attachment_response(request, target, file)


def is_readable(request: RequestContext, target: RepositoryAccess, file: Attachment) -> bool:
    """Return whether the caller may read the object that a file is attached to."""
    if file.release_id is None:
        return issue_attachments.is_readable(request.app, target, file)
    if not target.permissions.may_read(Unit.RELEASES):
        return False
    try:
        releases.find(request.app, target, file.release_id)
    except NoSuchRelease:
        return False
    return True
