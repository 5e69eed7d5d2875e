"""The forms that create repositories and organizations."""

from tests.web.organization_fixture import OrganizationFixture


def test_a_repository_is_created_for_a_user_and_for_an_organization(guild: OrganizationFixture) -> None:
    """The repository has a README or is empty, and only permitted owners are offered."""
    ada = guild.visit("ada")
    assert "<option>guild</option>" in ada.get("/-/new").text
    assert "guild" not in guild.visit("eve").get("/-/new").text
    form = {"owner": "ada", "name": "notes", "description": "Mine", "visibility": "private", "auto_init": "on"}
    response = ada.post("/-/new", data={**form, "default_branch": "trunk"})
    assert (response.status_code, response.headers["location"]) == (303, "/ada/notes")
    shape = guild.api.get("/repos/ada/notes").json()
    assert (shape["private"], shape["empty"], shape["default_branch"]) == (True, False, "trunk")
    assert ada.post("/-/new", data={"owner": "guild", "name": "bare"}).headers["location"] == "/guild/bare"
    assert guild.api.get("/repos/guild/bare").json()["empty"] is True
    assert "<option selected>guild</option>" in guild.visit("admin").get("/-/new?owner=guild").text


def test_an_error_is_shown_above_the_typed_values(guild: OrganizationFixture) -> None:
    """Names that are taken or invalid, an invalid branch and an owner without permission are refused."""
    ada = guild.visit("ada")
    for form, status in (
        ({"owner": "guild", "name": "ship"}, 409),
        ({"name": ""}, 422),
        ({"name": "a b"}, 422),
        ({"name": "x", "default_branch": "a..b"}, 422),
        ({"owner": "eve", "name": "x"}, 404),
    ):
        response = ada.post("/-/new", data={"description": "typed", **form})
        assert response.status_code == status
        assert 'value="typed"' in response.text
        assert 0 < response.text.find('role="alert"') < response.text.index('value="typed"')
    assert guild.visit("eve").post("/-/new", data={"owner": "guild", "name": "x"}).status_code == 403
    assert guild.visit(None).get("/-/new").headers["location"].startswith("/login")


def test_a_refused_organization_name_is_not_called_a_user_name(guild: OrganizationFixture) -> None:
    """The message of the form is about the organization."""
    response = guild.visit("ada").post("/-/new-organization", data={"username": "not a name"})
    assert response.status_code == 422
    assert "The name must be 1 to 40 letters" in response.text
    assert "user name" not in response.text


def test_an_organization_is_created_by_permitted_users(guild: OrganizationFixture) -> None:
    """A user without the permission sees a message instead of the form."""
    eve = guild.visit("eve")
    form = {"username": "league", "full_name": "The League", "visibility": "limited"}
    assert eve.post("/-/new-organization", data=form).headers["location"] == "/league"
    assert guild.clients.admin.get("/orgs/league").json()["visibility"] == "limited"
    taken = eve.post("/-/new-organization", data=form)
    assert taken.status_code == 422
    assert "The League" in taken.text
    guild.clients.admin.patch("/admin/users/ben", json={"allow_create_organization": False})
    ben = guild.visit("ben")
    assert "You cannot create organizations" in ben.get("/-/new-organization").text
    assert ben.post("/-/new-organization", data={**form, "username": "other"}).status_code == 403
