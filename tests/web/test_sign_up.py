"""Signing up, which is disabled by default."""

import msgspec
import pytest

from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from tests.conftest import Service, run_service

NEW = {"name": "ada", "email": "ada@example.org", "password": "long enough"}


def test_signing_up_is_disabled_by_default(service: Service) -> None:
    """The page is not found, and no page links to it."""
    with service.client() as client:
        assert client.get("/sign-up").status_code == 404
        assert client.post("/sign-up", data=NEW).status_code == 404
        assert "/sign-up" not in client.get("/login").text + client.get("/").text
        assert client.get("/api/v1/users/ada").status_code == 404


def test_signing_up_creates_an_account_and_a_session(settings: Settings, database: Database) -> None:
    """Names and addresses that are taken, missing or invalid are refused with an alert."""
    open_to_all = msgspec.structs.replace(settings, sign_up=True)
    for service in run_service(open_to_all, database):
        with service.client() as client:
            assert all("/sign-up" in client.get(path).text for path in ("/login", "/"))
            response = client.post("/sign-up", data=NEW)
            assert (response.status_code, response.headers["location"]) == (303, "/")
            assert client.get("/api/v1/user").json()["login"] == "ada"
            assert client.get("/api/v1/user").json()["is_admin"] is False
            assert client.get("/sign-up").status_code == 303
        with service.client() as client:
            for wrong in (
                NEW,
                {**NEW, "name": "bob"},
                {**NEW, "name": "admin", "email": "b@example.org"},
                {**NEW, "name": "bob", "email": ""},
                {**NEW, "name": "bob", "email": "nonsense"},
                {**NEW, "name": "bob", "email": "b@example.org", "password": "short"},
                {**NEW, "name": "<b>", "email": "b@example.org"},
                {"name": "", "email": "", "password": ""},
            ):
                received_response = client.post("/sign-up", data=wrong)
                assert received_response.status_code == 422, wrong
                assert "<b>" not in received_response.text
                assert 'role="alert"' in received_response.text
                assert "set-cookie" not in received_response.headers
    assert [user.name for user in accounts.all_users(database)] == ["ada", "admin"]


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}])
def test_a_form_of_another_site_is_refused(
    settings: Settings, database: Database, headers: dict[str, str]
) -> None:
    """A cross-site form to sign up has status 403 and creates no account."""
    for service in run_service(msgspec.structs.replace(settings, sign_up=True), database):
        with service.client() as client:
            assert client.post("/sign-up", data=NEW, headers=headers).status_code == 403
    assert [user.name for user in accounts.all_users(database)] == ["admin"]
