"""The passkeys page of a user's settings."""

import re

import httpx
import pytest

from holdfast.hosting.store import accounts
from tests.hosting.api_clients import PASSWORD
from tests.hosting.passkey_helpers import ROOT, SoftwareAuthenticator, give_passkey
from tests.hosting.two_factor_helpers import give_second_factor
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/-/account/two-factor"
PASSKEYS = f"{PAGE}/passkeys"
JSON = {"Accept": "application/json"}


def at_localhost(guild: OrganizationFixture, name: str | None = "eve") -> httpx.Client:
    """Return a browser client of a user on `localhost`, where passkeys can be used."""
    client = guild.visit(name)
    client.headers["Host"] = ROOT.removeprefix("http://")
    return client


def options(client: httpx.Client, **data: str) -> bytes:
    """Request options as the script does: with a password for a new passkey, otherwise to confirm a change."""
    response = client.post(f"{PASSKEYS}/{'options' if data else 'confirm'}", data=data, headers=JSON)
    assert response.status_code == 200, response.text
    assert response.headers["cache-control"] == "no-store"
    return response.content


def add(client: httpx.Client, name: str) -> tuple[SoftwareAuthenticator, httpx.Response]:
    """Add a passkey."""
    key = SoftwareAuthenticator()
    response = key.create(options(client, password=PASSWORD))
    return key, client.post(PASSKEYS, data={"name": name, "credential": response})


def ids(client: httpx.Client) -> list[str]:
    """Return the ids of the passkeys on the page."""
    text = client.get(PAGE).text
    return re.findall(r'passkeys/rename".*?name="id" value="(\d+)"', text, re.DOTALL)


def test_a_user_adds_renames_and_removes_passkeys(guild: OrganizationFixture) -> None:
    """The first one shows the recovery codes, the last one says that two-factor authentication is disabled."""
    eve = at_localhost(guild)
    shown = eve.get(PAGE).text
    assert "Add passkey" in shown
    assert "Adding a passkey needs JavaScript" in shown
    refused = eve.post(f"{PASSKEYS}/options", data={"password": "wrong"}, headers=JSON)
    assert (refused.status_code, refused.json()["message"]) == (403, "That is not your password.")
    key, added = add(eve, EVIL)
    assert (added.status_code, added.headers["cache-control"]) == (200, "no-store")
    codes = re.findall(r"<li><code>([a-z0-9-]+)</code></li>", added.text)
    assert len(codes) == 10
    page = eve.get(PAGE).text
    assert EVIL not in page
    assert "never used" in page
    assert "It is your only second factor" in page
    _, again = add(eve, "Key")
    assert (again.status_code, again.headers["location"]) == (303, PAGE)
    assert "Passkey Key added." in eve.get(PAGE).text
    first, second = ids(eve)
    assert eve.post(f"{PASSKEYS}/rename", data={"id": first, "name": "Phone"}).status_code == 303
    page = eve.get(PAGE).text
    assert "Passkey renamed to Phone." in page
    assert "It is your only second factor" not in page
    for data, status in (
        ({"id": first, "name": ""}, 422),
        ({"id": "0", "name": "x"}, 404),
        ({"id": "x", "name": "x"}, 404),
        ({"id": "9" * 30, "name": "x"}, 404),
    ):
        assert eve.post(f"{PASSKEYS}/rename", data=data).status_code == status
    for wrong in ({"password": "wrong", "code": codes[0]}, {"password": PASSWORD, "code": "wrong"}, {}):
        assert eve.post(f"{PASSKEYS}/remove", data={"id": second, **wrong}).status_code == 403
    response = key.get(options(eve))
    removal = {"id": second, "password": PASSWORD, "credential": response}
    assert eve.post(f"{PASSKEYS}/remove", data=removal).headers["location"] == PAGE
    page = eve.get(PAGE).text
    assert "Passkey Key removed." in page
    assert "last used" in page
    removal = {"id": first, "password": PASSWORD, "code": codes[0]}
    assert eve.post(f"{PASSKEYS}/remove", data=removal).status_code == 303
    page = eve.get(PAGE).text
    assert "It was the last second factor: two-factor authentication is off." in page
    assert '<span class="badge">Disabled</span>' in page


