"""The pull request endpoints: create, edit, close and list."""

import json
from base64 import b64encode

import httpx

from holdfast.hosting.app import App
from holdfast.hosting.services import pull_comparisons
from holdfast.hosting.store import repositories, repository_log
from holdfast.hosting.store.accounts import find_user
from tests.conftest import wait_for
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository, with_branches
from tests.hosting.webhooks.event_helpers import recorded

PULLS = "/repos/ada/ship/pulls"
NEW = {"title": "Plug it", "head": "fix", "base": "main"}


def test_a_pull_request_is_changed_and_closed(clients: ServiceClients, ada: httpx.Client) -> None:
    """The author changes and closes their pull request; changing its base requires write access."""
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


def test_a_second_open_pull_request_for_the_same_branches_is_refused(ada: httpx.Client) -> None:
    """A duplicate gives 409, unless the first pull request is closed."""
    assert ada.post(PULLS, json=NEW).status_code == 201
    assert ada.post(PULLS, json={**NEW, "head": "ada:fix"}).status_code == 409
    ada.patch(f"{PULLS}/1", json={"state": "closed"})
    assert ada.post(PULLS, json={**NEW, "head": "Ada:fix"}).json()["number"] == 2


def test_no_change_makes_two_of_the_same_branches(ada: httpx.Client) -> None:
    """A change of the base or of the state is refused with 409 if another open pull request has these branches."""
    for base in ("main", "other"):
        assert ada.post(PULLS, json={**NEW, "base": base}).status_code == 201
    assert ada.patch(f"{PULLS}/2", json={"base": "main"}).status_code == 409
    assert ada.patch(f"{PULLS}/2", json={"state": "closed"}).status_code == 201
    assert ada.patch(f"{PULLS}/2", json={"base": "main"}).status_code == 201
    assert ada.patch(f"{PULLS}/2", json={"state": "open"}).status_code == 409
    assert ada.get(f"{PULLS}/2").json()["state"] == "closed"


def test_the_base_cannot_become_the_head(ada: httpx.Client) -> None:
    """A pull request of a branch into itself is refused with 422 on a change, as it is when it is opened."""
    ada.post(PULLS, json=NEW)
    refused = ada.patch(f"{PULLS}/1", json={"base": "fix", "title": "Turned"})
    assert (refused.status_code, refused.json()["message"]) == (422, "[Base]: must be another branch than head")
    shown = ada.get(f"{PULLS}/1").json()
    assert (shown["base"]["ref"], shown["title"]) == ("main", "Plug it")


def test_the_base_of_a_merged_pull_request_stays(ada: httpx.Client) -> None:
    """A merged pull request shows where it was merged: another base is refused with 412, the same one accepted."""
    ada.post("/repos/ada/ship/contents/plug.txt", json={"content": "", "branch": "fix"})
    ada.post(PULLS, json=NEW)
    assert ada.post(f"{PULLS}/1/merge", json={"Do": "merge"}).status_code == 200
    assert ada.patch(f"{PULLS}/1", json={"base": "other"}).status_code == 412
    assert ada.patch(f"{PULLS}/1", json={"base": "main", "title": "Plugged"}).status_code == 201
    assert ada.get(f"{PULLS}/1").json()["base"]["ref"] == "main"


def test_bad_pull_requests_are_refused(clients: ServiceClients, ada: httpx.Client) -> None:
    """The error of an invalid pull request names the field; anonymous clients get 401."""
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
        response = ada.post(PULLS, json={**NEW, **body})
        assert (response.status_code, response.json()["message"].partition("]")[0]) == (422, f"[{field}"), body
    assert clients.anonymous.post(PULLS, json=NEW).status_code == 401


