"""Rendering of templates, redirects after forms, and their notices."""

import gzip
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from holdfast import __version__
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.http.responses import accepts_gzip
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import notifications
from holdfast.hosting.store.accounts import Account
from holdfast.web.bidi import with_balanced_isolates, with_visible_controls
from holdfast.web.bundles import BUNDLES
from holdfast.web.line_changes import side_by_side
from holdfast.web.security_headers import POLICY, POLICY_WITH_FRAMES
from holdfast.web.stylesheet import ADDRESS

__all__ = ["NOTICE_COOKIE", "PAGES", "Pages", "local_path", "page", "redirect_to", "time_ago"]

HTML: Final = "text/html; charset=utf-8"
WORTH_PACKING: Final = 1400
CONVERSATIONS: Final = "chats/"
NEVER_KEPT: Final = {"Cache-Control": "private, no-cache"}
NOTICE_COOKIE: Final = "holdfast_notice"
LONGEST_SUBJECT: Final = 100
# Times of the last 30 days are shown as relative times.
RECENT: Final = 30 * 86_400
ERROR: Final = 400
# Markup of elements that are shown in an iframe; in user content its angle brackets are escaped.
FRAMED: Final = ("<iframe ", '<code class="language-mermaid">')
UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60))
# Messages after a form was submitted, with a placeholder for the subject. The cookie has the key and the subject
# only, so that an attacker who can set cookies cannot choose the sentence.
NOTICES: Final[Mapping[str, str]] = {
    "avatar-removed": "Avatar removed.",
    "avatar-saved": "Avatar saved.",
    "branch-created": "Branch {} created.",
    "branch-deleted": "Branch {} deleted.",
    "pull-base-changed": "Base branch changed to {}.",
    "pull-created": "Pull request {} created.",
    "pull-draft": "Pull request {} converted to draft.",
    "pull-merge-cancelled": "Scheduled merge of pull request {} cancelled.",
    "pull-merged": "Pull request {} merged.",
    "pull-ready": "Pull request {} is ready for review.",
    "pull-scheduled": "Pull request {} will be merged when all requirements are met.",
    "pull-updated": "Branch {} updated.",
    "ref-restored": "{} restored.",
    "chat-backup-deleted": "Chat backup {} deleted.",
    "chat-backup-renamed": "Chat backup renamed to {}.",
    "chat-backup-shared": "Shared with {}.",
    "chat-backup-unshared": "No longer shared with {}.",
    "chat-backup-uploaded": "{} uploaded.",
    "chat-upload-cancelled": "Upload of {} cancelled.",
    "collaborator-added": "{} was added as a collaborator.",
    "collaborator-removed": "{} is no longer a collaborator.",
    "collaborator-saved": "Permission of {} saved.",
    "comment-deleted": "Comment deleted.",
    "comment-edited": "Comment edited.",
    "deliveries-queued": "{} queued.",
    "delivery-cancelled": "Delivery cancelled.",
    "dependency-added": "Dependency added: {}.",
    "dependency-removed": "Dependency removed: {}.",
    "file-created": "File {} created.",
    "file-deleted": "File {} deleted.",
    "file-saved": "File {} saved.",
    "files-uploaded": "{} uploaded.",
    "fork-unchanged": "Branch {} is up to date.",
    "issue-closed": "{} closed.",
    "issue-created": "Issue {} created.",
    "issue-deleted": "Issue {} deleted.",
    "issue-edited": "{} edited.",
    "issue-moved": "{} moved.",
    "issue-reopened": "{} reopened.",
    "label-created": "Label {} created.",
    "label-deleted": "Label {} deleted.",
    "label-saved": "Label {} saved.",
    "member-added": "{} was added to the organization.",
    "member-removed": "{} was removed from the organization.",
    "membership-hidden": "Your membership of {} is now private.",
    "membership-published": "Your membership of {} is now public.",
    "milestone-closed": "Milestone {} closed.",
    "milestone-created": "Milestone {} created.",
    "milestone-deleted": "Milestone {} deleted.",
    "milestone-reopened": "Milestone {} reopened.",
    "milestone-saved": "Milestone {} saved.",
    "issue-subscribed": "You are subscribed to {}.",
    "issue-unsubscribed": "You are no longer subscribed to {}.",
    "notifications-read": "Notifications marked as read.",
    "organization-created": "Organization {} created.",
    "organization-deleted": "Organization {} deleted.",
    "organization-renamed": "Organization renamed to {}.",
    "organization-saved": "Profile of {} saved.",
    "authenticator-app-added": "Authenticator app added.",
    "authenticator-app-removed": "Authenticator app removed. Your passkeys are still asked for.",
    "passkey-added": "Passkey {} added.",
    "passkey-last-removed": "Passkey {} removed. It was the last second factor: two-factor authentication is off.",
    "passkey-removed": "Passkey {} removed.",
    "passkey-renamed": "Passkey renamed to {}.",
    "password-changed": "Password changed. All other sessions were logged out.",
    "password-reset": "Password of {} reset.",
    "profile-saved": "Profile saved.",
    "redelivery-queued": "Redelivery queued.",
    "release-deleted": "Release {} deleted.",
    "release-drafted": "Draft of release {} saved.",
    "release-published": "Release {} published.",
    "release-saved": "Release {} saved.",
    "repository-archived": "Repository {} archived. It is now read-only.",
    "repository-created": "Repository {} created.",
    "repository-deleted": "Repository {} deleted.",
    "repository-forked": "Fork {} created.",
    "repository-renamed": "Repository renamed to {}.",
    "repository-starred": "You starred {}.",
    "repository-transferred": "Repository transferred to {}.",
    "transfer-rejected": "Transfer of {} rejected.",
    "repository-unarchived": "Repository {} unarchived.",
    "repository-unstarred": "You removed your star from {}.",
    "repository-unwatched": "You are no longer watching {}.",
    "repository-watched": "You are watching {}.",
    "review-declined": "You are no longer asked for a review.",
    "review-discarded": "Pending review discarded.",
    "review-dismissed": "Review dismissed.",
    "review-requested": "Review requested from {}.",
    "review-request-removed": "Review request to {} removed.",
    "review-submitted": "Review submitted.",
    "rule-created": "Branch protection rule {} created.",
    "rule-deleted": "Branch protection rule {} deleted.",
    "rule-saved": "Branch protection rule {} saved.",
    "session-ended": "Session logged out.",
    "sessions-ended": "All other sessions were logged out.",
    "settings-saved": "Settings of {} saved.",
    "suggestion-applied": "Suggestion applied to {}.",
    "team-created": "Team {} created.",
    "team-deleted": "Team {} deleted.",
    "team-member-added": "{} was added to the team.",
    "team-member-removed": "{} was removed from the team.",
    "team-repository-added": "Repository {} was added to the team.",
    "team-repository-removed": "Repository {} was removed from the team.",
    "team-saved": "Team {} saved.",
    "test-queued": "Test delivery queued.",
    "token-revoked": "Token {} revoked.",
    "two-factor-disabled": "Two-factor authentication disabled.",
    "two-factor-removed": "Two-factor authentication of {} disabled.",
    "user-created": "User {} created.",
    "user-deleted": "User {} deleted.",
    "user-renamed": "User renamed to {}.",
    "user-saved": "User {} saved.",
    "webhook-created": "Webhook created.",
    "webhook-deleted": "Webhook deleted.",
    "webhook-redirected": "Webhook saved. Its authorization header is now sent to {}.",
    "webhook-resumed": "Deliveries resumed.",
    "webhook-updated": "Webhook saved.",
}