def test_a_passkey_confirms_what_a_code_confirms(guild: OrganizationFixture) -> None:
    """A passkey confirms new recovery codes and the removal of the app, each response only once."""
    eve = at_localhost(guild)
    give_second_factor(guild.clients.service.settings, accounts.find_user(guild.clients.database, "eve"))
    key, added = add(eve, "Phone")
    assert added.status_code == 303
    data = {"password": PASSWORD, "credential": key.get(options(eve))}
    assert len(re.findall(r"<li><code>", eve.post(f"{PAGE}/codes", data=data).text)) == 10
    replayed = eve.post(f"{PAGE}/codes", data=data)
    assert replayed.status_code == 403
    assert "answered before" in replayed.text
    data = {"password": PASSWORD, "credential": key.get(options(eve))}
    assert eve.post(f"{PAGE}/disable", data=data).status_code == 303
    assert "Authenticator app removed. Your passkeys are still asked for." in eve.get(PAGE).text


def test_a_damaged_response_adds_nothing(guild: OrganizationFixture) -> None:
    """Empty and malformed responses, and a response to another user's options, are refused."""
    eve, ben = at_localhost(guild), at_localhost(guild, "ben")
    for credential in ("", "{}", "[" * 1000):
        refused = eve.post(PASSKEYS, data={"name": "Phone", "credential": credential})
        assert refused.status_code == 403
        assert "passkey was not accepted" in refused.text
    response = SoftwareAuthenticator().create(options(ben, password=PASSWORD))
    assert eve.post(PASSKEYS, data={"name": "Phone", "credential": response}).status_code == 403
    assert ids(eve) == ids(ben) == []
    assert eve.post(f"{PASSKEYS}/confirm", headers=JSON).status_code == 403


@pytest.mark.parametrize(("host", "problem"), [("127.0.0.1", "IP address"), ("git.example.org", "https://")])
def test_the_page_says_where_passkeys_cannot_be_used(guild: OrganizationFixture, host: str, problem: str) -> None:
    """The page gives the reason, and every request about passkeys is refused with status 422."""
    eve = guild.visit("eve")
    eve.headers["Host"] = host
    page = eve.get(PAGE).text
    assert "Passkeys need an address" in page
    assert problem in page
    assert "Add passkey" not in page
    assert "Set up authenticator app" in page
    for path in ("options", "confirm"):
        refused = eve.post(f"{PASSKEYS}/{path}", data={"password": PASSWORD}, headers=JSON)
        assert refused.status_code == 422
        assert problem in refused.json()["message"]
    assert eve.post(PASSKEYS, data={"name": "x", "credential": "{}"}).status_code == 422
    remove = eve.post(f"{PASSKEYS}/remove", data={"id": "1", "password": PASSWORD, "credential": "{}"})
    assert remove.status_code == 422


def test_passkeys_require_a_session_of_the_user(guild: OrganizationFixture) -> None:
    """Visitors and tokens are refused; an administrator sees no names, but can remove all passkeys."""
    user = accounts.find_user(guild.clients.database, "eve")
    key, _ = give_passkey(guild.clients.service.settings, user, ROOT)
    api = guild.clients.with_token(user, "all")
    header = {"Authorization": api.headers["Authorization"], **JSON}
    for path in ("", "/options", "/confirm", "/rename", "/remove"):
        assert at_localhost(guild, None).post(f"{PASSKEYS}{path}", headers=JSON).status_code == 401
        assert guild.visit(None).post(f"{PASSKEYS}{path}", headers=header).status_code == 403
    page = guild.visit("admin").get("/-/admin/users/eve").text
    assert "with 10 recovery codes left" in page
    assert "Phone" not in page
    assert guild.visit("admin").post("/-/admin/users/eve/two-factor").status_code == 303
    assert ids(at_localhost(guild)) == []
    refused = key.get(at_localhost(guild, None).post("/login/passkey/options").content)
    assert at_localhost(guild, None).post("/login/passkey", data={"credential": refused}).status_code == 401
