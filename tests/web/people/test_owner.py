"""The profile pages of users and organizations."""

import pytest

from holdfast.hosting.store import accounts
from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture


def test_visible_repositories_are_listed(guild: OrganizationFixture) -> None:
    """A private repository is listed for users who can read it only."""
    guild.api.post("/orgs/guild/repos", json={"name": "charts", "description": EVIL})
    for name, sees in (("eve", False), ("ben", True), ("ada", True), ("admin", True), (None, False)):
        text = guild.visit(name).get("/guild").text
        assert ("/guild/ship" in text) is sees
        assert "/guild/charts" in text
        assert "<script>" not in text
    result = guild.visit("ada").get("/guild", params={"q": "CHAR", "sort": "name"}).text
    assert "/guild/ship" not in result
    assert "/guild/charts" in result
    assert "No repositories match" in guild.visit("ada").get("/guild?q=%25").text


def test_people_and_teams_are_shown_to_members_only(guild: OrganizationFixture) -> None:
    """Other users see no teams, and only members who made their membership public."""
    ada, eve = guild.visit("ada"), guild.visit("eve")
    assert "show=teams" in ada.get("/guild").text
    assert "Owners" in ada.get("/guild?show=teams").text
    assert "show=teams" not in eve.get("/guild").text
    assert "Owners" not in eve.get("/guild?show=teams").text
    assert 'href="/ada"' not in eve.get("/guild?show=people").text
    assert ada.post("/-/orgs/guild/membership", data={"publicly": "on"}).headers["location"] == "/guild"
    assert 'href="/ada"' in eve.get("/guild?show=people").text
    assert "Make private" in ada.get("/guild?show=people").text
    assert eve.post("/-/orgs/guild/membership", data={"publicly": "on"}).status_code == 403


def test_an_email_address_is_shown_to_permitted_users_only(guild: OrganizationFixture) -> None:
    """The address is shown to logged-in users, unless the user hides it."""
    database = guild.clients.database
    eve = accounts.find_user(database, "eve")
    accounts.change_account(database, eve, full_name=EVIL, website="javascript:alert(1)", description="Tides")
    text = guild.visit("ada").get("/EVE").text
    assert "&lt;script&gt;" in text
    assert "javascript:" not in text
    assert "mailto:eve@example.org" in text
    assert "mailto:" not in guild.visit(None).get("/eve").text
    assert "Edit profile" in guild.visit("eve").get("/eve").text
    accounts.change_account(database, eve, hides_email=True)
    assert "mailto:" not in guild.visit("ada").get("/eve").text


def test_hidden_accounts_are_not_found(guild: OrganizationFixture) -> None:
    """A private organization and an unknown name are not found; an old name redirects those who may see it."""
    guild.api.patch("/orgs/guild", json={"visibility": "private"})
    assert guild.visit("eve").get("/guild").status_code == 404
    assert guild.visit("ada").get("/guild").status_code == 200
    assert guild.visit("eve").get("/nobody-here").status_code == 404
    assert guild.visit("eve").get("/%00").status_code == 404
    guild.api.post("/orgs/guild/rename", json={"new_name": "league"})
    assert guild.visit("ada").get("/guild").headers["location"].endswith("/league")
    assert guild.visit("eve").get("/guild").status_code == 404


def test_the_number_of_queries_is_bounded(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of queries does not depend on the number of repositories, people and teams."""
    ada = guild.visit("ada")
    counts = []
    for _ in range(2):
        for path in ("/guild", "/guild?show=people", "/guild?show=teams"):
            with counting_queries(guild.clients.database, monkeypatch) as queries:
                assert ada.get(path).status_code == 200
            counts.append(len(queries))
        for number in range(5 if len(counts) == 3 else 0):
            guild.api.post("/orgs/guild/repos", json={"name": f"r{number}"})
            team = guild.api.post("/orgs/guild/teams", json={"name": f"t{number}"}).json()["id"]
            guild.clients.account(f"member{number}")
            guild.api.put(f"/teams/{team}/members/member{number}")
    assert counts[:3] == counts[3:]
    assert max(counts) <= 15