def test_pull_requests_are_listed_and_filtered(clients: ServiceClients, ada: httpx.Client) -> None:
    """Pull requests can be filtered by state, branch, author, label and milestone."""
    label = ada.post("/repos/ada/ship/labels", json={"name": "bug", "color": "f00"}).json()["id"]
    ada.post("/repos/ada/ship/issues", json={"title": "no pull"})
    ada.post(PULLS, json={**NEW, "labels": [label]})
    clients.user("bob").post(PULLS, json={**NEW, "head": "other"})

    def numbers(**query: str | int) -> list[int]:
        response = clients.anonymous.get(PULLS, params=query)
        assert response.status_code == 200, response.text
        return [pull["number"] for pull in response.json()]

    assert numbers() == [3, 2]
    assert numbers(state="all", sort="recentupdate", limit=1) == [3]
    assert numbers(labels=label) == numbers(head="ada:fix") == numbers(poster="ada") == [2]
    assert numbers(base="next") == numbers(state="closed") == numbers(milestone="1") == []
    assert clients.anonymous.get(PULLS, params={"labels": "x"}).status_code == 422


def test_pull_requests_can_be_switched_off(clients: ServiceClients, ada: httpx.Client) -> None:
    """Disabled pull requests give 404, and issues are still available."""
    make_repository(clients.database, find_user(clients.database, "ada"), "quiet", has_pulls=False)
    assert ada.get("/repos/ada/quiet/pulls").status_code == 404
    assert ada.post("/repos/ada/quiet/pulls", json=NEW).status_code == 404
    assert ada.get("/repos/ada/quiet/issues").json() == []


def test_the_branches_of_a_pull_request_must_exist(ada: httpx.Client) -> None:
    """Unknown branches give 404; a pull request shows the commits of its branches."""
    made = ada.post(PULLS, json=NEW).json()
    assert (
        made["head"]["sha"] == made["merge_base"] == ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    )
    for body in ({"head": "nowhere"}, {"base": "nowhere"}):
        assert ada.post(PULLS, json={**NEW, **body}).status_code == 404
    assert ada.patch(f"{PULLS}/1", json={"base": "nowhere"}).status_code == 404


def test_a_pull_request_shows_its_merge_base_and_counts(clients: ServiceClients, app: App) -> None:
    """Counts and mergeability follow both branches, and stay after the head branch is deleted."""
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
    pull_comparisons.compare_missed(app)
    moved = ada.get(f"{PULLS}/1").json()
    assert (moved["mergeable"], moved["changed_files"], moved["additions"]) == (True, 3, 4)
    assert moved["head"]["sha"] == ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    assert ada.get(PULLS).json() == [moved]
    write("hull.txt", "another\n", "main")
    pull_comparisons.compare_missed(app)
    stuck = ada.get(f"{PULLS}/1").json()
    assert (stuck["mergeable"], stuck["changed_files"], stuck["merge_base"]) == (False, 3, made["merge_base"])
    assert stuck["base"]["sha"] == ada.get("/repos/ada/ship/branches/main").json()["commit"]["id"]
    closed = ada.patch(f"{PULLS}/1", json={"state": "closed"}).json()
    assert (closed["mergeable"], closed["changed_files"]) == (False, 3)
    assert ada.delete("/repos/ada/ship/branches/fix").status_code == 204
    stored = ada.get(f"{PULLS}/1").json()
    assert (stored["changed_files"], stored["head"]["ref"], stored["head"]["sha"]) == (
        3,
        "refs/pull/1/head",
        moved["head"]["sha"],
    )


def write_file(client: httpx.Client, repository: str, branch: str, path: str, text: str = "one\n") -> str:
    """Commit a new file to a branch, and return the commit."""
    body = {"content": b64encode(text.encode()).decode(), "branch": branch}
    response = client.post(f"/repos/{repository}/contents/{path}", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["commit"]["sha"])


def make_fork(clients: ServiceClients, owner: str, *branches: str) -> httpx.Client:
    """Create a fork of ada/ship with these branches for a user, and return the user's client."""
    client = clients.user(owner)
    parent = repositories.find_repository(clients.database, "ada", "ship")
    account = find_user(clients.database, owner)
    repository = make_repository(clients.database, account, "ship", fork_of=parent.id)
    with_branches(clients, repository, *branches)
    return client


