"""Notifications: recipients, threads and read states."""

from typing import Any

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a public repository, which she does not watch, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True})
    client.delete(f"{HOME}/subscription")
    return client


@pytest.fixture
def eve(clients: ServiceClients) -> httpx.Client:
    """Return a client of Eve, who may read the repository."""
    return clients.user("eve")


def threads(client: httpx.Client, **query: str | bool) -> list[dict[str, Any]]:
    """List notifications."""
    response = client.get("/notifications", params=query)
    assert response.status_code == 200, response.text
    results: list[dict[str, Any]] = response.json()
    assert response.headers["x-total-count"] == str(len(results))
    return results


def titles(client: httpx.Client, **query: str | bool) -> list[str]:
    """List the titles of the subjects of notifications."""
    return [item["subject"]["title"] for item in threads(client, **query)]


def count(client: httpx.Client) -> int:
    """Return the number of unread notifications."""
    result: int = client.get("/notifications/new").json()["new"]
    return result


def test_a_thread_shows_the_issue_and_the_latest_comment(ada: httpx.Client, eve: httpx.Client) -> None:
    """An issue has one thread with the URL of its latest comment, or of the issue if there is none."""
    eve.post(f"{HOME}/issues", json={"title": "Leak"})
    ada.put(f"{HOME}/subscription")
    eve.post(f"{HOME}/issues", json={"title": "Sail"})
    (opened,) = threads(ada)
    subject = opened["subject"]
    assert (subject["type"], subject["state"], subject["title"]) == ("Issue", "open", "Sail")
    assert subject["url"].endswith("/api/v1/repos/ada/ship/issues/2")
    assert subject["latest_comment_url"] == subject["url"]
    assert (opened["unread"], opened["pinned"], opened["repository"]["full_name"]) == (True, False, "ada/ship")
    comment = eve.post(f"{HOME}/issues/2/comments", json={"body": "Torn"}).json()
    (commented,) = threads(ada)
    assert commented["id"] == opened["id"]
    assert commented["subject"]["latest_comment_url"].endswith(f"/issues/comments/{comment['id']}")
    assert commented["subject"]["latest_comment_html_url"] == comment["html_url"]
    assert ada.get(f"/notifications/threads/{opened['id']}").json() == commented
    eve.patch(f"{HOME}/issues/2", json={"state": "closed"})
    assert threads(ada)[0]["subject"]["state"] == "closed"
    assert threads(eve) == []


def test_participants_are_notified_of_comments(
    ada: httpx.Client, eve: httpx.Client, clients: ServiceClients
) -> None:
    """Authors, commenters and assignees are notified; nobody is notified of their own actions."""
    max_, wim = clients.user("max"), clients.user("wim")
    ada.put(f"{HOME}/collaborators/max", json={"permission": "write"})
    eve.post(f"{HOME}/issues", json={"title": "Leak"})
    assert (count(eve), count(max_), count(wim)) == (0, 0, 0)
    wim.post(f"{HOME}/issues/1/comments", json={"body": "Me too"})
    assert (count(eve), count(wim)) == (1, 0)
    ada.patch(f"{HOME}/issues/1", json={"assignees": ["max"]})
    assert count(max_) == 1
    ada.post(f"{HOME}/issues/1/comments", json={"body": "Seen"})
    assert (count(eve), count(wim), count(max_), count(ada)) == (1, 1, 1, 0)


