"""User accounts: permissions, validation, passwords and sign-up."""

from collections.abc import Callable

import msgspec
import pytest
from sqlalchemy import insert

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
    NoSuchAccount,
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
from holdfast.hosting.store.tables import members
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_organization, make_people

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
    """Other users and anonymous ones may not list, create, edit, rename or delete users."""
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
    """Names and e-mail addresses that differ only in letter case count as taken."""
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
        ({"language": "x" * 51}, InvalidField, "Language"),
        ({"email": ""}, InvalidField, "Email"),
        ({"website": "javascript:alert(1)"}, InvalidValue, "Website"),
        ({"visibility": "secret"}, InvalidValue, "Visibility"),
    ],
)
def test_an_invalid_profile_is_refused(
    app: App, ada: Account, changes: dict[str, str], error: type[InvalidField | InvalidValue], field: str
) -> None:
    """An invalid value is refused for an administrator and for the user, with the name of the field."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    with pytest.raises(error, match=rf"^\[{field}\]"):
        users.edit(app, admin, ada, msgspec.convert(changes, UserEdit))
    with pytest.raises(error):
        users.edit_profile(app, Actor(ada), msgspec.convert(changes, ProfileEdit))
    assert accounts.find_user(app.database, "ada") == ada


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"name": ""}, InvalidField, "Username"),
        ({"email": ""}, InvalidField, "Email"),
        ({"email": f"{'b' * 255}@example.org"}, InvalidField, "Email"),
        ({"full_name": "x" * 101}, InvalidField, "FullName"),
        ({"visibility": "secret"}, InvalidValue, "Visibility"),
    ],
)
def test_an_invalid_user_is_not_created(
    app: App, admin: Actor, given: dict[str, str], error: type[InvalidField | InvalidValue], field: str
) -> None:
    """The error names the invalid field, and an empty visibility is `public`."""
    new = NewUser(name="ben", email="b@example.org", password=PASSWORD)
    with pytest.raises(error, match=rf"^\[{field}\]"):
        users.create(app, admin, msgspec.structs.replace(new, **given))
    with pytest.raises(InvalidField, match=r"^\[NewName\]"):
        users.rename(app, admin, users.create(app, admin, msgspec.structs.replace(new, visibility="")), "")
    assert accounts.find_user(app.database, "ben").visibility == "public"


def test_an_account_is_visible_as_its_owner_says(app: App, admin: Actor) -> None:
    """A limited account is visible to users.

    A private account is visible to members of a common organization and to administrators.
    """
    friend, stranger = make_people(app.database, "friend", "stranger")
    made = {name: make_people(app.database, name, visibility=name)[0] for name in users.VISIBILITIES}
    token, _ = tokens.create_token(app.database, made["private"], "t", ("all", "public-only"))
    crew = make_organization(app.database, "crew", made["private"])
    with app.database.write() as connection:
        connection.execute(insert(members), {"organization_id": crew.id, "user_id": friend.id})

    def seen_by(actor: Actor) -> list[str]:
        return [name for name, account in made.items() if users.is_visible(app, actor, account)]

    def found_by(actor: Actor) -> set[str]:
        found, total = users.search(app, actor, "", skip=0, limit=50)
        assert total == len(found)
        return {account.name for account in found} & set(made)

    assert seen_by(ANONYMOUS) == ["public"]
    assert seen_by(Actor(stranger)) == ["public", "limited"]
    assert seen_by(Actor(friend)) == seen_by(admin) == ["public", "limited", "private"]
    assert seen_by(Actor(made["private"], token)) == ["public"]
    assert users.is_visible(app, Actor(friend), made["private"]) is True
    assert users.is_visible(app, ANONYMOUS, made["private"]) is False
    with pytest.raises(NoSuchAccount):
        users.find_visible(app, Actor(stranger), "private")
    assert found_by(ANONYMOUS) == found_by(Actor(made["private"], token)) == {"public"}
    assert found_by(Actor(friend)) == {"public", "limited"}
    (guest,) = make_people(app.database, "guest", is_restricted=True)
    assert (seen_by(Actor(guest)), found_by(Actor(guest))) == (["public"], {"public"})
    assert found_by(admin) == set(made)
    assert users.list_users(app, admin, "priv", skip=0, limit=5) == ([made["private"]], 1)


def test_an_edit_changes_what_is_given(app: App, admin: Actor, ada: Account) -> None:
    """Fields that an edit does not have stay, and a new password revokes the tokens of the user."""
    tokens.create_token(app.database, ada, "ci", ("all",))
    edited = users.edit(app, admin, ada, UserEdit(full_name="Ada", password=Secret("battery staple")))
    assert (edited.full_name, edited.email, edited.visibility) == ("Ada", "ada@example.org", "public")
    assert accounts.check_password(app.database, "ada", Secret("battery staple")) is not None
    assert tokens.tokens_of(app.database, ada, skip=0, limit=1)[1] == 0
    assert users.edit_profile(app, Actor(edited), ProfileEdit(location="Kiel", visibility="")).location == "Kiel"
    with pytest.raises(LoginRequired):
        users.edit_profile(app, ANONYMOUS, ProfileEdit(location="Kiel"))


def test_an_administrator_stays(app: App, admin: Actor) -> None:
    """The last administrator cannot lose the role, and administrators cannot delete their own accounts."""
    assert admin.user is not None
    with pytest.raises(LastAdmin):
        users.edit(app, admin, admin.user, UserEdit(is_admin=False))
    with pytest.raises(OwnAccount):
        users.delete(app, admin, admin.user)
    assert accounts.find_user(app.database, "admin") == admin.user


def test_a_user_with_repositories_is_deleted_with_purge_only(app: App, admin: Actor, ada: Account) -> None:
    """A purge deletes the repositories with their local copies and cached files, and those of others stay."""
    ship = repositories.create(app, ada, ada, NewRepository(name="ship"))
    app.copies.open(ship)
    assert len(list(app.folders.all_ids())) == 1
    for cache in (app.archives, app.fetches):
        cache.folder.mkdir(parents=True, exist_ok=True)
        for number in (ship.id, ship.id + 1):
            (cache.folder / f"{number}-cached").touch()
    with pytest.raises(StillInUse):
        users.delete(app, admin, ada)
    assert users.delete(app, admin, ada, purge=True) == 1
    assert list(app.folders.all_ids()) == []
    for cache in (app.archives, app.fetches):
        assert [path.name for path in cache.folder.iterdir()] == [f"{ship.id + 1}-cached"]
    with pytest.raises(NoSuchUser):
        accounts.find_user(app.database, "ada")


def test_a_user_sets_their_own_password_in_person(app: App, ada: Account) -> None:
    """A request with a token cannot change the password, and a password has a maximum length."""
    token, _ = tokens.create_token(app.database, ada, "ci", ("all",))
    with pytest.raises(SessionRequired):
        users.set_own_password(app, Actor(ada, token), Secret("battery staple"))
    with pytest.raises(InvalidField, match=r"^\[Password\]"):
        users.set_own_password(app, Actor(ada), Secret("x" * 1025))
    users.set_own_password(app, Actor(ada), Secret("battery staple"))
    assert accounts.check_password(app.database, "ada", Secret("battery staple")) is not None


def test_a_command_on_the_server_may_do_what_an_administrator_may(app: App, ada: Account) -> None:
    """A command creates administrators and users without an e-mail address, and it renames and deletes users."""
    ben = users.create(app, OPERATOR, NewUser(name="ben", email="", password=PASSWORD, is_admin=True))
    assert (ben.email, ben.is_admin) == ("", True)
    assert users.rename(app, OPERATOR, ada, "countess").name == "countess"
    assert users.delete(app, OPERATOR, ben) == 0
    with pytest.raises(InvalidField, match=r"^\[Username\]"):
        users.create(app, OPERATOR, NewUser(name="", email="", password=PASSWORD))


def test_anybody_signs_up_where_the_settings_allow_it(app: App) -> None:
    """A sign-up needs an e-mail address and a password within the length limits."""
    with pytest.raises(SignUpDisabled):
        users.sign_up(app, "ben", "ben@example.org", PASSWORD)
    app.settings = msgspec.structs.replace(app.settings, sign_up=True)
    for email, password, field in (
        ("", PASSWORD, "Email"),
        ("b" * 250 + "@example.org", PASSWORD, "Email"),
        ("b@example.org", Secret("x" * 1025), "Password"),
    ):
        with pytest.raises(InvalidField, match=rf"^\[{field}\]"):
            users.sign_up(app, "ben", email, password)
    ben = users.sign_up(app, "ben", "ben@example.org", PASSWORD)
    assert (ben.is_admin, ben.must_change_password) == (False, False)
