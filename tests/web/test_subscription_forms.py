"""The forms that watch and star a repository."""

import re

import pytest

from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor


@pytest.mark.parametrize(("kind", "word"), [("watch", "watching"), ("star", "star")])
def test_a_button_adds_and_removes(clients: ServiceClients, kind: str, word: str) -> None:
    """The button has the count, and the form returns to its page but never to another site."""
    clients.user("ada").post("/user/repos", json={"name": "ship", "auto_init": True})
    clients.user("eve")
    eve = visitor(clients, "eve")
    before = 1 if kind == "watch" else 0

    def button() -> tuple[str, str, int]:
        page = eve.get("/ada/ship/issues?state=closed").text
        hits = re.search(
            rf'action="/ada/ship/{kind}"><input type="hidden" name="next" value="([^"]*)">'
            r'<button[^>]*>(\w+) <span class="badge">(\d+)<',
            page,
        )
        assert hits is not None, page
        return hits[1], hits[2], int(hits[3])

    here = "/ada/ship/issues?state=closed"
    assert button() == (here, kind.title(), before)
    response = eve.post(f"/ada/ship/{kind}", data={"add": "true", "next": here})
    assert (response.status_code, response.headers["location"]) == (303, here)
    assert word in eve.get(here).text.partition('role="status">')[2].partition("</p>")[0]
    assert button() == (here, f"Un{kind}", before + 1)
    eve.post(f"/ada/ship/{kind}", data={"add": "true"})
    assert button()[2] == before + 1
    response = eve.post(f"/ada/ship/{kind}", data={"add": "", "next": "https://elsewhere.example/"})
    assert response.headers["location"] == "/ada/ship"
    assert button() == (here, kind.title(), before)


def test_watching_requires_read_access(clients: ServiceClients) -> None:
    """A private repository is not found; a visitor sees no button and is redirected to log in."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "private": True})
    clients.user("eve")
    assert visitor(clients, "eve").post("/ada/ship/watch", data={"add": "true"}).status_code == 404
    ada.patch("/repos/ada/ship", json={"private": False})
    stranger = visitor(clients)
    assert "/ada/ship/watch" not in stranger.get("/ada/ship").text
    assert stranger.post("/ada/ship/star", data={"add": "true"}).headers["location"].startswith("/login")
