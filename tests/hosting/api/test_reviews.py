"""Reviews of pull requests: decisions, line comments, requests and dismissals."""

from base64 import b64encode
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from holdfast.hosting.http import long_lists
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.repositories import Repository, find_repository
from holdfast.hosting.store.tables import teams
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import let_in, make_organization, make_team, recorded_events

PULL = "/repos/ada/ship/pulls/1"
REVIEWS = f"{PULL}/reviews"
ASKED = f"{PULL}/requested_reviewers"
OLD = "".join(f"line {number}\n" for number in range(1, 21))
NEW = OLD.replace("line 10\n", "line ten\n")


def write(client: httpx.Client, path: str, text: str, branch: str, **more: str) -> None:
    """Write a file to a branch."""
    content = b64encode(text.encode()).decode()
    body = {"content": content, "branch": branch, **more}
    call = client.put if "sha" in more else client.post
    response = call(f"/repos/ada/ship/contents/{path}", json=body)
    assert response.status_code in {200, 201}, response.text


def blob(client: httpx.Client, path: str, branch: str) -> str:
    """Return the blob of a file."""
    result: str = client.get(f"/repos/ada/ship/contents/{path}", params={"ref": branch}).json()["sha"]
    return result


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with a pull request that changes one line in the middle of a file."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    write(ada, "hull.txt", OLD, "main")
    write(ada, "hull.txt", NEW, "main", new_branch="fix", sha=blob(ada, "hull.txt", "main"))
    response = ada.post("/repos/ada/ship/pulls", json={"title": "Plug it", "head": "fix", "base": "main"})
    assert response.json()["number"] == 1, response.text
    return ada


@pytest.fixture
def bob(clients: ServiceClients, ada: httpx.Client) -> httpx.Client:
    """Let Bob write to the repository."""
    del ada
    account = clients.account("bob")
    let_in(clients.database, ship(clients), account, 2)
    return clients.with_token(account)


def ship(clients: ServiceClients) -> Repository:
    """Return Ada's repository."""
    return find_repository(clients.database, "ada", "ship")


def post(client: httpx.Client, event: str = "", status: int = 200, **more: Any) -> dict[str, Any]:
    """Write a review."""
    response = client.post(REVIEWS, json={"event": event, **more})
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    return body


def at(line: int, body: str = "Why?", **more: object) -> dict[str, object]:
    """Return a comment on a line after the change."""
    return {"path": "hull.txt", "body": body, "new_position": line, **more}