def test_mentioned_users_who_may_read_are_notified(
    ada: httpx.Client, eve: httpx.Client, clients: ServiceClients
) -> None:
    """A mention matches in any case; in a private repository it notifies only users who may read it."""
    max_ = clients.user("max")
    ada.post(f"{HOME}/issues", json={"title": "Leak", "body": "Ask @EVE, not mail@max or `@`"})
    assert (titles(eve), titles(max_)) == (["Leak"], [])
    ada.post("/user/repos", json={"name": "secret", "private": True})
    ada.post("/repos/ada/secret/issues", json={"title": "Hidden"})
    ada.post("/repos/ada/secret/issues/1/comments", json={"body": "(@eve) @max."})
    (shown,) = threads(eve)
    assert (count(eve), shown["subject"]["title"]) == (1, "Leak")
    assert eve.get(f"/notifications/threads/{shown['id'] + 1}").status_code == 404
    assert eve.patch(f"/notifications/threads/{shown['id'] + 1}").status_code == 404
    ada.put("/repos/ada/secret/collaborators/eve", json={"permission": "read"})
    assert sorted(titles(eve)) == ["Hidden", "Leak"]
    assert (count(max_), titles(max_)) == (0, [])


def test_a_mention_added_by_an_edit_notifies_once(ada: httpx.Client, eve: httpx.Client) -> None:
    """A mention added to an issue or a comment notifies once; an edit that keeps it does not notify again."""
    ada.post(f"{HOME}/issues", json={"title": "Leak", "body": "Who knows?"})
    comment = ada.post(f"{HOME}/issues/1/comments", json={"body": "Anybody?"}).json()["id"]
    assert count(eve) == 0
    ada.patch(f"{HOME}/issues/1", json={"body": "Who knows? @eve"})
    assert count(eve) == 1
    eve.put("/notifications")
    ada.patch(f"{HOME}/issues/1", json={"body": "Who knows? @eve does", "title": "A leak"})
    assert count(eve) == 0
    ada.patch(f"{HOME}/issues/comments/{comment}", json={"body": "Anybody? @eve?"})
    assert count(eve) == 1
    (thread,) = threads(eve)
    assert thread["subject"]["latest_comment_url"].endswith(f"/comments/{comment}")


def test_the_creator_of_a_repository_watches_it(ada: httpx.Client, eve: httpx.Client) -> None:
    """The creator of a repository is notified of its issues until they delete their subscription."""
    ada.post("/user/repos", json={"name": "boat"})
    assert ada.get("/repos/ada/boat").json()["watchers_count"] == 1
    eve.post("/repos/ada/boat/issues", json={"title": "Leak"})
    assert titles(ada) == ["Leak"]
    assert ada.delete("/repos/ada/boat/subscription").status_code == 204
    eve.post("/repos/ada/boat/issues", json={"title": "Rust"})
    assert titles(ada) == ["Leak"]


def test_users_can_unsubscribe(ada: httpx.Client, eve: httpx.Client) -> None:
    """Unsubscribed users are notified of mentions only, and subscribed users of every comment."""
    for title in ("Leak", "Sail"):
        eve.post(f"{HOME}/issues", json={"title": title})
    eve.delete(f"{HOME}/issues/1/subscriptions/eve")
    ada.put(f"{HOME}/issues/1/subscriptions/ada")
    ada.post(f"{HOME}/issues/1/comments", json={"body": "Seen"})
    assert count(eve) == 0
    ada.post(f"{HOME}/issues/1/comments", json={"body": "Seen, @eve"})
    assert count(eve) == 1
    eve.post(f"{HOME}/issues/1/comments", json={"body": "Thanks"})
    assert titles(ada) == ["Leak"]


def test_pull_requests_notify_reviewers(ada: httpx.Client, eve: httpx.Client) -> None:
    """A requested reviewer is notified of the request, and the author of the pull request of the review."""
    ada.put(f"{HOME}/collaborators/eve", json={"permission": "write"})
    ada.post(f"{HOME}/contents/new.txt", json={"content": "", "branch": "main", "new_branch": "side"})
    ada.post(f"{HOME}/pulls", json={"title": "New", "head": "side", "base": "main"})
    assert count(eve) == 0
    ada.post(f"{HOME}/pulls/1/requested_reviewers", json={"reviewers": ["eve"]})
    assert [item["subject"]["type"] for item in threads(eve)] == ["Pull"]
    assert titles(eve, **{"subject-type": "issue"}) == []
    assert titles(eve, **{"subject-type": "pull"}) == ["New"]
    assert titles(eve, **{"subject-type": "commit"}) == []
    unknown = eve.get("/notifications", params={"subject-type": "pulls"})
    assert (unknown.status_code, unknown.json()["message"]) == (
        422,
        "[SubjectType]: must be one of issue, pull, commit, repository",
    )
    eve.post(f"{HOME}/pulls/1/reviews", json={"event": "APPROVED"})
    assert titles(ada) == ["New"]


