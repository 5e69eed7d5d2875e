"""The administration pages of user accounts."""

import re

import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.hosting.dependency_helpers import counting_queries
from tests.hosting.two_factor_helpers import give_second_factor
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/-/admin/users"
NEW = {"username": "fay", "email": "fay@example.org", "full_name": EVIL, "must_change_password": "on"}


def test_accounts_are_found_and_created(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generated password is shown once and must be changed; users are found by name."""
    admin = guild.visit("admin")
    response = admin.post(f"{PAGE}/new", data=NEW)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    hits = re.search(r'class="one-time-secret">([a-z0-9-]+)<', response.text)
    assert hits is not None
    user = accounts.check_password(guild.clients.database, "fay", Secret(hits[1]))
    assert user is not None
    assert user.must_change_password
    assert hits[1] not in admin.get(f"{PAGE}/fay").text
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        listed = admin.get(PAGE).text
    assert len(queries) <= 5
    assert "<script>" not in listed
    assert "/fay" in listed
    only = admin.get(PAGE, params={"q": "DOR"}).text
    assert f"{PAGE}/dora" in only
    assert f"{PAGE}/ada" not in only
    assert "No users match" in admin.get(PAGE, params={"q": "zzz"}).text
    given = admin.post(
        f"{PAGE}/new", data={**NEW, "username": "gil", "email": "gil@example.org", "password": "x" * 9}
    )
    assert given.headers["location"] == f"{PAGE}/gil"
    for wrong in ({"username": "ada"}, {"email": "ada@example.org"}, {"password": "short"}, {"username": "a/b"}):
        received_response = admin.post(
            f"{PAGE}/new", data={**NEW, "username": "hal", "email": "hal@example.org", **wrong}
        )
        assert received_response.status_code in {400, 409, 422}
        assert 'role="alert"' in received_response.text


def test_accounts_are_changed_closed_and_given_passwords(guild: OrganizationFixture) -> None:
    """A disabled account loses its session, and invalid forms and the last administrator are refused."""
    admin, eve = guild.visit("admin"), guild.visit("eve")
    form = {"full_name": "Eve", "email": "eve@example.org", "active": "on", "prohibit_login": "on"}
    assert admin.post(f"{PAGE}/eve", data=form).headers["location"] == f"{PAGE}/eve"
    assert eve.get("/-/account").status_code == 303
    assert "Disabled" in admin.get(PAGE).text
    admin.post(f"{PAGE}/eve", data={**form, "prohibit_login": ""})
    reset = admin.post(f"{PAGE}/eve/password", data={"must_change_password": "on"})
    hits = re.search(r'class="one-time-secret">([a-z0-9-]+)<', reset.text)
    assert hits is not None
    given = accounts.check_password(guild.clients.database, "eve", Secret(hits[1]))
    assert given is not None
    assert given.must_change_password
    assert admin.post(f"{PAGE}/eve/password", data={"password": "short"}).status_code == 422
    taken = admin.post(f"{PAGE}/eve", data={**form, "email": "ada@example.org", "location": "typed"})
    assert taken.status_code == 422
    assert "typed" in taken.text
    alone = {"full_name": "", "email": "", "active": "on"}
    last = admin.post(f"{PAGE}/admin", data=alone)
    assert last.status_code == 422
    assert "last administrator" in last.text
    assert accounts.find_user(guild.clients.database, "admin").is_admin


def test_accounts_are_renamed_and_deleted(guild: OrganizationFixture) -> None:
    """The name must be typed, and an account that owns a repository is deleted only with the purge option."""
    admin = guild.visit("admin")
    assert admin.post(f"{PAGE}/eve/rename", data={"new_username": "eva", "confirm": "no"}).status_code == 422
    moved = admin.post(f"{PAGE}/eve/rename", data={"new_username": "eva", "confirm": "eve"})
    assert moved.headers["location"] == f"{PAGE}/eva"
    guild.clients.admin.post("/admin/users/eva/repos", json={"name": "own"})
    stays = admin.post(f"{PAGE}/eva/delete", data={"confirm": "eva"})
    assert stays.status_code == 422
    assert "owns a repository" in stays.text
    assert admin.post(f"{PAGE}/eva/delete", data={"confirm": "eva", "purge": "on"}).headers["location"] == PAGE
    assert admin.get(f"{PAGE}/eva").status_code == 404
    assert admin.get(f"{PAGE}/guild").status_code == 404  # an organization is nobody
    assert admin.post(f"{PAGE}/admin/delete", data={"confirm": "admin"}).status_code == 422


def test_only_administrators_manage_accounts(guild: OrganizationFixture) -> None:
    """Other users get status 403, and visitors are redirected to log in."""
    for path in (PAGE, f"{PAGE}/new", f"{PAGE}/eve"):
        assert guild.statuses(path) == {
            "-": 303,
            "eve": 403,
            "ben": 403,
            "cleo": 403,
            "dora": 403,
            "ada": 403,
            "admin": 200,
        }
    # Logging in changes the time of the last login.
    ada, visitor = guild.visit("ada"), guild.visit(None)
    before = accounts.all_users(guild.clients.database)
    form = {**NEW, "admin": "on", "new_username": "eva", "confirm": "eve", "purge": "on"}
    for path in ("new", "eve", "eve/password", "eve/rename", "eve/delete"):
        assert ada.post(f"{PAGE}/{path}", data=form).status_code == 403
        assert visitor.post(f"{PAGE}/{path}", data=form).status_code == 303
    assert accounts.all_users(guild.clients.database) == before


def test_two_factor_authentication_is_disabled_for_a_user(guild: OrganizationFixture) -> None:
    """Only an administrator disables the second factor of a user, and only while it is enabled."""
    admin = guild.visit("admin")
    assert "Not enabled" in admin.get(f"{PAGE}/eve").text
    give_second_factor(guild.clients.service.settings, accounts.find_user(guild.clients.database, "eve"))
    assert "with 10 recovery codes left" in admin.get(f"{PAGE}/eve").text
    assert guild.visit("ada").post(f"{PAGE}/eve/two-factor").status_code == 403
    done = admin.post(f"{PAGE}/eve/two-factor")
    assert done.headers["location"] == f"{PAGE}/eve"
    page = admin.get(f"{PAGE}/eve").text
    assert "Two-factor authentication of eve disabled." in page
    assert "Not enabled" in page
    assert admin.post(f"{PAGE}/eve/two-factor").status_code == 422
