"""Serves the declared endpoints: finds the one, asks its guards, decodes, runs it and answers.

On SQLite a short read runs on the event loop itself: handing it to a thread takes longer than the read. Whatever
writes, hashes a password, walks history or waits for a database server runs in a thread; an endpoint that finds
out only on the way that it has to do so says it by `request.require_thread()`.
"""

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

import anyio
import structlog
from starlette.types import Message, Receive, Scope, Send

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.http.context import NeedsThread, PasswordNeeded, RequestContext
from holdfast.hosting.http.decoders import decode_body, decode_query
from holdfast.hosting.http.endpoints import Endpoint, RawResponse, Upload, provides
from holdfast.hosting.http.errors import ApiError, ErrorBody, MessageBody, no_route
from holdfast.hosting.http.headers import Headers
from holdfast.hosting.http.pagination import PagedList, count_headers, page_of, paging_headers
from holdfast.hosting.http.responses import send_bytes, send_json, send_raw
from holdfast.hosting.http.router import IN_BYTES, Router
from holdfast.hosting.http.threads import run_in_thread

__all__ = ["PREFIX", "EndpointApp", "read_body", "root_of"]

PREFIX: Final = "/api/v1"
METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"
ALLOWED_HEADERS: Final = (
    "Authorization, Content-Type, Accept, Sudo, X-Gitea-OTP, X-Request-Id, If-Match, If-None-Match, Range, "
    "Idempotency-Key"
)
# A compressed body may grow this much; deflate itself cannot do more than about a thousand times.
LARGEST_RATIO: Final = 200

T = TypeVar("T")
ErrorHandler = Callable[[Exception, RequestContext], Awaitable[ApiError | None]]
log = structlog.get_logger(__name__)


class RequestAuthenticator(Protocol):
    """Finds out who sends a request."""

    def identify(self, request: RequestContext) -> Actor:
        """Return the caller; raise `PasswordNeeded` where a password has to be hashed first."""

    def allows(self, actor: Actor, scope: tuple[str, ...], *, write: bool) -> bool:
        """Return whether the credentials of a caller are good for one of these scopes."""

    async def check_password(self, request: RequestContext) -> None:
        """Hash the password, so that `identify` need not."""

    async def count_failure(self, request: RequestContext, refusal: ApiError) -> ApiError:
        """Count credentials that were refused, and return what to respond."""


