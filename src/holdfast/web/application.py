"""The web application: pages are endpoints, declared and guarded like those of the API."""

from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.authentication import Authenticator, by_session, check_state
from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.errors import HostingError
from holdfast.hosting.failures import explain_request
from holdfast.hosting.http.application import EndpointApp, EndpointTable
from holdfast.hosting.http.context import PasswordNeeded
from holdfast.hosting.http.endpoints import Endpoint, RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.threads import run_in_thread
from holdfast.hosting.request_context import RequestContext, serving_options
from holdfast.hosting.store import sessions
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for
from holdfast.web.go_get import go_get_page, is_go_get
from holdfast.web.pages import page, redirect_to
from holdfast.web.unsent_forms import login_page_for, unsent_form

__all__ = ["WebApp"]

# The page that users who must change their password are redirected to.
PASSWORD_PAGE: Final = "/-/account/password"  # noqa: S105  # an address
TITLES: Final = {
    403: "Not allowed",
    404: "Not found",
    405: "Not found",
    409: "Conflict",
    412: "Conflict",
    413: "Too large",
    422: "Invalid input",
    423: "Archived",
    429: "Too many requests",
    503: "Not available",
    507: "Not available",
}


class SessionAuthenticator(Authenticator):
    """Also accepts the session cookie for navigation from another site (`Sec-Fetch-Mode: navigate`)."""

    def _credentials(self, request: RequestContext) -> Actor:
        caller = super()._credentials(request)
        if (
            caller.user is not None
            or request.method != "GET"
            or request.headers.get("sec-fetch-mode") != "navigate"
        ):
            return caller
        cookie = request.cookies.get(sessions.COOKIE)
        return caller if cookie is None else by_session(request, Secret(cookie))

    def _check(self, request: RequestContext, actor: Actor) -> None:
        """Redirect a user who must change their password to that page."""
        user = actor.user
        if (
            user is None
            or not user.must_change_password
            or actor.token is not None
            or actor.impersonated_by is not None
        ):
            super()._check(request, actor)
            return
        check_state(Actor(msgspec.structs.replace(user, must_change_password=False)))
        if request.scope["path"] != PASSWORD_PAGE:
            raise ApiError(303, headers={"Location": PASSWORD_PAGE})


async def explain_page(error: Exception, request: RequestContext) -> ApiError | None:
    """Return the error response of a failed request, with the message that pages have for the error."""
    refusal = await explain_request(error, request)
    if refusal is None or not isinstance(error, HostingError):
        return refusal
    translated = refusal_for(error)
    if translated is None or translated.message != refusal.message:
        # The reason is another error, such as a repository that was deleted meanwhile.
        return refusal
    return ApiError(refusal.status, message_for(error), headers=refusal.headers)


class WebApp(EndpointApp[RequestContext]):
    """The ASGI application of all pages; errors are rendered as pages."""

    def __init__(self, app: App, table: EndpointTable) -> None:
        self._app = app
        super().__init__(
            partial(RequestContext, app),
            table,
            SessionAuthenticator(),
            explain_page,
            options=serving_options(app),
            prefix="",
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; `?go-get=1` is handled for every path of a repository."""
        if is_go_get(scope):
            root = self._make_request(scope, receive, {}).root
            response = await run_in_thread(go_get_page, self._app, root, scope["path"])
            await response(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

    async def error_response(self, endpoint: Endpoint, request: RequestContext, refusal: ApiError) -> Response:
        """Return a page that explains the error; users who are not signed in are sent to the log-in page.

        Without a session, the answer to a form with text keeps the text.
        """
        if is_api(request) and refusal.status in {404, 405}:
            return super().missing_route(request, 404)
        if "Location" in refusal.headers:
            return RawResponse(b"", "text/plain; charset=utf-8", refusal.status)
        if "text/html" not in request.headers.get("accept", ""):
            return await super().error_response(endpoint, request, refusal)
        if request.actor.user is None:
            # To a visitor, a private repository does not exist.
            if endpoint.keeps_form and refusal.status in {401, 404}:
                kept = await unsent_form(endpoint, request)
                if kept is not None:
                    return kept
            if refusal.status == 401:
                return redirect_to(login_page_for(request))
        title = TITLES.get(refusal.status, "Something went wrong")
        if refusal.status in {404, 405}:
            return page(
                request, "not_found.html", title=title, status=refusal.status, repository=request.repository
            )
        template = "unavailable.html" if refusal.status in {503, 507} else "refused.html"
        return page(request, template, title=title, status=refusal.status, problem=message_for(refusal))

    def missing_route(self, request: RequestContext, status: int) -> Response:
        """Return the 404 or 405 response of a path without an endpoint: a page, or JSON below `/api`."""
        if is_api(request):
            return super().missing_route(request, status)
        with suppress(ApiError, PasswordNeeded):
            self._authenticator.authenticate(request, (), writes=False)
        return page(request, "not_found.html", title=TITLES[status], status=status, repository="")


def is_api(request: RequestContext) -> bool:
    """Return whether a path is reserved for the API or its reference."""
    path: str = request.scope["path"]
    return path == "/api" or path.startswith("/api/")