def test_commits_to_the_head_are_recorded(clients: ServiceClients, ada: httpx.Client) -> None:
    """A commit to the head moves `refs/pull/1/head`, and is on the timeline and in an event."""
    ada.post(PULLS, json=NEW)
    sha = write_file(ada, "ada/ship", "fix", "hull.txt")
    assert ada.get(f"{PULLS}/1").json()["head"]["sha"] == sha
    ship = repositories.find_repository(clients.database, "ada", "ship")
    assert repository_log.find_ref(clients.database, ship.id, "refs/pull/1/head") == sha
    (pushed,) = ada.get("/repos/ada/ship/issues/1/timeline").json()
    assert pushed["type"] == "pull_push"
    assert json.loads(pushed["body"]) == {"is_force_push": False, "commit_ids": [sha]}
    assert [event.kind for event in recorded(clients.database)].count("pull_request_sync") == 1
    ada.patch(f"{PULLS}/1", json={"state": "closed"})
    later = write_file(ada, "ada/ship", "fix", "mast.txt")
    assert ada.get(f"{PULLS}/1").json()["head"]["sha"] == sha
    assert ada.patch(f"{PULLS}/1", json={"state": "open"}).json()["head"]["sha"] == later


def test_a_fork_opens_a_pull_request(clients: ServiceClients, ada: httpx.Client, app: App) -> None:
    """The base repository gets the objects of the fork, and keeps them after the fork is deleted."""
    bob = make_fork(clients, "bob", "fix")
    sha = write_file(bob, "bob/ship", "fix", "hull.txt")
    response = bob.post(PULLS, json={**NEW, "head": "bob:fix", "allow_maintainer_edit": True})
    assert response.status_code == 201, response.text
    pull = response.json()
    assert (pull["head"]["sha"], pull["head"]["repo"]["full_name"]) == (sha, "bob/ship")
    assert (pull["base"]["repo"]["full_name"], pull["allow_maintainer_edit"]) == ("ada/ship", True)
    assert (pull["mergeable"], pull["changed_files"]) == (True, 1)
    assert bob.post(PULLS, json={**NEW, "head": "bob/ship:fix"}).status_code == 409
    assert ada.post(PULLS, json=NEW).status_code == 201
    later = write_file(bob, "bob/ship", "fix", "mast.txt")

    def is_current() -> bool:
        # The task of the service may be at it at the same time.
        pull_comparisons.compare_missed(app)
        moved = ada.get(f"{PULLS}/1").json()
        return (moved["head"]["sha"], moved["changed_files"], moved["mergeable"]) == (later, 2, True)

    wait_for(is_current)
    assert ada.get(f"/repos/ada/ship/git/commits/{later}").status_code == 200
    assert bob.delete("/repos/bob/ship").status_code == 204
    left = ada.get(f"{PULLS}/1").json()
    assert (left["head"]["repo"], left["head"]["repo_id"], left["head"]["sha"]) == (None, -1, later)
    assert left["head"]["ref"] == "refs/pull/1/head"


def test_a_private_fork_is_hidden_from_others(clients: ServiceClients, ada: httpx.Client) -> None:
    """A private fork gives the same error as a missing one, and its pull request does not show it."""
    bob = make_fork(clients, "bob", "fix")
    bob.patch("/repos/bob/ship", json={"private": True})
    refused = clients.user("eve").post(PULLS, json={**NEW, "head": "bob:fix"})
    assert refused.status_code == 422
    assert refused.json() == clients.user("mal").post(PULLS, json={**NEW, "head": "nobody:fix"}).json()
    assert bob.post(PULLS, json={**NEW, "head": "bob:fix"}).status_code == 201
    assert ada.get(f"{PULLS}/1").json()["head"]["repo"] is None


def test_a_title_prefix_makes_a_draft(ada: httpx.Client) -> None:
    """A prefix such as `WIP:` in any case makes a pull request a draft."""
    ada.post(PULLS, json=NEW)
    for title, is_draft in (("wip: x", True), ("[WIP] x", True), ("Draft: x", True), ("Drafty x", False)):
        assert ada.patch(f"{PULLS}/1", json={"title": title}).json()["draft"] is is_draft
