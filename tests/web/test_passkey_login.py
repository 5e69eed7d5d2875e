"""Logging in with a passkey, alone or as the second factor."""

import json

import httpx
import pyotp
import pytest

from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.conftest import Service
from tests.hosting.passkey_helpers import ROOT, SoftwareAuthenticator, give_passkey
from tests.hosting.two_factor_helpers import give_second_factor

PASSWORD = "long enough"
FORM = {"name": "eve", "password": PASSWORD}
PAGE = "/login/passkey"
SECOND = "/login/two-factor/passkey"
HOST = ROOT.removeprefix("http://")


@pytest.fixture
def eve(service: Service) -> Account:
    """Add a user."""
    return accounts.create_user(service.database, "eve", Secret(PASSWORD))


@pytest.fixture
def key(service: Service, eve: Account) -> SoftwareAuthenticator:
    """Add a passkey to the account of Eve."""
    return give_passkey(service.settings, eve, ROOT)[0]


def browser(service: Service, host: str = HOST) -> httpx.Client:
    """Open a browser at the address where passkeys can be used."""
    client = service.client()
    client.headers.update({"Host": host, "Accept": "text/html"})
    return client


def is_logged_in(client: httpx.Client) -> bool:
    """Return whether a browser client has a session."""
    return "Log out" in client.get("/").text


