"""Uploads of chat backups in the browser: a form with one file, and chunks that a script sends.

Chunks are sent as in resumable upload protocols such as tus: `PATCH` with `Upload-Offset`; 409 with the current
offset if it differs. An interrupted upload is resumed when the same files are chosen again.
"""

from typing import Final

import msgspec

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError, InvalidValue, UploadOffsetConflict
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.multipart import extract_file
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import chat_backups, chat_uploads
from holdfast.hosting.services.chat_uploads import CHUNK_BYTES, ChosenFile, ChosenFiles
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.settings import Settings
from holdfast.web.chats.personal_pages import ROOT, list_page
from holdfast.web.chats.uploaded_backups import check_kind
from holdfast.web.code.upload_page import plain_name
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.settings.account import require_session

__all__ = ["begin_upload", "complete_upload", "send_chunk", "submit_upload"]

UPLOADS: Final = "/-/conversation-uploads"
OFFSET: Final = "Upload-Offset"
# Enough for the names of twenty thousand files.
LARGEST_LIST: Final = 8 * 2**20


class BegunUpload(msgspec.Struct, frozen=True):
    """A started or resumed upload: the maximum size of a chunk, and the offset of each file."""

    address: str
    chunk_bytes: int
    received: list[int]


class CompletedUpload(msgspec.Struct, frozen=True):
    """The URL of the conversation."""

    address: str


def largest_form(settings: Settings) -> int:
    """Return the maximum size of a form with one file."""
    return settings.chat_storage_mb * 2**20 + 65_536


def complete(app: App, actor: Actor, uuid: str) -> ChatBackup:
    """Complete an upload; delete it if it is not a chat backup."""
    upload = chat_uploads.find(app, actor, uuid)
    chat_uploads.require_complete(app, actor, uuid)
    try:
        kind = check_kind(app, actor, upload)
    except ApiError:
        chat_backups.delete(app, actor, uuid)
        raise
    return chat_uploads.complete(app, actor, uuid, kind=kind.value)


@endpoint(f"POST {ROOT}", guards=(require_session,), largest_body=largest_form)
def submit_upload(request: RequestContext, upload: Upload) -> RawResponse:
    """Upload one file with a form."""
    app, actor = request.app, request.actor
    path = upload.path.with_name("backup")
    try:
        name = plain_name(extract_file(upload.path, request.headers.get("content-type", ""), "file", path))
        size = path.stat().st_size
        if not name:
            raise InvalidValue("File", "choose a file")
        chosen = ChosenFiles(name, [ChosenFile(name, size)])
        new_upload = chat_uploads.begin(app, actor, chosen, resume=False)
        try:
            chat_uploads.add_file(app, actor, new_upload.uuid, path)
        except HostingError:
            chat_backups.delete(app, actor, new_upload.uuid)
            raise
        chat_backup = complete(app, actor, new_upload.uuid)
    except (HostingError, ApiError) as error:
        return list_page(request, status=status_for(error), problem=message_for(error))
    return redirect_to(f"{ROOT}/{chat_backup.uuid}/", "chat-backup-uploaded", chat_backup.name)


def api_error(error: HostingError | ApiError) -> ApiError:
    """Return an error with the message that the script shows."""
    headers = {OFFSET: str(error.expected)} if isinstance(error, UploadOffsetConflict) else None
    return ApiError(status_for(error), message_for(error), headers=headers)


@endpoint(f"POST {UPLOADS}", guards=(require_session,), largest_body=LARGEST_LIST, status=201)
def begin_upload(request: RequestContext, body: ChosenFiles) -> BegunUpload:
    """Start the upload of a file or folder, or resume that of the same files."""
    try:
        new_upload = chat_uploads.begin(request.app, request.actor, body)
        files = chat_uploads.list_files(request.app, request.actor, new_upload.uuid)
    except HostingError as error:
        raise api_error(error) from error
    return BegunUpload(f"{UPLOADS}/{new_upload.uuid}", CHUNK_BYTES, [file.received for file in files])


@endpoint(f"PATCH {UPLOADS}/{{uuid}}/{{position}}", guards=(require_session,), largest_body=CHUNK_BYTES)
def send_chunk(request: RequestContext, uuid: str, position: int, upload: Upload) -> None:
    """Append a chunk to a file."""
    offset = request.headers.get(OFFSET, "")
    if not offset.isascii() or not offset.isdigit() or len(offset) > 16:
        raise ApiError(400, f"{OFFSET} must be a number")
    try:
        received = chat_uploads.add_chunk(
            request.app, request.actor, uuid, position, offset=int(offset), path=upload.path
        )
    except HostingError as error:
        raise api_error(error) from error
    request.response_headers[OFFSET] = str(received)


@endpoint(f"POST {UPLOADS}/{{uuid}}/complete", guards=(require_session,))
def complete_upload(request: RequestContext, uuid: str) -> CompletedUpload:
    """Complete an upload that has all bytes, and return the URL of the conversation."""
    try:
        chat_backup = complete(request.app, request.actor, uuid)
    except (HostingError, ApiError) as error:
        raise api_error(error) from error
    return CompletedUpload(f"{ROOT}/{chat_backup.uuid}/")
