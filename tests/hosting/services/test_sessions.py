"""Sessions of users: list and end."""

import msgspec
import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import AccountClosed, LoginRequired, NoSuchSession, SessionRequired
from holdfast.hosting.services import sessions
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.sessions import hashed, start_session, user_of
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def test_one_session_is_ended_or_all_others(app: App, ada: Account) -> None:
    """A user ends one session or all but the current one, and does not find those of others."""
    here, there, elsewhere = (start_session(app.database, ada, days=1) for _ in range(3))
    listed = sessions.list_sessions(app, Actor(ada))
    assert len(listed) == 3
    ben = accounts.create_user(app.database, "ben", Secret("correct horse"))
    with pytest.raises(NoSuchSession):
        sessions.end(app, Actor(ben), listed[0].key)
    (key,) = (session.key for session in listed if hashed(there).startswith(session.key))
    sessions.end(app, Actor(ada), key)
    users = [user_of(app.database, token) for token in (here, there, elsewhere)]
    assert [user and user.name for user in users] == ["ada", None, "ada"]
    sessions.end_others(app, Actor(ada), here)
    users = [user_of(app.database, token) for token in (here, there, elsewhere)]
    assert [user and user.name for user in users] == ["ada", None, None]
    assert len(sessions.list_sessions(app, Actor(ada))) == 1


def test_sessions_are_for_the_user_in_person(app: App, ada: Account) -> None:
    """A token, an administrator who impersonates the user, and an anonymous user may not list or end sessions."""
    token, _ = tokens.create_token(app.database, ada, "ci", ("all",))
    admin = accounts.find_user(app.database, "admin")
    for actor, error in (
        (ANONYMOUS, LoginRequired),
        (Actor(ada, token), SessionRequired),
        (Actor(ada, impersonated_by=admin), SessionRequired),
    ):
        with pytest.raises(error):
            sessions.list_sessions(app, actor)
        with pytest.raises(error):
            sessions.end(app, actor, "x")
        with pytest.raises(error):
            sessions.end_others(app, actor, None)


def test_a_closed_account_gets_no_session(app: App, ada: Account) -> None:
    """Inactive users and users who may not log in get no session, and a logout ends one."""
    token = sessions.log_in(app, ada, user_agent="Browser/1")
    assert user_of(app.database, token) is not None
    sessions.log_out(app, token)
    assert user_of(app.database, token) is None
    for closed in ({"is_active": False}, {"may_not_log_in": True}):
        with pytest.raises(AccountClosed):
            sessions.log_in(app, msgspec.structs.replace(ada, **closed))
    assert sessions.list_sessions(app, Actor(ada)) == []
