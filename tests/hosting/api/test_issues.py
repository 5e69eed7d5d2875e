"""The issue endpoints: create, edit, close, delete and list."""

import threading

import httpx

from holdfast.hosting.store import repositories
from holdfast.hosting.store.accounts import find_user
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_repository, post_issue

ISSUES = "/repos/ada/ship/issues"


def test_a_writer_sets_every_field_of_a_new_issue(clients: ServiceClients, ada: httpx.Client) -> None:
    """Labels are given by id or name, assignees by name, and an issue can be created as closed."""
    label = ada.post("/repos/ada/ship/labels", json={"name": "bug", "color": "#f00"}).json()
    other = ada.post("/repos/ada/ship/labels", json={"name": "hull", "color": "0000FF"}).json()
    milestone = ada.post("/repos/ada/ship/milestones", json={"title": "1.0"}).json()
    made = post_issue(
        ada,
        labels=[label["id"], "hull"],
        assignee="ADA",
        milestone=milestone["id"],
        due_date="2030-01-02T03:04:05+01:00",
        closed=True,
        ref="refs/heads/main",
    )
    assert [label["name"] for label in made["labels"]] == ["bug", "hull"]
    assert made["labels"][1] == other
    assert (made["assignee"]["login"], [assignee["login"] for assignee in made["assignees"]]) == ("ada", ["ada"])
    assert (made["milestone"]["title"], made["milestone"]["closed_issues"]) == ("1.0", 1)
    assert (made["due_date"], made["state"], made["ref"]) == ("2030-01-02T02:04:05Z", "closed", "refs/heads/main")


def test_an_author_edits_and_closes_their_issue(clients: ServiceClients, ada: httpx.Client) -> None:
    """An author without write access changes title, body and state only; other users change nothing."""
    bob, eve = clients.user("bob"), clients.user("eve")
    post_issue(bob)
    changed = bob.patch(f"{ISSUES}/1", json={"title": " It sinks ", "body": "b", "state": "closed"})
    assert changed.status_code == 201
    assert (changed.json()["title"], changed.json()["state"]) == ("It sinks", "closed")
    assert changed.json()["closed_at"] is not None
    for key, value in (("milestone", 0), ("assignees", []), ("labels", []), ("unset_due_date", True)):
        assert bob.patch(f"{ISSUES}/1", json={"title": "x", key: value}).status_code == 403
    assert eve.patch(f"{ISSUES}/1", json={"title": "x"}).status_code == 403
    assert clients.anonymous.patch(f"{ISSUES}/1", json={"title": "x"}).status_code == 401
    assert ada.get(f"{ISSUES}/1").json()["title"] == "It sinks"
    assert ada.patch(f"{ISSUES}/1", json={"state": "open"}).json()["closed_at"] is None


def test_a_stale_version_is_refused_and_changes_nothing(ada: httpx.Client) -> None:
    """`content_version` counts changes of the body, and an older value gives 409."""
    assert post_issue(ada)["content_version"] == 0
    assert ada.patch(f"{ISSUES}/1", json={"body": "one", "content_version": 0}).json()["content_version"] == 1
    stale = ada.patch(f"{ISSUES}/1", json={"body": "two", "state": "closed", "content_version": 0})
    assert stale.status_code == 409
    stored = ada.get(f"{ISSUES}/1").json()
    assert (stored["body"], stored["state"]) == ("one", "open")


def test_a_milestone_is_set_and_cleared(ada: httpx.Client) -> None:
    """The milestone 0 removes the milestone of an issue."""
    post_issue(ada)
    number = ada.post("/repos/ada/ship/milestones", json={"title": "1.0"}).json()["id"]
    assert ada.patch(f"{ISSUES}/1", json={"milestone": number}).json()["milestone"]["open_issues"] == 1
    assert ada.patch(f"{ISSUES}/1", json={"milestone": 0}).json()["milestone"] is None


