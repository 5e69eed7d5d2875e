"""The languages endpoint of a repository."""

from base64 import b64encode

from tests.hosting.api_clients import ServiceClients


def test_the_languages_url_of_a_repository_lists_its_languages(clients: ServiceClients) -> None:
    """Languages of the default branch are listed with their bytes, the largest first."""
    ada = clients.user("ada")
    shown = ada.post("/user/repos", json={"name": "ship"}).json()
    assert ada.get(shown["languages_url"]).json() == {}
    ada.post("/repos/ada/ship/contents/README.md", json={"content": b64encode(b"# ship").decode()})
    assert ada.get(shown["languages_url"]).json() == {}
    files = {"hull.c": b"int x;", "src/sail.py": b"print(1)\n", "notes.txt": b"text"}
    entries = [
        {"operation": "create", "path": path, "content": b64encode(content).decode()}
        for path, content in files.items()
    ]
    assert ada.post("/repos/ada/ship/contents", json={"files": entries}).status_code == 201
    response = clients.anonymous.get(shown["languages_url"])
    assert response.status_code == 200
    assert list(response.json().items()) == [("Python", 9), ("C", 6)]


def test_the_languages_of_an_unknown_repository_are_not_found(clients: ServiceClients) -> None:
    """The languages of a private repository are not found by others either."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "diary", "private": True, "auto_init": True})
    assert clients.anonymous.get("/repos/ada/diary/languages").status_code == 404
    assert clients.anonymous.get("/repos/ada/nothing/languages").status_code == 404