def test_threads_are_read_and_become_unread_again(ada: httpx.Client, eve: httpx.Client) -> None:
    """A comment makes a read thread unread, and a pinned thread stays pinned."""
    for title in ("Leak", "Sail"):
        eve.post(f"{HOME}/issues", json={"title": title})
        number = {"Leak": 1, "Sail": 2}[title]
        ada.post(f"{HOME}/issues/{number}/comments", json={"body": "Seen"})
    ids = {item["subject"]["title"]: item["id"] for item in threads(eve)}
    read = eve.patch(f"/notifications/threads/{ids['Leak']}")
    assert (read.status_code, read.json()["unread"]) == (205, False)
    pinned = eve.patch(f"/notifications/threads/{ids['Sail']}", params={"to-status": "pinned"})
    assert (pinned.status_code, pinned.json()["pinned"]) == (205, True)
    assert (count(eve), titles(eve)) == (0, ["Sail"])
    assert sorted(titles(eve, all=True)) == ["Leak", "Sail"]
    assert titles(eve, **{"status-types": "read"}) == ["Leak"]
    for number in (1, 2):
        ada.post(f"{HOME}/issues/{number}/comments", json={"body": "More"})
    assert titles(eve, **{"status-types": "unread"}) == ["Leak"]
    assert titles(eve, **{"status-types": "pinned"}) == ["Sail"]
    assert eve.patch(f"/notifications/threads/{ids['Sail']}", params={"to-status": "odd"}).status_code == 422
    assert eve.get("/notifications", params={"status-types": "odd"}).status_code == 422
    assert ada.patch(f"/notifications/threads/{ids['Sail']}").status_code == 404


def test_all_are_marked_at_once(ada: httpx.Client, eve: httpx.Client) -> None:
    """A user marks their own threads, in all repositories or one, up to a time."""
    ada.post("/user/repos", json={"name": "boat"})
    for path in (HOME, "/repos/ada/boat"):
        ada.post(f"{path}/issues", json={"title": path, "body": "@eve"})
        eve.post(f"{path}/issues/1/comments", json={"body": "Yes"})
    assert (count(eve), count(ada)) == (2, 2)
    assert [notification["subject"]["title"] for notification in eve.get(f"{HOME}/notifications").json()] == [HOME]
    before = eve.put("/notifications", params={"last_read_at": "2020-01-01T00:00:00Z"})
    assert (before.status_code, before.json(), count(eve)) == (205, [], 2)
    here = eve.put(f"{HOME}/notifications")
    assert (here.status_code, [item["unread"] for item in here.json()]) == (205, [False])
    assert titles(eve) == ["/repos/ada/boat"]
    eve.put("/notifications")
    assert (count(eve), count(ada)) == (0, 2)
    again = eve.put("/notifications", params={"all": "true", "to-status": "unread"})
    assert (len(again.json()), count(eve)) == (2, 2)


def test_threads_are_deleted_with_the_issue(ada: httpx.Client, eve: httpx.Client, clients: ServiceClients) -> None:
    """A thread stays when the comment is deleted, and is deleted with the issue."""
    ada.post(f"{HOME}/issues", json={"title": "Leak"})
    comment = ada.post(f"{HOME}/issues/1/comments", json={"body": "@eve"}).json()
    ada.delete(f"{HOME}/issues/comments/{comment['id']}")
    (left,) = threads(eve)
    assert left["subject"]["latest_comment_url"] == left["subject"]["url"]
    ada.delete(f"{HOME}/issues/1")
    assert threads(eve, all=True) == []
    assert clients.anonymous.get("/notifications").status_code == 401
