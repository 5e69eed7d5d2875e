"""Access tokens in a browser."""

import re

from holdfast.hosting.api import routes as api_routes
from holdfast.web import routes as web_routes
from tests.hosting.world import PASSWORD
from tests.web.visitors import EVIL, Guild

PAGE = "/-/account/tokens"


def test_a_token_is_shown_once_works_and_is_taken_back(guild: Guild) -> None:
    """Nothing keeps the page that shows it."""
    eve = guild.visit("eve")
    form = {"name": EVIL, "password": PASSWORD, "user": "read", "repository": "write", "public_only": "on"}
    made = eve.post(PAGE, data=form)
    assert made.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    found = re.search(r'class="once">([0-9a-f]{40})<', made.text)
    assert found is not None
    assert "<script>" not in made.text
    later = eve.get(PAGE).text
    assert found[1] not in later
    assert "public-only, read:user, write:repository" in later
    headers = {"Authorization": f"token {found[1]}"}
    assert guild.world.anonymous.get("/user", headers=headers).json()["login"] == "eve"
    number = re.search(r'name="id" value="(\d+)"', later)
    assert number is not None
    assert guild.visit("ben").post(f"{PAGE}/remove", data={"id": number[1]}).status_code == 404
    assert eve.post(f"{PAGE}/remove", data={"id": number[1]}).headers["location"] == PAGE
    assert guild.world.anonymous.get("/user", headers=headers).status_code == 401


def test_making_one_asks_for_the_password(guild: Guild) -> None:
    """And for a name and something it may be used for; the password does not come back."""
    eve = guild.visit("eve")
    whole = {"name": "ci", "password": PASSWORD, "everything": "on"}
    for wrong, said in (
        ({"password": "a-wrong-password"}, "That is not your password."),
        ({"password": ""}, "That is not your password."),
        ({"everything": ""}, "Choose what the token may be used for."),
        ({"name": ""}, "Name: is needed."),
    ):
        answer = eve.post(PAGE, data={**whole, **wrong})
        assert 400 <= answer.status_code < 500
        assert said in answer.text
        assert 'class="once"' not in answer.text
        assert PASSWORD not in answer.text
    assert eve.post(PAGE, data=whole).status_code == 200
    again = eve.post(PAGE, data=whole)
    assert again.status_code == 400
    assert "name has been used already" in again.text


def test_only_scopes_that_an_endpoint_asks_for_are_offered(guild: Guild) -> None:
    """A scope for packages, say, would promise something that is not there."""
    asked = [declared.scope for declared in (*api_routes.endpoints(), *web_routes.endpoints())]
    used = {name for scope in asked for name in scope}
    page = guild.visit("ada").get(PAGE).text
    assert set(re.findall(r'<select id="scope-(\w+)"', page)) == used
