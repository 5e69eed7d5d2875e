"""The milestone endpoints."""

import httpx

from tests.hosting.api_clients import ServiceClients

MILESTONES = "/repos/ada/ship/milestones"


def titles(response: httpx.Response) -> list[str]:
    """Return the titles in a list of milestones."""
    assert response.status_code == 200, response.text
    return [item["title"] for item in response.json()]


def test_a_milestone_counts_its_issues(clients: ServiceClients, ada: httpx.Client) -> None:
    """A milestone shows its numbers of open and closed issues in issues, in lists and alone."""
    response = ada.post(MILESTONES, json={"title": "1.0", "due_on": "2030-01-01T00:00:00Z"})
    assert response.status_code == 201
    milestone = response.json()
    keys = [
        "id",
        "title",
        "description",
        "state",
        "open_issues",
        "closed_issues",
        "created_at",
        "updated_at",
        "closed_at",
        "due_on",
    ]
    assert list(milestone) == keys
    for closed in (True, False, False):
        body = {"title": "t", "milestone": milestone["id"], "closed": closed}
        assert ada.post("/repos/ada/ship/issues", json=body).status_code == 201
    shown = ada.get("/repos/ada/ship/issues/1").json()["milestone"]
    assert (shown["open_issues"], shown["closed_issues"]) == (2, 1)
    assert clients.anonymous.get(f"{MILESTONES}/{milestone['id']}").json() == shown
    assert clients.anonymous.get(MILESTONES).json() == [shown]
    assert clients.anonymous.get(f"{MILESTONES}/1.0").json() == shown


def test_a_milestone_is_changed_and_removed(clients: ServiceClients, ada: httpx.Client) -> None:
    """Writers change and delete a milestone; its issues stay without a milestone."""
    number = ada.post(MILESTONES, json={"title": "1.0", "description": "d"}).json()["id"]
    ada.post("/repos/ada/ship/issues", json={"title": "t", "milestone": number})
    closed = ada.patch(f"{MILESTONES}/1.0", json={"title": "2.0", "state": "closed"}).json()
    assert (closed["title"], closed["state"], closed["description"]) == ("2.0", "closed", "d")
    assert closed["closed_at"] is not None
    reopened = ada.patch(f"{MILESTONES}/{number}", json={"state": "open", "due_on": "2030-01-01T00:00:00Z"}).json()
    assert (reopened["closed_at"], reopened["due_on"]) == (None, "2030-01-01T00:00:00Z")
    cleared = ada.patch(f"{MILESTONES}/{number}", json={"due_on": "0001-01-01T00:00:00Z"}).json()
    assert cleared["due_on"] is None
    bob = clients.user("bob")
    assert bob.patch(f"{MILESTONES}/{number}", json={"title": "x"}).status_code == 403
    assert bob.delete(f"{MILESTONES}/{number}").status_code == 403
    assert ada.delete(f"{MILESTONES}/{number}").status_code == 204
    assert ada.delete(f"{MILESTONES}/{number}").status_code == 404
    assert ada.get("/repos/ada/ship/issues/1").json()["milestone"] is None


def test_milestones_are_sorted_by_due_date(ada: httpx.Client) -> None:
    """Milestones without a date come last, and closed ones are listed on request only."""
    ada.post(MILESTONES, json={"title": "someday"})
    ada.post(MILESTONES, json={"title": "later", "due_on": "2031-01-01T00:00:00Z"})
    ada.post(MILESTONES, json={"title": "soon", "due_on": "2030-01-01T00:00:00Z"})
    ada.post(MILESTONES, json={"title": "past", "state": "closed"})
    assert titles(ada.get(MILESTONES)) == ["soon", "later", "someday"]
    assert titles(ada.get(MILESTONES, params={"state": "closed"})) == ["past"]
    assert titles(ada.get(MILESTONES, params={"state": "all", "name": "S"})) == ["soon", "someday", "past"]
    page = ada.get(MILESTONES, params={"limit": 1, "page": 2})
    assert (titles(page), page.headers["X-Total-Count"]) == (["later"], "3")


def test_an_id_goes_before_a_title_that_looks_like_one(ada: httpx.Client) -> None:
    """A number in the path is an id if there is one, and otherwise a title."""
    first = ada.post(MILESTONES, json={"title": "first"}).json()["id"]
    ada.post(MILESTONES, json={"title": str(first)})
    assert ada.get(f"{MILESTONES}/{first}").json()["title"] == "first"
    far = "9" * 30
    ada.post(MILESTONES, json={"title": far})
    assert ada.get(f"{MILESTONES}/{far}").json()["title"] == far
    assert ada.get(f"{MILESTONES}/nothing").status_code == 404


def test_bad_milestones_are_refused(ada: httpx.Client) -> None:
    """The error of an invalid milestone names the field."""
    for body, field in (
        ({}, "Title"),
        ({"title": " "}, "Title"),
        ({"title": "t", "state": "ajar"}, "State"),
        ({"title": "t", "due_on": "soon"}, "DueOn"),
        ({"title": "t", "due_on": "1900-01-01T00:00:00Z"}, "DueOn"),
        ({"title": "t", "description": "\0"}, "Description"),
    ):
        response = ada.post(MILESTONES, json=body)
        assert (response.status_code, response.json()["message"].partition("]")[0]) == (422, f"[{field}"), body
    assert titles(ada.get(MILESTONES, params={"state": "all"})) == []
    assert ada.get(MILESTONES, params={"state": "ajar"}).status_code == 422
