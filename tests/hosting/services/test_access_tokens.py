"""Access tokens: creation, scopes, names and revocation."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidScope,
    LoginRequired,
    NoSuchToken,
    PasswordRequired,
    Permission,
    TokenNameTaken,
    Violation,
)
from holdfast.hosting.services import access_tokens
from holdfast.hosting.services.access_tokens import NewToken
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
WANTED = NewToken(name="ci", scopes=("write:issue", "read:user", "read:user"))


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def test_a_token_has_its_scopes_in_order_and_its_value_works(app: App, ada: Account) -> None:
    """The scopes of a token are sorted without duplicates, and its value identifies its user."""
    created, value = access_tokens.create(app, Actor(ada, by_password=True), ada, WANTED)
    assert created.scopes == ("read:user", "write:issue")
    assert tokens.holder_of(app.database, value) == (ada, created)
    assert access_tokens.list_tokens(app, Actor(ada), ada, skip=0, limit=9) == ([created], 1)


def test_a_session_or_a_token_creates_no_tokens(app: App, ada: Account) -> None:
    """Only a request with a password creates tokens, and a request with a token neither lists nor deletes any."""
    created, _ = access_tokens.create(app, Actor(ada, by_password=True), ada, WANTED)
    for actor in (ANONYMOUS, Actor(ada), Actor(ada, created)):
        with pytest.raises(PasswordRequired):
            access_tokens.create(app, actor, ada, NewToken(name="other", scopes=("all",)))
    with pytest.raises(PasswordRequired):
        access_tokens.list_tokens(app, Actor(ada, created), ada, skip=0, limit=1)
    with pytest.raises(PasswordRequired):
        access_tokens.delete(app, Actor(ada, created), ada, "ci")
    with pytest.raises(LoginRequired):
        access_tokens.list_tokens(app, ANONYMOUS, ada, skip=0, limit=1)
    assert access_tokens.list_tokens(app, Actor(ada), ada, skip=0, limit=9) == ([created], 1)


def test_the_tokens_of_others_are_for_administrators(app: App, ada: Account) -> None:
    """Only an administrator deletes a token of another user; other users neither list, create nor delete any."""
    ben = Actor(accounts.create_user(app.database, "ben", Secret("correct horse")), by_password=True)
    access_tokens.create(app, Actor(ada, by_password=True), ada, WANTED)
    for refused in (
        lambda: access_tokens.list_tokens(app, ben, ada, skip=0, limit=1),
        lambda: access_tokens.create(app, ben, ada, NewToken(name="other", scopes=("all",))),
        lambda: access_tokens.delete(app, ben, ada, "ci"),
    ):
        with pytest.raises(Forbidden) as excinfo:
            refused()
        assert excinfo.value.permission == Permission.TOKENS
    admin = Actor(accounts.find_user(app.database, "admin"))
    assert access_tokens.delete(app, admin, ada, "ci").name == "ci"
    with pytest.raises(NoSuchToken):
        access_tokens.delete(app, admin, ada, "ci")


@pytest.mark.parametrize("scopes", [(), ("everything",)])
def test_a_scope_that_does_not_exist_is_refused(app: App, ada: Account, scopes: tuple[str, ...]) -> None:
    """An unknown scope is an error that names it, and a token without any scope is refused too."""
    with pytest.raises(InvalidScope) as excinfo:
        access_tokens.create(app, Actor(ada, by_password=True), ada, NewToken(name="ci", scopes=scopes))
    assert excinfo.value.scope == (scopes[0] if scopes else None)


@pytest.mark.parametrize(("name", "violation"), [("", Violation.REQUIRED), ("x" * 256, Violation.TOO_LONG)])
def test_a_token_needs_a_name_of_its_own(app: App, ada: Account, name: str, violation: Violation) -> None:
    """The name of a token has 1 to 255 characters, and a user has no two tokens of the same name."""
    actor = Actor(ada, by_password=True)
    with pytest.raises(InvalidField) as excinfo:
        access_tokens.create(app, actor, ada, NewToken(name=name, scopes=("all",)))
    assert (excinfo.value.field, excinfo.value.violation) == ("Name", violation)
    access_tokens.create(app, actor, ada, NewToken(name="x" * 255, scopes=("all",)))
    access_tokens.create(app, actor, ada, WANTED)
    with pytest.raises(TokenNameTaken):
        access_tokens.create(app, actor, ada, WANTED)


def test_a_request_revokes_the_token_it_came_with(app: App, ada: Account) -> None:
    """A request without a token has none to revoke, and an anonymous request has to log in."""
    created, value = access_tokens.create(app, Actor(ada, by_password=True), ada, WANTED)
    access_tokens.delete_current(app, Actor(ada, created))
    assert tokens.holder_of(app.database, value) is None
    with pytest.raises(NoSuchToken):
        access_tokens.delete_current(app, Actor(ada))
    with pytest.raises(LoginRequired):
        access_tokens.current(ANONYMOUS)