def test_an_unknown_state_and_an_unknown_issue_have_different_errors(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """An unknown state gives 412; the 404 of an unknown issue names the repository and the number."""
    post_issue(ada)
    response = ada.patch(f"{ISSUES}/1", json={"state": "ajar"})
    assert (response.status_code, response.json()["message"]) == (412, "unknown state: ajar")
    repository = repositories.find_repository(clients.database, "ada", "ship")
    missing = ada.get(f"{ISSUES}/2")
    assert missing.json()["message"] == f"issue does not exist [id: 0, repo_id: {repository.id}, index: 2]"
    for strange in ("x", "1.5", "-1", "99999999999999999999", "1%00"):
        assert ada.get(f"{ISSUES}/{strange}").status_code == 404
    assert ada.get("/repos/ada/ship%00/issues").status_code == 404


def test_an_unreadable_issue_is_not_found(clients: ServiceClients, ada: httpx.Client) -> None:
    """Issues of a private repository give 404, and disabled issues do so even for the owner."""
    account = find_user(clients.database, "ada")
    make_repository(clients.database, account, "secret", is_private=True)
    make_repository(clients.database, account, "quiet", has_issues=False)
    bob = clients.user("bob")
    for path in ("/repos/ada/secret/issues", "/repos/ada/nothing/issues"):
        assert bob.get(path).status_code == 404
        assert bob.post(path, json={"title": "t"}).status_code == 404
        assert clients.anonymous.post(path, json={"title": "t"}).status_code == 404
    assert ada.post("/repos/ada/quiet/issues", json={"title": "t"}).status_code == 404
    assert ada.post("/repos/ada/secret/issues", json={"title": "t"}).status_code == 201


def test_issues_of_an_archived_repository_are_read_only(clients: ServiceClients, ada: httpx.Client) -> None:
    """Every write to an archived repository gives 423, and 401 to anonymous clients."""
    make_repository(clients.database, find_user(clients.database, "ada"), "wreck", archived_at=1)
    there = "/repos/ada/wreck/issues"
    assert ada.get(there).json() == []
    refused = ada.post(there, json={"title": "t"})
    assert (refused.status_code, refused.json()["message"]) == (423, "repo is archived")
    assert clients.anonymous.post(there, json={"title": "t"}).status_code == 401
    writes = [
        ("PATCH", "/1", {}),
        ("DELETE", "/1", None),
        ("POST", "/1/comments", {"body": "b"}),
        ("PATCH", "/comments/1", {"body": "b"}),
        ("DELETE", "/comments/1", None),
        ("PUT", "/1/labels", {}),
        ("POST", "/1/labels", {}),
        ("DELETE", "/1/labels", None),
        ("DELETE", "/1/labels/1", None),
        ("PUT", "/1/lock", {}),
        ("DELETE", "/1/lock", None),
        ("POST", "/1/deadline", {}),
        ("POST", "/1/assignees", {}),
        ("DELETE", "/1/assignees", {}),
    ]
    for method, path, body in writes:
        assert ada.request(method, there + path, json=body).status_code == 423, (method, path)
    for path in ("labels", "milestones", "pulls"):
        assert ada.post(f"/repos/ada/wreck/{path}", json={}).status_code == 423


def test_only_administrators_delete_and_the_number_stays_used(clients: ServiceClients, ada: httpx.Client) -> None:
    """A writer may not delete an issue, and the number of a deleted issue is not used again."""
    bob = clients.account("bob")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bob, WRITE)
    writer = clients.with_token(bob)
    post_issue(writer)
    assert writer.delete(f"{ISSUES}/1").status_code == 403
    assert clients.anonymous.delete(f"{ISSUES}/1").status_code == 401
    assert ada.delete(f"{ISSUES}/1").status_code == 204
    assert ada.delete(f"{ISSUES}/1").status_code == 404
    assert post_issue(ada)["number"] == 2
    assert repositories.find_repository(clients.database, "ada", "ship").open_issues == 1


def test_only_writers_comment_on_a_locked_issue(clients: ServiceClients, ada: httpx.Client) -> None:
    """The author of a locked issue may not comment until it is unlocked."""
    bob = clients.user("bob")
    post_issue(bob)
    assert bob.put(f"{ISSUES}/1/lock", json={"lock_reason": "Off-topic"}).status_code == 403
    assert ada.put(f"{ISSUES}/1/lock", json={"lock_reason": "Off-topic"}).status_code == 204
    assert ada.get(f"{ISSUES}/1").json()["is_locked"] is True
    assert bob.post(f"{ISSUES}/1/comments", json={"body": "but"}).status_code == 403
    assert ada.post(f"{ISSUES}/1/comments", json={"body": "no"}).status_code == 201
    assert ada.delete(f"{ISSUES}/1/lock").status_code == 204
    assert bob.post(f"{ISSUES}/1/comments", json={"body": "but"}).status_code == 201


def test_a_deadline_is_set_and_removed(clients: ServiceClients, ada: httpx.Client) -> None:
    """A writer sets and removes a deadline; other users get 403."""
    post_issue(ada)
    body = {"due_date": "2031-05-06T07:08:09Z"}
    assert ada.post(f"{ISSUES}/1/deadline", json=body).json() == body
    assert ada.post(f"{ISSUES}/1/deadline", json={"due_date": None}).json() == {"due_date": None}
    assert clients.user("bob").post(f"{ISSUES}/1/deadline", json=body).status_code == 403


