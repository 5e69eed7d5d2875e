"""The general settings page of a repository."""

from typing import Any

import pytest

from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/guild/ship/settings"
FORM = {
    "description": "Tides",
    "website": "https://tides.example",
    "default_branch": "main",
    "visibility": "private",
    "has_code": "on",
    "has_issues": "on",
    "has_dependencies": "on",
}


def read_repository(guild: OrganizationFixture) -> dict[str, Any]:
    """Return the repository as the API has it."""
    return dict(guild.api.get("/repos/guild/ship").json())


def test_settings_are_shown_and_changed(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchecked box disables its setting, and settings that are not in the form stay."""
    ada = guild.visit("ada")
    guild.api.patch("/repos/guild/ship", json={"default_merge_style": "rebase"})
    assert ada.post(PAGE, data={**FORM, "visibility": "public"}).headers["location"] == PAGE
    after = read_repository(guild)
    assert (after["description"], after["website"], after["private"]) == ("Tides", "https://tides.example", False)
    assert (after["has_issues"], after["has_pull_requests"]) == (True, False)
    assert after["default_merge_style"] == "rebase"
    ada.post(PAGE, data={**FORM, "has_dependencies": "", "description": EVIL})
    assert read_repository(guild)["internal_tracker"]["enable_issue_dependencies"] is False
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        text = ada.get(PAGE).text
    assert len(queries) <= 15
    assert "<script>" not in text
    assert "Settings of guild/ship saved." in text


def test_an_error_is_shown_above_the_typed_values(guild: OrganizationFixture) -> None:
    """A refused form changes no setting of the repository."""
    ada = guild.visit("ada")
    before = read_repository(guild)
    for wrong, said in (
        ({"website": "javascript:alert(1)"}, "must begin with https://"),
        ({"default_branch": "nowhere"}, "There is no branch named nowhere."),
        ({"description": "x" * 3000}, "Description is too long"),
    ):
        response = ada.post(PAGE, data={**FORM, "description": "typed", **wrong})
        assert response.status_code == 422
        typed = {"description": "typed", **wrong}["description"]
        assert 0 < response.text.lower().find(said.lower()) < response.text.index(typed)
    assert read_repository(guild) == before


def test_changing_settings_requires_administrators(guild: OrganizationFixture) -> None:
    """Administrators change the settings, and only an owner changes the visibility."""
    assert guild.statuses(PAGE) == {
        "-": 404,
        "eve": 404,
        "ben": 403,
        "cleo": 403,
        "dora": 200,
        "ada": 200,
        "admin": 200,
    }
    dora = guild.visit("dora")
    assert "Only an owner can change this." in dora.get(PAGE).text
    assert dora.post(PAGE, data={**FORM, "visibility": "public"}).status_code == 303
    assert read_repository(guild)["private"] is True
    assert guild.visit("cleo").post(PAGE, data=FORM).status_code == 403