class EndpointApp:
    """The API as an ASGI application; `endpoints` is everything it can do, below the prefix.

    `explain` returns the response to a request whose handler raised an error, or None for a bug.
    """

    def __init__(
        self,
        app: App,
        endpoints: Sequence[Endpoint],
        authenticator: RequestAuthenticator,
        explain: ErrorHandler,
        *,
        prefix: str = PREFIX,
    ) -> None:
        self._explain = explain
        self._host = app
        self._prefix = prefix
        self._authenticator = authenticator
        self._router: Router[Endpoint] = Router()
        self._found: dict[str, tuple[tuple[Callable[[RequestContext], object], type | None], ...]] = {}
        for endpoint in endpoints:
            self._router.add(endpoint.method, endpoint.path, endpoint)
            self._found[endpoint.name] = tuple((guard, provides(guard)) for guard in endpoint.guards)
        self._origins = frozenset(origin.strip() for origin in app.settings.cors_origins.split(","))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request below the prefix."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("ascii", "replace")[len(self._prefix) :]
        more = self._cross_origin(scope)
        if scope["method"] == "OPTIONS":
            await self._preflight(scope, send, more)
            return
        match = self._router.find(scope["method"], path)
        if match.endpoint is None:
            if match.allowed:
                more["Allow"] = ", ".join([*match.allowed, *(["HEAD"] if "GET" in match.allowed else [])])
            await self._nothing_there(scope, receive, send, 405 if match.allowed else 404, more)
            return
        scope["holdfast.route"] = f"{self._prefix}{match.endpoint.path}"
        headers = Headers(scope)
        request = RequestContext(self._host, scope, headers, match.parameters, root_of(self._host, scope, headers))
        request.response_headers = more
        try:
            result = await self._run(match.endpoint, request, receive)
            if isinstance(result, RawResponse) and result.then is not None:
                result = await result.then()
        except ApiError as refusal:
            await self._refuse(request, receive, send, await self._authenticator.count_failure(request, refusal))
        except Exception as error:
            known = await self._explain(error, request)
            if known is None:
                log.exception("the API failed", endpoint=match.endpoint.name)
                known = ApiError(500, f"internal error; request {scope.get('holdfast.request', '')}")
            await self._refuse(request, receive, send, known)
        else:
            await self._answer(match.endpoint, request, receive, send, result)

    async def _nothing_there(  # the parts of an answer
        self,
        scope: Scope,
        receive: Receive,  # noqa: ARG002  # for pages
        send: Send,
        status: int,
        more: dict[str, str],
    ) -> None:
        """Answer for a path, or a method at a path, that no endpoint has."""
        root = root_of(self._host, scope, Headers(scope))
        error = no_route(root, scope["method"], scope["path"], more.get("Allow", ""))
        await send_json(scope, send, status, error, more)

    async def _run(self, endpoint: Endpoint, request: RequestContext, receive: Receive) -> object:
        """Do everything between the request and the answer; a password is checked in a thread pool of its own."""
        try:
            return await self._run_identified(endpoint, request, receive)
        except PasswordNeeded:
            # Callers are identified before anything else is done, so nothing was.
            await self._authenticator.check_password(request)
        return await self._run_identified(endpoint, request, receive)

    async def _run_identified(self, endpoint: Endpoint, request: RequestContext, receive: Receive) -> object:
        """Do it on the loop or off it."""
        on_loop = self._host.database.is_sqlite
        quick = endpoint.method == "GET" and not endpoint.slow and on_loop
        if endpoint.uploads:
            await run_in_thread(self._admit, endpoint, request)
            async with spooled(request, receive, endpoint.body_limit(self._host.settings)) as upload:
                return await run_in_thread(self._handle, endpoint, request, b"", upload=upload)
        if endpoint.body is None:
            if quick:
                self._admit(endpoint, request)
                request.on_loop = True
                try:
                    return self._handle(endpoint, request, b"")
                except NeedsThread:
                    request.on_loop = False
                return await run_in_thread(self._handle, endpoint, request, b"")
            return await run_in_thread(self._admit_and_handle, endpoint, request)
        if on_loop:
            self._admit(endpoint, request)
        else:
            await run_in_thread(self._admit, endpoint, request)
        content = await read_body(request, receive, endpoint.body_limit(self._host.settings))
        return await run_in_thread(self._handle, endpoint, request, content)

    def _admit_and_handle(self, endpoint: Endpoint, request: RequestContext) -> object:
        self._admit(endpoint, request)
        return self._handle(endpoint, request, b"")

    def _admit(self, endpoint: Endpoint, request: RequestContext) -> None:
        """Find out who is asking, and let every guard look; nothing can have a NUL in its name.

        A path of a file that has one is refused by whoever writes there, with all else no file can be called.
        """
        for name, value in request.path.items():
            if "\0" in value and name != IN_BYTES:
                raise ApiError(404)
        request.actor = self._authenticator.identify(request)
        if endpoint.scope and not self._authenticator.allows(request.actor, endpoint.scope, write=endpoint.writes):
            raise scope_refusal(endpoint, request)
        for guard, kind in self._found[endpoint.name]:
            found = guard(request)
            if kind is not None:
                request.resolved_values[kind] = found

    @staticmethod
    def _handle(
        endpoint: Endpoint, request: RequestContext, content: bytes, upload: Upload | None = None
    ) -> object:
        """Decode what the handler takes and run it."""
        arguments: dict[str, Any] = endpoint.arguments(request)
        if upload is not None:
            arguments["upload"] = upload
        page = None
        if endpoint.paged:
            page = page_of(request)
            arguments["page"] = page
        if endpoint.query is not None:
            arguments["query"] = decode_query(endpoint.query, request.query_pairs())
        if endpoint.body is not None:
            content_type = request.headers.get("content-type")
            arguments["body"] = decode_body(
                endpoint.body, content, content_type, endpoint.method, dict(request.query_pairs())
            )
        result = endpoint.run(request, **arguments)
        if isinstance(result, PagedList) and page is not None:
            request.response_headers |= paging_headers(request, result.page or page, result.total)
            return result.items
        if isinstance(result, list) and "X-Total-Count" not in request.response_headers:
            # A list that has no pages is whole.
            request.response_headers |= count_headers(len(result))
        return result

    async def _answer(
        self, endpoint: Endpoint, request: RequestContext, receive: Receive, send: Send, result: object
    ) -> None:
        """Write what the handler returned."""
        if isinstance(result, RawResponse):
            await send_raw(request.scope, receive, send, result, request.response_headers)
        elif endpoint.status == 204:
            await send_bytes(request.scope, send, 204, b"", [], request.response_headers)
        else:
            status = endpoint.status
            if isinstance(result, tuple):
                status, result = result
            if status == 204:
                await send_bytes(request.scope, send, 204, b"", [], request.response_headers)
                return
            await send_json(request.scope, send, status, result, request.response_headers)

    def refusal_page(self, request: RequestContext, refusal: ApiError) -> RawResponse | None:  # noqa: ARG002  # for pages
        """Return a page that says no, where people look; programs are told in JSON."""
        return None

    async def _refuse(self, request: RequestContext, receive: Receive, send: Send, refusal: ApiError) -> None:
        """Write an error."""
        more = {**request.response_headers, **refusal.headers}
        page = self.refusal_page(request, refusal)
        if page is not None:
            await send_raw(request.scope, receive, send, page, more)
            return
        error: ErrorBody | MessageBody | str = ErrorBody(refusal.message, f"{request.root}/api/swagger")
        if refusal.words:
            error = refusal.message
        elif refusal.bare:
            error = MessageBody(refusal.message)
        await send_json(request.scope, send, refusal.status, error, more)

    def _cross_origin(self, scope: Scope) -> dict[str, str]:
        """Return the headers a script of another site needs to read the answer; cookies never count there."""
        origin = next(iter([value for name, value in scope["headers"] if name == b"origin"]), None)
        if origin is None:
            return {}
        if "*" in self._origins:
            return {"Access-Control-Allow-Origin": "*"}
        text = origin.decode("latin-1")
        return {"Access-Control-Allow-Origin": text, "Vary": "Origin"} if text in self._origins else {}

    @staticmethod
    async def _preflight(scope: Scope, send: Send, more: dict[str, str]) -> None:
        """Answer the question browsers ask before a request to another site."""
        if more:
            more |= {
                "Access-Control-Allow-Methods": METHODS,
                "Access-Control-Allow-Headers": ALLOWED_HEADERS,
                "Access-Control-Max-Age": "3600",
            }
        await send_bytes(scope, send, 204, b"", [], {"Allow": METHODS, **more})