def test_a_token_needs_the_scope_of_issues(clients: ServiceClients, ada: httpx.Client) -> None:
    """The scope `read:issue` permits reading only, and `write:repository` permits neither."""
    account = find_user(clients.database, "ada")
    reader, other = clients.with_token(account, "read:issue"), clients.with_token(account, "write:repository")
    assert reader.get(ISSUES).status_code == 200
    assert reader.post(ISSUES, json={"title": "t"}).status_code == 403
    assert other.get(ISSUES).status_code == 403
    assert other.post(ISSUES, json={"title": "t"}).status_code == 403
    assert ada.get(ISSUES).json() == []


def titles(response: httpx.Response) -> list[str]:
    """Return the titles of a list."""
    assert response.status_code == 200, response.text
    return [issue["title"] for issue in response.json()]


def test_lists_are_filtered_sorted_and_counted(clients: ServiceClients, ada: httpx.Client) -> None:
    """The filters of the list work alone and together."""
    bob = clients.account("bob")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bob, WRITE)
    writer = clients.with_token(bob)
    for name in ("bug", "hull"):
        ada.post("/repos/ada/ship/labels", json={"name": name, "color": "f00"})
    number = ada.post("/repos/ada/ship/milestones", json={"title": "1.0"}).json()["id"]
    post_issue(ada, title="one", labels=["bug", "hull"], body="See @bob about 100% of it")
    post_issue(writer, title="two", labels=["bug"], milestone=number, assignees=["bob"])
    post_issue(ada, title="three", closed=True)
    ada.post("/repos/ada/ship/pulls", json={"title": "four", "head": "fix", "base": "main"})
    ada.post(f"{ISSUES}/1/comments", json={"body": "hm"})

    def listed(**query: str | int) -> list[str]:
        return titles(clients.anonymous.get(ISSUES, params=query))

    assert listed() == ["four", "two", "one"]
    assert listed(type="issues") == ["two", "one"]
    assert listed(type="pulls", state="all") == ["four"]
    assert listed(state="closed") == ["three"]
    assert listed(state="all", sort="oldest") == ["one", "two", "three", "four"]
    assert listed(sort="mostcomment")[0] == "one"
    assert listed(sort="created", direction="asc") == ["one", "two", "four"]
    assert listed(labels="bug") == ["two", "one"]
    assert listed(labels="bug,hull") == ["one"]
    assert listed(labels="bug,none") == []
    assert listed(milestones="1.0") == listed(milestones=f"{number},x") == listed(milestone="*") == ["two"]
    assert listed(milestone="none", type="issues") == ["one"]
    assert listed(q="100%") == listed(q="#1") == ["one"]
    assert listed(q="%%") == []
    assert listed(q="ONE") == ["one"]
    assert listed(created_by="BOB") == listed(creator="bob") == ["two"]
    assert listed(assigned_by="bob") == listed(assignee="*") == ["two"]
    assert listed(assignee="none", type="issues") == ["one"]
    assert listed(mentioned_by="bob") == ["one"]
    assert listed(created_by="nobody") == []
    assert listed(since="2100-01-01T00:00:00Z") == []
    assert listed(before="2100-01-01T00:00:00Z", labels="bug", created_by="ada") == ["one"]
    page = clients.anonymous.get(ISSUES, params={"limit": 2, "page": 2})
    assert (titles(page), page.headers["X-Total-Count"]) == (["one"], "3")
    assert 'rel="prev"' in page.headers["Link"]


def test_issues_opened_at_once_have_numbers_of_their_own(clients: ServiceClients, ada: httpx.Client) -> None:
    """Issues created in four threads have consecutive numbers without duplicates."""
    callers = [clients.with_token(find_user(clients.database, "ada")) for _ in range(4)]
    numbers: list[int] = []

    def work(client: httpx.Client) -> None:
        numbers.extend(post_issue(client)["number"] for _ in range(6))

    threads = [threading.Thread(target=work, args=(client,)) for client in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 25))
    assert repositories.find_repository(clients.database, "ada", "ship").open_issues == 24


def test_a_reader_of_a_private_repository_takes_part(clients: ServiceClients, ada: httpx.Client) -> None:
    """A collaborator with read access creates issues and comments, and may not change labels."""
    private = make_repository(clients.database, find_user(clients.database, "ada"), "secret", is_private=True)
    bob = clients.account("bob")
    let_in(clients.database, private, bob, READ)
    reader = clients.with_token(bob)
    assert reader.post("/repos/ada/secret/issues", json={"title": "t"}).status_code == 201
    assert reader.post("/repos/ada/secret/issues/1/comments", json={"body": "b"}).status_code == 201
    assert reader.put("/repos/ada/secret/issues/1/labels", json={"labels": []}).status_code == 403
