"""Logging in and out."""

import io

import pytest

from holdfast import logs
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.web.stylesheet import ADDRESS
from tests.conftest import ADMIN_PASSWORD, Service


def test_the_right_password_logs_in_with_a_cookie_scripts_cannot_read(service: Service) -> None:
    """The cookie is HttpOnly and stays on this site."""
    with service.client() as client:
        response = client.post("/login", data={"name": "ADMIN", "password": ADMIN_PASSWORD})
        assert (response.status_code, response.headers["location"]) == (303, "/")
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Log out" in client.get("/").text
        assert client.get("/login").headers["location"] == "/"


@pytest.mark.parametrize(
    "form",
    [
        {"name": "admin", "password": "wrong"},
        {"name": "nobody", "password": ADMIN_PASSWORD},
        {"name": "admin"},
        {"password": ADMIN_PASSWORD},
        {"name": "", "password": ""},
        {"name": "admin", "password": "x" * 5000},
        {"name": "<b>", "password": "x"},
    ],
)
def test_anything_else_is_refused_with_the_same_words(service: Service, form: dict[str, str]) -> None:
    """A wrong name and a wrong password have the same message, and typed names are escaped."""
    with service.client() as client:
        response = client.post("/login", data=form)
    assert response.status_code == 401
    assert "Incorrect username or password" in response.text
    assert "<b>" not in response.text
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"\xff\xfe", "application/x-www-form-urlencoded", 401),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x", 401),
        (b"{}", "application/json", 401),
        (b"&".join(b"f%d=1" % number for number in range(50)), "application/x-www-form-urlencoded", 401),
        (b"&".join(b"f%d=1" % number for number in range(2000)), "application/x-www-form-urlencoded", 400),
        (b"name=admin&password=%00", "application/x-www-form-urlencoded", 422),
        (b"name=" + b"x" * 2**17, "application/x-www-form-urlencoded", 413),
    ],
)
def test_broken_forms_are_refused(service: Service, content: bytes, kind: str, status: int) -> None:
    """A malformed form has status 401; too many fields, a NUL byte and a large body have other statuses."""
    with service.client() as client:
        assert client.post("/login", content=content, headers={"Content-Type": kind}).status_code == status


def test_whoever_must_change_their_password_can_log_out(service: Service) -> None:
    """Other pages redirect to the form, but the stylesheet, avatars and the API schema are served."""
    accounts.create_user(service.database, "eve", Secret("long enough"), must_change_password=True)
    with service.client() as client:
        client.post("/login", data={"name": "eve", "password": "long enough"})
        for path in ("/login", "/api/docs", "/explore"):
            assert client.get(path).headers["location"] == "/-/account/password"
        for path in (ADDRESS, "/avatars/1", "/api/openapi.json"):
            assert client.get(path).status_code == 200
        assert client.post("/logout").headers["location"] == "/"
        assert client.get("/login").status_code == 200


def test_logging_out_ends_the_session_on_the_server(service: Service) -> None:
    """A copied session cookie is invalid after logging out."""
    with service.logged_in() as client:
        cookies = dict(client.cookies)
        client.post("/logout")
    with service.client() as thief:
        thief.cookies.update(cookies)
        assert "Log out" not in thief.get("/").text


def test_logging_out_without_a_session_is_accepted(service: Service) -> None:
    """Logging out without a session redirects without an error."""
    with service.client() as client:
        assert client.post("/logout").status_code == 303


def test_the_log_holds_neither_names_nor_passwords(service: Service) -> None:
    """People type their password into the wrong field, so neither is logged."""
    stream = io.StringIO()
    logs.configure(style="json", level="debug", stream=stream)
    with service.client() as client:
        client.post("/login", data={"name": "hunter2-as-name", "password": "hunter2-as-password"})
        client.post("/login", data={"name": "admin", "password": ADMIN_PASSWORD})
    logs.configure(level="warning")
    assert "login refused" in stream.getvalue()
    for secret in ("hunter2", ADMIN_PASSWORD, client.cookies.get("holdfast_session", "")):
        assert secret
        assert secret not in stream.getvalue()


def test_an_email_address_logs_in_as_well(service: Service) -> None:
    """An email address logs in on the website and over the API, and shares the rate limit of the user name."""
    accounts.create_user(service.database, "ada", Secret("a-password-for-tests"), email="ada@example.org")
    right = {"name": "ada@example.org", "password": "a-password-for-tests"}
    with service.client() as client:
        page = client.get("/login").text
        assert "Username or email address" in page
        assert client.post("/login", data=right).status_code == 303
        assert (
            client.get("/api/v1/user", auth=("ada@example.org", "a-password-for-tests")).json()["login"] == "ada"
        )
    with service.client() as client:
        for name in ("ada", "ada@example.org") * 5:
            assert client.post("/login", data={"name": name, "password": "wrong"}).status_code == 401
        assert client.post("/login", data=right).status_code == 429


def test_guesses_are_rate_limited(service: Service) -> None:
    """After ten wrong passwords even the right one waits, and the page says how long."""
    with service.client() as client:
        for _ in range(10):
            assert client.post("/login", data={"name": "admin", "password": "wrong"}).status_code == 401
        response = client.post("/login", data={"name": "admin", "password": ADMIN_PASSWORD})
        assert response.status_code == 429
        assert "Try again in 15 minutes" in response.text
        assert int(response.headers["retry-after"]) > 800


def test_a_disabled_account_cannot_log_in(service: Service) -> None:
    """Only the right password is answered with the reason, and no cookie is set."""
    accounts.create_user(service.database, "eve", Secret("long enough"), may_not_log_in=True)
    with service.client() as client:
        assert client.post("/login", data={"name": "eve", "password": "wrong one"}).status_code == 401
        response = client.post("/login", data={"name": "eve", "password": "long enough"})
    assert (response.status_code, "This account is disabled" in response.text) == (403, True)
    assert "set-cookie" not in response.headers
