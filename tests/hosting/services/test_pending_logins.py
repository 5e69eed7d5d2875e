"""Signed tokens of logins that wait for the second factor."""

import base64

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import pending_logins
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def test_a_token_names_its_user_until_it_expires(app: App, ada: Account) -> None:
    """A token is valid until its lifetime has passed and then has no user."""
    token = pending_logins.create(app, ada, now=1000)
    assert pending_logins.user_of(app, token, now=1000 + pending_logins.LIFETIME) == ada
    assert pending_logins.user_of(app, token, now=1001 + pending_logins.LIFETIME) is None


def test_a_new_password_invalidates_a_token(app: App, ada: Account) -> None:
    """A token from before the change of the password is invalid, and so is one of a deleted user."""
    tokens = [pending_logins.create(app, ada)]
    accounts.set_password(app.database, "ada", Secret("another password"))
    tokens.append(pending_logins.create(app, ada))
    assert [pending_logins.user_of(app, token) is None for token in tokens] == [True, False]
    with app.database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM users WHERE id = {ada.id}")
    assert pending_logins.user_of(app, tokens[1]) is None


def test_a_forged_token_is_refused(app: App, ada: Account) -> None:
    """Malformed tokens and tokens with changed content or signature have no user."""
    token = pending_logins.create(app, ada).reveal()
    content, _, signature = token.partition(".")
    other = base64.urlsafe_b64encode(base64.urlsafe_b64decode(content).replace(b"ada", b"eve")).decode()
    for wrong in ("", ".", "x", "é.ü", f"{content}.", f"{other}.{signature}", f"{token}.", token[:-8], "x" * 5000):
        assert pending_logins.user_of(app, Secret(wrong)) is None, wrong
    assert app.cipher.sign(b"another purpose", b"x") != app.cipher.sign(pending_logins.PURPOSE, b"x")
