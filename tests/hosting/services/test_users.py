"""User accounts are changed by site administrators, and profiles by the users themselves."""

from collections.abc import Callable

import msgspec
import pytest

from holdfast.hosting.access import ANONYMOUS, OPERATOR, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    EmailTaken,
    Forbidden,
    InvalidField,
    InvalidValue,
    LastAdmin,
    LoginRequired,
    NameTaken,
    NoSuchUser,
    OwnAccount,
    Permission,
    SessionRequired,
    SignUpDisabled,
    StillInUse,
)
from holdfast.hosting.services import repositories, users
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.users import NewUser, ProfileEdit, UserEdit
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
PASSWORD = Secret("correct horse")


@pytest.fixture
def admin(app: App) -> Actor:
    """Act as the site administrator."""
    return Actor(accounts.find_user(app.database, "admin"))


@pytest.fixture
def ada(app: App, admin: Actor) -> Account:
    """Create a user."""
    return users.create(app, admin, NewUser(name="ada", email="ada@example.org", password=PASSWORD))


def test_only_site_administrators_change_accounts(app: App, ada: Account) -> None:
    """Neither users nor anybody who is not signed in."""
    refused: tuple[Callable[[Actor], object], ...] = (
        lambda actor: users.list_users(app, actor, "", skip=0, limit=1),
        lambda actor: users.create(app, actor, NewUser(name="ben", email="b@example.org", password=PASSWORD)),
        lambda actor: users.edit(app, actor, ada, UserEdit(is_admin=True)),
        lambda actor: users.rename(app, actor, ada, "eve"),
        lambda actor: users.delete(app, actor, ada),
    )
    for call in refused:
        with pytest.raises(LoginRequired):
            call(ANONYMOUS)
        with pytest.raises(Forbidden) as excinfo:
            call(Actor(ada))
        assert excinfo.value.permission == Permission.SITE_ADMIN
    assert accounts.find_user(app.database, "ada") == ada


def test_a_name_and_an_address_are_taken_once(app: App, admin: Actor, ada: Account) -> None:
    """In whatever case they are written."""
    with pytest.raises(NameTaken) as excinfo:
        users.create(app, admin, NewUser(name="ADA", email="other@example.org", password=PASSWORD))
    assert excinfo.value.name == "ADA"
    with pytest.raises(EmailTaken):
        users.create(app, admin, NewUser(name="ben", email="ADA@example.org", password=PASSWORD))
    with pytest.raises(NameTaken):
        users.rename(app, admin, ada, "Admin")


@pytest.mark.parametrize(
    ("changes", "error", "field"),
    [
        ({"full_name": "x" * 101}, InvalidField, "FullName"),
        ({"description": "x" * 256}, InvalidField, "Description"),
        ({"location": "x" * 51}, InvalidField, "Location"),
        ({"email": ""}, InvalidField, "Email"),
        ({"website": "javascript:alert(1)"}, InvalidValue, "Website"),
        ({"visibility": "secret"}, InvalidValue, "Visibility"),
    ],
)
def test_an_invalid_profile_is_refused(
    app: App, ada: Account, changes: dict[str, str], error: type[InvalidField | InvalidValue], field: str
) -> None:
    """Whoever edits it."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    with pytest.raises(error, match=rf"^\[{field}\]"):
        users.edit(app, admin, ada, msgspec.convert(changes, UserEdit))
    with pytest.raises(error):
        users.edit_profile(app, Actor(ada), msgspec.convert(changes, ProfileEdit))
    assert accounts.find_user(app.database, "ada") == ada


def test_an_edit_changes_what_is_given(app: App, admin: Actor, ada: Account) -> None:
    """A new password revokes the tokens of the user."""
    tokens.create_token(app.database, ada, "ci", ("all",))
    edited = users.edit(app, admin, ada, UserEdit(full_name="Ada", password=Secret("battery staple")))
    assert (edited.full_name, edited.email, edited.visibility) == ("Ada", "ada@example.org", "public")
    assert accounts.check_password(app.database, "ada", Secret("battery staple")) is not None
    assert tokens.tokens_of(app.database, ada, skip=0, limit=1)[1] == 0
    assert users.edit_profile(app, Actor(edited), ProfileEdit(location="Kiel", visibility="")).location == "Kiel"
    with pytest.raises(LoginRequired):
        users.edit_profile(app, ANONYMOUS, ProfileEdit(location="Kiel"))


def test_an_administrator_stays(app: App, admin: Actor) -> None:
    """The last one stays one, and nobody deletes their own account."""
    assert admin.user is not None
    with pytest.raises(LastAdmin):
        users.edit(app, admin, admin.user, UserEdit(is_admin=False))
    with pytest.raises(OwnAccount):
        users.delete(app, admin, admin.user)


def test_a_user_with_repositories_is_deleted_with_purge_only(app: App, admin: Actor, ada: Account) -> None:
    """The copies of the repositories go too."""
    app.copies.open(repositories.create(app, ada, ada, NewRepository(name="ship")))
    assert len(list(app.folders.all_ids())) == 1
    with pytest.raises(StillInUse):
        users.delete(app, admin, ada)
    users.delete(app, admin, ada, purge=True)
    assert list(app.folders.all_ids()) == []
    with pytest.raises(NoSuchUser):
        accounts.find_user(app.database, "ada")


def test_a_user_sets_their_own_password_in_person(app: App, ada: Account) -> None:
    """Not with a token."""
    token, _ = tokens.create_token(app.database, ada, "ci", ("all",))
    with pytest.raises(SessionRequired):
        users.set_own_password(app, Actor(ada, token), Secret("battery staple"))
    users.set_own_password(app, Actor(ada), Secret("battery staple"))
    assert accounts.check_password(app.database, "ada", Secret("battery staple")) is not None


def test_a_command_on_the_server_may_do_what_an_administrator_may(app: App, ada: Account) -> None:
    """It also creates administrators, and users without an e-mail address."""
    ben = users.create(app, OPERATOR, NewUser(name="ben", email="", password=PASSWORD, is_admin=True))
    assert (ben.email, ben.is_admin) == ("", True)
    assert users.rename(app, OPERATOR, ada, "countess").name == "countess"
    assert users.delete(app, OPERATOR, ben) == 0
    with pytest.raises(InvalidField, match=r"^\[Username\]"):
        users.create(app, OPERATOR, NewUser(name="", email="", password=PASSWORD))


def test_anybody_signs_up_where_the_settings_allow_it(app: App) -> None:
    """With an e-mail address, and a password somebody can log in with."""
    with pytest.raises(SignUpDisabled):
        users.sign_up(app, "ben", "ben@example.org", PASSWORD)
    app.settings = msgspec.structs.replace(app.settings, sign_up=True)
    for email, password, field in (("", PASSWORD, "Email"), ("b@example.org", Secret("x" * 1025), "Password")):
        with pytest.raises(InvalidField, match=rf"^\[{field}\]"):
            users.sign_up(app, "ben", email, password)
    ben = users.sign_up(app, "ben", "ben@example.org", PASSWORD)
    assert (ben.is_admin, ben.must_change_password) == (False, False)
