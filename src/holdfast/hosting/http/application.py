"""The ASGI application of declared endpoints: route, authenticate, run guards, decode, handle, encode.

On SQLite a short read runs on the event loop itself: handing it to a thread takes longer than the read. Handlers
that write, hash a password, walk history or wait for a database server run in the thread pool; an endpoint that
detects this only while it runs calls `request.require_thread()`. Responses of cacheable endpoints are cached while
the database is unchanged.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.hosting.http.body import Upload, read_body, spool_body
from holdfast.hosting.http.context import EndpointRequest, NeedsThread, PasswordNeeded
from holdfast.hosting.http.decoders import decode_body, decode_query
from holdfast.hosting.http.endpoints import Endpoint, provides
from holdfast.hosting.http.errors import ApiError, ErrorBody, MessageBody, no_route
from holdfast.hosting.http.pagination import PagedList, count_headers, page_of, paging_headers
from holdfast.hosting.http.response_cache import ResponseCache, add_entity_tag, conditional
from holdfast.hosting.http.responses import JsonResponse, RawResponse, send_response
from holdfast.hosting.http.router import IN_BYTES, Match, Router
from holdfast.hosting.http.threads import run_in_thread
from holdfast.settings import Settings

__all__ = ["METHODS", "PREFIX", "EndpointApp", "EndpointTable", "RequestAuthenticator", "ServingOptions"]

PREFIX: Final = "/api/v1"
METHODS: Final = "GET, HEAD, POST, PUT, PATCH, DELETE"

R = TypeVar("R", bound=EndpointRequest)
R_contra = TypeVar("R_contra", bound=EndpointRequest, contravariant=True)
log = structlog.get_logger(__name__)


class RequestAuthenticator(Protocol[R_contra]):
    """Authenticates requests."""

    def authenticate(self, request: R_contra, scope: tuple[str, ...], *, writes: bool) -> None:
        """Set the actor of a request; raise `ApiError` unless the credentials are valid for one of the scopes.

        Raises `PasswordNeeded` if a password has to be hashed first.
        """

    async def check_password(self, request: R_contra) -> None:
        """Hash and check the password in the thread pool, before `authenticate` is called again."""

    async def count_failure(self, request: R_contra, refusal: ApiError) -> ApiError:
        """Count rejected credentials for the rate limit, and return the error to respond with."""


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """Serving options: whether short reads run on the event loop, and the folder of uploads."""

    settings: Settings
    reads_on_loop: bool
    upload_folder: Callable[[], AbstractContextManager[Path]]
    data_version: Callable[[], object]
    """Returns the version of the data as the event loop sees it; None if unknown."""


class EndpointTable:
    """Endpoints by method and path, with their guards; shared by the applications of a process."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._router: Router[Endpoint] = Router()
        self._guards: dict[str, tuple[tuple[Callable[..., object], type | None], ...]] = {}
        for endpoint in endpoints:
            self._router.add(endpoint.method, endpoint.path, endpoint)
            self._guards[endpoint.name] = tuple((guard, provides(guard)) for guard in endpoint.guards)

    def find(self, method: str, path: str) -> Match[Endpoint]:
        """Return the endpoint of a method and an escaped path."""
        return self._router.find(method, path)

    def guards_of(self, endpoint: Endpoint) -> tuple[tuple[Callable[..., object], type | None], ...]:
        """Return the guards of an endpoint, each with the type of its result."""
        return self._guards[endpoint.name]