def scope_refusal(endpoint: Endpoint, request: RequestContext) -> ApiError:
    """Say which scopes a token lacks."""
    level = "write" if endpoint.writes else "read"
    required = " ".join(f"{level}:{category}" for category in endpoint.scope)
    token = request.actor.token
    held = ",".join(token.scopes) if token else ""
    text = f"token does not have at least one of required scope(s), required=[{required}], token scope={held}"
    return ApiError(403, text)


def root_of(app: App, scope: Scope, headers: Headers) -> str:
    """Return the address of the service: the one in the settings, or the one the client used."""
    if app.settings.root_url is not None:
        return app.settings.root_url
    return f"{scope.get('scheme', 'http')}://{headers.get('host', 'localhost')}"


async def read_body(request: RequestContext, receive: Receive, largest: int) -> bytes:
    """Read the whole body, decompressed; one that is too large is refused without reading the rest."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) <= largest and "content-encoding" not in request.headers:
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            # It came with its headers, as nearly all do.
            return bytes(message.get("body", b""))
        pieces = body_pieces(request, given_back(message, receive), largest)
    else:
        pieces = body_pieces(request, receive, largest)
    return b"".join([piece async for piece in pieces])


def given_back(first: Message, receive: Receive) -> Receive:
    """Return what receives a message that was received already, and then what comes after it."""
    waiting = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


@asynccontextmanager
async def spooled(request: RequestContext, receive: Receive, largest: int) -> AsyncIterator[Upload]:
    """Put the body into a file as it comes, and remove that afterwards."""
    with request.app.folders.incoming() as folder:
        path = folder / "body"
        async with await anyio.open_file(path, "wb") as file:
            async for piece in body_pieces(request, receive, largest):
                await file.write(piece)
        yield Upload(path)


async def body_pieces(request: RequestContext, receive: Receive, largest: int) -> AsyncIterator[bytes]:
    """Go through the body as it comes, decompressed; one that is too large is refused before it is read."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > largest:
        raise too_large(largest)
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip", "x-gzip", "deflate"}:
        raise ApiError(415, f"unsupported Content-Encoding: {encoding}")
    unpack = None if encoding == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    size = received = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "the body was cut off")
        piece: bytes = message.get("body", b"")
        received += len(piece)
        more = message.get("more_body", False)
        if unpack is not None:
            try:
                piece = unpack.decompress(piece, largest + 1 - size)
            except zlib.error as error:
                raise ApiError(400, f"the body is not {encoding}") from error
            if unpack.unconsumed_tail or size + len(piece) > received * LARGEST_RATIO + 65536:
                raise too_large(largest)
        size += len(piece)
        if size > largest:
            raise too_large(largest)
        if piece:
            yield piece
    if unpack is not None and received and not unpack.eof:
        raise ApiError(400, f"the body is not {encoding}, or it was cut off")


def too_large(largest: int) -> ApiError:
    """Say how much a body may have."""
    return ApiError(413, f"the body is larger than {largest} bytes")
