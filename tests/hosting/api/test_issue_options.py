"""Validation of the fields of issues in JSON and in forms."""

import httpx

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import post_issue

ISSUES = "/repos/ada/ship/issues"


def test_fields_for_writers_are_ignored_when_others_send_them(clients: ServiceClients, ada: httpx.Client) -> None:
    """An issue is created without the fields that only writers may set, as clients expect."""
    ada.post("/repos/ada/ship/labels", json={"name": "bug", "color": "f00"})
    milestone = ada.post("/repos/ada/ship/milestones", json={"title": "1.0"}).json()["id"]
    fields = {"assignees": ["ada"], "closed": True, "due_date": "2030-01-01T00:00:00Z", "milestone": milestone}
    bob = clients.user("bob")
    for number, body in enumerate(({**fields, "labels": ["bug"]}, {"labels": ["none"], "milestone": 77}), 1):
        made = post_issue(bob, **body)
        assert (made["number"], made["state"], made["user"]["login"]) == (number, "open", "bob")
        assert (made["labels"], made["assignees"], made["due_date"], made["milestone"]) == ([], None, None, None)


def test_absent_null_and_empty_fields_change_nothing(ada: httpx.Client) -> None:
    """An empty title or state means no change, because some clients always send them."""
    post_issue(ada, body="words", due_date="2030-01-01T00:00:00Z")
    body = {"title": "", "body": None, "assignees": None, "state": "", "due_date": None, "milestone": None}
    stored = ada.patch(f"{ISSUES}/1", json=body).json()
    assert (stored["title"], stored["body"], stored["due_date"]) == ("It leaks", "words", "2030-01-01T00:00:00Z")
    assert ada.patch(f"{ISSUES}/1", json={"body": "", "unset_due_date": True}).json()["due_date"] is None
    assert ada.get(f"{ISSUES}/1").json()["body"] == ""


BAD: list[tuple[dict[str, object], str]] = [
    ({"title": ""}, "[Title]: Required"),
    ({"title": "  "}, "[Title]: Required"),
    ({"title": "x" * 256}, "[Title]: MaxSize"),
    ({"title": 5}, "[Title]: "),
    ({"title": "a\0b"}, "[Title]: "),
    ({"body": "a\0b"}, "[Body]: "),
    ({"labels": ["a\0b"]}, "[Labels]: "),
    ({"labels": [2**70]}, "[Labels]: "),
    ({"labels": ["none such"]}, "[Labels]: "),
    ({"labels": [{}]}, "[Labels]: "),
    ({"labels": "bug"}, "[Labels]: "),
    ({"milestone": 2**63}, "[Milestone]: "),
    ({"milestone": -1}, "[Milestone]: "),
    ({"milestone": 12}, "[Milestone]: "),
    ({"assignees": ["nobody"]}, "[Assignees]: "),
    ({"assignees": ["eve"]}, "[Assignees]: "),
    ({"due_date": "tomorrow"}, "[DueDate]: "),
    ({"due_date": "9999-12-31T23:59:59-12:00"}, "[DueDate]: "),
    ({"due_date": "1066-10-14T09:00:00Z"}, "[DueDate]: "),
    ({"closed": "maybe"}, "[Closed]: "),
]


def test_invalid_input_is_refused_and_its_field_is_named(clients: ServiceClients, ada: httpx.Client) -> None:
    """No issue is created, and no number is used."""
    clients.account("eve")
    for body, message in BAD:
        response = ada.post(ISSUES, json={"title": "t", **body})
        assert response.status_code == 422, body
        assert response.json()["message"].startswith(message), body
    assert post_issue(ada)["number"] == 1


def test_bodies_that_are_not_json_objects_are_refused(ada: httpx.Client) -> None:
    """Invalid JSON, other JSON values, an unpaired surrogate and a body without a type give 422."""
    header = {"Content-Type": "application/json"}
    for content in (b"[]", b"{", b'"x"', b'{"title": "\\ud800"}', b'{"title": "\xff"}'):
        assert ada.post(ISSUES, content=content, headers=header).status_code == 422
    assert ada.post(ISSUES, content=b"title=x").status_code == 422


def test_a_form_works_like_json(ada: httpx.Client) -> None:
    """A form sets the same fields as JSON, and a list is a repeated field."""
    number = ada.post("/repos/ada/ship/labels", json={"name": "bug", "color": "f00"}).json()["id"]
    response = ada.post(
        ISSUES, data={"title": "t", "labels": [str(number)], "assignees": ["ada"], "closed": "true"}
    )
    assert response.status_code == 201
    assert [label["name"] for label in response.json()["labels"]] == ["bug"]
    assert (response.json()["state"], response.json()["assignee"]["login"]) == ("closed", "ada")
