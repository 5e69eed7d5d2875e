"""The e-mail address endpoints."""

import httpx

from holdfast.hosting.store.email_addresses import MOST_ADDRESSES
from tests.hosting.api_clients import ServiceClients

URL = "/user/emails"


def addresses(client: httpx.Client) -> list[tuple[str, bool]]:
    """Return the addresses of a user, and which is the main one."""
    return [(item["email"], item["primary"]) for item in client.get(URL).json()]


def remove(client: httpx.Client, *emails: str) -> int:
    """Remove addresses, and return the status."""
    return client.request("DELETE", URL, json={"emails": list(emails)}).status_code


def test_addresses_are_added_and_removed_beside_the_main_one(clients: ServiceClients) -> None:
    """The main address is listed first and cannot be removed."""
    ada = clients.user("ada")
    response = ada.post(URL, json={"emails": ["Ada@Work.example", "a@example.net", "ADA@work.example"]})
    assert response.status_code == 201
    assert [item["email"] for item in response.json()] == ["ADA@work.example", "a@example.net"]
    assert response.json()[0]["verified"] is True
    assert response.json()[0]["username"] == "ada"
    assert addresses(ada) == [("ada@example.org", True), ("ADA@work.example", False), ("a@example.net", False)]
    assert remove(ada, "ada@work.EXAMPLE") == 204
    assert remove(ada, "ada@work.example") == 404
    assert remove(ada, "a@example.net", "none@example.net") == 404
    assert remove(ada, "ada@example.org") == 404
    assert remove(ada) == 422
    assert addresses(ada) == [("ada@example.org", True), ("a@example.net", False)]


def test_an_address_belongs_to_one_user(clients: ServiceClients) -> None:
    """An address of another user is refused in any case, and then none of the request is added."""
    ada, bob = clients.user("ada"), clients.user("bob")
    assert ada.post(URL, json={"emails": ["shared@example.net"]}).status_code == 201
    for taken in ("Shared@example.net", "ADA@example.org", "bob@example.org"):
        assert bob.post(URL, json={"emails": ["new@example.net", taken]}).status_code == 422, taken
    assert addresses(bob) == [("bob@example.org", True)]
    new = {"username": "eve", "email": "SHARED@example.net", "password": "a-password-for-tests"}
    assert clients.admin.post("/admin/users", json=new).status_code == 422
    for wrong in ([], [""], ["no address"], ["x" * 300 + "@example.org"]):
        assert bob.post(URL, json={"emails": wrong}).status_code == 422, wrong
    many = [f"a{number}@example.net" for number in range(MOST_ADDRESSES + 1)]
    assert bob.post(URL, json={"emails": many}).status_code == 422
    assert bob.post(URL, json={"emails": many[1:]}).status_code == 201
    assert bob.post(URL, json={"emails": many[:1]}).status_code == 422


def test_an_address_can_become_the_main_one(clients: ServiceClients) -> None:
    """An additional address that becomes the main one is listed only once."""
    ada = clients.user("ada")
    ada.post(URL, json={"emails": ["new@example.net"]})
    edit = {"login_name": "ada", "source_id": 0, "email": "New@example.net"}
    assert clients.admin.patch("/admin/users/ada", json=edit).status_code == 200
    assert addresses(ada) == [("New@example.net", True)]


def test_commits_with_any_address_are_their_users(clients: ServiceClients) -> None:
    """A commit belongs to the user who has its author's address, as long as they have it."""
    ada, bob = clients.user("ada"), clients.user("bob")
    bob.post(URL, json={"emails": ["Bob@work.example"]})
    ada.post("/user/repos", json={"name": "ship"})
    author = {"name": "Robert", "email": "bob@work.example"}
    response = ada.post("/repos/ada/ship/contents/a", json={"content": "", "author": author, "committer": author})
    assert response.status_code == 201
    [commit] = ada.get("/repos/ada/ship/commits").json()
    assert commit["author"]["login"] == "bob"
    assert remove(bob, "bob@work.example") == 204
    assert ada.get("/repos/ada/ship/commits").json()[0]["author"] is None
