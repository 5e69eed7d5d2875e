"""The ASGI application: the API, git, and the web pages."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import ExitStack, asynccontextmanager
from functools import cache, partial
from typing import Final

from anyio import to_thread
from starlette.routing import Mount, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosting import api, traces
from holdfast.hosting.app import App
from holdfast.hosting.failures import explain_request
from holdfast.hosting.git_server import receive_pack
from holdfast.hosting.git_server.http import GitHttp
from holdfast.hosting.http import threads
from holdfast.hosting.http.application import PREFIX, EndpointTable
from holdfast.hosting.request_context import RequestContext, serving_options
from holdfast.hosting.store import accounts
from holdfast.hosting.webhooks.delivery_thread import delivering
from holdfast.server.forwarded_headers import ForwardedHeaders
from holdfast.server.health_endpoints import HealthEndpoints
from holdfast.server.path_normalization import MergeSlashes
from holdfast.server.request_log import RequestLog
from holdfast.server.scheduled_tasks import run_scheduled_tasks
from holdfast.settings import Settings
from holdfast.web import static_files, stylesheet
from holdfast.web.application import WebApp
from holdfast.web.chats.revocation import Revocation
from holdfast.web.reference import ApiReference
from holdfast.web.routes import endpoints
from holdfast.web.security_headers import SecurityHeaders

__all__ = ["build"]


API_PATHS: Final = f"{PREFIX}/"
# How long cancelled requests may still write during shutdown.
WRITES_SECONDS: Final = 4.0


class Dispatcher:
    """Dispatches requests to the API, git, static files, or the web pages."""

    def __init__(self, service: ASGIApp, git: GitHttp, static: ASGIApp, site: ASGIApp) -> None:
        self._service = service
        self._git = git
        self._static = static
        self._site = site

    def __call__(self, scope: Scope, messages: Receive, send: Send) -> Awaitable[None]:
        """Serve one request, or start and stop the service."""
        if scope["type"] != "http":
            return self._static(scope, messages, send)
        path: str = scope["path"]
        if path.startswith(API_PATHS) or path == PREFIX:
            return self._service(scope, messages, send)
        if is_static(path):
            return self._static(scope, messages, send)
        if self._git.matches(path):
            return self._git(scope, messages, send)
        return self._site(scope, messages, send)


def is_static(path: str) -> bool:
    """Return whether a path is that of a static file; the stylesheet is a page built from several files."""
    return path.startswith(f"{static_files.PREFIX}/") and path != stylesheet.ADDRESS


@asynccontextmanager
async def sending(app: App, *, enabled: bool) -> AsyncIterator[None]:
    """Run the deliverer in a thread, if enabled."""
    if not enabled:
        yield
        return
    stack = ExitStack()
    await to_thread.run_sync(stack.enter_context, delivering(app))
    try:
        yield
    finally:
        await to_thread.run_sync(stack.close)


@asynccontextmanager
async def exporting_traces(settings: Settings) -> AsyncIterator[None]:
    """Export traces, if a collector is configured; the last batch is sent in a thread."""
    stack = ExitStack()
    await to_thread.run_sync(stack.enter_context, traces.exporting(settings.otlp_endpoint))
    try:
        yield
    finally:
        await to_thread.run_sync(stack.close)


@cache
def api_table() -> EndpointTable:
    """Return the endpoints of the API."""
    return EndpointTable(api.endpoints())


@cache
def page_table() -> EndpointTable:
    """Return the web pages, with the reference of the API."""
    return EndpointTable([*endpoints(), *ApiReference(api.endpoints()).pages()])


def build(settings: Settings, *, delivers: bool = False) -> ASGIApp:
    """Build the application for these settings; the database must be migrated.

    With `delivers` it also sends webhooks, in a thread; `holdfast serve` has a process for that.
    """
    host = App.open(settings)
    accounts.hashing.concurrency = settings.password_hash_concurrency
    authenticator = api.Authenticator()
    revocation = Revocation(host)

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        async with (
            exporting_traces(settings),
            run_scheduled_tasks(host),
            sending(host, enabled=delivers),
            revocation.watching(),
        ):
            yield
            await receive_pack.finish()
        # Cancelled requests may still be writing.
        await to_thread.run_sync(threads.requests.wait, WRITES_SECONDS)
        host.close()

    static = Router([Mount(static_files.PREFIX, static_files.StaticAssets())], lifespan=lifespan)
    service = api.EndpointApp(
        partial(RequestContext, host),
        api_table(),
        authenticator,
        explain_request,
        options=serving_options(host),
    )
    dispatcher = Dispatcher(
        api.CrossOrigin(service, settings.cors_origins),
        GitHttp(host, authenticator),
        SecurityHeaders(static),
        SecurityHeaders(WebApp(host, page_table())),
    )
    logged = RequestLog(revocation.after(dispatcher), host)
    return ForwardedHeaders(MergeSlashes(HealthEndpoints(logged, host)), settings.trusted_proxies)