def options(client: httpx.Client, page: str = PAGE) -> bytes:
    """Request options as the script does."""
    answer = client.post(f"{page}/options", headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("application/json", "no-store")
    return answer.content


def test_a_passkey_logs_in_without_a_password(service: Service, key: SoftwareAuthenticator) -> None:
    """The login redirects to the requested page, and the same response cannot be used again."""
    with browser(service) as client:
        shown = client.get("/login?next=/eve").text
        assert "Log in with a passkey" in shown
        assert "needs JavaScript" in shown
        response = key.get(options(client))
        done = client.post(PAGE, data={"credential": response, "next": "/eve"})
        assert (done.status_code, done.headers["location"]) == (303, "/eve")
        assert is_logged_in(client)
    with browser(service) as client:
        again = client.post(PAGE, data={"credential": response, "next": "/eve"})
        assert again.status_code == 401
        assert "expired, or was answered before" in again.text
        assert 'name="next" value="/eve"' in again.text
        assert not is_logged_in(client)


def test_an_invalid_response_is_refused(service: Service, key: SoftwareAuthenticator) -> None:
    """A response that is malformed, unverified, of another origin or too large logs nobody in."""
    with browser(service) as client:
        for wrong in ("", "{}", "[" * 1000, "x"):
            refused = client.post(PAGE, data={"credential": wrong})
            assert refused.status_code == 401
            assert "passkey was not accepted" in refused.text
        key.verifies_user = False
        assert client.post(PAGE, data={"credential": key.get(options(client))}).status_code == 401
        key.verifies_user, key.origin = True, "http://evil.example"
        assert client.post(PAGE, data={"credential": key.get(options(client))}).status_code == 401
        assert client.post(PAGE, data={"credential": "x" * 100_000}).status_code == 413
        assert not is_logged_in(client)


def test_a_passkey_is_a_second_factor(service: Service, key: SoftwareAuthenticator) -> None:
    """The page offers the passkey and a recovery code, and no authenticator app that is not set up."""
    with browser(service) as client:
        unknown = client.post(f"{SECOND}/options", headers={"Accept": "application/json"})
        assert unknown.status_code == 401
        assert client.post(SECOND, data={"credential": "{}"}).headers["location"] == "/login"
        asked = client.post("/login", data={**FORM, "next": "/eve"})
        assert asked.headers["location"] == "/login/two-factor?next=%2Feve"
        shown = client.get(asked.headers["location"]).text
        assert "Use a passkey" in shown
        assert "Use a recovery code" in shown
        assert "Authentication code" not in shown
        given = options(client, SECOND)
        assert len(json.loads(given)["allowCredentials"]) == 1
        stranger = SoftwareAuthenticator(credential_id=key.credential_id)
        refused = client.post(SECOND, data={"credential": stranger.get(given), "next": "/eve"})
        assert refused.status_code == 401
        assert "passkey was not accepted" in refused.text
        assert not is_logged_in(client)
        done = client.post(SECOND, data={"credential": key.get(options(client, SECOND)), "next": "/eve"})
        assert (done.status_code, done.headers["location"]) == (303, "/eve")
        assert is_logged_in(client)
        assert "holdfast_second_step" not in client.cookies


def test_a_recovery_code_and_the_app_are_alternatives(service: Service, eve: Account) -> None:
    """A user with a passkey and an app may use either, or a recovery code."""
    key, codes = give_passkey(service.settings, eve, ROOT)
    with browser(service) as client:
        client.post("/login", data=FORM)
        assert client.post("/login/two-factor", data={"code": codes[0].reveal()}).status_code == 303
    secret, _ = give_second_factor(service.settings, eve)
    with browser(service) as client:
        client.post("/login", data=FORM)
        shown = client.get("/login/two-factor").text
        assert "Use a passkey" in shown
        assert "Authentication code" in shown
        assert client.post("/login/two-factor", data={"code": pyotp.TOTP(secret).now()}).status_code == 303
        assert is_logged_in(client)
    with browser(service) as client:
        client.post("/login", data=FORM)
        assert client.post(SECOND, data={"credential": key.get(options(client, SECOND))}).status_code == 303
        assert is_logged_in(client)


def test_a_cloned_passkey_is_reported(service: Service, eve: Account) -> None:
    """A signature counter that went backwards is refused with an explanation."""
    key, _ = give_passkey(service.settings, eve, ROOT)
    key.counter = 3
    with browser(service) as client:
        assert client.post(PAGE, data={"credential": key.get(options(client))}).status_code == 303
    with browser(service) as client:
        key.counter = 1
        refused = client.post(PAGE, data={"credential": key.get(options(client))})
        assert refused.status_code == 401
        assert "counter went backwards" in refused.text
        assert not is_logged_in(client)


def test_a_disabled_account_does_not_log_in(service: Service, key: SoftwareAuthenticator) -> None:
    """A valid passkey of a disabled account is answered with status 403."""
    with service.database.write() as connection:
        connection.exec_driver_sql("UPDATE users SET may_not_log_in = true WHERE name = 'eve'")
    with browser(service) as client:
        refused = client.post(PAGE, data={"credential": key.get(options(client))})
        assert refused.status_code == 403
        assert "disabled" in refused.text
        assert not is_logged_in(client)


def test_requests_for_passkeys_are_limited(service: Service, key: SoftwareAuthenticator) -> None:
    """Unanswered requests of an address are limited, and the password still logs in."""
    with browser(service) as client:
        assert client.post(PAGE, data={"credential": key.get(options(client))}).status_code == 303
    with browser(service) as client:
        for _ in range(service.settings.login_failures * 10):
            options(client)
        refused = client.post(f"{PAGE}/options", headers={"Accept": "application/json"})
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 900
        assert "Too many requests to use a passkey" in refused.json()["message"]
        assert client.post("/login", data=FORM).headers["location"] == "/login/two-factor"


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "git.example.org"])
def test_passkeys_are_not_offered_where_browsers_refuse_them(
    service: Service, key: SoftwareAuthenticator, host: str
) -> None:
    """At an IP address or over plain HTTP, a recovery code is offered as the second factor."""
    with browser(service, host) as client:
        assert "passkey" not in client.get("/login").text
        refused = client.post(f"{PAGE}/options", headers={"Accept": "application/json"})
        assert refused.status_code == 422
        assert "Passkeys need an address" in refused.json()["message"]
        assert client.post(PAGE, data={"credential": "{}"}).status_code == 422
        client.post("/login", data=FORM)
        shown = client.get("/login/two-factor").text
        assert "Use a passkey" not in shown
        assert '<details class="alternative" open>' in shown


def test_forms_of_other_sites_are_refused(service: Service, key: SoftwareAuthenticator) -> None:
    """Cross-site requests to log in with a passkey have status 403."""
    with browser(service) as client:
        response = key.get(options(client))
        there = {"Sec-Fetch-Site": "cross-site"}
        assert client.post(PAGE, data={"credential": response}, headers=there).status_code == 403
        assert client.post(f"{PAGE}/options", headers=there).status_code == 403
        assert not is_logged_in(client)
