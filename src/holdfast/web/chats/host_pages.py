"""Conversation pages inside the host: import progress, key form, errors, and the chat viewer."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from holdfast.backup import read_keys
from holdfast.backup.errors import KeyRefused
from holdfast.hosting.file_responses.files import ServedFile, disposition, serve
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import sessions
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast.web.chats import media
from holdfast.web.chats.cache import ConversationCache, cache_of
from holdfast.web.chats.cache_entries import (
    ConversationSource,
    ImportFailed,
    ImportNotStarted,
    ImportReady,
    ImportRunning,
    KeyRequired,
)
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.import_limits import ImportClient, ImportRefused
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import (
    EncryptedMediaResult,
    MediaResult,
    PageNotFound,
    RedirectResult,
    TemplateResult,
    ThumbnailResult,
)
from holdfast.web.pages import redirect_to

__all__ = [
    "COOKIE",
    "ConversationPages",
    "KeyForm",
    "forget_keys",
    "handle_form",
    "refused_page",
    "secret_of",
    "show_archive",
    "show_source",
    "viewer_of",
]

COOKIE: Final = "holdfast_chats"
SECRET_BYTES: Final = 32
LONGEST_KEY: Final = 4096
# A key is usually verified within seconds, unless the file is very large or the queue is long.
KEY_WAIT_S: Final = 8.0
MINUTE_S: Final = 60


class KeyForm(msgspec.Struct, frozen=True):
    """The form with the key of an encrypted backup."""

    key: str = ""
    account: str = ""


class PageRenderer(Protocol):
    """Renders a template inside the layout of a conversation."""

    def __call__(self, template: str, title: str, status: int, values: Mapping[str, object]) -> RawResponse:
        """Render the template."""


@dataclass(frozen=True, slots=True)
class ConversationPages:
    """Renders the pages of one conversation: `base` is its URL path, `draw` its page renderer."""

    call: RequestContext
    base: str
    draw: PageRenderer

    def page(self, result: TemplateResult, *, ready: bool = False, **more: object) -> RawResponse:
        """Render a page with `Cache-Control: no-store`, so that it is not available after logging out.

        `ready` tells the layout that the conversation is imported and can be read in this browser.
        """
        response = self.draw(
            result.template,
            result.title,
            result.status,
            {**result.values, **more, "ready": ready, "base": self.base},
        )
        response.headers["Cache-Control"] = "no-store"
        return response


def show_source(
    frame: ConversationPages, source: ConversationSource, viewer: ImportClient, inner: str
) -> RawResponse:
    """Show a page of a conversation, or the progress of its import."""
    cache = cache_of(frame.call.app.settings)
    try:
        state = cache.look(source, viewer, secret_of(frame.call))
    except ImportRefused as refused:
        return refused_page(frame, source, refused)
    if isinstance(state, ImportReady):
        return show_archive(frame, state.opened, inner, sealed=source.kind is FileKind.SEALED)
    return frame.page(page_for_state(state, source), archive_name=source.name, sealed=False)


def page_for_state(
    state: KeyRequired | ImportFailed | ImportRunning | ImportNotStarted, source: ConversationSource
) -> TemplateResult:
    """Return the page of a conversation that is not ready: key form, progress or failure."""
    if isinstance(state, KeyRequired):
        return TemplateResult("chats/key.html", source.name, {"problem": state.problem, "typed": ""})
    if isinstance(state, ImportFailed):
        return TemplateResult("chats/failed.html", source.name, {"problem": state.problem})
    if isinstance(state, ImportNotStarted):
        return TemplateResult("chats/not_started.html", source.name, status=403)
    return TemplateResult("chats/import_progress.html", source.name, {"progress": state.progress})


def refused_page(
    frame: ConversationPages, source: ConversationSource, refused: ImportRefused, *, ready: bool = False
) -> RawResponse:
    """Render the page of a rejected import or export, with Retry-After."""
    wait = f"{refused.seconds} seconds" if refused.seconds <= MINUTE_S else f"{-(-refused.seconds // 60)} minutes"
    text = str(refused)
    problem = f"{text[:1].upper()}{text[1:]}. Try again in {wait}."
    result = TemplateResult(
        "chats/error.html", "This backup is not read now", {"problem": problem}, refused.status
    )
    response = frame.page(result, ready=ready, archive_name=source.name, sealed=False)
    response.headers["Retry-After"] = str(refused.seconds)
    return response


def show_archive(
    frame: ConversationPages, archive: OpenArchive, inner: str, *, sealed: bool = False
) -> RawResponse:
    """Show a page of an imported conversation."""
    try:
        result = respond(archive, frame.base, inner, dict(frame.call.query_pairs()))
    except PageNotFound:
        raise ApiError(404) from None
    if isinstance(result, RedirectResult):
        return redirect_to(result.address)
    if isinstance(result, MediaResult | EncryptedMediaResult):
        return serve_file(frame.call, result)
    if isinstance(result, ThumbnailResult):
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": media.POLICY}
        return RawResponse(result.content, headers=headers, media_type=result.media_type)
    return frame.page(result, ready=True, archive_name=archive.name, sealed=sealed)


def serve_file(request: RequestContext, result: MediaResult | EncryptedMediaResult) -> RawResponse:
    """Serve a file of a message, or the requested byte ranges of it."""
    served = serve(request, plain_file(result) if isinstance(result, MediaResult) else encrypted_file(result))
    served.headers["Cache-Control"] = "no-store"
    if served.status_code in {200, 206}:
        served.headers["Content-Security-Policy"] = media.POLICY
        served.headers["Content-Disposition"] = disposition(
            result.name, "inline" if result.inline else "attachment"
        )
    return served


def plain_file(result: MediaResult) -> ServedFile:
    """Return a file beside an archive."""
    try:
        size, changed = result.file.size, result.file.path.stat().st_mtime
    except OSError:
        # Removed in the meantime.
        raise ApiError(404) from None
    return ServedFile(
        result.name,
        result.media_type,
        size,
        # The entity tag: the name of a file is its content hash.
        result.file.path.stem,
        int(changed),
        False,
        lambda start, stop: media.file_chunks(result.file, start, stop),
    )


def encrypted_file(result: EncryptedMediaResult) -> ServedFile:
    """Return an attachment that is decrypted while it is read."""
    return ServedFile(
        result.name,
        result.media_type,
        result.attachment.size,
        result.attachment.name,
        None,
        False,
        lambda start, stop: result.media.read(result.attachment, start, stop),
    )


def handle_form(
    frame: ConversationPages, source: ConversationSource, viewer: ImportClient, inner: str, form: KeyForm
) -> RawResponse:
    """Handle the forms: submit a key, forget it, or import again."""
    call = frame.call
    cache: ConversationCache = cache_of(call.app.settings)
    secret = secret_of(call)
    sealed = source.kind is FileKind.SEALED
    if inner not in {"-again", "-forget", "-key"} or (inner != "-again" and not sealed):
        raise ApiError(404)
    if not viewer.may_start:
        return frame.page(page_for_state(ImportNotStarted(), source), archive_name=source.name, sealed=False)
    if inner == "-again" and not sealed and not viewer.may_write and cache.is_ready(source, viewer):
        raise ApiError(403, "Only people with write access to this file can import it again.")
    if inner != "-key":
        cache.forget(source, viewer, secret)
        return redirect_to(f"{frame.base}/")
    if secret is not None and cache.is_ready(source, viewer, secret):
        return redirect_to(f"{frame.base}/")
    return submit_key(frame, source, viewer, form)


def submit_key(
    frame: ConversationPages, source: ConversationSource, viewer: ImportClient, form: KeyForm
) -> RawResponse:
    """Start the import of an encrypted backup with a key; wait up to 8 seconds, to report a wrong key at once."""
    cache = cache_of(frame.call.app.settings)
    key, account = form.key.strip(), form.account.strip()
    # The typed text may already contain the account id; it is not parsed here, the field is appended as a line.
    keys = Secret(f"{key}\naccount-id = {account}" if account else key)
    problem = "" if key and len(key) <= LONGEST_KEY else "Type the key of the backup."
    try:
        if not problem:
            read_keys(keys.reveal())
    except KeyRefused as error:
        problem = f"{str(error)[:1].upper()}{str(error)[1:]}."
    if problem:
        return key_page(frame, source, problem, account)
    current_secret = secret_of(frame.call)
    secret = current_secret or Secret(secrets.token_urlsafe(SECRET_BYTES))
    try:
        running = cache.begin(source, viewer, secret, keys)
    except ImportRefused as refused:
        return refused_page(frame, source, refused)
    if running is not None:
        running.thread.join(KEY_WAIT_S)
        if not running.thread.is_alive() and (failed := cache.problem_of(running)) is not None:
            if failed.key:
                return key_page(frame, source, failed.text, account)
            result = TemplateResult("chats/failed.html", source.name, {"problem": failed.text}, 422)
            return frame.page(result, archive_name=source.name, sealed=False)
    response = redirect_to(f"{frame.base}/")
    if current_secret is None:
        secure = "; Secure" if frame.call.root.startswith("https:") else ""
        # A session cookie: without an expiry it ends with the browser's session.
        response.headers["Set-Cookie"] = f"{COOKIE}={secret.reveal()}; Path=/; HttpOnly; SameSite=Strict{secure}"
    return response


def key_page(frame: ConversationPages, source: ConversationSource, problem: str, account: str) -> RawResponse:
    """Render the key form with an error."""
    result = TemplateResult("chats/key.html", source.name, {"problem": problem, "typed": account[:100]}, 422)
    return frame.page(result, archive_name=source.name, sealed=False)


def viewer_of(request: RequestContext, *, may_write: bool) -> ImportClient:
    """Return the viewer of a conversation, as the import limits count it."""
    user = request.actor.user
    token = request.cookies.get(sessions.COOKIE)
    return ImportClient(
        account=None if user is None else user.id,
        address=request.address,
        session="" if user is None or token is None else sessions.hashed(Secret(token)),
        may_write=may_write,
        may_start=user is not None or request.app.settings.chat_imports_by_visitors,
    )


def forget_keys(settings: Settings, cookies: Mapping[str, str]) -> bool:
    """Delete all cache entries that a browser opened with keys; return whether it had a secret cookie."""
    secret = secret_in(cookies)
    if secret is not None:
        cache_of(settings).forget_browser(secret)
    return secret is not None


def secret_of(request: RequestContext) -> Secret | None:
    """Return the secret of this browser, from which the keys of its cache entries are derived."""
    return secret_in(request.cookies)


def secret_in(cookies: Mapping[str, str]) -> Secret | None:
    """Return the secret of the browser from its cookies."""
    value = cookies.get(COOKIE, "")
    return Secret(value) if len(value) >= SECRET_BYTES and value.isascii() else None
