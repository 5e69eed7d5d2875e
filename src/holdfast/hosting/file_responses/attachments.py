"""Downloads of attached files, from the object store."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.file_responses.files import ServedFile, disposition, not_modified, serve
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.attachments import object_key
from holdfast.hosting.store.attachments import Attachment

__all__ = ["attachment_response"]


def attachment_response(request: RequestContext, target: RepositoryAccess, file: Attachment) -> RawResponse:
    """Respond with an attached file as a download, which browsers do not run, and count it."""
    repository = target.repository
    is_public = not repository.is_private and repository.owner.visibility == "public"
    fresh = not_modified(request, file.digest, lambda: file.created_at, is_public=is_public)
    if fresh is not None:
        return fresh
    store = request.app.store
    served = ServedFile(
        name=file.name,
        media_type="application/octet-stream",
        size=file.size,
        etag=file.digest,
        modified=file.created_at,
        is_public=is_public,
        read=lambda start, stop: store.read(object_key(file.uuid), start, stop),
    )
    response = serve(request, served)
    response.headers["Content-Disposition"] = disposition(file.name, "attachment")
    # Of a download in several ranges, only the first range is counted.
    begins = request.headers.get("range", "bytes=0-").startswith("bytes=0-")
    if request.scope["method"] == "GET" and begins and response.status_code < 400:
        request.app.downloads.append(file.id)
    return response
