"""The user endpoints: profiles, settings, visibility and search."""

from tests.hosting.api_clients import ServiceClients


def test_private_fields_are_shown_to_the_user_and_administrators(clients: ServiceClients) -> None:
    """Other users see no language, last login and flags; anonymous clients see no address."""
    ada, eve = clients.user("ada", language="de-DE"), clients.user("eve")
    mine, hers = ada.get("/user").json(), eve.get("/users/ada").json()
    assert (mine["language"], mine["active"], mine["email"]) == ("de-DE", True, "ada@example.org")
    assert (hers["language"], hers["active"], hers["last_login"]) == ("", False, "0001-01-01T00:00:00Z")
    assert hers["email"] == "ada@example.org"
    stranger = clients.anonymous.get("/users/ada").json()
    assert stranger["email"] == f"{mine['id']}+ada@noreply.localhost"
    assert clients.admin.get("/users/ada").json()["active"] is True


def test_a_hidden_address_stays_hidden(clients: ServiceClients) -> None:
    """Other users see a noreply address instead of a hidden one; the user sees the real address."""
    ada, eve = clients.user("ada"), clients.user("eve")
    assert ada.patch("/user/settings", json={"hide_email": True, "full_name": "Ada"}).json()["hide_email"] is True
    assert eve.get("/users/ada").json()["email"].endswith("@noreply.localhost")
    assert ada.get("/user").json()["email"] == "ada@example.org"
    assert ada.get("/user/settings").json()["full_name"] == "Ada"


def test_settings_have_the_limits_of_a_profile(clients: ServiceClients) -> None:
    """Nothing is changed if one of the values is refused."""
    ada = clients.user("ada")
    before = ada.get("/user/settings").json()
    for wrong, message in (
        ({"full_name": "x" * 101}, "[FullName]: MaxSize"),
        ({"description": "x" * 256}, "[Description]: MaxSize"),
        ({"website": "javascript:alert(1)"}, "[Website]: must begin with https:// or http://"),
    ):
        response = ada.patch("/user/settings", json={"location": "Kiel", **wrong})
        assert (response.status_code, response.json()["message"]) == (422, message)
    assert ada.get("/user/settings").json() == before
    assert before["location"] == ""


def test_limited_and_private_users_are_hidden(clients: ServiceClients) -> None:
    """Limited users are found by signed-in users, and private users by administrators."""
    ada = clients.user("ada", visibility="limited")
    clients.account("bob", visibility="private")
    assert clients.anonymous.get("/users/ada").status_code == 404
    assert clients.user("eve").get("/users/ada").status_code == 200
    assert ada.get("/users/bob").status_code == 404
    assert clients.admin.get("/users/bob").status_code == 200


def test_people_are_searched_by_a_part_of_their_names(clients: ServiceClients) -> None:
    """The login or the full name matches, and wildcards of SQL have no meaning."""
    clients.account("ada", full_name="Ada Lovelace")
    clients.account("bob")
    result = clients.anonymous.get("/users/search", params={"q": "LOVE"}).json()
    assert (result["ok"], [user["login"] for user in result["data"]]) == (True, ["ada"])
    assert clients.anonymous.get("/users/search", params={"q": "%"}).json()["data"] == []
    assert clients.anonymous.get("/users/search").headers["x-total-count"] == "3"


def test_the_address_of_the_caller_is_their_primary_one(clients: ServiceClients) -> None:
    """An administrator who acts as another user gets the address of that user."""
    clients.user("ada")
    [email] = clients.admin.get("/user/emails", params={"sudo": "ada"}).json()
    assert (email["email"], email["primary"], email["username"]) == ("ada@example.org", True, "ada")
    assert clients.anonymous.get("/user/emails").status_code == 401
