"""The web app of `holdfast archive serve`: one archive on loopback, opened with a single-use token."""

import hmac
import secrets
import sqlite3
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Final

from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.backup.archives.passphrases import ArchiveKey
from holdfast.backup.errors import BackupError
from holdfast.hosting.file_responses.files import disposition
from holdfast.hosting.file_responses.ranges import ByteRange, Unsatisfiable, parse_range_header
from holdfast.secret import Secret
from holdfast.web import stylesheet
from holdfast.web.chats import media
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.statistics_page import cached_statistics
from holdfast.web.chats.view import MediaResult, PageNotFound, RedirectResult, TemplateResult, ThumbnailResult
from holdfast.web.pages import PAGES
from holdfast.web.security_headers import SecurityHeaders

__all__ = ["build"]

OPENING: Final = "/open/"
LAYOUT: Final = "chats/single_archive_layout.html"
NOT_YOURS: Final = TemplateResult(
    "chats/error.html",
    "This address was used already",
    {"problem": "An address that was printed works once, in one browser. Start the command again for a new one."},
    403,
)


class SessionAuthentication:
    """Middleware: exchanges a single-use token for a session cookie; every other request needs the cookie.

    The `Host` header must name this machine, against DNS rebinding: another site could resolve its own name to
    loopback.
    """

    def __init__(self, app: ASGIApp, token: Secret, hosts: frozenset[str], cookie: str) -> None:
        self.app = app
        self._token: Secret | None = token
        self._hosts = hosts
        self._cookie = cookie
        self._pass: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = self._refusal(scope)
        if response is None:
            await self.app(scope, receive, send)
        else:
            await response(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This service answers only to the address it printed.\n", 421)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("There is nothing to send here.\n", 405, {"Allow": "GET, HEAD"})
        path: str = scope["path"]
        cookie = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        is_logged_in = self._pass is not None and hmac.compare_digest(cookie.encode(), self._pass.encode())
        if path.startswith(OPENING):
            if is_logged_in:
                return RedirectResponse("/", 303)
            return self._open(path.removeprefix(OPENING), scope["method"], headers)
        if is_logged_in or path.startswith("/static/"):
            return None
        return render_page("Holdfast", NOT_YOURS)

    def _open(self, sent_token: str, method: str, headers: Headers) -> Response:
        token = self._token
        if token is None or not hmac.compare_digest(sent_token.encode(), token.reveal().encode()):
            return render_page("Holdfast", NOT_YOURS)
        # A prefetch must not use up the single-use token.
        if method == "HEAD" or "prefetch" in headers.get("sec-purpose", ""):
            return PlainTextResponse("", 204)
        self._token = None
        self._pass = secrets.token_urlsafe(32)
        response = RedirectResponse("/", 303, {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"})
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="strict")
        return response


def render_page(name: str, result: TemplateResult) -> Response:
    """Render a page."""
    values: Mapping[str, object] = {
        "layout": LAYOUT,
        "top": "h1",
        "base": "",
        "archive_name": name,
        "sealed": False,
        **result.values,
    }
    html = PAGES.render(result.template, user=None, title=result.title, status=result.status, **values)
    html.headers["Cache-Control"] = "no-store"
    return html


def file_response(result: MediaResult, requested: str) -> Response:
    """Serve a file or a byte range of it; an encrypted file is decrypted while it is sent."""
    headers = {
        "Content-Disposition": disposition(result.name, "inline" if result.inline else "attachment"),
        "Content-Security-Policy": media.POLICY,
        "Cache-Control": "no-store",
    }
    if result.file.key is None:
        return FileResponse(result.file.path, media_type=result.media_type, headers=headers)
    size = result.file.size
    try:
        parts = parse_range_header(requested, size)
    except Unsatisfiable:
        return PlainTextResponse("", 416, {"Content-Range": f"bytes */{size}"})
    # A request for several ranges gets the whole file, which HTTP allows.
    part = parts[0] if len(parts) == 1 else ByteRange(0, size)
    headers |= {"Accept-Ranges": "bytes", "Content-Length": str(part.stop - part.start)}
    if len(parts) == 1:
        headers["Content-Range"] = part.content_range(size)
    return StreamingResponse(
        media.file_chunks(result.file, part.start, part.stop),
        206 if len(parts) == 1 else 200,
        headers,
        result.media_type,
    )


def precompute_statistics(archive: OpenArchive) -> None:
    """Compute the statistics before they are requested; errors are left to the page."""
    with suppress(BackupError, sqlite3.Error), archive.reading() as opened:
        cached_statistics(archive, opened)


def build(archive: Path, token: Secret, port: int, key: ArchiveKey | None = None) -> ASGIApp:
    """Build the application that serves one archive on a loopback port; an encrypted archive needs its key."""
    opened: OpenArchive = open_archive_file(archive, archive.name, key=key)

    async def show(request: Request) -> Response:
        def look() -> Response:
            missing = TemplateResult("chats/missing.html", "Not found", status=404)
            try:
                result = respond(opened, "", request.url.path, request.query_params)
            except PageNotFound:
                result = missing
            if isinstance(result, RedirectResult):
                return RedirectResponse(result.address, 303)
            if isinstance(result, ThumbnailResult):
                headers = {"Cache-Control": "no-store", "Content-Security-Policy": media.POLICY}
                return Response(result.content, media_type=result.media_type, headers=headers)
            if isinstance(result, MediaResult):
                return file_response(result, request.headers.get("range", ""))
            # `EncryptedMediaResult` does not occur: a single archive has no phone folder.
            return render_page(opened.name, result if isinstance(result, TemplateResult) else missing)

        return await to_thread.run_sync(look)

    async def show_stylesheet(_request: Request) -> Response:
        return stylesheet.stylesheet_response()

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        yield
        opened.close()

    # The statistics of a long history take seconds, so they are computed in advance.
    threading.Thread(target=precompute_statistics, args=(opened,), daemon=True).start()
    static = Path(str(resources.files("holdfast.web") / "static"))
    hosts = frozenset(f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]"))
    return Starlette(
        routes=[
            Route(stylesheet.ADDRESS, show_stylesheet, methods=["GET"]),
            Mount("/static", StaticFiles(directory=static)),
            Route("/{path:path}", show, methods=["GET"]),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            # Cookies are shared between ports, so the name contains the port.
            Middleware(SessionAuthentication, token=token, hosts=hosts, cookie=f"holdfast_archive_{port}"),
        ],
        lifespan=lifespan,
    )