def notice_text(cookie: str) -> str:
    """Return the message of a notice cookie; empty for an unknown key."""
    key, _, subject = cookie.partition(":")
    return NOTICES.get(key, "").replace("{}", unquote(subject, errors="replace")[:LONGEST_SUBJECT])


def moment(value: float | str) -> datetime:
    """Return a timestamp, or a time in the format of the API, as a `datetime`."""
    return datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)


def time_ago(at: datetime, now: datetime | None = None) -> str:
    """Return a relative time such as "3 hours ago" for a time of the last 30 days; empty for any other."""
    seconds = int(((now or datetime.now(UTC)) - at).total_seconds())
    if seconds < 0 or seconds >= RECENT:
        return ""
    for unit, size in UNITS:
        count = seconds // size
        if count:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


class Pages:
    """The Jinja environment; undefined names in templates raise an error."""

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
        filters["ago"] = time_ago
        filters["side_by_side"] = side_by_side
        filters["part"] = lambda text: quote(text, safe="")
        filters["path"] = lambda text: quote(text, safe="/")
        self._shared: Mapping[str, object] = {
            "version": __version__,
            "stylesheet": ADDRESS,
            "most_unread": notifications.MOST_COUNTED,
            "bundle": BUNDLES.address,
        }
        self._environment.globals |= self._shared

    def text(self, template: str, *, user: Account | None, title: str, **values: object) -> str:
        """Render a template to HTML for a user, or for a visitor.

        A value named like one that all pages share raises `LookupError`: the layout would show it in its place.
        """
        if hiding := self._shared.keys() & values.keys():
            raise LookupError(
                f"{template} has a value with a name that all pages share: {', '.join(sorted(hiding))}"
            )
        context: dict[str, object] = {"here": "/", "notice": "", "unread": 0, "is_form_response": False, **values}
        html = self._environment.get_template(template).render(user=user, title=title, **context)
        # Chats use isolates to separate names from the text around them.
        return with_balanced_isolates(html) if template.startswith(CONVERSATIONS) else with_visible_controls(html)

    def render(
        self, template: str, *, user: Account | None, title: str, status: int = 200, **values: object
    ) -> HTMLResponse:
        """Render a template to a response."""
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
    """Render a page for the user of the request; `revise` is applied to its HTML last."""
    headers = {**NEVER_KEPT}
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
        is_form_response=request.method == "POST",
        notice=notice_text(left),
        # Error pages are rendered on the event loop, also while the database is unavailable.
        unread=notifications.count_for_badge(request.app, request.actor) if status < ERROR else 0,
        **values,
    )
    headers |= POLICY_WITH_FRAMES if any(markup in text for markup in FRAMED) else POLICY
    content = revise(text).encode()
    if len(content) > WORTH_PACKING and accepts_gzip(request.scope):
        content = gzip.compress(content, 3, mtime=0)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return RawResponse(content, HTML, status, headers)


def redirect_to(path: str, notice: str = "", subject: str = "") -> RawResponse:
    """Redirect after a form (303); the next page shows the notice about `subject` once."""
    headers = {"Location": path}
    if notice:
        if notice not in NOTICES:
            raise LookupError(f"no notice is called {notice}")
        value = f"{notice}:{quote(subject[:LONGEST_SUBJECT], safe='')}"
        headers["Set-Cookie"] = f"{NOTICE_COOKIE}={value}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
    return RawResponse(b"", "text/plain; charset=utf-8", 303, headers)


def local_path(wanted: str | None) -> str:
    """Return a redirect target on this site; any other URL becomes `/`."""
    if not wanted or not wanted.startswith("/") or wanted.startswith(("//", "/\\")) or len(wanted) > 2000:
        return "/"
    if any(ord(letter) < 0x21 or letter in "\\\x7f" for letter in wanted):
        return "/"
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else quote(wanted, safe="/?&=%#+:@!$'()*,;~-._[]")
