"""The home page."""

import re

import httpx
import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast.web import home
from tests.backup.streams import HEADER, record
from tests.backup.streams import empty_frame as frame
from tests.conftest import ADMIN_PASSWORD, Service


def test_visitors_see_an_introduction_only(service: Service) -> None:
    """The page of a visitor has a link to log in and names no backup."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "private.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        page = client.get("/").text
    assert "Log in" in page
    assert "private.binproto" not in page


def test_the_administrator_sees_the_backups_with_their_counts(service: Service) -> None:
    """A backup has its date, app and counts, and a broken one its error."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "mine.binproto").write_bytes(record(HEADER) + frame(1) + frame(4) * 1234)
    (folder / "<b>broken").write_bytes(record(HEADER) + b"\x80")
    with service.logged_in() as client:
        page = client.get("/").text
    for words in ("mine.binproto", "14 November 2023", "App 2.0", "1,234", "ends in the middle of a record"):
        assert words in page
    assert "<b>broken" not in page


def test_other_users_do_not_see_the_backups(service: Service) -> None:
    """The backups of the data folder belong to the administrator."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    (service.settings.data / "backups").mkdir(parents=True)
    (service.settings.data / "backups" / "mine.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        client.post("/login", data={"name": "ada", "password": "long enough"})
        page = client.get("/").text
    assert "Log out" in page
    assert "mine.binproto" not in page


def test_users_see_their_own_and_readable_repositories(service: Service) -> None:
    """Rows have descriptions and states, and private repositories of others are not listed."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        admin.post("/orgs", json={"username": "tidewater", "full_name": "Tide & Water"})
        admin.post("/orgs", json={"username": "hidden", "visibility": "private"})
        admin.post("/orgs/tidewater/repos", json={"name": "harbour", "description": "Tides <here>"})
        admin.post("/user/repos", json={"name": "secret-plans", "private": True})
        admin.post("/admin/users/ada/repos", json={"name": "diary", "private": True})
        admin.patch("/repos/tidewater/harbour", json={"archived": True})
    with service.client() as client:
        stranger = client.get("/").text
        assert 'href="/tidewater/harbour"' in stranger
        assert "secret-plans" not in stranger
        client.post("/login", data={"name": "ada", "password": "long enough"})
        page = client.get("/").text
    mine, others = page.index("Your repositories"), page.index("Recently updated")
    assert mine < page.index('href="/ada/diary"') < others < page.index('href="/tidewater/harbour"')
    for words in ("Tides &lt;here&gt;", "Archived", "Empty", "Private", "You are not a member"):
        assert words in page
    assert "secret-plans" not in page
    assert not re.search(r'(?<!aria-)(?<!type=")(?<!class="visually-)hidden', page)
    with service.logged_in() as client:
        page = client.get("/").text
    assert "Tide &amp; Water" in page
    assert 'href="/hidden"' in page


def test_a_service_without_repositories_explains_how_to_create_one(service: Service) -> None:
    """A visitor sees no empty list of public repositories."""
    with service.logged_in() as client:
        assert "Create your first repository" in client.get("/").text
    with service.client() as client:
        assert "Public repositories" not in client.get("/").text


def test_a_long_list_links_to_the_whole_list(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home page has a limited number of repositories and the total."""
    monkeypatch.setattr(home, "SHOWN", 2)
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        for number in range(3):
            admin.post("/user/repos", json={"name": f"number-{number}"})
    with service.logged_in() as client:
        page = client.get("/").text
    assert "All 3 repositories" in page
    assert page.count('href="/admin/number-') == 2


def offered(service: Service, recipient: str, *names: str) -> None:
    """Start transfers of new private repositories of Eve to another user."""
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        for name in names:
            response = admin.post("/admin/users/eve/repos", json={"name": name, "private": True})
            assert response.status_code == 201, response.text
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("eve", "long enough")) as eve:
        for name in names:
            assert eve.post(f"/repos/eve/{name}/transfer", json={"new_owner": recipient}).status_code == 202


def test_a_transfer_is_accepted_or_rejected_where_it_is_shown(service: Service) -> None:
    """Only the recipient sees and answers a transfer; a name that is taken is refused with status 409."""
    for name in ("ada", "bob", "eve"):
        accounts.create_user(service.database, name, Secret("long enough"))
    offered(service, "ada", "ship", "boat")
    heading = "Transfers waiting for you"
    with service.client() as ada, service.client() as bob:
        for name, client in (("ada", ada), ("bob", bob)):
            client.post("/login", data={"name": name, "password": "long enough"})
        page = ada.get("/").text
        assert heading in page
        assert 'action="/eve/ship/transfer"' in page
        assert heading not in bob.get("/").text
        assert bob.post("/eve/ship/transfer", data={"answer": "accept"}).status_code == 404
        wrong = ada.post("/eve/ship/transfer", data={"answer": "perhaps"})
        assert (wrong.status_code, "must be accept or reject" in wrong.text) == (422, True)
        accepted = ada.post("/eve/ship/transfer", data={"answer": "accept"})
        assert (accepted.status_code, accepted.headers["location"]) == (303, "/ada/ship")
        rejected = ada.post("/eve/boat/transfer", data={"answer": "reject"})
        assert (rejected.status_code, rejected.headers["location"]) == (303, "/")
        assert "Transfer of eve/boat rejected." in ada.get("/").text
        assert heading not in ada.get("/").text
        assert ada.post("/eve/boat/transfer", data={"answer": "accept"}).status_code == 404
        offered(service, "ada", "ship")
        taken = ada.post("/eve/ship/transfer", data={"answer": "accept"})
        assert (taken.status_code, "already has a repository with this name" in taken.text) == (409, True)
        assert heading in taken.text
