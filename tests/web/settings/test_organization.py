"""The settings pages of an organization."""

import pytest

from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/-/orgs/guild/settings"


def test_owners_change_the_profile(guild: OrganizationFixture) -> None:
    """Invalid values are refused and stay in the form, and hostile names are escaped."""
    ada = guild.visit("ada")
    form = {"full_name": EVIL, "description": "Tides", "website": "https://g.example", "visibility": "limited"}
    assert ada.post(PAGE, data=form).headers["location"] == PAGE
    after = guild.api.get("/orgs/guild").json()
    assert (after["full_name"], after["visibility"]) == (EVIL, "limited")
    assert "<script>" not in ada.get(PAGE).text
    for wrong in ({"website": "javascript:alert(1)"}, {"email": "nobody"}, {"visibility": "secret"}):
        response = ada.post(PAGE, data={**form, "full_name": "typed", **wrong})
        assert response.status_code == 422
        assert "typed" in response.text


def test_members_are_added_and_removed(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member is added to a team, and the last owner cannot be removed."""
    ada = guild.visit("ada")
    team = guild.api.post("/orgs/guild/teams", json={"name": "crew", "permission": "read"}).json()["id"]
    assert ada.post(f"{PAGE}/members", data={"name": "eve", "team": str(team)}).status_code == 303
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        text = ada.get(f"{PAGE}/members").text
    assert len(queries) <= 15
    assert "crew" in text
    assert "private membership" in text
    for form, status in (
        ({"name": "", "team": str(team)}, 422),
        ({"name": "nobody-here", "team": str(team)}, 404),
        ({"name": "eve", "team": "999"}, 404),
    ):
        response = ada.post(f"{PAGE}/members", data=form)
        assert response.status_code == status
        assert 'role="alert"' in response.text
    stays = ada.post(f"{PAGE}/members/remove", data={"name": "ada"})
    assert stays.status_code == 403
    assert "last owner" in stays.text
    assert ada.post(f"{PAGE}/members/remove", data={"name": "eve"}).status_code == 303
    assert "/eve" not in ada.get(f"{PAGE}/members").text


def test_a_rejected_removal_leads_to_the_pages_of_the_members(guild: OrganizationFixture) -> None:
    """The address of the form that removes a member has no pages."""
    ada = guild.visit("ada")
    team = guild.api.post("/orgs/guild/teams", json={"name": "crew", "permission": "read"}).json()["id"]
    for number in range(31):
        name = f"deckhand{number:02}"
        guild.clients.account(name)
        assert ada.post(f"{PAGE}/members", data={"name": name, "team": str(team)}).status_code == 303
    response = ada.post(f"{PAGE}/members/remove", data={"name": "nobody-here"})
    assert response.status_code == 404
    assert f'rel="next" href="{PAGE}/members?page=2"' in response.text


def test_renaming_and_deleting_ask_for_the_name(guild: OrganizationFixture) -> None:
    """An organization that owns a repository cannot be deleted, and its old name redirects."""
    ada = guild.visit("ada")
    for deed in ("delete", "rename"):
        refused = ada.post(f"{PAGE}/danger/{deed}", data={"confirm": "no", "new_name": "league"})
        assert (refused.status_code, "type guild to confirm" in refused.text) == (422, True)
    assert guild.api.get("/orgs/guild").status_code == 200
    owns = ada.post(f"{PAGE}/danger/delete", data={"confirm": "guild"})
    assert owns.status_code == 409
    assert "still owns a repository" in owns.text
    taken = ada.post(f"{PAGE}/danger/rename", data={"confirm": "guild", "new_name": "eve"})
    assert taken.status_code == 422
    moved = ada.post(f"{PAGE}/danger/rename", data={"confirm": "guild", "new_name": "league"})
    assert moved.headers["location"] == "/-/orgs/league/settings"
    assert ada.get(PAGE).status_code == 307  # the old name leads there
    guild.api.delete("/repos/league/ship")
    assert ada.post("/-/orgs/league/settings/danger/delete", data={"confirm": "league"}).headers["location"] == "/"


def test_only_owners_see_the_pages(guild: OrganizationFixture) -> None:
    """Other members get status 403, and for others a private organization is not found."""
    for path in ("", "/members", "/teams", "/teams/new", "/danger"):
        assert guild.statuses(PAGE + path) == {
            "-": 303,
            "eve": 403,
            "ben": 403,
            "cleo": 403,
            "dora": 403,
            "ada": 200,
            "admin": 200,
        }
    guild.api.patch("/orgs/guild", json={"visibility": "private"})
    assert guild.visit("eve").get(PAGE).status_code == 404
    assert guild.visit("eve").post(f"{PAGE}/danger/delete", data={"confirm": "guild"}).status_code == 404
