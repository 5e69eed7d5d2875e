"""Tokens in the database."""

import pytest

from holdfast.hosting.errors import NoSuchToken, TokenNameTaken
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret


def test_the_value_of_a_token_is_not_stored(database: Database) -> None:
    """The tokens table does not contain the value of a token, so a reader cannot log in with it."""
    admin = accounts.find_user(database, "admin")
    token, value = tokens.create_token(database, admin, "laptop", ("read:user", "write:issue"))
    assert tokens.holder_of(database, value) == (admin, token)
    assert token.scopes == ("read:user", "write:issue")
    with database.read() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM tokens").all()
    assert value.reveal() not in str(rows)
    assert tokens.holder_of(database, Secret("0" * 40)) is None


def test_a_token_is_found_by_number_or_name(database: Database) -> None:
    """A numeric name is found when no token has that id."""
    admin = accounts.find_user(database, "admin")
    first, _ = tokens.create_token(database, admin, "laptop", ("all",))
    second, _ = tokens.create_token(database, admin, "4711", ("all",))
    assert tokens.find_token(database, admin, str(first.id)) == first
    assert tokens.find_token(database, admin, "4711") == second
    with pytest.raises(NoSuchToken):
        tokens.find_token(database, admin, "9" * 30)
    with pytest.raises(TokenNameTaken):
        tokens.create_token(database, admin, "laptop", ("all",))
    tokens.delete_token(database, first)
    assert tokens.tokens_of(database, admin, skip=0, limit=10) == ([second], 1)


def test_a_deleted_token_and_a_changed_account_count_at_once(database: Database) -> None:
    """The cached holder of a token is read again after a change of the user or the token."""
    admin = accounts.find_user(database, "admin")
    token, value = tokens.create_token(database, admin, "laptop", ("all",))
    assert tokens.holder_of(database, value) == (admin, token)
    with Database(database.engine).write() as connection:
        connection.exec_driver_sql("UPDATE users SET may_not_log_in = TRUE")
    held = tokens.holder_of(database, value)
    assert held is not None
    assert held[0].may_not_log_in
    tokens.delete_token(database, token)
    assert tokens.holder_of(database, value) is None