class EndpointApp(Generic[R]):
    """An ASGI application of endpoints below a path prefix.

    `make_request` builds the request for guards and handlers from the ASGI scope, the `receive` channel and the
    path parameters. `explain` converts an exception of a handler to a response, or returns None if the error is a
    bug.
    """

    def __init__(  # the parts of an application
        self,
        make_request: Callable[[Scope, Receive, dict[str, str]], R],
        table: EndpointTable,
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
        self._cache = ResponseCache()
        self._table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request below the prefix."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        match = self._table.find(scope["method"], raw.decode("ascii", "replace")[len(self._prefix) :])
        request = self._make_request(scope, receive, match.parameters)
        if match.endpoint is not None:
            scope["holdfast.route"] = f"{self._prefix}{match.endpoint.path}"
            response = await self._respond(match.endpoint, request)
        elif scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers={"Allow": METHODS})
        else:
            if match.allowed:
                head = ["HEAD"] if "GET" in match.allowed else []
                request.response_headers["Allow"] = ", ".join([*match.allowed, *head])
            response = self.missing_route(request, 405 if match.allowed else 404)
        await send_response(request, send, response)

    async def _respond(self, endpoint: Endpoint, request: R) -> Response:
        """Return the response of an endpoint, or the error response for an exception."""
        try:
            try:
                response = await self._run(endpoint, request)
            except PasswordNeeded:
                # Authentication comes first, so the handler has not run yet.
                await self._authenticator.check_password(request)
                response = await self._run(endpoint, request)
            if isinstance(response, RawResponse) and response.then is not None:
                return await response.then()
        except ApiError as error:
            refusal = await self._authenticator.count_failure(request, error)
        except Exception as error:
            api_error = await self._explain(error, request)
            if api_error is None:
                log.exception("internal server error", endpoint=endpoint.name)
                api_error = ApiError(500, f"internal error; request {request.scope.get('holdfast.request', '')}")
            refusal = api_error
        else:
            return response
        request.response_headers |= refusal.headers
        return await self.error_response(endpoint, request, refusal)

    def missing_route(self, request: R, status: int) -> Response:
        """Return the response for an unknown path (404) or method (405)."""
        allowed = request.response_headers.get("Allow", "")
        error = no_route(request.root, request.scope["method"], request.scope["path"], allowed)
        return JsonResponse(request.scope, error, status)

    async def error_response(self, endpoint: Endpoint, request: R, refusal: ApiError) -> Response:  # noqa: ARG002  # `WebApp` overrides it, and needs the endpoint
        """Return the response for an error of an endpoint."""
        error: ErrorBody | MessageBody | str = ErrorBody(refusal.message, f"{request.root}/api/swagger")
        if refusal.words:
            error = refusal.message
        elif refusal.bare:
            error = MessageBody(refusal.message)
        return JsonResponse(request.scope, error, refusal.status)

    async def _run(self, endpoint: Endpoint, request: R) -> Response:
        """Authenticate, run guards, read the body, and handle a request, on the event loop or in a thread."""
        on_loop = self._options.reads_on_loop
        largest = endpoint.body_limit(self._options.settings)
        if endpoint.uploads:
            await run_in_thread(self._admit, endpoint, request)
            async with spool_body(request, largest, self._options.upload_folder) as upload:
                return await run_in_thread(self._handle, endpoint, request, b"", upload=upload)
        if endpoint.cacheable:
            return conditional(request, await self._kept_or_made(endpoint, request))
        if endpoint.body is None:
            if on_loop and endpoint.method == "GET" and not endpoint.slow:
                self._admit(endpoint, request)
                return await self._handle_on_loop(endpoint, request)
            return await run_in_thread(self._admit_and_handle, endpoint, request)
        if on_loop:
            self._admit(endpoint, request)
        else:
            await run_in_thread(self._admit, endpoint, request)
        content = await read_body(request, largest)
        return await run_in_thread(self._handle, endpoint, request, content)

    async def _handle_on_loop(self, endpoint: Endpoint, request: R) -> Response:
        """Run a handler on the event loop, or again in a thread if it raises `NeedsThread`."""
        request.on_loop = True
        try:
            return self._handle(endpoint, request, b"")
        except NeedsThread:
            request.on_loop = False
        return await run_in_thread(self._handle, endpoint, request, b"")

    async def _kept_or_made(self, endpoint: Endpoint, request: R) -> Response:
        """Return the response of a cacheable endpoint, from the cache if the version of the data is known."""
        # Read before the data: a concurrent commit makes a response newer than its version, never older.
        version = self._options.data_version() if self._options.reads_on_loop else None
        if version is None:
            response = await run_in_thread(self._admit_and_handle, endpoint, request)
        else:
            self._authenticate(endpoint, request)
            kept = self._cache.get(version, request)
            if kept is not None:
                return kept
            self._run_guards(endpoint, request)
            if endpoint.slow:
                response = await run_in_thread(self._handle, endpoint, request, b"")
            else:
                response = await self._handle_on_loop(endpoint, request)
        self._cache.put(version, request, response)
        return response

    def _admit_and_handle(self, endpoint: Endpoint, request: R) -> Response:
        self._admit(endpoint, request)
        return self._handle(endpoint, request, b"")

    def _admit(self, endpoint: Endpoint, request: R) -> None:
        self._authenticate(endpoint, request)
        self._run_guards(endpoint, request)

    def _authenticate(self, endpoint: Endpoint, request: R) -> None:
        """Authenticate a request, after rejecting a path parameter with a NUL character.

        A NUL in the path of a file is rejected by the handler, like all other invalid file paths.
        """
        for name, value in request.path.items():
            if "\0" in value and name != IN_BYTES:
                raise ApiError(404)
        if not endpoint.anonymous:
            self._authenticator.authenticate(request, endpoint.scope, writes=endpoint.writes)

    def _run_guards(self, endpoint: Endpoint, request: R) -> None:
        """Run the guards of an endpoint in order, and store their results in the request."""
        for guard, kind in self._table.guards_of(endpoint):
            value = guard(request)
            if kind is not None:
                request.resolved_values[kind] = value

    @staticmethod
    def _handle(
        endpoint: Endpoint, request: EndpointRequest, content: bytes, upload: Upload | None = None
    ) -> Response:
        """Decode the arguments of the handler, call it, and encode its result."""
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
            result = result.items
        elif isinstance(result, list) and "X-Total-Count" not in request.response_headers:
            # A list without pagination is complete.
            request.response_headers |= count_headers(len(result))
        response = respond_with(endpoint, request, result)
        if endpoint.cacheable:
            add_entity_tag(response)
        return response


def respond_with(endpoint: Endpoint, request: EndpointRequest, result: object) -> Response:
    """Convert the result of a handler to a response."""
    if isinstance(result, Response):
        return result
    status = endpoint.status
    if status != 204 and isinstance(result, tuple):
        status, result = result
    return Response(status_code=204) if status == 204 else JsonResponse(request.scope, result, status)
