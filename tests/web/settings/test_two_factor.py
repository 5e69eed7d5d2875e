"""The two-factor authentication page of a user's settings."""

import re

import httpx
import pyotp

from holdfast.hosting.store import accounts
from tests.hosting.api_clients import PASSWORD
from tests.hosting.two_factor_helpers import give_second_factor
from tests.web.organization_fixture import OrganizationFixture

PAGE = "/-/account/two-factor"


def secret_of(response: httpx.Response) -> str:
    """Read the secret from the page that shows it."""
    hits = re.search(r'class="secret-text">([A-Z2-7 ]+)<', response.text)
    assert hits is not None, response.text
    return hits[1].replace(" ", "")


def codes_of(response: httpx.Response) -> list[str]:
    """Read the recovery codes from the page that shows them."""
    return re.findall(r"<li><code>([a-z0-9-]+)</code></li>", response.text)


def test_a_user_enables_and_disables_two_factor_authentication(guild: OrganizationFixture) -> None:
    """The secret is shown with a QR code, the recovery codes once, and no response is cached."""
    eve = guild.visit("eve")
    assert "Set up authenticator app" in eve.get(PAGE).text
    refused = eve.post(PAGE, data={"password": "wrong"})
    assert refused.status_code == 403
    assert "That is not your password" in refused.text
    response = eve.post(PAGE, data={"password": PASSWORD})
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    assert "<svg" in response.text
    assert "style=" not in response.text
    secret = secret_of(response)
    assert secret not in eve.get(PAGE).text.replace(" ", "")
    wrong = eve.post(f"{PAGE}/confirm", data={"code": "wrong"})
    assert wrong.status_code == 403
    assert secret_of(wrong) == secret
    enabled = eve.post(f"{PAGE}/confirm", data={"code": pyotp.TOTP(secret).now()})
    assert (enabled.status_code, enabled.headers["cache-control"]) == (200, "no-store")
    codes = codes_of(enabled)
    assert len(codes) == 10
    later = eve.get(PAGE).text
    assert "10 codes are left" in later
    assert codes[0] not in later
    assert eve.post(PAGE, data={"password": PASSWORD}).status_code == 409
    for data in ({"password": "wrong", "code": codes[0]}, {"password": PASSWORD, "code": "wrong"}):
        assert eve.post(f"{PAGE}/disable", data=data).status_code == 403
    assert "10 codes are left" in eve.get(PAGE).text
    gone = eve.post(f"{PAGE}/disable", data={"password": PASSWORD, "code": codes[0]})
    assert (gone.status_code, gone.headers["location"]) == (303, PAGE)
    assert "Two-factor authentication disabled." in eve.get(PAGE).text
    assert eve.post("/login", data={"name": "eve", "password": PASSWORD}).headers["location"] == "/"


def test_new_recovery_codes_replace_the_old_ones(guild: OrganizationFixture) -> None:
    """New codes require the password and a code, and the page warns when few are left."""
    user = accounts.find_user(guild.clients.database, "eve")
    secret, old = give_second_factor(guild.clients.service.settings, user)
    eve = guild.visit("eve")
    for code in old[:8]:
        browser = guild.visit(None)
        browser.post("/login", data={"name": "eve", "password": PASSWORD})
        assert browser.post("/login/two-factor", data={"code": code.reveal()}).status_code == 303
    assert '<p class="warning-message">2 codes are left' in eve.get(PAGE).text
    assert eve.post(f"{PAGE}/codes", data={"password": PASSWORD, "code": "wrong"}).status_code == 403
    assert eve.post(f"{PAGE}/codes", data={"password": "wrong", "code": "x"}).status_code == 403
    response = eve.post(f"{PAGE}/codes", data={"password": PASSWORD, "code": pyotp.TOTP(secret).now()})
    assert len(codes_of(response)) == 10
    assert "10 codes are left" in eve.get(PAGE).text
    refused = eve.post(f"{PAGE}/disable", data={"password": PASSWORD, "code": old[9].reveal()})
    assert refused.status_code == 403


def test_the_page_requires_a_session_of_the_user(guild: OrganizationFixture) -> None:
    """Visitors log in first, and a token does not suffice; without a pending secret nothing is confirmed."""
    assert guild.visit(None).get(PAGE).headers["location"].startswith("/login")
    ada = accounts.find_user(guild.clients.database, "ada")
    api = guild.clients.with_token(ada, "all")
    header = {"Authorization": api.headers["Authorization"], "Accept": "text/html"}
    assert guild.visit(None).get(PAGE, headers=header).status_code == 403
    assert guild.visit("eve").post(f"{PAGE}/confirm", data={"code": "123456"}).status_code == 422
