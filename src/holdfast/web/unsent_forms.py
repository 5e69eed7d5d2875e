"""Forms that were submitted without a session: their fields are shown again, to be sent after logging in."""

from typing import Final
from urllib.parse import quote

from holdfast.hosting.http.body import read_body
from holdfast.hosting.http.decoders import urlencoded_fields
from holdfast.hosting.http.endpoints import Endpoint, RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.threads import run_in_thread
from holdfast.hosting.request_context import RequestContext
from holdfast.web.pages import local_path, page

__all__ = ["login_page_for", "unsent_form"]

# The fields that are shown, because a user typed them; the others are hidden.
TEXTS: Final = frozenset({"body", "content", "description", "message", "name", "title"})


def login_page_for(request: RequestContext) -> str:
    """Return the URL of the log-in page that leads back to the requested page, or to the page with the form."""
    if request.method == "GET":
        query: bytes = request.scope["query_string"]
        here = quote(request.scope["path"]) + (f"?{query.decode('ascii', 'replace')}" if query else "")
    else:
        referer = request.headers.get("referer", "")
        here = local_path(referer.removeprefix(request.root)) if referer.startswith(request.root) else "/"
    return f"/login?next={quote(here, safe='')}"


async def unsent_form(endpoint: Endpoint, request: RequestContext) -> RawResponse | None:
    """Return a page that sends the submitted fields again; None if they cannot be read.

    Only forms of this site get here: those of other sites were rejected before.
    """
    if "form-urlencoded" not in request.headers.get("content-type", "").lower():
        return None
    try:
        content = await read_body(request, endpoint.body_limit(request.app.settings))
        return await run_in_thread(page_of, request, content)
    except ApiError:
        return None


def page_of(request: RequestContext, content: bytes) -> RawResponse:
    """Render the submitted fields as a form of the same address."""
    fields = [(name, value, name in TEXTS and value != "") for name, value in urlencoded_fields(content)]
    login = login_page_for(request)
    return page(request, "unsent_form.html", title="Log in to continue", status=401, fields=fields, login=login)
