"""The ASGI application: the API, git, and the web pages."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Final

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosting import api
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError
from holdfast.hosting.failures import explain_request
from holdfast.hosting.git_server import receive_pack
from holdfast.hosting.git_server.http import GitHttp
from holdfast.hosting.http import threads
from holdfast.hosting.http.application import PREFIX
from holdfast.hosting.password_pool import PasswordPool
from holdfast.hosting.request_context import RequestContext, serving_options
from holdfast.hosting.store import accounts
from holdfast.hosting.store.faults import DRIVER_ERRORS
from holdfast.hosting.webhooks.delivery_thread import delivering
from holdfast.server.forwarded_headers import ForwardedHeaders
from holdfast.server.health_endpoints import HealthEndpoints
from holdfast.server.path_normalization import MergeSlashes
from holdfast.server.request_log import RequestLog
from holdfast.server.scheduled_tasks import run_scheduled_tasks
from holdfast.settings import Settings
from holdfast.web import avatars, login, sign_up, stylesheet
from holdfast.web.application import WebApp
from holdfast.web.chats.revocation import Revocation
from holdfast.web.error_middleware import answer_fault
from holdfast.web.pages import not_found
from holdfast.web.reference import ApiReference, redirect_to_page
from holdfast.web.security_headers import SecurityHeaders

__all__ = ["build"]


# Top-level paths besides account names; no account can have these names.
BESIDE: Final = frozenset(
    {"api", "avatars", "favicon.ico", "login", "logout", "sign-up", "static", "swagger.v1.json"}
)
# How long cancelled requests may still write during shutdown.
WRITES_SECONDS: Final = 4.0


class Dispatcher:
    """Dispatches requests to the API, git, fixed paths, or the web pages."""

    def __init__(self, service: ASGIApp, git: GitHttp, beside: ASGIApp, site: ASGIApp) -> None:
        self._service = service
        self._git = git
        self._beside = beside
        self._site = site

    def __call__(self, scope: Scope, messages: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        chosen = self._beside
        if scope["type"] == "http":
            if scope["path"] == PREFIX or scope["path"].startswith(f"{PREFIX}/"):
                chosen = self._service
            elif self._git.matches(scope["path"]):
                chosen = self._git
            elif scope["path"].split("/", 2)[1] not in BESIDE:
                chosen = self._site
        return chosen(scope, messages, send)


@asynccontextmanager
async def sending(app: App, *, wanted: bool) -> AsyncIterator[None]:
    """Run the deliverer in a thread, if wanted."""
    if not wanted:
        yield
        return
    stack = ExitStack()
    await to_thread.run_sync(stack.enter_context, delivering(app))
    try:
        yield
    finally:
        await to_thread.run_sync(stack.close)


def build(settings: Settings, *, delivers: bool = False) -> ASGIApp:
    """Build the application for these settings; the database must be migrated.

    With `delivers` it sends webhooks too, in a thread; `holdfast serve` has a process for that.
    """
    host = App.open(settings)
    accounts.hashing.concurrency = settings.password_hash_concurrency
    pool = PasswordPool(settings.password_hash_concurrency)
    authenticator = api.Authenticator(pool)
    revocation = Revocation(host)
    endpoints = api.endpoints()
    reference = ApiReference(endpoints)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with run_scheduled_tasks(host), sending(host, wanted=delivers), revocation.watching():
            yield
            await receive_pack.finish()
        # Cancelled requests may still be writing.
        await to_thread.run_sync(threads.requests.wait, WRITES_SECONDS)
        host.close()

    static = Path(str(resources.files("holdfast.web") / "static"))
    beside = Starlette(
        routes=[
            Route("/login", login.show, methods=["GET"]),
            Route("/login", login.submit, methods=["POST"]),
            Route("/sign-up", sign_up.show, methods=["GET"]),
            Route("/sign-up", sign_up.submit, methods=["POST"]),
            Route("/logout", login.leave, methods=["POST"]),
            Route("/api/docs", reference.show_page, methods=["GET"]),
            Route("/api/openapi.json", reference.show_document, methods=["GET"]),
            Route("/swagger.v1.json", reference.show_document, methods=["GET"]),
            Route("/api/swagger", redirect_to_page, methods=["GET"]),
            Route("/avatars/{number:int}", avatars.show, methods=["GET"]),
            Route(stylesheet.ADDRESS, stylesheet.show, methods=["GET"]),
            Mount("/static", StaticFiles(directory=static)),
        ],
        middleware=[Middleware(SecurityHeaders)],
        exception_handlers={404: not_found, **dict.fromkeys((HostingError, *DRIVER_ERRORS), answer_fault)},
        lifespan=lifespan,
    )
    beside.state.host = host
    beside.state.settings = settings
    beside.state.database = host.database
    beside.state.password_pool = pool
    service = api.EndpointApp(
        partial(RequestContext, host),
        endpoints,
        authenticator,
        explain_request,
        options=serving_options(host),
    )
    fork = Dispatcher(service, GitHttp(host, authenticator), beside, SecurityHeaders(WebApp(host, pool)))
    logged = RequestLog(revocation.after(fork), host)
    return ForwardedHeaders(MergeSlashes(HealthEndpoints(logged, host)), settings.trusted_proxies)
