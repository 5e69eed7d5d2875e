"""Members of organizations: visibility and removal."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess, TeamAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, LastOwner, LoginRequired, NoSuchOrganization, Permission
from holdfast.hosting.services import members, organizations, teams
from holdfast.hosting.services.organizations import NewOrganization
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def people(app: App) -> dict[str, Account]:
    """Add three users."""
    return {
        name: accounts.create_user(app.database, name, Secret("correct horse")) for name in ("ada", "ben", "eve")
    }


@pytest.fixture
def guild(app: App, people: dict[str, Account]) -> Account:
    """Create an organization with two owners."""
    ada = people["ada"]
    created = organizations.create(app, Actor(ada), ada, NewOrganization(name="guild"))
    owner = OrganizationAccess(created, Mode.OWNER)
    ((owners,), _) = teams.list_teams(app, Actor(ada), owner, skip=0, limit=1)
    teams.add_member(app, Actor(ada), TeamAccess(owners, owner), people["ben"])
    return created


def test_other_users_see_public_members_only(app: App, people: dict[str, Account], guild: Account) -> None:
    """Members see all members; without access to the organization it is reported as not found."""
    ada, ben = Actor(people["ada"]), people["ben"]
    member, stranger = OrganizationAccess(guild, Mode.WRITE), OrganizationAccess(guild, Mode.READ)
    members.set_public(app, ada, member, people["ada"], is_public=True)
    for actor, target, seen in (
        (ada, member, ["ada", "ben"]),
        (ANONYMOUS, stranger, ["ada"]),
        (Actor(people["eve"]), stranger, ["ada"]),
    ):
        found_accounts, total = members.list_members(app, actor, target, skip=0, limit=9)
        assert ([item.name for item in found_accounts], total) == (seen, len(seen))
    assert members.is_member(app, ada, member, ben)
    assert not members.is_member(app, ada, member, ben, public_only=True)
    assert not members.is_member(app, Actor(people["eve"]), stranger, ben)
    assert members.is_member(app, Actor(ben), stranger, ben)
    hidden = OrganizationAccess(guild, Mode.NONE)
    with pytest.raises(NoSuchOrganization):
        members.list_members(app, ANONYMOUS, hidden, skip=0, limit=9)
    with pytest.raises(NoSuchOrganization):
        members.is_member(app, ANONYMOUS, hidden, people["ada"])


def test_only_owners_remove_members_and_one_owner_stays(
    app: App, people: dict[str, Account], guild: Account
) -> None:
    """A member does not remove another one, and the last owner cannot be removed."""
    owner, member = OrganizationAccess(guild, Mode.OWNER), OrganizationAccess(guild, Mode.WRITE)
    with pytest.raises(LoginRequired):
        members.remove(app, ANONYMOUS, owner, people["ben"])
    with pytest.raises(Forbidden) as excinfo:
        members.remove(app, Actor(people["ben"]), member, people["ada"])
    assert excinfo.value.permission == Permission.ORGANIZATION_OWNER
    assert members.is_member(app, Actor(people["ada"]), owner, people["ben"])
    members.remove(app, Actor(people["ada"]), owner, people["ben"])
    with pytest.raises(LastOwner):
        members.remove(app, Actor(people["ada"]), owner, people["ada"])
    found_accounts, _ = members.list_members(app, Actor(people["ada"]), owner, skip=0, limit=9)
    assert [item.name for item in found_accounts] == ["ada"]


def test_a_membership_is_published_by_the_member(app: App, people: dict[str, Account], guild: Account) -> None:
    """A member publishes their own membership, not that of another one; a user who is no member publishes none."""
    member = OrganizationAccess(guild, Mode.WRITE)
    with pytest.raises(Forbidden) as excinfo:
        members.set_public(app, Actor(people["ada"]), member, people["ben"], is_public=True)
    assert excinfo.value.permission == Permission.OWN_MEMBERSHIP
    stranger = OrganizationAccess(guild, Mode.READ)
    with pytest.raises(Forbidden) as excinfo:
        members.set_public(app, Actor(people["eve"]), stranger, people["eve"], is_public=True)
    assert excinfo.value.permission == Permission.ORGANIZATION_MEMBER
    assert members.list_members(app, ANONYMOUS, stranger, skip=0, limit=9) == ([], 0)
    members.set_public(app, Actor(people["ben"]), member, people["ben"], is_public=True)
    assert members.list_members(app, ANONYMOUS, stranger, skip=0, limit=9) == ([people["ben"]], 1)
