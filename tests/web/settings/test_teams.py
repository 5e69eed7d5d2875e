"""The team pages."""

import pytest

from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import OrganizationFixture

PAGE = "/-/orgs/guild/settings/teams"
PARTS = {"permission": "units", "code": "read", "issues": "write"}


def test_a_team_is_created_filled_changed_and_deleted(
    guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API shows the permissions that the form sets, for each unit or for all."""
    ada = guild.visit("ada")
    response = ada.post(f"{PAGE}/new", data={"name": "crew", "description": "On board", **PARTS})
    page = response.headers["location"]
    number = page.rpartition("/")[2]
    shape = guild.api.get(f"/teams/{number}").json()
    assert (shape["units_map"]["repo.code"], shape["units_map"]["repo.issues"]) == ("read", "write")
    assert shape["units_map"]["repo.wiki"] == "none"
    assert shape["includes_all_repositories"] is False

    assert ada.post(f"{page}/members", data={"name": "eve"}).status_code == 303
    assert ada.post(f"{page}/repositories", data={"name": "ship"}).status_code == 303
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        text = ada.get(page).text
    assert len(queries) <= 16
    assert "/eve" in text
    assert "/guild/ship" in text
    assert "1 member" in ada.get(PAGE).text

    for permission in ("read", "write", "admin"):
        changed = ada.post(page, data={"name": "crew", "permission": permission, "can_create_org_repo": "on"})
        assert changed.status_code == 303
        shape = guild.api.get(f"/teams/{number}").json()
        assert shape["permission"] == permission
        assert f'value="{permission}" checked' in ada.get(page).text
    assert ada.post(f"{page}/repositories/remove", data={"name": "ship"}).status_code == 303
    assert ada.post(f"{page}/members/remove", data={"name": "eve"}).status_code == 303
    assert ada.post(f"{page}/delete", data={"confirm": "crowd"}).status_code == 422
    assert ada.post(f"{page}/delete", data={"confirm": "crew"}).headers["location"] == PAGE
    assert ada.get(page).status_code == 404


def test_unsupported_units_are_not_offered_and_kept(guild: OrganizationFixture) -> None:
    """Units such as the wiki are not in the form, and keep the permission that the API set."""
    ada = guild.visit("ada")
    units = {"repo.code": "read", "repo.wiki": "write", "repo.releases": "read"}
    team = guild.api.post("/orgs/guild/teams", json={"name": "crew", "permission": "read", "units_map": units})
    page = f"{PAGE}/{team.json()['id']}"
    text = ada.get(page).text
    for name in ("wiki", "releases", "projects", "packages", "actions"):
        assert f'name="{name}"' not in text
    assert ada.post(page, data={"name": "crew", **PARTS}).status_code == 303
    stored = guild.api.get(f"/teams/{team.json()['id']}").json()["units_map"]
    assert {name: stored[name] for name in units} == units
    assert stored["repo.issues"] == "write"


def test_errors_are_explained(guild: OrganizationFixture) -> None:
    """Invalid teams and unknown members are refused, and the team of owners cannot be deleted."""
    ada = guild.visit("ada")
    for form, said in (
        ({"name": "owners", **PARTS}, "There is already a team named owners."),
        ({"name": "a b", **PARTS}, "Name: a team name must be"),
        ({"name": "crew", "permission": "units"}, "at least one feature"),
        ({"name": "crew", "permission": "emperor"}, "choose a permission"),
    ):
        response = ada.post(f"{PAGE}/new", data={**form, "description": "typed"})
        assert response.status_code == 422
        assert said in response.text
        assert "typed" in response.text
    owners = guild.api.get("/orgs/guild/teams").json()[0]["id"]
    page = f"{PAGE}/{owners}"
    assert ada.post(f"{page}/members", data={"name": "nobody-here"}).status_code == 404
    assert ada.post(f"{page}/members", data={"name": " "}).status_code == 422
    assert "last owner" in ada.post(f"{page}/members/remove", data={"name": "ada"}).text
    assert ada.post(page, data={"description": "Who own it", "name": "x"}).status_code == 303
    assert guild.api.get(f"/teams/{owners}").json()["description"] == "Who own it"
    assert ada.post(f"{page}/delete", data={"confirm": "Owners"}).status_code == 403


def test_members_see_a_team_and_cannot_change_it(guild: OrganizationFixture) -> None:
    """Others get status 404, and a team is not found below another organization."""
    ada = guild.visit("ada")
    page = ada.post(f"{PAGE}/new", data={"name": "crew", **PARTS}).headers["location"]
    ada.post(f"{page}/members", data={"name": "eve"})
    eve = guild.visit("eve")
    response = eve.get(page)
    assert response.status_code == 200
    assert "Team settings" not in response.text
    assert eve.post(page, data={"name": "mine", "permission": "admin"}).status_code == 403
    team = f"/teams/{page.rpartition('/')[2]}"
    before = guild.api.get(team).json()
    for path in ("members", "members/remove", "repositories", "repositories/remove", "delete"):
        form = {"name": "ship" if "repositories" in path else "eve", "confirm": "crew"}
        assert eve.post(f"{page}/{path}", data=form).status_code == 403
    assert guild.api.get(team).json() == before
    assert [member["login"] for member in guild.api.get(f"{team}/members").json()] == ["eve"]
    assert guild.visit("ben").get(page).status_code == 404
    guild.api.post("/orgs", json={"username": "league"})
    assert ada.get(page.replace("guild", "league")).status_code == 404
    assert ada.post(page.replace("guild", "league"), data={"name": "x", **PARTS}).status_code == 404
