"""The sessions of the user who is signed in, and ending them."""

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import sessions
from holdfast.hosting.store.sessions import Session, hashed
from holdfast.web.pages import redirect_to
from holdfast.web.settings.account import require_session, session_of
from holdfast.web.settings.settings_layout import ACCOUNT, in_account

__all__ = ["browser_name", "end_one_session", "end_other_sessions", "list_sessions_page"]

# In this order: the user agents of most browsers also contain the names further down.
BROWSERS: Final = (
    *(("Edge", r"Edg(?:e|A|iOS)?/"), ("Opera", r"OPR/"), ("Samsung Internet", r"SamsungBrowser/")),
    *(("Firefox", r"(?:Firefox|FxiOS)/"), ("Chrome", r"(?:Chrome|CriOS|Chromium)/"), ("Safari", r"Safari/")),
)
SYSTEMS: Final = (
    *(("Android", r"Android"), ("iOS", r"iPhone|iPad"), ("Windows", r"Windows"), ("macOS", r"Mac OS X|Macintosh")),
    *(("ChromeOS", r"CrOS"), ("Linux", r"Linux|X11")),
)


class EndForm(msgspec.Struct, frozen=True):
    """The session to end."""

    key: str = ""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in the list."""

    session: Session
    name: str
    is_this: bool


def browser_name(user_agent: str) -> str:
    """Return the name of a browser and its system; an unknown one is named by its user agent."""
    browser = next((name for name, pattern in BROWSERS if re.search(pattern, user_agent)), "")
    system = next((name for name, pattern in SYSTEMS if re.search(pattern, user_agent)), "")
    if browser:
        return f"{browser} on {system}" if system else browser
    return user_agent[:60] or "A browser"


@endpoint(f"GET {ACCOUNT}/sessions", scope="user", guards=(require_session,), slow=True)
def list_sessions_page(request: RequestContext) -> RawResponse:
    """List the sessions of the user."""
    current_session = session_of(request)
    own = "" if current_session is None else hashed(current_session)
    session_rows = [
        SessionRow(session, browser_name(session.user_agent), own.startswith(session.key))
        for session in sessions.list_sessions(request.app, request.actor)
    ]
    session_rows.sort(key=lambda session_row: not session_row.is_this)
    return in_account(request, "settings/sessions.html", at="Sessions", title="Sessions", sessions=session_rows)


@endpoint(f"POST {ACCOUNT}/sessions/end", scope="user", guards=(require_session,))
def end_one_session(request: RequestContext, body: EndForm) -> RawResponse:
    """End one session."""
    sessions.end(request.app, request.actor, body.key)
    return redirect_to(f"{ACCOUNT}/sessions", "session-ended")


@endpoint(f"POST {ACCOUNT}/sessions/others", scope="user", guards=(require_session,))
def end_other_sessions(request: RequestContext) -> RawResponse:
    """End all other sessions."""
    sessions.end_others(request.app, request.actor, session_of(request))
    return redirect_to(f"{ACCOUNT}/sessions", "sessions-ended")
