"""The access token pages."""

import re

from holdfast.hosting.api import routes as api_routes
from holdfast.web import routes as web_routes
from tests.hosting.api_clients import PASSWORD
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/-/account/tokens"


def test_a_token_is_shown_once_works_and_is_revoked(guild: OrganizationFixture) -> None:
    """The page that shows the token is not cached, and other users cannot revoke the token."""
    eve = guild.visit("eve")
    form = {"name": EVIL, "password": PASSWORD, "user": "read", "repository": "write", "public_only": "on"}
    response = eve.post(PAGE, data=form)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    hits = re.search(r'class="one-time-secret">([0-9a-f]{40})<', response.text)
    assert hits is not None
    assert "<script>" not in response.text
    later = eve.get(PAGE).text
    assert hits[1] not in later
    assert "public-only, read:user, write:repository" in later
    headers = {"Authorization": f"token {hits[1]}"}
    assert guild.clients.anonymous.get("/user", headers=headers).json()["login"] == "eve"
    number = re.search(r'name="id" value="(\d+)"', later)
    assert number is not None
    assert guild.visit("ben").post(f"{PAGE}/remove", data={"id": number[1]}).status_code == 404
    assert eve.post(f"{PAGE}/remove", data={"id": number[1]}).headers["location"] == PAGE
    assert guild.clients.anonymous.get("/user", headers=headers).status_code == 401


def test_creating_a_token_requires_the_password(guild: OrganizationFixture) -> None:
    """A name and a scope are required too, and the password is never in the response."""
    eve = guild.visit("eve")
    whole = {"name": "ci", "password": PASSWORD, "everything": "on"}
    for wrong, said in (
        ({"password": "a-wrong-password"}, "That is not your password."),
        ({"password": ""}, "That is not your password."),
        ({"everything": ""}, "Select at least one scope."),
        ({"name": ""}, "Name is required."),
    ):
        response = eve.post(PAGE, data={**whole, **wrong})
        assert 400 <= response.status_code < 500
        assert said in response.text
        assert 'class="one-time-secret"' not in response.text
        assert PASSWORD not in response.text
    assert eve.post(PAGE, data=whole).status_code == 200
    again = eve.post(PAGE, data=whole)
    assert again.status_code == 400
    assert "name has been used already" in again.text


def test_only_scopes_that_an_endpoint_asks_for_are_offered(guild: OrganizationFixture) -> None:
    """The form has exactly the scopes that endpoints of the API and the website use."""
    asked = [declared.scope for declared in (*api_routes.endpoints(), *web_routes.endpoints())]
    used = {name for scope in asked for name in scope}
    page = guild.visit("ada").get(PAGE).text
    assert set(re.findall(r'<select id="scope-(\w+)"', page)) == used


def test_a_token_may_have_an_expiry_date(guild: OrganizationFixture) -> None:
    """The token expires at the end of that day; a date in the past is refused and stays in the form."""
    eve = guild.visit("eve")
    form = {"name": "ci", "password": PASSWORD, "user": "read"}
    refused = eve.post(PAGE, data={**form, "expires": "2001-02-03"})
    assert refused.status_code == 422
    assert 'value="2001-02-03"' in refused.text
    assert eve.post(PAGE, data={**form, "expires": "2999-12-31"}).status_code == 200
    assert eve.post(PAGE, data={**form, "name": "other"}).status_code == 200
    listed = guild.clients.anonymous.get("/users/eve/tokens", auth=("eve", PASSWORD)).json()
    assert [token["expires_at"] for token in listed] == ["2999-12-31T23:59:59Z", None]
    later = eve.get(PAGE).text
    assert re.search(r"expires [^·]*2999", later)
    assert "does not expire" in later


def test_changing_the_password_keeps_the_tokens(guild: OrganizationFixture) -> None:
    """A token works after its user changes the password, and not after an administrator resets it."""
    eve = guild.visit("eve")
    hits = re.search(
        r'class="one-time-secret">([0-9a-f]{40})<',
        eve.post(PAGE, data={"name": "ci", "password": PASSWORD, "user": "read"}).text,
    )
    assert hits is not None
    headers = {"Authorization": f"token {hits[1]}"}
    form = {"old": PASSWORD, "new": "another-password", "again": "another-password"}
    assert eve.post("/-/account/password", data=form).status_code == 303
    assert guild.clients.anonymous.get("/user", headers=headers).status_code == 200
    guild.visit("admin").post("/-/admin/users/eve/password", data={"password": "a-third-password"})
    assert guild.clients.anonymous.get("/user", headers=headers).status_code == 401
