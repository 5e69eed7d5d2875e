"""The chat backups of a user: the list, the conversation of each, and its name, shares and deletion."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from holdfast.hosting.errors import HostingError, NoSuchChatBackup
from holdfast.hosting.file_responses.files import disposition
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import chat_backups
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.web.chats.cache import cache_of
from holdfast.web.chats.export_process import ExportFailed
from holdfast.web.chats.export_worker import ExportForm
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.host_pages import (
    ConversationPages,
    KeyForm,
    handle_form,
    refused_page,
    secret_of,
    show_source,
    viewer_of,
)
from holdfast.web.chats.import_limits import ImportClient, ImportRefused
from holdfast.web.chats.revocation import is_current
from holdfast.web.chats.uploaded_backups import make_source
from holdfast.web.chats.view import TemplateResult
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import page, redirect_to
from holdfast.web.settings.account import require_session
from holdfast.web.settings.danger_zone import check_typed

__all__ = [
    "ROOT",
    "act_on_conversation",
    "export_conversation",
    "list_page",
    "page_conversation",
    "page_conversation_export",
    "page_conversation_part",
    "page_conversation_settings",
    "page_conversations",
    "submit_cancel_upload",
    "submit_delete_conversation",
    "submit_rename_conversation",
    "submit_share_conversation",
    "submit_unshare_conversation",
]

ROOT: Final = "/-/conversations"
AT: Final = f"{ROOT}/{{uuid}}"
WORDS: Final = {FileKind.PLAIN.value: "Backup", FileKind.SEALED.value: "Encrypted backup"}
GUARDS: Final = (require_session,)


class ExportChoice(msgspec.Struct, frozen=True):
    """The form of an export."""

    form: ExportForm = "html"


class ConversationSettingsForm(msgspec.Struct, frozen=True):
    """The fields of the forms: new name, user to share with, user to stop sharing with, name as confirmation."""

    name: str = ""
    user: str = ""
    user_id: int = 0
    confirm: str = ""


def list_page(request: RequestContext, *, status: int = 200, problem: str = "") -> RawResponse:
    """Render the list of the user's conversations, with the form of an upload."""
    chat_backup_list = chat_backups.list_visible(request.app, request.actor)
    return page(
        request,
        "chats/personal.html",
        title="Conversations",
        status=status,
        problem=problem,
        own=[chat_backup for chat_backup in chat_backup_list.own if chat_backup.state == "complete"],
        unfinished=[chat_backup for chat_backup in chat_backup_list.own if chat_backup.state == "uploading"],
        shared=chat_backup_list.shared,
        used=chat_backup_list.used,
        limit=chat_backup_list.limit,
        words=WORDS,
        root=ROOT,
    )


@endpoint(f"GET {ROOT}", guards=GUARDS, slow=True)
def page_conversations(request: RequestContext) -> RawResponse:
    """List the conversations of the user, and those that others share with them."""
    return list_page(request)


def find_backup(request: RequestContext, uuid: str) -> ChatBackup:
    """Return a backup that the user may read; raise a 404 error otherwise."""
    try:
        return chat_backups.find(request.app, request.actor, uuid)
    except NoSuchChatBackup:
        raise ApiError(404) from None


def find_own(request: RequestContext, uuid: str) -> ChatBackup:
    """Return a backup that the user owns; raise a 404 error otherwise."""
    try:
        return chat_backups.find_own(request.app, request.actor, uuid)
    except NoSuchChatBackup:
        raise ApiError(404) from None


def viewer_for(request: RequestContext, backup: ChatBackup) -> ImportClient:
    """Return the viewer of a conversation, as the import limits count it; the owner may import it again."""
    return viewer_of(request, may_write=backup.owner_id == request.user.id)


def conversation_pages(request: RequestContext, backup: ChatBackup) -> ConversationPages:
    """Return the page renderer for one conversation."""

    def draw(template: str, title: str, status: int, values: Mapping[str, object]) -> RawResponse:
        return page(
            request,
            template,
            title=title,
            status=status,
            layout="chats/personal_layout.html",
            top="h1",
            owned=backup.owner_id == request.user.id,
            **values,
        )

    return ConversationPages(request, f"{ROOT}/{backup.uuid}", draw)


@endpoint(f"GET {AT}", guards=GUARDS, slow=True)
def page_conversation(request: RequestContext, uuid: str) -> RawResponse:
    """Show the first page of a conversation."""
    return page_at(request, uuid, "")


@endpoint(f"GET {AT}/{{inner...}}", guards=GUARDS, slow=True)
def page_conversation_part(request: RequestContext, uuid: str, inner: str) -> RawResponse:
    """Show a page of a conversation."""
    return page_at(request, uuid, inner)


def page_at(request: RequestContext, uuid: str, inner: str) -> RawResponse:
    """Show a page of an imported backup, or the progress of the import."""
    backup = find_backup(request, uuid)
    source = make_source(request.app, request.actor, backup)
    return show_source(conversation_pages(request, backup), source, viewer_for(request, backup), inner)


@endpoint(f"POST {AT}/{{inner...}}", guards=GUARDS, slow=True)
def act_on_conversation(request: RequestContext, uuid: str, inner: str, body: KeyForm) -> RawResponse:
    """Handle the forms of a conversation: submit a key, forget it, or import again."""
    backup = find_backup(request, uuid)
    source = make_source(request.app, request.actor, backup)
    return handle_form(conversation_pages(request, backup), source, viewer_for(request, backup), inner, body)


