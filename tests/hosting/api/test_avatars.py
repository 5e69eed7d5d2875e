"""Avatars of users, organizations and repositories."""

from base64 import b64encode

from tests.hosting.api_clients import ServiceClients

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
WEBP = b"RIFF\x04\x00\x00\x00WEBPVP8 "


def as_body(content: bytes) -> dict[str, str]:
    """Return the body of an upload."""
    return {"image": b64encode(content).decode()}


def test_users_and_organizations_have_avatars(clients: ServiceClients) -> None:
    """A generated SVG is served before an avatar is uploaded and after it is deleted."""
    ada = clients.user("ada")
    site = clients.open("")
    assert ada.post("/orgs", json={"username": "fleet"}).status_code == 201
    for path, shown in (("/user/avatar", "/user"), ("/orgs/fleet/avatar", "/orgs/fleet")):
        address = ada.get(shown).json()["avatar_url"]
        assert site.get(address).headers["content-type"] == "image/svg+xml"
        assert ada.post(path, json=as_body(PNG)).status_code == 204
        response = site.get(address)
        assert (response.content, response.headers["content-type"]) == (PNG, "image/png")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert ada.post(path, json=as_body(WEBP)).status_code == 204
        assert site.get(address).headers["content-type"] == "image/webp"
        assert ada.delete(path).status_code == 204
        assert site.get(address).headers["content-type"] == "image/svg+xml"


def test_only_pictures_are_avatars(clients: ServiceClients) -> None:
    """SVG, HTML, damaged pictures and invalid base64 are refused, and so are pictures that are too large."""
    ada = clients.user("ada")
    for content in (b"", b"<svg onload='alert(1)'/>", b"<html>", b"GIF", PNG + bytes(2**20)):
        assert ada.post("/user/avatar", json=as_body(content)).status_code == 422
    assert ada.post("/user/avatar", json={"image": "no base64!"}).status_code == 422
    assert ada.post("/user/avatar", json=as_body(bytes(4 * 2**20))).status_code == 413


def test_a_repository_has_an_avatar_for_those_who_see_it(clients: ServiceClients) -> None:
    """An avatar of a private repository is not found by others; generating from a template can copy it."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/user/repos", json={"name": "ship", "private": True, "template": True})
    ada.patch("/repos/ada/ship", json={"template": True})
    assert ada.get("/repos/ada/ship").json()["avatar_url"] == ""
    assert bob.post("/repos/ada/ship/avatar", json=as_body(PNG)).status_code == 404
    assert ada.post("/repos/ada/ship/avatar", json=as_body(PNG)).status_code == 204
    address = ada.get("/repos/ada/ship").json()["avatar_url"]
    assert ada.get(address).content == PNG
    assert bob.get(address).status_code == 404
    assert clients.anonymous.get(address).status_code == 404
    response = ada.post("/repos/ada/ship/generate", json={"owner": "ada", "name": "boat", "avatar": True})
    assert response.status_code == 201, response.text
    assert ada.get(response.json()["avatar_url"]).content == PNG
    assert ada.delete("/repos/ada/ship/avatar").status_code == 204
    assert ada.get("/repos/ada/ship").json()["avatar_url"] == ""
    assert ada.get(address).status_code == 404
    assert ada.get(response.json()["avatar_url"]).status_code == 200
