"""The topic endpoints."""

from tests.hosting.api_clients import ServiceClients


def test_topics_are_set_added_and_removed(clients: ServiceClients) -> None:
    """Topics are stored in lower case without duplicates, and repositories are found by them."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes"})
    topics = "/repos/ada/notes/topics"
    assert ada.put(topics, json={"topics": ["Backup", "backup", "git"]}).status_code == 204
    assert ada.put(f"{topics}/chat").status_code == 204
    assert ada.delete(f"{topics}/git").status_code == 204
    assert ada.delete(f"{topics}/git").status_code == 404
    assert clients.anonymous.get(topics).json() == {"topics": ["backup", "chat"]}
    assert [item["name"] for item in ada.get("/repos/search?topic=true&q=chat").json()["data"]] == ["notes"]


def test_topics_are_counted_and_come_in_pages(clients: ServiceClients) -> None:
    """All topics are listed unless a page is requested, and the header has the total."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    ada.put("/repos/ada/ship/topics", json={"topics": ["boats", "sails", "wind"]})
    response = ada.get("/repos/ada/ship/topics")
    assert (response.json()["topics"], response.headers["x-total-count"]) == (["boats", "sails", "wind"], "3")
    response = ada.get("/repos/ada/ship/topics", params={"page": 2, "limit": 2})
    assert (response.json()["topics"], response.headers["x-total-count"]) == (["wind"], "3")
    assert 'rel="prev"' in response.headers["link"]


def test_invalid_topics_are_refused(clients: ServiceClients) -> None:
    """Invalid characters, empty or long topics and too many topics give 422, and the topics stay."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes"})
    ada.put("/repos/ada/notes/topics", json={"topics": ["boats"]})
    for topics in (["a b"], ["ä"], [""], ["x" * 36], [f"t{number}" for number in range(26)]):
        assert ada.put("/repos/ada/notes/topics", json={"topics": topics}).status_code == 422
    assert clients.user("eve").put("/repos/ada/notes/topics", json={"topics": []}).status_code == 403
    assert ada.get("/repos/ada/notes/topics").json() == {"topics": ["boats"]}