@endpoint(f"GET {AT}/-export", guards=GUARDS, slow=True)
def page_conversation_export(request: RequestContext, uuid: str) -> RawResponse:
    """Show the export form of a conversation, which must be imported."""
    backup = find_backup(request, uuid)
    source, viewer = make_source(request.app, request.actor, backup), viewer_for(request, backup)
    if not cache_of(request.app.settings).is_ready(source, viewer, secret_of(request)):
        return redirect_to(f"{ROOT}/{uuid}/")
    sealed = source.kind is FileKind.SEALED
    return conversation_pages(request, backup).page(
        TemplateResult("chats/export.html", f"Export · {backup.name}"),
        ready=True,
        archive_name=backup.name,
        sealed=sealed,
    )


@endpoint(f"POST {AT}/-export", guards=GUARDS)
def export_conversation(request: RequestContext, uuid: str, body: ExportChoice) -> RawResponse:
    """Stream a conversation as a ZIP archive."""
    backup = find_backup(request, uuid)
    source, viewer = make_source(request.app, request.actor, backup), viewer_for(request, backup)
    frame = conversation_pages(request, backup)
    try:
        pieces = cache_of(request.app.settings).begin_export(
            source, viewer, body.form, secret_of(request), is_current=partial(is_current, request.app)
        )
    except ImportRefused as refused:
        return refused_page(frame, source, refused, ready=True)
    except ExportFailed:
        problem = (
            "The export could not be made: it takes more memory or time than it may, or the archive is damaged."
        )
        result = TemplateResult("chats/error.html", "Export failed", {"problem": problem}, 503)
        return frame.page(result, ready=True, archive_name=backup.name, sealed=source.kind is FileKind.SEALED)
    if pieces is None:
        return redirect_to(f"{ROOT}/{uuid}/")
    headers = {
        "Content-Disposition": disposition(f"{backup.name}-{body.form}.zip", "attachment"),
        "Cache-Control": "no-store",
    }
    return RawResponse(pieces, "application/zip", headers=headers)


def settings_page(
    request: RequestContext,
    backup: ChatBackup,
    form: ConversationSettingsForm,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Render the settings of a backup."""
    return page(
        request,
        "chats/personal_settings.html",
        title=f"Settings · {backup.name}",
        status=200 if refusal is None else status_for(refusal),
        problem="" if refusal is None else message_for(refusal),
        backup=backup,
        words=WORDS,
        people=chat_backups.list_shares(request.app, request.actor, backup.uuid),
        form=form,
        root=ROOT,
        base=f"{ROOT}/{backup.uuid}",
    )


@endpoint(f"GET {AT}/-settings", guards=GUARDS, slow=True)
def page_conversation_settings(request: RequestContext, uuid: str) -> RawResponse:
    """Show the settings of a backup to its owner: name, shares and deletion."""
    backup = find_backup(request, find_own(request, uuid).uuid)
    return settings_page(request, backup, ConversationSettingsForm(name=backup.name))


@endpoint(f"POST {AT}/-rename", guards=GUARDS)
def submit_rename_conversation(request: RequestContext, uuid: str, body: ConversationSettingsForm) -> RawResponse:
    """Rename a backup."""
    backup = find_own(request, uuid)
    try:
        renamed = chat_backups.rename(request.app, request.actor, uuid, body.name)
    except HostingError as error:
        return settings_page(request, backup, body, error)
    return redirect_to(f"{ROOT}/{uuid}/-settings", "chat-backup-renamed", renamed.name)


@endpoint(f"POST {AT}/-share", guards=GUARDS)
def submit_share_conversation(request: RequestContext, uuid: str, body: ConversationSettingsForm) -> RawResponse:
    """Share a backup with a user."""
    backup = find_own(request, uuid)
    try:
        added = chat_backups.share(request.app, request.actor, uuid, body.user)
    except HostingError as error:
        typed = msgspec.structs.replace(body, name=backup.name)
        return settings_page(request, backup, typed, error)
    return redirect_to(f"{ROOT}/{uuid}/-settings#people", "chat-backup-shared", added.name)


@endpoint(f"POST {AT}/-unshare", guards=GUARDS)
def submit_unshare_conversation(request: RequestContext, uuid: str, body: ConversationSettingsForm) -> RawResponse:
    """Stop sharing a backup with a user."""
    find_own(request, uuid)
    chat_backups.unshare(request.app, request.actor, uuid, body.user_id)
    return redirect_to(f"{ROOT}/{uuid}/-settings#people", "chat-backup-unshared", body.user)


@endpoint(f"POST {AT}/-delete", guards=GUARDS)
def submit_delete_conversation(request: RequestContext, uuid: str, body: ConversationSettingsForm) -> RawResponse:
    """Delete a backup, if its name was typed as confirmation."""
    backup = find_own(request, uuid)
    try:
        check_typed(body.confirm, backup.name)
        chat_backups.delete(request.app, request.actor, uuid)
    except HostingError as error:
        typed = msgspec.structs.replace(body, name=backup.name)
        return settings_page(request, backup, typed, error)
    return redirect_to(ROOT, "chat-backup-deleted", backup.name)


@endpoint(f"POST {AT}/-cancel", guards=GUARDS)
def submit_cancel_upload(request: RequestContext, uuid: str) -> RawResponse:
    """Delete an incomplete upload."""
    upload = find_own(request, uuid)
    if upload.state != "uploading":
        raise ApiError(404)
    chat_backups.delete(request.app, request.actor, uuid)
    return redirect_to(ROOT, "chat-upload-cancelled", upload.name)
