"""Pull requests: issues that name two branches."""

from base64 import b64encode

import httpx
import pytest

from holdfast.hosting.services import pulls
from holdfast.hosting.store.accounts import find_user
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository

PULLS = "/repos/ada/ship/pulls"
NEW = {"title": "Plug it", "head": "fix", "base": "main"}


def test_a_pull_request_is_changed_and_closed(clients: ServiceClients, ada: httpx.Client) -> None:
    """By its author; another target needs write access."""
    bob = clients.user("bob")
    assert bob.post(PULLS, json=NEW).status_code == 201
    changed = bob.patch(f"{PULLS}/1", json={"title": "Plug", "body": "b", "state": "closed"})
    assert (changed.status_code, changed.json()["state"], changed.json()["title"]) == (201, "closed", "Plug")
    assert bob.patch(f"{PULLS}/1", json={"base": "other"}).status_code == 403
    assert ada.patch(f"{PULLS}/1", json={"base": "other", "state": "open"}).json()["base"]["ref"] == "other"
    assert ada.patch(f"{PULLS}/1", json={"state": "merged"}).status_code == 412
    assert ada.patch(f"{PULLS}/1", json={"base": "a..b"}).status_code == 422
    types = [entry["type"] for entry in ada.get("/repos/ada/ship/issues/1/timeline").json()]
    assert types == ["change_title", "close", "change_target_branch", "reopen"]


def test_two_open_ones_for_the_same_branches_are_one_too_many(ada: httpx.Client) -> None:
    """A closed one does not count."""
    assert ada.post(PULLS, json=NEW).status_code == 201
    assert ada.post(PULLS, json={**NEW, "head": "ada:fix"}).status_code == 409
    ada.patch(f"{PULLS}/1", json={"state": "closed"})
    assert ada.post(PULLS, json={**NEW, "head": "Ada:fix"}).json()["number"] == 2


def test_bad_pull_requests_are_refused(clients: ServiceClients, ada: httpx.Client) -> None:
    """By the name of the field."""
    for body, field in (
        ({"title": ""}, "Title"),
        ({"head": ""}, "Head"),
        ({"head": "ada:"}, "Head"),
        ({"head": "main"}, "Head"),
        ({"head": "bob:fix"}, "Head"),
        ({"head": "a b"}, "Head"),
        ({"base": ""}, "Base"),
        ({"base": "-~"}, "Base"),
        ({"base": "x" * 101}, "Base"),
    ):
        answer = ada.post(PULLS, json={**NEW, **body})
        assert (answer.status_code, answer.json()["message"].partition("]")[0]) == (422, f"[{field}"), body
    assert clients.anonymous.post(PULLS, json=NEW).status_code == 401


def test_pull_requests_are_listed_and_filtered(clients: ServiceClients, ada: httpx.Client) -> None:
    """By branch, author, label and milestone."""
    label = ada.post("/repos/ada/ship/labels", json={"name": "bug", "color": "f00"}).json()["id"]
    ada.post("/repos/ada/ship/issues", json={"title": "no pull"})
    ada.post(PULLS, json={**NEW, "labels": [label]})
    clients.user("bob").post(PULLS, json={**NEW, "head": "other"})

    def numbers(**query: str | int) -> list[int]:
        answer = clients.anonymous.get(PULLS, params=query)
        assert answer.status_code == 200, answer.text
        return [pull["number"] for pull in answer.json()]

    assert numbers() == [3, 2]
    assert numbers(state="all", sort="recentupdate", limit=1) == [3]
    assert numbers(labels=label) == numbers(head="ada:fix") == numbers(poster="ada") == [2]
    assert numbers(base="next") == numbers(state="closed") == numbers(milestone="1") == []
    assert clients.anonymous.get(PULLS, params={"labels": "x"}).status_code == 422


def test_pull_requests_can_be_switched_off(clients: ServiceClients, ada: httpx.Client) -> None:
    """Then they are not there, and issues still are."""
    make_repository(clients.database, find_user(clients.database, "ada"), "quiet", has_pulls=False)
    assert ada.get("/repos/ada/quiet/pulls").status_code == 404
    assert ada.post("/repos/ada/quiet/pulls", json=NEW).status_code == 404
    assert ada.get("/repos/ada/quiet/issues").json() == []


def test_the_branches_of_a_pull_request_must_be_there(ada: httpx.Client) -> None:
    """Their commits are told."""
    made = ada.post(PULLS, json=NEW).json()
    assert (
        made["head"]["sha"] == made["merge_base"] == ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    )
    for body in ({"head": "nowhere"}, {"base": "nowhere"}):
        assert ada.post(PULLS, json={**NEW, **body}).status_code == 404
    assert ada.patch(f"{PULLS}/1", json={"base": "nowhere"}).status_code == 404


def test_a_pull_request_tells_what_its_branches_come_to(clients: ServiceClients) -> None:
    """As comparing them does, and as they are now; whether they can be merged follows both."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})

    def write(path: str, text: str, branch: str, new: str = "") -> None:
        content = b64encode(text.encode()).decode()
        body = {"content": content, "branch": branch, "new_branch": new}
        assert ada.post(f"/repos/ada/ship/contents/{path}", json=body).status_code == 201

    write("hull.txt", "one\ntwo\n", "main", "fix")
    write("sail.txt", "three\n", "fix")
    made = ada.post(PULLS, json=NEW).json()
    assert (made["mergeable"], made["changed_files"], made["additions"], made["deletions"]) == (True, 2, 3, 0)
    compared = ada.get("/repos/ada/ship/compare/main...fix").json()
    assert made["changed_files"] == len(compared["files"])
    assert made["head"]["sha"] == compared["commits"][0]["sha"]
    write("mast.txt", "four\n", "fix")
    moved = ada.get(f"{PULLS}/1").json()
    assert (moved["mergeable"], moved["changed_files"], moved["additions"]) == (True, 3, 4)
    assert moved["head"]["sha"] == ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    assert ada.get(PULLS).json() == [moved]
    write("hull.txt", "another\n", "main")
    stuck = ada.get(f"{PULLS}/1").json()
    assert (stuck["mergeable"], stuck["changed_files"], stuck["merge_base"]) == (False, 3, made["merge_base"])
    assert stuck["base"]["sha"] == ada.get("/repos/ada/ship/branches/main").json()["commit"]["id"]
    closed = ada.patch(f"{PULLS}/1", json={"state": "closed"}).json()
    assert (closed["mergeable"], closed["changed_files"]) == (False, 2)
    assert ada.delete("/repos/ada/ship/branches/fix").status_code == 204
    assert ada.get(f"{PULLS}/1").json()["changed_files"] == 2


def test_working_out_many_pull_requests_ends(ada: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those it did not come to are shown all the same."""
    ada.post(PULLS, json=NEW)
    monkeypatch.setattr(pulls, "TIME_LIMIT_SECONDS", -1.0)
    [shown] = ada.get(PULLS).json()
    assert (shown["mergeable"], shown["changed_files"]) == (False, 0)
