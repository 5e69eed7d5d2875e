"""Turns templates into pages, and says where to go next after a form."""

import gzip
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from holdfast import __version__
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.http.responses import accepts_gzip
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store.accounts import Account
from holdfast.web.bidi import with_balanced_isolates, with_visible_controls
from holdfast.web.security_headers import POLICY
from holdfast.web.stylesheet import ADDRESS

__all__ = ["NOTICE_COOKIE", "PAGES", "Pages", "go", "local_path", "page"]

HTML: Final = "text/html; charset=utf-8"
WORTH_PACKING: Final = 1400
CONVERSATIONS: Final = "chats/"
NEVER_KEPT: Final = {"Cache-Control": "private, no-cache"}
NOTICE_COOKIE: Final = "holdfast_notice"
# What a page can say after a form was sent. The cookie holds the key only, so nobody's words travel in it.
NOTICES: Final[Mapping[str, str]] = {
    "branch-created": "Branch created.",
    "branch-deleted": "Branch deleted.",
    "delivery-cancelled": "Delivery cancelled.",
    "changed": "Your changes are saved.",
    "collaborator-removed": "Collaborator removed.",
    "collaborator-saved": "Collaborator saved.",
    "comment-deleted": "Comment deleted.",
    "dependency-added": "Dependency added.",
    "dependency-removed": "Dependency removed.",
    "issue-created": "Issue created.",
    "issue-deleted": "Issue deleted.",
    "label-created": "Label created.",
    "label-deleted": "Label deleted.",
    "file-created": "File created.",
    "file-deleted": "File deleted.",
    "file-saved": "File saved.",
    "files-uploaded": "Files uploaded.",
    "milestone-created": "Milestone created.",
    "milestone-deleted": "Milestone deleted.",
    "member-added": "Member added.",
    "member-removed": "Member removed.",
    "organization-created": "Organization created.",
    "organization-deleted": "Organization deleted.",
    "organization-renamed": "Organization renamed.",
    "organization-updated": "Organization updated.",
    "password-changed": "Your password is changed, and every other browser is logged out.",
    "password-reset": "Password reset. The user is signed out everywhere, and their tokens are revoked.",
    "repository-added": "Repository added.",
    "repository-archived": "Repository archived. It is now read-only.",
    "repository-created": "Repository created.",
    "repository-deleted": "Repository deleted.",
    "repository-removed": "Repository removed.",
    "repository-renamed": "Repository renamed.",
    "repository-transferred": "Repository transferred.",
    "repository-unarchived": "Repository unarchived.",
    "rule-created": "Branch protection rule created.",
    "rule-deleted": "Branch protection rule deleted.",
    "rule-saved": "Branch protection rule saved.",
    "settings-saved": "Settings saved.",
    "redelivery-queued": "Redelivery queued.",
    "team-created": "Team created.",
    "team-deleted": "Team deleted.",
    "team-updated": "Team updated.",
    "test-queued": "Test delivery queued.",
    "signed-out": "Signed out there.",
    "token-revoked": "Token revoked.",
    "user-created": "User created.",
    "user-deleted": "User deleted.",
    "user-renamed": "User renamed.",
    "user-updated": "User updated.",
    "webhook-created": "Webhook created.",
    "webhook-deleted": "Webhook deleted.",
    "webhook-resumed": "Webhook resumed.",
    "webhook-updated": "Webhook updated.",
}


def moment(given: float | str) -> datetime:
    """Return a moment of the database or of git, or one as the API writes it, to be written for people."""
    return datetime.fromisoformat(given) if isinstance(given, str) else datetime.fromtimestamp(given, UTC)


class Pages:
    """The templates; a name that a template misspells is an error, not an empty place."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("holdfast.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters = self._environment.filters
        filters["number"] = lambda value: f"{value:,}"
        filters["moment"] = moment
        filters["part"] = lambda text: quote(text, safe="")
        filters["path"] = lambda text: quote(text, safe="/")
        self._environment.globals |= {"version": __version__, "stylesheet": ADDRESS}

    def text(self, template: str, *, user: Account | None, title: str, **values: object) -> str:
        """Make the text of a page; `user` is whoever is looking at it."""
        given: dict[str, object] = {"here": "/", "notice": "", **values}
        made = self._environment.get_template(template).render(user=user, title=title, **given)
        # In conversations they are how people's names are kept apart from the words around them, and no more.
        return with_balanced_isolates(made) if template.startswith(CONVERSATIONS) else with_visible_controls(made)

    def render(
        self, template: str, *, user: Account | None, title: str, status: int = 200, **values: object
    ) -> HTMLResponse:
        """Make a page."""
        return HTMLResponse(self.text(template, user=user, title=title, **values), status, headers=NEVER_KEPT)


PAGES: Final = Pages()


def page(
    request: RequestContext,
    template: str,
    revise: Callable[[str], str] = str,
    /,
    *,
    title: str,
    status: int = 200,
    **values: object,
) -> RawResponse:
    """Make a page for whoever sent the request; `revise` is applied to its HTML last."""
    headers = {**POLICY, **NEVER_KEPT}
    left = request.cookies.get(NOTICE_COOKIE, "")
    if left:
        headers["Set-Cookie"] = f"{NOTICE_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
    query: bytes = request.scope["query_string"]
    here = quote(request.scope["path"]) + (f"?{query.decode('ascii', 'replace')}" if query else "")
    text = PAGES.text(
        template,
        user=request.actor.user,
        title=title,
        here=here if request.method == "GET" else "/",
        notice=NOTICES.get(left, ""),
        **values,
    )
    content = revise(text).encode()
    if len(content) > WORTH_PACKING and accepts_gzip(request.scope):
        content = gzip.compress(content, 3, mtime=0)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return RawResponse(content, HTML, status, headers)


def go(path: str, notice: str = "") -> RawResponse:
    """Send the browser on after a form; the page there shows the notice, once."""
    headers = {"Location": path}
    if notice:
        if notice not in NOTICES:
            raise LookupError(f"no notice is called {notice}")
        headers["Set-Cookie"] = f"{NOTICE_COOKIE}={notice}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
    return RawResponse(b"", "text/plain; charset=utf-8", 303, headers)


def local_path(wanted: str | None) -> str:
    """Return where to go on this site; an address of another one, in whatever spelling, is the first page."""
    if not wanted or not wanted.startswith("/") or wanted.startswith(("//", "/\\")) or len(wanted) > 2000:
        return "/"
    if any(ord(letter) < 0x21 or letter in "\\\x7f" for letter in wanted):
        return "/"
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else quote(wanted, safe="/?&=%#+:@!$'()*,;~-._[]")
