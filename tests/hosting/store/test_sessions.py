"""Sessions of browsers in the database."""

from sqlalchemy import text

from holdfast.hosting.store import accounts, sessions
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret

DAY = 86_400


def test_a_token_identifies_its_user_until_it_expires(database: Database) -> None:
    """A session is valid until the last second before its expiry and not after."""
    admin = accounts.find_user(database, "admin")
    token = sessions.start_session(database, admin, days=2, now=1000)
    user = sessions.user_of(database, token, now=1000 + 2 * DAY - 1)
    assert user is not None
    assert (user.id, user.last_login_at) == (admin.id, 1000)
    assert sessions.user_of(database, token, now=1000 + 2 * DAY) is None


def test_an_unknown_token_identifies_no_user(database: Database) -> None:
    """A guessed token of a session returns no user."""
    assert sessions.user_of(database, Secret("guess")) is None


def test_ending_a_session_ends_only_that_one(database: Database) -> None:
    """Ending a session leaves the user's other sessions valid."""
    admin = accounts.find_user(database, "admin")
    phone, desk = (sessions.start_session(database, admin, days=1) for _ in range(2))
    sessions.end_session(database, phone)
    assert sessions.user_of(database, phone) is None
    assert sessions.user_of(database, desk) is not None


def test_expired_sessions_are_deleted(database: Database) -> None:
    """Starting a session deletes expired ones, so that the table does not grow."""
    admin = accounts.find_user(database, "admin")
    sessions.start_session(database, admin, days=1, now=0)
    sessions.start_session(database, admin, days=1, now=2 * DAY)
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM sessions")).scalar_one() == 1


def test_the_database_does_not_hold_the_token(database: Database) -> None:
    """The database has a hash of a session's token and not the token, so a reader cannot log in with it."""
    token = sessions.start_session(database, accounts.find_user(database, "admin"), days=1)
    with database.read() as connection:
        rows = connection.execute(text("SELECT * FROM sessions")).all()
    assert len(rows) == 1
    assert token.reveal() not in str(rows)


def test_people_recognise_their_browsers_and_log_them_out(database: Database) -> None:
    """Sessions are listed with time and address, and users can end only their own."""
    admin = accounts.find_user(database, "admin")
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"))
    phone = sessions.start_session(
        database, admin, days=1, now=1000, user_agent="phone\0" * 99, address="10.0.0.1"
    )
    desk = sessions.start_session(database, admin, days=1, now=2000)
    sessions.note_seen(database, {sessions.hashed(phone): 3000})
    found_sessions = sessions.sessions_of(database, admin, now=4000)
    assert [(item.last_seen_at, item.address) for item in found_sessions] == [(3000, "10.0.0.1"), (2000, "")]
    assert "\0" not in found_sessions[0].user_agent
    assert phone.reveal() not in str(found_sessions)
    assert sessions.seen_as(database, phone, now=4000) == (accounts.find_user(database, "admin"), 3000)
    assert sessions.sessions_of(database, ada) == []
    assert sessions.end_session_of(database, ada, found_sessions[0].key) is False
    assert sessions.end_session_of(database, admin, found_sessions[0].key) is True
    assert sessions.user_of(database, phone, now=4000) is None
    third = sessions.start_session(database, admin, days=1, now=4000)
    sessions.end_others(database, admin, third)
    assert sessions.user_of(database, desk, now=4000) is None
    assert sessions.user_of(database, third, now=4000) is not None
    sessions.end_others(database, admin, None)
    assert sessions.user_of(database, third, now=4000) is None


def test_a_new_password_can_leave_one_browser_logged_in(database: Database) -> None:
    """A change of the password keeps the session that requested it and ends the others."""
    admin = accounts.find_user(database, "admin")
    here, there = (sessions.start_session(database, admin, days=1) for _ in range(2))
    accounts.set_password(database, "admin", Secret("another-password"), kept_session=sessions.hashed(here))
    assert sessions.user_of(database, here) is not None
    assert sessions.user_of(database, there) is None
