"""The first page."""

import httpx
import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.web import home
from tests.backup.streams import HEADER, record
from tests.backup.streams import empty_frame as frame
from tests.conftest import ADMIN_PASSWORD, Service


def test_strangers_see_what_this_is_and_nothing_else(service: Service) -> None:
    """Nobody learns what backups there are without logging in."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "private.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        page = client.get("/").text
    assert "Log in" in page
    assert "private.binproto" not in page


def test_the_administrator_sees_the_backups_with_their_counts(service: Service) -> None:
    """Each file with its date, its app and its counts; a broken one with its problem."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "mine.binproto").write_bytes(record(HEADER) + frame(1) + frame(4) * 1234)
    (folder / "<b>broken").write_bytes(record(HEADER) + b"\x80")
    with service.logged_in() as client:
        page = client.get("/").text
    for words in ("mine.binproto", "14 November 2023", "App 2.0", "1,234", "ends in the middle of a record"):
        assert words in page
    assert "<b>broken" not in page


def test_other_users_do_not_see_the_shelf(service: Service) -> None:
    """The data folder is the administrator's."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    (service.settings.data / "backups").mkdir(parents=True)
    (service.settings.data / "backups" / "mine.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        client.post("/login", data={"name": "ada", "password": "long enough"})
        page = client.get("/").text
    assert "Log out" in page
    assert "mine.binproto" not in page


def test_people_see_the_repositories_they_may_read(service: Service) -> None:
    """With their description, their state and where to clone them; and nothing of what is private to others."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        admin.post("/orgs", json={"username": "tidewater", "full_name": "Tide & Water"})
        admin.post("/orgs", json={"username": "hidden", "visibility": "private"})
        admin.post("/orgs/tidewater/repos", json={"name": "harbour", "description": "Tides <here>"})
        admin.post("/user/repos", json={"name": "secret-plans", "private": True})
        admin.patch("/repos/tidewater/harbour", json={"archived": True})
    with service.client() as client:
        assert "harbour" not in client.get("/").text
        client.post("/login", data={"name": "ada", "password": "long enough"})
        page = client.get("/").text
    assert f"git clone {service.url}/tidewater/harbour.git" in page
    for words in ("Tides &lt;here&gt;", "archived, empty", "Tide &amp; Water"):
        assert words in page
    assert "secret-plans" not in page
    assert "hidden" not in page
    with service.logged_in() as client:
        page = client.get("/").text
    assert "private, empty" in page


def test_a_service_without_repositories_says_how_to_make_one(service: Service) -> None:
    """And shows no empty list of organizations."""
    with service.logged_in() as client:
        page = client.get("/").text
    assert "There are none you can see" in page
    assert "Organizations" not in page


def test_a_long_list_says_how_much_more_there_is(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page is not the place for a thousand."""
    monkeypatch.setattr(home, "SHOWN", 2)
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        for number in range(3):
            admin.post("/user/repos", json={"name": f"number-{number}"})
    with service.logged_in() as client:
        page = client.get("/").text
    assert "And 1 more." in page
    assert page.count("git clone") == 2
