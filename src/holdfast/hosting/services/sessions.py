"""Sessions of browsers: where a user is signed in, and signing out elsewhere."""

from holdfast.hosting.access import Actor, require_session
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchSession
from holdfast.hosting.store import sessions
from holdfast.hosting.store.sessions import Session
from holdfast.secret import Secret

__all__ = ["end", "end_others", "list_sessions"]


def list_sessions(app: App, actor: Actor) -> list[Session]:
    """Return the sessions of the user who acts, the one seen last first."""
    return sessions.sessions_of(app.database, require_session(actor))


def end(app: App, actor: Actor, key: str) -> None:
    """End one session of the user who acts; raise `NoSuchSession` when they have none of that key."""
    if not sessions.end_session_of(app.database, require_session(actor), key):
        raise NoSuchSession("not found")


def end_others(app: App, actor: Actor, kept: Secret | None) -> None:
    """End all sessions of the user who acts but one."""
    sessions.end_others(app.database, require_session(actor), kept)
