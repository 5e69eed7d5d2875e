"""Browser sessions: sign in, sign out, and end other sessions."""

from holdfast.hosting.access import Actor, require_session
from holdfast.hosting.app import App
from holdfast.hosting.errors import AccountClosed, NoSuchSession
from holdfast.hosting.store import sessions
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.sessions import Session
from holdfast.secret import Secret

__all__ = ["end", "end_others", "list_sessions", "log_in", "log_out"]


def log_in(app: App, user: Account, *, user_agent: str = "", address: str = "") -> Secret:
    """Start a session of an authenticated user, and return its token.

    Raises `AccountClosed` for an account that is inactive or may not sign in.
    """
    if user.may_not_log_in or not user.is_active:
        raise AccountClosed
    days = app.settings.session_days
    return sessions.start_session(app.database, user, days=days, user_agent=user_agent, address=address)


def log_out(app: App, token: Secret) -> None:
    """End the session of a token."""
    sessions.end_session(app.database, token)


def list_sessions(app: App, actor: Actor) -> list[Session]:
    """Return the sessions of the acting user, most recently seen first."""
    return sessions.sessions_of(app.database, require_session(actor))


def end(app: App, actor: Actor, key: str) -> None:
    """End a session of the acting user by key; raise `NoSuchSession` if it does not exist."""
    if not sessions.end_session_of(app.database, require_session(actor), key):
        raise NoSuchSession("not found")


def end_others(app: App, actor: Actor, secret: Secret | None) -> None:
    """End all sessions of the acting user except that of a token."""
    sessions.end_others(app.database, require_session(actor), secret)