def lines(client: httpx.Client, review: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the line comments of a review."""
    response = client.get(f"{REVIEWS}/{review['id']}/comments")
    assert response.status_code == 200, response.text
    results: list[dict[str, Any]] = response.json()
    return results


def kinds(client: httpx.Client) -> list[str]:
    """Return the kinds of the timeline's entries."""
    return [entry["type"] for entry in client.get("/repos/ada/ship/issues/1/timeline").json()]


def test_an_approval_has_its_author_commit_and_time(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """An approval has the fields of Gitea, is visible to readers, and is on the timeline."""
    review = post(bob, "APPROVED", body="Good.")
    head = ada.get(PULL).json()["head"]["sha"]
    expected = {"state": "APPROVED", "body": "Good.", "commit_id": head, "stale": False, "official": True}
    assert expected.items() <= review.items()
    assert (review["dismissed"], review["comments_count"], review["team"], review["user"]["login"]) == (
        False,
        0,
        None,
        "bob",
    )
    assert review["pull_request_url"].endswith("/ada/ship/pulls/1")
    listed = clients.anonymous.get(REVIEWS)
    assert (listed.headers["X-Total-Count"], [item["id"] for item in listed.json()]) == ("1", [review["id"]])
    assert clients.anonymous.get(f"{REVIEWS}/{review['id']}").json()["body"] == "Good."
    assert clients.anonymous.get(f"{REVIEWS}/{review['id'] + 1}").status_code == 404
    [entry] = ada.get("/repos/ada/ship/issues/1/timeline").json()
    assert (entry["type"], entry["body"], entry["review_id"]) == ("review", "Good.", review["id"])


def test_a_pending_review_is_one_per_person_and_secret(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """A pending review is visible only to its author until it is submitted; another one is added to it."""
    first = post(bob, body="So far", comments=[at(10)])
    again = post(bob, "PENDING", comments=[at(11, "And this?")])
    assert (again["id"], again["body"], again["comments_count"]) == (first["id"], "So far", 2)
    assert ada.get(REVIEWS).json() == []
    assert ada.get(f"{REVIEWS}/{first['id']}").status_code == 404
    assert ada.get(f"{REVIEWS}/{first['id']}/comments").status_code == 404
    assert ada.post(f"{REVIEWS}/{first['id']}", json={"event": "APPROVED"}).status_code == 404
    hidden = lines(bob, first)[0]["id"]
    assert ada.get(f"/repos/ada/ship/issues/comments/{hidden}").status_code == 404
    assert (kinds(ada), ada.get(PULL).json()["comments"]) == ([], 0)
    for event, status in (("PENDING", 422), ("", 422), ("NONSENSE", 422), ("REQUEST_CHANGES", 200)):
        response = bob.post(f"{REVIEWS}/{first['id']}", json={"event": event})
        assert response.status_code == status, response.text
    assert bob.post(f"{REVIEWS}/{first['id']}", json={"event": "APPROVED"}).status_code == 422
    assert [item["state"] for item in ada.get(REVIEWS).json()] == ["REQUEST_CHANGES"]
    assert kinds(ada) == ["code", "code", "review"]
    found_response = clients.anonymous.get(f"/repos/ada/ship/issues/comments/{hidden}")
    assert (found_response.status_code, found_response.json()["body"]) == (200, "Why?")


def test_only_an_approval_may_have_no_text(ada: httpx.Client, bob: httpx.Client) -> None:
    """A comment or a rejection needs a body or a line comment, and a refused review is not stored."""
    for event in ("COMMENT", "REQUEST_CHANGES"):
        post(bob, event, 422)
    post(bob, "REQUEST_REVIEW", 422, body="x")
    assert bob.get(REVIEWS).json() == []
    assert post(bob, "COMMENT", comments=[at(10)])["state"] == "COMMENT"
    assert post(ada, "COMMENT", body="Mine")["official"] is False


def test_own_and_closed_pull_requests_cannot_be_approved_or_rejected(ada: httpx.Client, bob: httpx.Client) -> None:
    """A review of an own or closed pull request can only be a comment."""
    for event in ("APPROVED", "REQUEST_CHANGES"):
        post(ada, event, 422, body="x")
    pending = post(ada, comments=[at(10)])
    assert ada.post(f"{REVIEWS}/{pending['id']}", json={"event": "APPROVED"}).status_code == 422
    ada.patch(PULL, json={"state": "closed"})
    post(bob, "APPROVED", 422)
    assert post(bob, "COMMENT", body="Too late")["state"] == "COMMENT"


def test_a_line_comment_has_its_hunk_and_position(ada: httpx.Client, bob: httpx.Client) -> None:
    """A comment is on a line of the old or the new side; a line that does not exist is refused."""
    review = post(
        bob,
        "COMMENT",
        comments=[at(10), {"path": "hull.txt", "body": "Was", "old_position": 10}, at(2, "Far away")],
    )
    new, old, far = lines(ada, review)
    assert (new["position"], new["original_position"], old["position"], old["original_position"]) == (10, 0, 0, 10)
    assert new["diff_hunk"].splitlines()[1:] == [" line 8", " line 9", "-line 10", "+line ten"]
    assert old["diff_hunk"].splitlines()[0].startswith("@@ -7,4 +7,3 @@")
    assert old["diff_hunk"].splitlines()[1:] == [" line 7", " line 8", " line 9", "-line 10"]
    assert far["diff_hunk"] == "@@ -1,2 +1,2 @@\n line 1\n line 2"
    assert new["commit_id"] == new["original_commit_id"] == review["commit_id"]
    assert (new["pull_request_review_id"], new["path"], new["user"]["login"]) == (review["id"], "hull.txt", "bob")
    assert ada.get(PULL).json()["review_comments"] == 3
    for bad in (
        at(0),
        at(21),
        at(-1),
        at(10, ""),
        {**at(1), "path": "mast.txt"},
        {**at(1), "path": ""},
        {"path": "../x", "body": "b", "old_position": 1},
    ):
        post(bob, "COMMENT", 422, comments=[bad])
    post(bob, "COMMENT", 422, comments=[at(1)] * 101)
    post(bob, "COMMENT", 422, body="b", commit_id="1" * 40)


def test_a_review_with_long_comments_is_streamed(
    ada: httpx.Client, bob: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is the same, with the current positions and the total."""
    drafts = [{"path": "hull.txt", "body": f"é{number}", "new_position": 10} for number in range(60)]
    review = post(bob, "COMMENT", body="See the lines", comments=drafts)
    write(ada, "hull.txt", f"line 0\n{NEW}", "fix", sha=blob(ada, "hull.txt", "fix"))
    whole = ada.get(f"{REVIEWS}/{review['id']}/comments")
    assert "Content-Length" in whole.headers
    assert [(item["body"], item["position"]) for item in whole.json()] == [(f"é{n}", 11) for n in range(60)]
    monkeypatch.setattr(long_lists, "IN_MEMORY", 10)
    streamed = ada.get(f"{REVIEWS}/{review['id']}/comments")
    assert "Content-Length" not in streamed.headers
    assert streamed.headers["X-Total-Count"] == "60"
    assert streamed.json() == whole.json()


def test_a_line_is_followed_when_the_head_moves(ada: httpx.Client, bob: httpx.Client) -> None:
    """A comment follows its line to another number or file; if the line is gone, the comment is outdated."""
    review = post(bob, "COMMENT", comments=[at(10), at(15), {"path": "hull.txt", "body": "o", "old_position": 3}])
    text = "line 0\n" + NEW.replace("line 15\n", "line fifteen\n")
    write(ada, "hull.txt", text, "fix", sha=blob(ada, "hull.txt", "fix"))
    head = ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    moved, gone, before = lines(ada, review)
    assert (moved["position"], moved["commit_id"], moved["original_commit_id"]) == (11, head, review["commit_id"])
    assert (gone["position"], gone["commit_id"]) == (0, review["commit_id"])
    assert gone["diff_hunk"].endswith("\n line 15")
    assert (before["position"], before["original_position"]) == (0, 3)
    assert ada.get(f"{REVIEWS}/{review['id']}").json()["stale"] is True
    body = {"content": b64encode(text.encode()).decode(), "from_path": "hull.txt", "branch": "fix"}
    renamed = ada.put("/repos/ada/ship/contents/keel.txt", json={**body, "sha": blob(ada, "hull.txt", "fix")})
    assert renamed.status_code in {200, 201}, renamed.text
    moved, gone, _ = lines(ada, review)
    assert (moved["path"], moved["position"], gone["position"]) == ("keel.txt", 11, 0)


def test_a_conversation_is_resolved_and_reopened(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """Writers resolve and reopen all comments of a line together; readers may not."""
    review = post(bob, "COMMENT", comments=[at(10), at(10, "Still"), at(11)])
    first, second, other = (item["id"] for item in lines(bob, review))
    path = f"/repos/ada/ship/pulls/comments/{first}"
    assert clients.user("eve").post(f"{path}/resolve").status_code == 403
    assert clients.anonymous.post(f"{path}/resolve").status_code == 401
    assert ada.post(f"{path}/resolve").status_code == 204
    shown = {item["id"]: item["resolver"] and item["resolver"]["login"] for item in lines(bob, review)}
    assert shown == {first: "ada", second: "ada", other: None}
    entries = ada.get("/repos/ada/ship/issues/1/timeline").json()
    assert [entry["resolve_doer"] and entry["resolve_doer"]["login"] for entry in entries[:3]] == [
        "ada",
        "ada",
        None,
    ]
    assert bob.post(f"{path}/unresolve").status_code == 204
    assert [item["resolver"] for item in lines(bob, review)] == [None, None, None]
    plain = ada.post("/repos/ada/ship/issues/1/comments", json={"body": "b"}).json()["id"]
    assert ada.post(f"/repos/ada/ship/pulls/comments/{plain}/resolve").status_code == 400
    assert ada.post("/repos/ada/ship/pulls/comments/999/resolve").status_code == 404


def test_a_review_of_another_head_is_stale(ada: httpx.Client, bob: httpx.Client) -> None:
    """A review is stale if the head moved after it, or if it is of an older commit."""
    review = post(bob, "APPROVED")
    write(ada, "sail.txt", "s\n", "fix")
    assert ada.get(f"{REVIEWS}/{review['id']}").json()["stale"] is True
    again = post(bob, "APPROVED")
    assert (again["stale"], ada.get(f"{REVIEWS}/{review['id']}").json()["official"]) == (False, False)
    assert post(bob, "APPROVED", commit_id=review["commit_id"])["stale"] is True


def test_reviews_by_writers_or_listed_users_are_official(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """Only the last decision of such a reviewer is official, and a comment never is."""
    eve = clients.user("eve")
    assert post(eve, "APPROVED")["official"] is False
    rejected = post(bob, "REQUEST_CHANGES", body="No")
    assert (rejected["official"], post(bob, "COMMENT", body="Hm")["official"]) == (True, False)
    assert post(bob, "APPROVED")["official"] is True
    assert ada.get(f"{REVIEWS}/{rejected['id']}").json()["official"] is False
    rule = {"rule_name": "main", "enable_approvals_whitelist": True, "approvals_whitelist_username": ["eve"]}
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    assert (post(eve, "APPROVED")["official"], post(bob, "APPROVED")["official"]) == (True, False)


def test_dismissing_needs_an_administrator(clients: ServiceClients, ada: httpx.Client, bob: httpx.Client) -> None:
    """Administrators and users on the bypass list of the rule dismiss decisions; comments cannot be dismissed."""
    eve = clients.user("eve")
    first, second = post(bob, "REQUEST_CHANGES", body="No"), post(bob, "APPROVED")
    review = post(bob, "COMMENT", body="Hm")
    path = f"{REVIEWS}/{second['id']}"
    for client, status in ((clients.anonymous, 401), (eve, 403), (bob, 403)):
        assert client.post(f"{path}/dismissals", json={"message": "m"}).status_code == status
        assert client.post(f"{path}/undismissals").status_code == status
    done = ada.post(f"{path}/dismissals", json={"message": "Wrong commit"})
    assert (done.status_code, done.json()["dismissed"], done.json()["state"]) == (200, True, "APPROVED")
    entry = ada.get("/repos/ada/ship/issues/1/timeline").json()[-1]
    assert (entry["type"], entry["body"], entry["review_id"]) == ("dismiss_review", "Wrong commit", second["id"])
    assert ada.post(f"{path}/undismissals").json()["dismissed"] is False
    assert ada.post(f"{path}/dismissals", json={"priors": True}).status_code == 200
    assert ada.get(f"{REVIEWS}/{first['id']}").json()["dismissed"] is True
    assert ada.post(f"{REVIEWS}/{review['id']}/dismissals", json={"message": "m"}).status_code == 422
    rule = {"rule_name": "main", "enable_bypass_allowlist": True, "bypass_allowlist_usernames": ["bob"]}
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    assert bob.post(f"{path}/undismissals").status_code == 200
    ada.patch(PULL, json={"state": "closed"})
    assert ada.post(f"{path}/dismissals", json={}).status_code == 422


def test_a_review_is_deleted_by_its_author_or_an_administrator(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """A deleted review takes its line comments and its timeline entry with it."""
    review = post(bob, "COMMENT", body="b", comments=[at(10)])
    mine = post(clients.user("eve"), "COMMENT", body="e")
    path = f"{REVIEWS}/{review['id']}"
    assert clients.anonymous.delete(path).status_code == 401
    assert bob.delete(f"{REVIEWS}/{mine['id']}").status_code == 403
    assert bob.delete(path).status_code == 204
    assert (kinds(ada), bob.get(path).status_code) == (["review"], 404)
    assert ada.delete(f"{REVIEWS}/{mine['id']}").status_code == 204
    assert (kinds(ada), ada.get(PULL).json()["review_comments"]) == ([], 0)


def test_reviews_are_requested_and_answered(clients: ServiceClients, ada: httpx.Client, bob: httpx.Client) -> None:
    """A request ends with the review; a new request makes the earlier decision unofficial."""
    clients.account("eve")
    response = ada.post(ASKED, json={"reviewers": ["Bob", "eve"]})
    assert [(item["state"], item["user"]["login"], item["official"]) for item in response.json()] == [
        ("REQUEST_REVIEW", "bob", True),
        ("REQUEST_REVIEW", "eve", False),
    ]
    assert (response.status_code, ada.post(ASKED, json={"reviewers": ["bob"]}).json()) == (201, [])
    assert [reviewer["login"] for reviewer in ada.get(PULL).json()["requested_reviewers"]] == ["bob", "eve"]
    assert [one["login"] for one in ada.get("/repos/ada/ship/pulls").json()[0]["requested_reviewers"]] == [
        "bob",
        "eve",
    ]
    approved = post(bob, "APPROVED")
    assert [reviewer["login"] for reviewer in ada.get(PULL).json()["requested_reviewers"]] == ["eve"]
    assert len(ada.post(ASKED, json={"reviewers": ["bob"]}).json()) == 1
    assert ada.get(f"{REVIEWS}/{approved['id']}").json()["official"] is False
    assert withdraw(ada, reviewers=["bob", "eve"]) == 204
    assert ada.get(PULL).json()["requested_reviewers"] == []
    entries = [
        (entry["type"], entry["assignee"] and entry["assignee"]["login"], entry["removed_assignee"])
        for entry in ada.get("/repos/ada/ship/issues/1/timeline").json()
    ]
    assert entries == [
        ("review_request", "bob", False),
        ("review_request", "eve", False),
        ("review", None, False),
        ("review_request", "bob", False),
        ("review_request", "bob", True),
        ("review_request", "eve", True),
    ]


def withdraw(client: httpx.Client, **body: list[str]) -> int:
    """Withdraw requests for a review."""
    return client.request("DELETE", ASKED, json=body).status_code


def test_who_may_request_reviews_of_whom(clients: ServiceClients, ada: httpx.Client, bob: httpx.Client) -> None:
    """The author and writers may request reviews, and a requested reviewer may decline."""
    eve = clients.user("eve")
    for body, status in (
        ({"reviewers": ["ada"]}, 422),
        ({"reviewers": ["nobody"]}, 404),
        ({"team_reviewers": ["hands"]}, 422),
        ({"reviewers": ["bob"] * 51}, 422),
    ):
        assert ada.post(ASKED, json=body).status_code == status, body
    assert clients.anonymous.post(ASKED, json={"reviewers": ["bob"]}).status_code == 401
    assert eve.post(ASKED, json={"reviewers": ["bob"]}).status_code == 403
    assert bob.post(ASKED, json={"reviewers": ["eve", "bob"]}).status_code == 201
    assert withdraw(eve, reviewers=["bob"]) == 403
    assert withdraw(eve, reviewers=["nobody"]) == 403
    assert withdraw(ada, reviewers=["nobody"]) == 404
    assert withdraw(eve, reviewers=["eve"]) == 204
    assert [reviewer["login"] for reviewer in ada.get(PULL).json()["requested_reviewers"]] == ["bob"]
    ada.patch("/repos/ada/ship", json={"private": True})
    assert ada.post(ASKED, json={"reviewers": ["eve"]}).status_code == 422
    assert [one["login"] for one in ada.get("/repos/ada/ship/reviewers").json()] == ["ada", "admin", "bob"]
    assert eve.get("/repos/ada/ship/reviewers").status_code == 404


def test_a_review_requested_of_a_team_is_given_by_a_member(clients: ServiceClients) -> None:
    """A member's review answers the request to a team; teams without access cannot be requested."""
    database = clients.database
    owner, bob = clients.account("olga"), clients.account("bob")
    organization = make_organization(database, "crew", owner)
    olga = clients.with_token(owner)
    olga.post("/orgs/crew/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    home = find_repository(database, "crew", "ship")
    make_team(database, organization, "hands", [bob], mode=2, places=(home,))
    make_team(database, organization, "cooks", [bob], mode=2)
    content = b64encode(b"x\n").decode()
    body = {"content": content, "branch": "main", "new_branch": "fix"}
    olga.post("/repos/crew/ship/contents/x", json=body)
    pull = "/repos/crew/ship/pulls/1"
    olga.post("/repos/crew/ship/pulls", json={"title": "t", "head": "fix", "base": "main"})
    for name, status in (("cooks", 422), ("nobody", 404)):
        assert olga.post(f"{pull}/requested_reviewers", json={"team_reviewers": [name]}).status_code == status
    [asked] = olga.post(f"{pull}/requested_reviewers", json={"team_reviewers": ["Hands"]}).json()
    assert (asked["user"], asked["team"]["name"], asked["official"]) == (None, "hands", True)
    assert [team["name"] for team in olga.get(pull).json()["requested_reviewers_teams"]] == ["hands"]
    [entry] = olga.get("/repos/crew/ship/issues/1/timeline").json()
    assert (entry["assignee_team"]["name"], entry["assignee"]) == ("hands", None)
    response = clients.with_token(bob).post(f"{pull}/reviews", json={"event": "APPROVED"})
    assert (response.status_code, response.json()["official"]) == (200, True)
    assert olga.get(pull).json()["requested_reviewers_teams"] == []
    with database.read() as connection:
        assert connection.execute(select(teams.c.id).where(teams.c.name == "hands")).scalar_one()


def test_reviews_respect_locked_archived_and_private(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """Reviews are refused in locked, archived and private places as comments are."""
    eve = clients.user("eve")
    ada.put("/repos/ada/ship/issues/1/lock", json={})
    post(eve, "COMMENT", 403, body="b")
    review = post(bob, "COMMENT", body="b")
    post(clients.anonymous, "COMMENT", 401, body="b")
    ada.patch("/repos/ada/ship", json={"archived": True})
    post(bob, "COMMENT", 423, body="b")
    assert bob.delete(f"{REVIEWS}/{review['id']}").status_code == 423
    assert ada.post(ASKED, json={"reviewers": ["bob"]}).status_code == 423
    assert ada.get(REVIEWS).status_code == 200
    ada.patch("/repos/ada/ship", json={"archived": False, "private": True})
    post(eve, "COMMENT", 404, body="b")
    assert eve.get(REVIEWS).status_code == clients.anonymous.get(REVIEWS).status_code == 404
    issue = ada.post("/repos/ada/ship/issues", json={"title": "no pull"}).json()["number"]
    assert ada.get(f"/repos/ada/ship/pulls/{issue}/reviews").status_code == 404


def test_each_review_and_request_is_an_event(
    clients: ServiceClients, ada: httpx.Client, bob: httpx.Client
) -> None:
    """Requests, approvals, rejections and comments have event types of their own; pending reviews have none."""
    bob_account: Account = find_user(clients.database, "bob")
    ada.post(ASKED, json={"reviewers": ["bob"]})
    withdraw(ada, reviewers=["bob"])
    post(bob, body="not yet")
    review = post(bob, "APPROVED")
    post(bob, "REQUEST_CHANGES", body="No")
    post(bob, "COMMENT", body="Hm")
    results = [
        (kind, details["action"], details.get("reviewer_id") or details.get("review_id"))
        for kind, details in recorded_events(clients.database)
        if "review" in kind
    ]
    assert results[:3] == [
        ("pull_request_review_request", "review_requested", bob_account.id),
        ("pull_request_review_request", "review_request_removed", bob_account.id),
        ("pull_request_review_approved", "reviewed", review["id"]),
    ]
    assert [kind for kind, _, _ in results[3:]] == ["pull_request_review_rejected", "pull_request_review_comment"]


def test_a_line_comment_is_edited_and_deleted_like_others(ada: httpx.Client, bob: httpx.Client) -> None:
    """A line comment is edited and deleted as a comment, and is not in the number of comments."""
    review = post(bob, "COMMENT", comments=[at(10)])
    number = lines(bob, review)[0]["id"]
    path = f"/repos/ada/ship/issues/comments/{number}"
    assert bob.patch(path, json={"body": "Changed"}).json()["body"] == "Changed"
    assert lines(ada, review)[0]["body"] == "Changed"
    assert bob.delete(path).status_code == 204
    assert (lines(ada, review), ada.get(PULL).json()["comments"]) == ([], 0)


def test_a_push_dismisses_approvals_where_the_rule_says_so(ada: httpx.Client, bob: httpx.Client) -> None:
    """A commit to the head dismisses approvals only if the rule has `dismiss_stale_approvals`."""
    review = post(bob, "APPROVED")
    rule = {"rule_name": "main", "enable_push": True, "dismiss_stale_approvals": False}
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    write(ada, "sail.txt", "s\n", "fix")
    assert ada.get(f"{REVIEWS}/{review['id']}").json()["dismissed"] is False
    ada.patch("/repos/ada/ship/branch_protections/main", json={"dismiss_stale_approvals": True})
    write(ada, "mast.txt", "m\n", "fix")
    assert ada.get(f"{REVIEWS}/{review['id']}").json()["dismissed"] is True
    entries = ada.get("/repos/ada/ship/issues/1/timeline").json()
    [entry] = [entry for entry in entries if entry["type"] == "dismiss_review"]
    assert (entry["review_id"], entry["user"]["login"]) == (review["id"], "ada")


def test_reviews_are_requested_at_opening(ada: httpx.Client, bob: httpx.Client) -> None:
    """A reviewer who cannot be requested is refused, and then no pull request is created."""
    del bob
    write(ada, "keel.txt", "k\n", "main", new_branch="other")
    new = {"title": "t", "head": "other", "base": "main"}
    for names, status in ((["ada"], 422), (["nobody"], 404)):
        assert ada.post("/repos/ada/ship/pulls", json={**new, "reviewers": names}).status_code == status
    pull = ada.post("/repos/ada/ship/pulls", json={**new, "reviewers": ["bob"], "team_reviewers": []}).json()
    assert (pull["number"], [reviewer["login"] for reviewer in pull["requested_reviewers"]]) == (2, ["bob"])
