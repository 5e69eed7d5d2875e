"""Labels of repositories and organizations."""

import httpx
import pytest

from holdfast.hosting.store import repositories
from holdfast.hosting.store.accounts import find_user
from tests.hosting.api.label_helpers import LABELS, ON_ISSUE, create_label, label_names
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import WRITE, let_in, make_organization, make_repository


@pytest.fixture
def ada(ada: httpx.Client) -> httpx.Client:
    """Open an issue in Ada's repository."""
    ada.post("/repos/ada/ship/issues", json={"title": "It leaks"})
    return ada


def test_a_label_is_made_shown_changed_and_removed(clients: ServiceClients, ada: httpx.Client) -> None:
    """The colour of a label is returned as six lower-case hexadecimal digits."""
    label = ada.post(LABELS, json={"name": "bug", "color": "#F0a", "description": "d"}).json()
    assert list(label) == ["id", "name", "exclusive", "is_archived", "color", "description", "url"]
    assert label["color"] == "ff00aa"
    there = f"{LABELS}/{label['id']}"
    assert label["url"] == f"{clients.service.url}/api/v1{there}"
    assert clients.anonymous.get(there).json() == label
    changed = ada.patch(there, json={"name": "flaw", "color": "#00FF00", "is_archived": True}).json()
    assert (changed["name"], changed["color"], changed["is_archived"], changed["description"]) == (
        "flaw",
        "00ff00",
        True,
        "d",
    )
    assert ada.patch(there, json={}).json() == changed
    assert label_names(clients.anonymous.get(LABELS)) == ["flaw"]
    assert ada.delete(there).status_code == 204
    for response in (ada.get(there), ada.patch(there, json={"name": "x"}), ada.delete(there)):
        assert response.status_code == 404


def test_only_writers_create_labels(clients: ServiceClients, ada: httpx.Client) -> None:
    """A user without write access gets 403, and an anonymous client gets 401."""
    bob = clients.account("bob")
    client = clients.with_token(bob)
    body = {"name": "bug", "color": "f00"}
    assert client.post(LABELS, json=body).status_code == 403
    assert clients.anonymous.post(LABELS, json=body).status_code == 401
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bob, WRITE)
    assert client.post(LABELS, json=body).status_code == 201


def test_bad_labels_are_refused(ada: httpx.Client) -> None:
    """The error of an invalid label names the field."""
    for body, field in (
        ({"color": "f00"}, "Name"),
        ({"name": " ", "color": "f00"}, "Name"),
        ({"name": "x" * 256, "color": "f00"}, "Name"),
        ({"name": "a\0", "color": "f00"}, "Name"),
        ({"name": "x"}, "Color"),
        ({"name": "x", "color": "red"}, "Color"),
        ({"name": "x", "color": "#ff00f"}, "Color"),
        ({"name": "x", "color": 5}, "Color"),
        ({"name": "x", "color": "f00\n0"}, "Color"),
    ):
        response = ada.post(LABELS, json=body)
        assert (response.status_code, response.json()["message"].partition("]")[0]) == (422, f"[{field}"), body
    number = create_label(ada, "x")
    assert ada.patch(f"{LABELS}/{number}", json={"color": "red"}).status_code == 422
    assert ada.patch(f"{LABELS}/{number}", json={"name": ""}).status_code == 422
    assert [(label["name"], label["color"]) for label in ada.get(LABELS).json()] == [("x", "ff0000")]


def test_labels_of_an_organization_are_for_all_its_repositories(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """Owners manage the labels of an organization, which other owners' repositories cannot use."""
    owner = find_user(clients.database, "ada")
    acme = make_organization(clients.database, "acme", owner)
    make_repository(clients.database, acme, "boat")
    number = create_label(ada, "shared", "/orgs/acme/labels")
    there = f"/orgs/acme/labels/{number}"
    assert label_names(clients.anonymous.get("/orgs/acme/labels")) == ["shared"]
    assert label_names(ada.get("/repos/acme/boat/labels")) == []
    opened = ada.post("/repos/acme/boat/issues", json={"title": "t", "labels": ["shared"]}).json()
    assert [label["url"] for label in opened["labels"]] == [f"{clients.service.url}/api/v1{there}"]
    assert label_names(ada.get("/repos/acme/boat/issues/1/labels")) == ["shared"]
    assert ada.post(ON_ISSUE, json={"labels": [number]}).status_code == 422
    assert ada.patch(there, json={"description": "for all"}).json()["description"] == "for all"
    bob = clients.user("bob")
    assert bob.get(there).status_code == 200
    for method, path in (("POST", "/orgs/acme/labels"), ("PATCH", there)):
        body = {"name": "x", "color": "f00"}
        assert bob.request(method, path, json=body).status_code == 403
    assert bob.delete(there).status_code == 403
    assert ada.delete(there).status_code == 204
    assert ada.get(there).status_code == 404
    assert label_names(ada.get("/repos/acme/boat/issues/1/labels")) == []


def test_labels_have_pages(ada: httpx.Client) -> None:
    """A page of labels is sorted by name and has the total of all labels."""
    for name in "cab":
        create_label(ada, name)
    page = ada.get(LABELS, params={"limit": 2})
    assert (label_names(page), page.headers["X-Total-Count"]) == (["a", "b"], "3")
