"""The list of repositories on the explore page."""

import pytest

from holdfast.web import explore
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import clients
from tests.web.browser import visitor

__all__ = ["clients"]


def test_readable_repositories_are_listed(clients: ServiceClients, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is searched by name, owner and description, and has pages and a filter for one's own."""
    ada = clients.user("ada")
    clients.account("bob")
    ada.post("/user/repos", json={"name": "tides", "description": "Water <b> 100%"})
    ada.post("/user/repos", json={"name": "secret", "private": True})
    clients.admin.post("/user/repos", json={"name": "lanterns"})
    stranger, her, him = visitor(clients), visitor(clients, "ada"), visitor(clients, "bob")
    for who, seen in ((stranger, [True, False, True]), (him, [True, False, True]), (her, [True, True, True])):
        page = who.get("/-/explore").text
        assert [name in page for name in ("tides", "secret", "lanterns")] == seen
    assert "lanterns" not in her.get("/-/explore?mine=1").text
    assert "Water &lt;b&gt; 100%" in stranger.get("/-/explore").text
    for words, result in (
        *(("TIDE", True), ("ada", True), ("da/ide", True), ("water", True), ("%", True), ("100%", True)),
        *(("zzz", False), ("_", False), ("'; DROP", False), ("a/b/c", False)),
    ):
        response = stranger.get("/-/explore", params={"q": words})
        assert response.status_code == 200
        assert ('href="/ada/tides"' in response.text) == result, words
    monkeypatch.setattr(explore, "PER_PAGE", 1)
    assert "Page 2 of 2" in stranger.get("/-/explore?page=2").text
    assert "This page is empty" in stranger.get("/-/explore?page=9").text
    assert 'href="/-/explore?q=a&amp;page=2"' in stranger.get("/-/explore?q=a").text
