"""Serves the declared endpoints: finds the one, asks its guards, decodes, runs it and answers.

On SQLite a short read runs on the event loop itself: handing it to a thread takes longer than the read. Whatever
writes, hashes a password, walks history or waits for a database server runs in a thread; an endpoint that finds
out only on the way that it has to do so says it by `request.require_thread()`.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import structlog
from starlette.types import Receive, Scope, Send

from holdfast.hosting.http.body import Upload, read_body, spool_body
from holdfast.hosting.http.context import EndpointRequest, NeedsThread, PasswordNeeded
from holdfast.hosting.http.decoders import decode_body, decode_query
from holdfast.hosting.http.endpoints import Endpoint, RawResponse, provides
from holdfast.hosting.http.errors import ApiError, ErrorBody, MessageBody, no_route
from holdfast.hosting.http.pagination import PagedList, count_headers, page_of, paging_headers
from holdfast.hosting.http.responses import send_bytes, send_json, send_raw
from holdfast.hosting.http.router import IN_BYTES, Router
from holdfast.hosting.http.threads import run_in_thread
from holdfast.settings import Settings

__all__ = ["PREFIX", "EndpointApp", "RequestAuthenticator", "ServingOptions"]

PREFIX: Final = "/api/v1"
METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"
ALLOWED_HEADERS: Final = (
    "Authorization, Content-Type, Accept, Sudo, X-Gitea-OTP, X-Request-Id, If-Match, If-None-Match, Range, "
    "Idempotency-Key"
)

R = TypeVar("R", bound=EndpointRequest)
R_contra = TypeVar("R_contra", bound=EndpointRequest, contravariant=True)
log = structlog.get_logger(__name__)


class RequestAuthenticator(Protocol[R_contra]):
    """Finds out who sent a request."""

    def authenticate(self, request: R_contra, scope: tuple[str, ...], *, writes: bool) -> None:
        """Set the actor of a request; raise `ApiError` unless the credentials are valid for one of the scopes.

        Raises `PasswordNeeded` where a password has to be hashed first.
        """

    async def check_password(self, request: R_contra) -> None:
        """Hash the password, so that `authenticate` need not."""

    async def count_failure(self, request: R_contra, refusal: ApiError) -> ApiError:
        """Count credentials that were refused, and return what to respond."""


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """How endpoints are served: whether short reads run on the event loop, and where uploads are written to."""

    settings: Settings
    reads_on_loop: bool
    upload_folder: Callable[[], AbstractContextManager[Path]]


class EndpointApp(Generic[R]):
    """Endpoints below a prefix as an ASGI application.

    `make_request` makes the request that guards and handlers are given from the scope, the body's channel and the
    parameters of the path. `explain` returns the response to a request whose handler raised an error, or None when
    the error is a bug.
    """

    def __init__(  # what an application consists of
        self,
        make_request: Callable[[Scope, Receive, dict[str, str]], R],
        endpoints: Sequence[Endpoint],
        authenticator: RequestAuthenticator[R],
        explain: Callable[[Exception, R], Awaitable[ApiError | None]],
        *,
        options: ServingOptions,
        prefix: str = PREFIX,
    ) -> None:
        self._make_request = make_request
        self._authenticator = authenticator
        self._explain = explain
        self._options = options
        self._prefix = prefix
        self._router: Router[Endpoint] = Router()
        self._guards: dict[str, tuple[tuple[Callable[..., object], type | None], ...]] = {}
        for endpoint in endpoints:
            self._router.add(endpoint.method, endpoint.path, endpoint)
            self._guards[endpoint.name] = tuple((guard, provides(guard)) for guard in endpoint.guards)
        self._origins = frozenset(origin.strip() for origin in options.settings.cors_origins.split(","))

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
        request = self._make_request(scope, receive, match.parameters)
        request.response_headers = more
        try:
            result = await self._run(match.endpoint, request)
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
        receive: Receive,
        send: Send,
        status: int,
        more: dict[str, str],
    ) -> None:
        """Answer for a path, or a method at a path, that no endpoint has."""
        root = self._make_request(scope, receive, {}).root
        error = no_route(root, scope["method"], scope["path"], more.get("Allow", ""))
        await send_json(scope, send, status, error, more)

    async def _run(self, endpoint: Endpoint, request: R) -> object:
        """Authenticate, admit and handle a request; a password is hashed in a thread pool of its own."""
        try:
            return await self._run_authenticated(endpoint, request)
        except PasswordNeeded:
            # Callers are authenticated before anything else is done, so nothing was.
            await self._authenticator.check_password(request)
        return await self._run_authenticated(endpoint, request)

    async def _run_authenticated(self, endpoint: Endpoint, request: R) -> object:
        """Choose between the event loop and a thread, and read the body between the guards and the handler."""
        on_loop = self._options.reads_on_loop
        largest = endpoint.body_limit(self._options.settings)
        if endpoint.uploads:
            await run_in_thread(self._admit, endpoint, request)
            async with spool_body(request, largest, self._options.upload_folder) as upload:
                return await run_in_thread(self._handle, endpoint, request, b"", upload=upload)
        if endpoint.body is None:
            if on_loop and endpoint.method == "GET" and not endpoint.slow:
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
        content = await read_body(request, largest)
        return await run_in_thread(self._handle, endpoint, request, content)

    def _admit_and_handle(self, endpoint: Endpoint, request: R) -> object:
        self._admit(endpoint, request)
        return self._handle(endpoint, request, b"")

    def _admit(self, endpoint: Endpoint, request: R) -> None:
        """Authenticate a request and run its guards; nothing has a NUL in its name.

        A path of a file that has one is refused by the handler, with all else no file can be called.
        """
        for name, value in request.path.items():
            if "\0" in value and name != IN_BYTES:
                raise ApiError(404)
        self._authenticator.authenticate(request, endpoint.scope, writes=endpoint.writes)
        for guard, kind in self._guards[endpoint.name]:
            found = guard(request)
            if kind is not None:
                request.resolved_values[kind] = found

    @staticmethod
    def _handle(
        endpoint: Endpoint, request: EndpointRequest, content: bytes, upload: Upload | None = None
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

    async def _answer(self, endpoint: Endpoint, request: R, receive: Receive, send: Send, result: object) -> None:
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

    def refusal_page(self, request: R, refusal: ApiError) -> RawResponse | None:  # noqa: ARG002  # for pages
        """Return a page that says no, where people look; programs are told in JSON."""
        return None

    async def _refuse(self, request: R, receive: Receive, send: Send, refusal: ApiError) -> None:
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
