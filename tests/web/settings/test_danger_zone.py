"""The danger zone of repository settings: archiving, renaming, transferring and deleting."""

import pytest

from holdfast.hosting.errors import InvalidValue
from holdfast.web.settings.danger_zone import check_typed
from tests.web.organization_fixture import OrganizationFixture

PAGE = "/guild/ship/settings/danger"
YES = {"confirm": "guild/ship"}


def test_every_action_requires_the_name(guild: OrganizationFixture) -> None:
    """The error names the text that must be typed, and nothing is changed."""
    ada = guild.visit("ada")
    for deed in ("rename", "transfer", "delete"):
        response = ada.post(f"{PAGE}/{deed}", data={"confirm": "ship", "name": "boat", "new_owner": "ada"})
        assert response.status_code == 422
        assert "type guild/ship to confirm" in response.text
    assert guild.api.get("/repos/guild/ship").status_code == 200


def test_a_repository_is_archived_renamed_transferred_and_deleted(guild: OrganizationFixture) -> None:
    """Each action redirects to the new location of the repository or to its owner."""
    ada = guild.visit("ada")
    assert ada.post(f"{PAGE}/archive", data={"archived": "true"}).status_code == 303
    assert "Unarchive" in ada.get(PAGE).text
    assert ada.post(f"{PAGE}/archive", data={"archived": "false"}).status_code == 303
    assert ada.post(f"{PAGE}/rename", data={**YES, "name": "no/slash"}).status_code == 422
    renamed = ada.post(f"{PAGE}/rename", data={**YES, "name": "boat"})
    assert renamed.headers["location"] == "/guild/boat/settings"
    page = "/guild/boat/settings/danger"
    refused = ada.post(f"{page}/transfer", data={"confirm": "guild/boat", "new_owner": "eve"})
    assert refused.status_code == 403
    assert "You can transfer a repository only to an owner" in refused.text
    response = ada.post(f"{page}/transfer", data={"confirm": "GUILD/boat", "new_owner": "ada"})
    assert response.headers["location"] == "/ada/boat"
    gone = ada.post("/ada/boat/settings/danger/delete", data={"confirm": "ada/boat"})
    assert gone.headers["location"] == "/ada"
    assert guild.api.get("/repos/ada/boat").status_code == 404


def test_administrators_other_than_the_owner_cannot_delete_it(guild: OrganizationFixture) -> None:
    """Such an administrator can neither delete nor transfer the repository; a writer cannot open the page."""
    dora = guild.visit("dora")
    assert "Only an owner" in dora.get(PAGE).text
    for deed in ("transfer", "delete"):
        assert dora.post(f"{PAGE}/{deed}", data={**YES, "new_owner": "dora"}).status_code == 403
    assert guild.visit("cleo").get(PAGE).status_code == 403
    assert guild.visit("eve").post(f"{PAGE}/delete", data=YES).status_code == 404
    assert guild.api.get("/repos/guild/ship").json()["full_name"] == "guild/ship"


def test_the_typed_name_is_case_insensitive() -> None:
    """Case and surrounding spaces are ignored, and another name is refused."""
    check_typed(" Guild/Ship ", "guild/ship")
    with pytest.raises(InvalidValue):
        check_typed("guild", "guild/ship")
