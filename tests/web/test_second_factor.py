"""Logging in with a second factor."""

import httpx
import pyotp
import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.conftest import Service
from tests.hosting.two_factor_helpers import give_second_factor

PASSWORD = "long enough"
FORM = {"name": "eve", "password": PASSWORD}
PAGE = "/login/two-factor"


@pytest.fixture
def secret(service: Service) -> str:
    """Enable a second factor for Eve, and return its secret."""
    eve = accounts.create_user(service.database, "eve", Secret(PASSWORD))
    return give_second_factor(service.settings, eve)[0]


def is_logged_in(client: httpx.Client) -> bool:
    """Return whether a browser client has a session."""
    return "Log out" in client.get("/").text


def test_the_code_is_asked_for_after_the_password(service: Service, secret: str) -> None:
    """There is no session before the code, and the login redirects to the requested page."""
    with service.client() as client:
        response = client.post("/login", data={**FORM, "next": "/eve?show=people"})
        assert response.status_code == 303
        assert response.headers["location"] == f"{PAGE}?next=%2Feve%3Fshow%3Dpeople"
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert f"Path={PAGE}" in cookie
        assert not is_logged_in(client)
        asked = client.get(response.headers["location"])
        assert 'name="next" value="/eve?show=people"' in asked.text
        assert 'autocomplete="one-time-code"' in asked.text
        wrong = client.post(PAGE, data={"code": "wrong", "next": "/eve"})
        assert wrong.status_code == 401
        assert "authentication code is wrong" in wrong.text
        assert not is_logged_in(client)
        done = client.post(PAGE, data={"code": pyotp.TOTP(secret).now(), "next": "/eve"})
        assert (done.status_code, done.headers["location"]) == (303, "/eve")
        assert is_logged_in(client)
        assert "holdfast_second_step" not in client.cookies


def test_a_code_logs_in_once(service: Service, secret: str) -> None:
    """A code that was used to log in is refused the second time."""
    code = pyotp.TOTP(secret).now()
    for status in (303, 401):
        with service.client() as client:
            client.post("/login", data=FORM)
            assert client.post(PAGE, data={"code": code}).status_code == status


def test_the_page_needs_the_password_first(service: Service, secret: str) -> None:
    """A right code is refused without a right password or with a forged cookie."""
    with service.client() as client:
        assert client.get(f"{PAGE}?next=/eve").headers["location"] == "/login?next=%2Feve"
        assert client.post("/login", data={**FORM, "password": "wrong"}).status_code == 401
        response = client.post(PAGE, data={"code": pyotp.TOTP(secret).now()})
        assert (response.status_code, response.headers["location"]) == (303, "/login")
        client.cookies.set("holdfast_second_step", "made up", path=PAGE)
        assert client.post(PAGE, data={"code": pyotp.TOTP(secret).now()}).headers["location"] == "/login"
        assert not is_logged_in(client)


def test_guesses_of_the_code_are_limited(service: Service, secret: str) -> None:
    """After ten wrong codes the right one is refused too, although the password was given again."""
    with service.client() as client:
        for _ in range(10):
            client.post("/login", data=FORM)
            assert client.post(PAGE, data={"code": "wrong"}).status_code == 401
        refused = client.post(PAGE, data={"code": pyotp.TOTP(secret).now()})
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 900
        assert "Too many wrong authentication codes" in refused.text


def test_a_disabled_account_is_reported_after_its_code(service: Service, secret: str) -> None:
    """An account that is disabled after the password was given is refused with its code."""
    with service.client() as client:
        client.post("/login", data=FORM)
        with service.database.write() as connection:
            connection.exec_driver_sql("UPDATE users SET may_not_log_in = true WHERE name = 'eve'")
        refused = client.post(PAGE, data={"code": pyotp.TOTP(secret).now()})
        assert refused.status_code == 403
        assert "disabled" in refused.text
        assert not is_logged_in(client)


def test_a_form_of_another_site_is_refused(service: Service, secret: str) -> None:
    """A cross-site form with the right code has status 403 and starts no session."""
    with service.client() as client:
        client.post("/login", data=FORM)
        response = client.post(
            PAGE, data={"code": pyotp.TOTP(secret).now()}, headers={"Sec-Fetch-Site": "cross-site"}
        )
        assert response.status_code == 403
        assert not is_logged_in(client)
