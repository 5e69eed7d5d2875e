"""Organizations: permissions, edits, visibility and deletion."""

from collections.abc import Callable

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NameTaken,
    NoSuchUser,
    OrganizationInUse,
    Permission,
)
from holdfast.hosting.services import organizations, repositories
from holdfast.hosting.services.organizations import NewOrganization, OrganizationEdit
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


@pytest.fixture
def guild(app: App, ada: Account) -> Account:
    """Create an organization of hers."""
    return organizations.create(app, Actor(ada), ada, NewOrganization(name="guild", visibility="private"))


def test_who_may_not_create_organizations_is_refused(app: App, ada: Account) -> None:
    """A user without the permission creates no organization; an administrator creates one for another user."""
    closed = accounts.create_user(app.database, "ben", Secret("correct horse"), may_create_organizations=False)
    wanted = NewOrganization(name="guild")
    with pytest.raises(LoginRequired):
        organizations.create(app, ANONYMOUS, ada, wanted)
    with pytest.raises(Forbidden) as excinfo:
        organizations.create(app, Actor(closed), closed, wanted)
    assert excinfo.value.permission == Permission.CREATE_ORGANIZATIONS
    with pytest.raises(Forbidden) as excinfo:
        organizations.create(app, Actor(closed), ada, wanted)
    assert excinfo.value.permission == Permission.SITE_ADMIN
    admin = Actor(accounts.find_user(app.database, "admin"))
    assert organizations.create(app, admin, ada, wanted).name == "guild"
    assert [item.name for item in organizations.list_of_user(app, admin, ada, skip=0, limit=9)[0]] == ["guild"]


def test_only_owners_change_an_organization(app: App, ada: Account, guild: Account) -> None:
    """Members do not edit, rename or delete it, and anonymous users have to log in."""
    member = OrganizationAccess(guild, Mode.WRITE)
    refused: tuple[Callable[[Actor], object], ...] = (
        lambda actor: organizations.edit(app, actor, member, OrganizationEdit(full_name="x")),
        lambda actor: organizations.rename(app, actor, member, "league"),
        lambda actor: organizations.delete(app, actor, member),
    )
    for call in refused:
        with pytest.raises(LoginRequired):
            call(ANONYMOUS)
        with pytest.raises(Forbidden) as excinfo:
            call(Actor(ada))
        assert excinfo.value.permission == Permission.ORGANIZATION_OWNER
    assert accounts.find_account(app.database, "guild") == guild


def test_an_edit_keeps_what_is_not_given(app: App, ada: Account, guild: Account) -> None:
    """An empty visibility changes nothing, and invalid values and names are refused."""
    owner = OrganizationAccess(guild, Mode.OWNER)
    edited = organizations.edit(app, Actor(ada), owner, OrganizationEdit(full_name="Guild", visibility=""))
    assert (edited.full_name, edited.visibility) == ("Guild", "private")
    with pytest.raises(InvalidField):
        organizations.edit(app, Actor(ada), owner, OrganizationEdit(location="x" * 51))
    with pytest.raises(InvalidValue):
        organizations.edit(app, Actor(ada), owner, OrganizationEdit(website="ftp://guild.example"))
    for name, error in (("", InvalidField), ("ADA", NameTaken)):
        with pytest.raises(error):
            organizations.rename(app, Actor(ada), owner, name)
        with pytest.raises(error):
            organizations.create(app, Actor(ada), ada, NewOrganization(name=name))


def test_an_organization_is_listed_for_those_who_may_see_it(app: App, ada: Account, guild: Account) -> None:
    """A private organization is listed for its members only."""
    ben = accounts.create_user(app.database, "ben", Secret("correct horse"))
    listed = {
        actor.user and actor.user.name: organizations.list_organizations(app, actor, skip=0, limit=9)[1]
        for actor in (ANONYMOUS, Actor(ben), Actor(ada))
    }
    assert listed == {None: 0, "ben": 0, "ada": 1}
    assert organizations.list_of_user(app, ANONYMOUS, ada, skip=0, limit=9) == ([], 0)
    assert guild.visibility == "private"


def test_an_organization_with_repositories_stays(app: App, ada: Account, guild: Account) -> None:
    """An organization can be deleted only after its repositories are deleted."""
    owner = OrganizationAccess(guild, Mode.OWNER)
    ship = repositories.create(app, guild, ada, NewRepository(name="ship"))
    with pytest.raises(OrganizationInUse, match="still owns a repository"):
        organizations.delete(app, Actor(ada), owner)
    repositories.remove(app, ship, ada)
    organizations.delete(app, Actor(ada), owner)
    with pytest.raises(NoSuchUser):
        accounts.find_account(app.database, "guild")
