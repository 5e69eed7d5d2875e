"""The issue dependency endpoints: cycles, permissions, pages and timelines."""

import itertools
import threading
from typing import Any

import httpx
import pytest

from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.repositories import find_repository
from holdfast.settings import Settings
from tests.hosting.api_clients import ServiceClients
from tests.hosting.dependency_helpers import (
    SHIP,
    counting_queries,
    edges,
    linked,
    message,
    numbers,
    open_many,
    relate,
    removed,
    with_issues,
)
from tests.hosting.repository_helpers import (
    READ,
    WRITE,
    let_in,
    make_organization,
    make_repository,
    make_team,
    post_issue,
    recorded_events,
)

HIDDEN = {
    "id": 0,
    "url": "",
    "html_url": "",
    "number": 0,
    "user": None,
    "original_author": "",
    "original_author_id": 0,
    "title": "HIDDEN",
    "body": "",
    "ref": "",
    "assets": [],
    "labels": None,
    "milestone": None,
    "projects": None,
    "assignee": None,
    "assignees": None,
    "state": "open",
    "is_locked": False,
    "comments": 0,
    "created_at": "1970-01-01T00:00:00Z",
    "updated_at": "1970-01-01T00:00:00Z",
    "closed_at": None,
    "due_date": None,
    "time_estimate": 0,
    "pull_request": None,
    "repository": None,
    "pin_order": 0,
    "content_version": 0,
    "blocked_by_count": 0,
    "blocking_count": 0,
}


@pytest.fixture
def ada(ada: httpx.Client) -> httpx.Client:
    """Let Ada open five issues."""
    return with_issues(ada)


def test_the_six_endpoints_agree_about_one_relation(ada: httpx.Client) -> None:
    """A dependency is created, deleted and listed from both sides; the response is the issue of the path."""
    response = linked(ada, f"{SHIP}/1", 2)
    assert (response.status_code, response.json()["number"], response.json()["blocked_by_count"]) == (201, 1, 1)
    assert numbers(ada.get(f"{SHIP}/1/dependencies")) == [2]
    assert numbers(ada.get(f"{SHIP}/2/blocks")) == [1]
    assert numbers(ada.get(f"{SHIP}/2/dependencies")) == numbers(ada.get(f"{SHIP}/1/blocks")) == []
    gone = removed(ada, f"{SHIP}/2/blocks", index=1, owner="ada", repo="ship")
    assert (gone.status_code, gone.json()["number"]) == (201, 2)
    assert numbers(ada.get(f"{SHIP}/1/dependencies")) == []
    response = ada.post(f"{SHIP}/2/blocks", json={"index": 1, "owner": "ada", "name": "ship"})
    assert (response.status_code, response.json()["number"], response.json()["blocking_count"]) == (201, 2, 1)
    assert numbers(ada.get(f"{SHIP}/1/dependencies")) == [2]
    gone = removed(ada, f"{SHIP}/1/dependencies", index=2)
    assert (gone.status_code, gone.json()["number"], gone.json()["blocked_by_count"]) == (201, 1, 0)


def test_a_cycle_is_refused_and_its_path_is_shown(clients: ServiceClients, ada: httpx.Client) -> None:
    """A cycle of any length is refused with 409 by all three endpoints, and nothing is stored."""
    for length in range(1, 6):
        if length > 1:
            assert linked(ada, f"{SHIP}/{length - 1}", length).status_code == 201
        way = " -> ".join(f"ada/ship#{number}" for number in (length, *range(1, length + 1)))
        before = edges(clients.database)
        for response in (
            linked(ada, f"{SHIP}/{length}", 1),
            ada.post(f"{SHIP}/1/blocks", json={"index": length}),
            ada.put(f"{SHIP}/{length}/dependencies", json=[{"index": 1}]),
        ):
            assert message(response, 409) == f"circular dependency: {way}"
        assert edges(clients.database) == before


def test_a_long_cycle_is_shown_in_part(clients: ServiceClients, ada: httpx.Client) -> None:
    """The path of a long cycle is shortened to 20 issues."""
    repository = find_repository(clients.database, "ada", "ship")
    issues = open_many(clients.database, repository, find_user(clients.database, "ada"), 400)
    relate(clients.database, list(itertools.pairwise(issue.id for issue in issues)))
    posted_message = message(linked(ada, f"{SHIP}/{issues[-1].number}", issues[0].number), 409)
    names = posted_message.removeprefix("circular dependency: ").split(" -> ")
    around = [issues[-1].number, *(issue.number for issue in issues[:18])]
    assert names == [*(f"ada/ship#{number}" for number in around), "...", f"ada/ship#{issues[-1].number}"]
    assert len([name for name in names if name != "..."]) == 20
    shorter = message(linked(ada, f"{SHIP}/{issues[18].number}", issues[0].number), 409)
    assert shorter.count("ada/ship#") == 20
    assert "..." not in shorter


def test_unreadable_dependents_are_neither_listed_nor_counted(clients: ServiceClients, ada: httpx.Client) -> None:
    """Unreadable dependents leave no gaps in pages, and are in no total, no link and no `blocking_count`."""
    bob = clients.account("bob")
    secret = make_repository(clients.database, bob, "secret", is_private=True)
    hidden = open_many(clients.database, secret, bob, 40)
    ours = ada.get(f"{SHIP}/1").json()["id"]
    others = [ada.get(f"{SHIP}/{number}").json()["id"] for number in (2, 3, 4)]
    relate(clients.database, [(item, ours) for item in (*(issue.id for issue in hidden), *others)])
    for who in (ada, clients.anonymous):
        response = who.get(f"{SHIP}/1/blocks", params={"limit": 2})
        assert (len(response.json()), response.headers["X-Total-Count"]) == (2, "3")
        assert "page=2" in response.headers["Link"]
        assert "page=3" not in response.headers["Link"]
        last = who.get(f"{SHIP}/1/blocks", params={"limit": 2, "page": 2})
        assert (len(last.json()), last.headers["X-Total-Count"]) == (1, "3")
        beyond = who.get(f"{SHIP}/1/blocks", params={"limit": 2, "page": 9})
        assert (beyond.json(), beyond.headers["X-Total-Count"]) == ([], "3")
        assert who.get(f"{SHIP}/1").json()["blocking_count"] == 3
    assert clients.admin.get(f"{SHIP}/1/blocks").headers["X-Total-Count"] == "43"
    assert clients.admin.get(f"{SHIP}/1").json()["blocking_count"] == 43


def test_adding_a_dependency_twice_is_refused(clients: ServiceClients, ada: httpx.Client) -> None:
    """A duplicate gives 409 and a missing dependency 404, both with the ids of the issues."""
    ids = [ada.get(f"{SHIP}/{number}").json()["id"] for number in (1, 2)]
    named = f"[issue id: {ids[0]}, dependency id: {ids[1]}]"
    assert (
        message(removed(ada, f"{SHIP}/1/dependencies", index=2), 404) == f"issue dependency does not exist {named}"
    )
    assert linked(ada, f"{SHIP}/1", 2).status_code == 201
    assert message(linked(ada, f"{SHIP}/1", 2), 409) == f"issue dependency does already exist {named}"
    assert ada.post(f"{SHIP}/2/blocks", json={"index": 1}).status_code == 409
    assert [
        details["action"] for kind, details in recorded_events(clients.database) if kind == "issue_dependency"
    ] == ["added"]


def test_an_unknown_issue_has_no_dependencies(ada: httpx.Client) -> None:
    """An issue that does not exist is a 404 in the path and as the other side; in the path, so is no number."""
    for index, said in (("99", "issue does not exist"), ("x", "not found"), ("9" * 30, "not found")):
        for side in ("dependencies", "blocks"):
            assert message(ada.get(f"{SHIP}/{index}/{side}"), 404).startswith(said)
            assert message(ada.post(f"{SHIP}/{index}/{side}", json={"index": 1}), 404).startswith(said)
            assert message(removed(ada, f"{SHIP}/{index}/{side}", index=1), 404).startswith(said)
        assert message(ada.put(f"{SHIP}/{index}/dependencies", json=[]), 404).startswith(said)
        assert message(ada.get(f"{SHIP}/{index}/dependencies/graph"), 404).startswith(said)
    for side in ("dependencies", "blocks"):
        assert message(ada.post(f"{SHIP}/1/{side}", json={"index": 99}), 404).startswith("issue does not exist")


def test_pages_of_blockers_and_of_what_is_blocked_differ(clients: ServiceClients) -> None:
    """A page of blockers has at most 50 issues; one of blocked issues has no maximum, and ignores a limit of 1."""
    account = clients.account("ada")
    repository = make_repository(clients.database, account)
    ada = clients.with_token(account)
    first, second, *others = open_many(clients.database, repository, account, 62)
    relate(clients.database, [(first.id, other.id) for other in others])
    relate(clients.database, [(other.id, second.id) for other in others])

    def sizes(side: str, **query: object) -> tuple[int, str, bool]:
        response = ada.get(f"{SHIP}/{1 if side == 'dependencies' else 2}/{side}", params=query)  # type: ignore[arg-type]  # httpx formats numbers too
        assert response.status_code == 200
        return len(response.json()), response.headers["X-Total-Count"], "next" in response.headers.get("Link", "")

    for query, blockers, blocked in (
        ({}, (30, True), (30, True)),
        ({"limit": 0}, (30, True), (30, True)),
        ({"limit": 1}, (1, True), (30, True)),
        ({"limit": 2}, (2, True), (2, True)),
        ({"limit": -5, "page": -5}, (30, True), (30, True)),
        ({"limit": 59}, (50, True), (59, True)),
        ({"limit": 60}, (50, True), (60, False)),
        ({"limit": 5000}, (50, True), (60, False)),
        ({"limit": "9" * 40}, (50, True), (60, False)),
        ({"limit": "x", "page": "x"}, (30, True), (30, True)),
        ({"page": 2}, (30, False), (30, False)),
        ({"page": 3}, (0, False), (0, False)),
        ({"page": "9" * 40, "limit": "9" * 40}, (0, False), (0, False)),
    ):
        assert sizes("dependencies", **query) == (blockers[0], "60", blockers[1]), query
        assert sizes("blocks", **query) == (blocked[0], "60", blocked[1]), query
    link = ada.get(f"{SHIP}/2/blocks", params={"limit": 25, "page": 2}).headers["Link"]
    address = f"{clients.service.url}/api/v1{SHIP}/2/blocks?limit=25&page="
    assert link == ",".join(
        f'<{address}{page}>; rel="{rel}"' for page, rel in ((3, "next"), (3, "last"), (1, "first"), (1, "prev"))
    )


def test_blockers_of_the_same_repository_come_first(clients: ServiceClients, ada: httpx.Client) -> None:
    """Other repositories follow, oldest first, and within each one the newest issue is first."""
    account = find_user(clients.database, "ada")
    repositories = [make_repository(clients.database, account, name) for name in ("zebra", "aardvark")]
    others = [open_many(clients.database, repository, account, 2) for repository in repositories]
    ours = [ada.get(f"{SHIP}/{number}").json()["id"] for number in (1, 2, 3)]
    far = [issue.id for some in reversed(others) for issue in some]
    relate(clients.database, [(ours[0], other) for other in (*far, ours[2], ours[1])])
    expected = [("ship", 3), ("ship", 2), ("zebra", 2), ("zebra", 1), ("aardvark", 2), ("aardvark", 1)]
    for_blocks = open_many(clients.database, repositories[0], account, 1)[0]
    relate(clients.database, [(other, for_blocks.id) for other in (*far, ours[2], ours[1])])

    def order(path: str) -> list[tuple[str, int]]:
        return [(item["repository"]["name"], item["number"]) for item in ada.get(path).json()]

    assert order(f"{SHIP}/1/dependencies") == expected
    blocked = order("/repos/ada/zebra/issues/3/blocks")
    assert blocked == [("zebra", 2), ("zebra", 1), ("ship", 3), ("ship", 2), ("aardvark", 2), ("aardvark", 1)]


ROLES = ("nothing", "read", "write")


@pytest.mark.parametrize("kind", ["issue", "pull"])
def test_each_role_sees_exactly_the_issues_it_may_read(clients: ServiceClients, kind: str) -> None:
    """Nine users have no, read or write access to the repositories of the target and of the blocker."""
    owner = clients.account("owner")
    repositories = [
        make_repository(clients.database, owner, name, is_private=True) for name in ("target", "blocker")
    ]
    target = open_many(clients.database, repositories[0], owner, 1)[0]
    unread = open_many(clients.database, repositories[1], owner, 3)[-1]
    relate(clients.database, [(target.id, unread.id)])
    if kind == "pull":
        with clients.database.write() as connection:
            connection.exec_driver_sql("UPDATE issues SET is_pull = true, title = 'A change'")
    for roles in itertools.product(ROLES, ROLES):
        person = clients.account("-".join(roles))
        for repository, role in zip(repositories, roles, strict=True):
            if role != "nothing":
                let_in(clients.database, repository, person, ROLES.index(role))
        client = clients.with_token(person)
        on_target, on_blocker = roles
        listed = client.get("/repos/owner/target/issues/1/dependencies")
        blocks = client.get("/repos/owner/blocker/issues/3/blocks")
        if on_target == "nothing":
            assert listed.status_code == 404
        else:
            [entry] = listed.json()
            assert listed.headers["X-Total-Count"] == "1"
            if on_blocker != "nothing":
                whole = client.get("/repos/owner/blocker/issues/3").json()
                assert entry == whole
            elif on_target == "read":
                assert list(entry.items()) == list(HIDDEN.items())
            else:
                assert entry == {
                    **HIDDEN,
                    "number": 3,
                    "title": unread.title if kind == "issue" else "A change",
                    "pull_request": None
                    if kind == "issue"
                    else {"merged": False, "merged_at": None, "draft": False, "html_url": ""},
                    "repository": {
                        "id": repositories[1].id,
                        "name": "blocker",
                        "owner": "owner",
                        "full_name": "owner/blocker",
                    },
                }
        if on_blocker == "nothing":
            assert blocks.status_code == 404
        else:
            assert numbers(blocks) == ([1] if on_target != "nothing" else [])
            assert blocks.headers["X-Total-Count"] == str(len(blocks.json()))
            shown = client.get("/repos/owner/blocker/issues/3").json()
            assert shown["blocking_count"] == len(blocks.json())
        # To change a relation takes write access to the target and read access to the blocker, from either side.
        may = on_target == "write" and on_blocker != "nothing"
        for path, body in (
            ("/repos/owner/target/issues/1/dependencies", {"index": 2, "owner": "owner", "repo": "blocker"}),
            ("/repos/owner/blocker/issues/2/blocks", {"index": 1, "owner": "owner", "repo": "target"}),
        ):
            assert client.post(path, json=body).status_code == (201 if may else 404), (roles, path)
            assert client.request("DELETE", path, json=body).status_code == (201 if may else 404), (roles, path)


def test_dependencies_of_pull_requests_require_their_own_unit(clients: ServiceClients) -> None:
    """A user who may read only issues cannot link a pull request, and sees a blocking one without its id."""
    owner, eve = clients.account("owner"), clients.account("eve")
    guild = make_organization(clients.database, "guild", owner)
    repository = make_repository(clients.database, guild, "ship", is_private=True)
    open_many(clients.database, repository, owner, 2)
    with clients.database.write() as connection:
        connection.exec_driver_sql("UPDATE issues SET is_pull = true WHERE number = 2")
    make_team(clients.database, guild, "triage", [eve], units={"repo.issues": WRITE}, places=(repository,))
    client, issues = clients.with_token(eve), "/repos/guild/ship/issues"
    missing = message(client.post(f"{issues}/1/dependencies", json={"index": 99}), 404)
    assert message(client.post(f"{issues}/1/dependencies", json={"index": 2}), 404) == missing.replace("99", "2")
    assert client.post(f"{issues}/2/dependencies", json={"index": 1}).status_code == 404
    assert client.get(f"{issues}/2/dependencies").status_code == 404
    assert clients.with_token(owner).post(f"{issues}/1/dependencies", json={"index": 2}).status_code == 201
    [entry] = client.get(f"{issues}/1/dependencies").json()
    assert (entry["title"], entry["pull_request"]["html_url"]) == ("Issue 2", "")
    assert entry["id"] == 0
    make_team(clients.database, guild, "reading", [eve], units={"repo.pulls": READ}, places=(repository,))
    assert numbers(client.get(f"{issues}/1/dependencies")) == [2]
    assert client.post(f"{issues}/2/dependencies", json={"index": 1}).status_code == 404


def test_archived_and_disabled_targets_are_not_found(clients: ServiceClients, ada: httpx.Client) -> None:
    """The repository of a blocker may be archived, and lists of blocked issues ignore the setting."""
    make_repository(clients.database, find_user(clients.database, "ada"), "boat")
    ada.post("/repos/ada/boat/issues", json={"title": "Elsewhere"})
    boat = {"index": 1, "owner": "ada", "name": "boat"}
    linked(ada, f"{SHIP}/1", 2)

    def frozen(side: str, index: int) -> list[int]:
        body = {"index": index}
        return [ada.request(method, f"{SHIP}/1/{side}", json=body).status_code for method in ("POST", "DELETE")]

    for setting in ({"archived": True}, {"internal_tracker": {"enable_issue_dependencies": False}}):
        assert ada.patch("/repos/ada/ship", json=setting).status_code == 200
        assert frozen("dependencies", 3) == [404, 404]
        assert frozen("dependencies", 2) == [404, 404]
        assert frozen("blocks", 3) == [404, 404]
        assert ada.put(f"{SHIP}/1/dependencies", json=[]).status_code == 404
        assert ada.post("/repos/ada/boat/issues/1/blocks", json={**boat, "name": "ship"}).status_code == 404
        # The path's issue is the blocker here, and the target's repository is as it should be.
        assert ada.post(f"{SHIP}/1/blocks", json=boat).status_code == 201
        assert numbers(ada.get(f"{SHIP}/1/blocks")) == [1]
        assert removed(ada, f"{SHIP}/1/blocks", **boat).status_code == 201
        archived = "archived" in setting
        assert ada.get(f"{SHIP}/1/dependencies").status_code == (200 if archived else 404)
        assert ada.get(f"{SHIP}/1/dependencies/graph").status_code == (200 if archived else 404)
        assert numbers(ada.get(f"{SHIP}/2/blocks")) == [1]
        ada.patch(
            "/repos/ada/ship",
            json={"archived": False, "internal_tracker": {"enable_issue_dependencies": archived}},
        )
    assert ada.get(f"{SHIP}/1").json()["blocked_by_count"] == 0
    ada.patch("/repos/ada/ship", json={"internal_tracker": {"enable_issue_dependencies": True}})
    assert ada.get(f"{SHIP}/1").json()["blocked_by_count"] == 1


def test_anonymous_clients_may_read_and_not_write(clients: ServiceClients, ada: httpx.Client) -> None:
    """An anonymous write gives 401 before the body is parsed."""
    linked(ada, f"{SHIP}/1", 2)
    assert numbers(clients.anonymous.get(f"{SHIP}/1/dependencies")) == [2]
    assert numbers(clients.anonymous.get(f"{SHIP}/2/blocks")) == [1]
    for side in ("dependencies", "blocks"):
        assert clients.anonymous.post(f"{SHIP}/1/{side}", content=b"{").status_code == 401
        assert clients.anonymous.request("DELETE", f"{SHIP}/1/{side}", content=b"{").status_code == 401
    narrow = clients.with_token(find_user(clients.database, "ada"), "read:issue")
    assert narrow.get(f"{SHIP}/1/dependencies").status_code == 200
    assert linked(narrow, f"{SHIP}/1", 3).status_code == 403


class TestOneRepository:
    """Tests with dependencies between repositories disabled."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Disable dependencies between repositories."""
        return type(settings)(
            data=settings.data, database_url=settings.database_url, allow_cross_repository_dependencies=False
        )

    def test_issues_of_others_are_refused_with_a_message(self, clients: ServiceClients, ada: httpx.Client) -> None:
        """Another repository or a missing one is refused; stored dependencies are listed."""
        boat = make_repository(clients.database, find_user(clients.database, "ada"), "boat")
        [other] = open_many(clients.database, boat, find_user(clients.database, "ada"), 1)
        mine = ada.get(f"{SHIP}/1").json()["id"]
        relate(clients.database, [(mine, other.id)])
        for owner, repo in (("ada", "boat"), ("no", "body")):
            for method, side in itertools.product(("POST", "DELETE"), ("dependencies", "blocks")):
                body = {"index": 1, "owner": owner, "repo": repo}
                response = ada.request(method, f"{SHIP}/1/{side}", json=body)
                assert (response.status_code, response.text) == (400, '"CrossRepositoryDependencies not enabled"')
            response = ada.put(f"{SHIP}/1/dependencies", json=[{"index": 1, "owner": owner, "repo": repo}])
            assert (response.status_code, response.json()) == (400, "CrossRepositoryDependencies not enabled")
        assert (
            ada.post(f"{SHIP}/99/dependencies", json={"index": 1, "owner": "no", "repo": "body"}).status_code
            == 404
        )
        assert linked(ada, f"{SHIP}/1", 2).status_code == 201
        assert linked(ada, f"{SHIP}/1", 3, owner="ada", repo="ship").status_code == 201
        assert ada.put(f"{SHIP}/1/dependencies", json=[{"index": 4}]).status_code == 200
        assert numbers(ada.get(f"{SHIP}/1/dependencies")) == [4, 1]


def test_a_list_takes_at_most_seven_queries(clients: ServiceClients, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of fifty blockers in twenty repositories, with labels and assignees, takes at most seven queries."""
    ada, eve = clients.account("ada"), clients.account("eve")
    guild = make_organization(clients.database, "guild", ada)
    ship = make_repository(clients.database, ada, is_private=True)
    let_in(clients.database, ship, eve, READ)
    [target] = open_many(clients.database, ship, ada, 1)
    client = clients.with_token(ada)
    others = []
    for number in range(20):
        repository = make_repository(
            clients.database, guild if number % 2 else ada, f"r{number}", is_private=number > 2
        )
        if number % 3 == 0:
            let_in(clients.database, repository, eve, READ)
        base = f"/repos/{repository.full_name}"
        label = client.post(f"{base}/labels", json={"name": "bug", "color": "f00"}).json()["id"]
        milestone = client.post(f"{base}/milestones", json={"title": "1.0"}).json()["id"]
        body = {"title": "t", "labels": [label], "milestone": milestone, "assignees": ["ada"]}
        others += [client.post(f"{base}/issues", json=body).json()["id"] for _ in range(3 if number < 10 else 2)]
    relate(clients.database, [(target.id, other) for other in others])
    for person, path, count in (
        (client, "dependencies", 50),
        (clients.with_token(eve), "dependencies", 50),
        (client, "blocks", 0),
    ):
        with counting_queries(clients.database, monkeypatch) as asked:
            response = person.get(f"{SHIP}/1/{path}", params={"limit": 50})
        assert len(response.json()) == count
        # Whose token it is may be in a cache.
        assert 2 < len(asked) <= 7, asked
    seen = clients.with_token(eve).get(f"{SHIP}/1/dependencies", params={"limit": 50}).json()
    assert {request["title"] for request in seen} == {"t", "HIDDEN"}
    assert all(request["labels"][0]["name"] == "bug" for request in seen if request["title"] == "t")


def test_unreadable_issues_are_not_named_in_the_path_of_a_cycle(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """Consecutive unreadable issues are one HIDDEN in the path, which hides where and how many they are."""
    bob = clients.account("bob")
    secret = make_repository(clients.database, bob, "secret", is_private=True)
    hidden = open_many(clients.database, secret, bob, 3)
    ours = [ada.get(f"{SHIP}/{number}").json()["id"] for number in (1, 2)]
    way = [ours[1], *(issue.id for issue in hidden), ours[0]]
    relate(clients.database, list(itertools.pairwise(way)))
    posted_message = message(linked(ada, f"{SHIP}/1", 2), 409)
    assert posted_message == "circular dependency: ada/ship#1 -> ada/ship#2 -> HIDDEN -> ada/ship#1"
    for_admin = message(linked(clients.admin, f"{SHIP}/1", 2), 409)
    assert for_admin.count("bob/secret#") == 3


def test_an_issue_closes_when_nothing_blocks_it(clients: ServiceClients, ada: httpx.Client) -> None:
    """Closing a blocked issue or pull request gives 412 and changes nothing, unless dependencies are disabled."""
    linked(ada, f"{SHIP}/1", 2)
    posted_message = "cannot close this issue or pull request because it still has open dependencies"
    assert message(ada.patch(f"{SHIP}/1", json={"state": "closed", "title": "Other"}), 412) == posted_message
    shown = ada.get(f"{SHIP}/1").json()
    assert (shown["state"], shown["title"]) == ("open", "Issue 1")
    pull = ada.post("/repos/ada/ship/pulls", json={"title": "p", "head": "fix", "base": "main"}).json()["number"]
    linked(ada, f"{SHIP}/{pull}", 2)
    assert message(ada.patch(f"/repos/ada/ship/pulls/{pull}", json={"state": "closed"}), 412) == posted_message
    assert post_issue(ada, closed=True)["state"] == "closed"
    assert ada.patch(f"{SHIP}/2", json={"state": "closed"}).status_code == 201
    assert ada.get(f"{SHIP}/1").json()["blocked_by_count"] == 0
    assert numbers(ada.get(f"{SHIP}/1/dependencies")) == [2]
    assert ada.patch(f"{SHIP}/1", json={"state": "closed"}).status_code == 201
    assert ada.patch(f"{SHIP}/2", json={"state": "open"}).status_code == 201
    assert ada.get(f"{SHIP}/1").json()["state"] == "closed"
    assert ada.patch(f"{SHIP}/1", json={"state": "open"}).status_code == 201
    assert ada.patch(f"{SHIP}/1", json={"state": "closed"}).status_code == 412
    ada.patch("/repos/ada/ship", json={"internal_tracker": {"enable_issue_dependencies": False}})
    assert ada.patch(f"{SHIP}/1", json={"state": "closed"}).status_code == 201


def test_both_timelines_show_a_dependency(clients: ServiceClients, ada: httpx.Client) -> None:
    """Both timelines show the other issue, as HIDDEN to those who may not read it, and null once it is deleted."""
    bob = clients.account("bob")
    secret = make_repository(clients.database, bob, "secret", is_private=True)
    open_many(clients.database, secret, bob, 1)
    account = find_user(clients.database, "ada")
    let_in(clients.database, secret, account, READ)
    before = [ada.get(path).json() for path in (f"{SHIP}/1", "/repos/bob/secret/issues/1")]
    with clients.database.write() as connection:
        connection.exec_driver_sql("UPDATE issues SET updated_at = 1")
    body = {"index": 1, "owner": "bob", "repo": "secret"}
    assert ada.post(f"{SHIP}/1/dependencies", json=body).status_code == 201
    assert removed(ada, f"{SHIP}/1/dependencies", **body).status_code == 201
    for path, other in ((f"{SHIP}/1", before[1]), ("/repos/bob/secret/issues/1", before[0])):
        entries = ada.get(f"{path}/timeline").json()
        assert [entry["type"] for entry in entries] == ["add_dependency", "remove_dependency"]
        assert [entry["dependent_issue"]["id"] for entry in entries] == [other["id"]] * 2
        assert entries[0]["dependent_issue"]["repository"] == other["repository"]
        shown = ada.get(path).json()
        assert shown["updated_at"] > "2000"
        assert shown["comments"] == 0
    stranger = clients.anonymous.get(f"{SHIP}/1/timeline").json()
    assert [entry["dependent_issue"] for entry in stranger] == [HIDDEN, HIDDEN]
    assert clients.with_token(bob).delete("/repos/bob/secret/issues/1").status_code == 204
    assert [entry["dependent_issue"] for entry in ada.get(f"{SHIP}/1/timeline").json()] == [None, None]


def test_the_whole_list_is_set_at_once(clients: ServiceClients, ada: httpx.Client) -> None:
    """PUT takes an object or a list, and one invalid entry leaves all dependencies unchanged."""
    linked(ada, f"{SHIP}/1", 2)
    linked(ada, f"{SHIP}/1", 3)
    response = ada.put(f"{SHIP}/1/dependencies", json={"dependencies": [{"index": 3}, {"index": 4}, {"index": 4}]})
    assert (response.status_code, response.json()["number"], response.json()["blocked_by_count"]) == (200, 1, 2)
    assert edges(clients.database) == {(1, 3), (1, 4)}
    recorded = [
        details["action"] for kind, details in recorded_events(clients.database) if kind == "issue_dependency"
    ]
    assert recorded == ["added", "added", "removed", "added"]
    linked(ada, f"{SHIP}/5", 1)
    for body, status in (
        ([{"index": 2}, {"index": 5}], 409),
        ([{"index": 2}, {"index": 1}], 409),
        ([{"index": 2}, {"index": 99}], 404),
        ([{"index": 2}, {"index": 1, "owner": "no", "repo": "body"}], 404),
        ([{"index": 2}, {"index": "x"}], 422),
        ([{"index": 2}] * 1001, 422),
        ({"dependencies": {"index": 2}}, 422),
    ):
        assert ada.put(f"{SHIP}/1/dependencies", json=body).status_code == status, body
        assert edges(clients.database) == {(1, 3), (1, 4), (5, 1)}
    assert ada.put(f"{SHIP}/1/dependencies", json=[{"index": 3}, {"index": 4}]).status_code == 200
    assert len(ada.get(f"{SHIP}/1/timeline").json()) == 5
    assert ada.put(f"{SHIP}/1/dependencies", json={}).status_code == 200
    assert edges(clients.database) == {(5, 1)}


def test_setting_the_list_leaves_what_the_caller_cannot_read(clients: ServiceClients, ada: httpx.Client) -> None:
    """PUT keeps blockers that the caller cannot read, since they could neither name nor remove them."""
    bob = clients.account("bob")
    secret = make_repository(clients.database, bob, "secret", is_private=True)
    [hidden] = open_many(clients.database, secret, bob, 1)
    relate(clients.database, [(ada.get(f"{SHIP}/1").json()["id"], hidden.id)])
    linked(ada, f"{SHIP}/1", 2)
    assert ada.put(f"{SHIP}/1/dependencies", json=[{"index": 3}]).json()["blocked_by_count"] == 2
    assert [one["title"] for one in ada.get(f"{SHIP}/1/dependencies").json()] == ["Issue 3", "Issue 1"]
    assert clients.admin.put(f"{SHIP}/1/dependencies", json=[]).json()["blocked_by_count"] == 0


def test_ready_issues_are_open_and_wait_for_nothing_open(clients: ServiceClients, ada: httpx.Client) -> None:
    """The filter `ready` applies to pages and totals; if dependencies are disabled, all open issues are ready."""
    linked(ada, f"{SHIP}/1", 2)
    linked(ada, f"{SHIP}/3", 4)
    linked(ada, f"{SHIP}/3", 5)
    ada.patch(f"{SHIP}/4", json={"state": "closed"})

    def listed(**query: str) -> tuple[list[int], str]:
        response = ada.get(SHIP, params={"sort": "oldest", **query})
        return numbers(response), response.headers["X-Total-Count"]

    assert listed(ready="true") == ([2, 5], "2")
    assert listed(ready="true", state="all") == ([2, 5], "2")
    assert listed(ready="true", state="closed") == ([], "0")
    assert listed(ready="true", limit="1", page="2") == ([5], "2")
    assert listed(ready="false") == ([1, 3], "2")
    assert listed(ready="") == listed() == ([1, 2, 3, 5], "4")
    assert ada.get(SHIP, params={"ready": "perhaps"}).status_code == 422
    assert numbers(ada.get("/repos/issues/search", params={"ready": "true"})) == [5, 2]
    ada.patch("/repos/ada/ship", json={"internal_tracker": {"enable_issue_dependencies": False}})
    assert listed(ready="true") == ([1, 2, 3, 5], "4")


def test_concurrent_requests_cannot_create_a_cycle(clients: ServiceClients, ada: httpx.Client) -> None:
    """If two requests would create a cycle together, exactly one succeeds and the other gets 409."""
    boat = make_repository(clients.database, find_user(clients.database, "ada"), "boat")
    open_many(clients.database, boat, find_user(clients.database, "ada"), 1)
    callers = [clients.with_token(find_user(clients.database, "ada")) for _ in range(2)]
    ways: list[tuple[str, dict[str, Any]]] = [
        (f"{SHIP}/1/dependencies", {"index": 1, "owner": "ada", "repo": "boat"}),
        ("/repos/ada/boat/issues/1/dependencies", {"index": 1, "owner": "ada", "repo": "ship"}),
    ]
    for _ in range(10):
        gate = threading.Barrier(2)
        statuses: list[int] = []

        def work(which: int, gate: threading.Barrier = gate, statuses: list[int] = statuses) -> None:
            path, body = ways[which]
            gate.wait()
            statuses.append(callers[which].post(path, json=body).status_code)

        threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [201, 409]
        for path, body in ways:
            ada.request("DELETE", path, json=body)
    assert edges(clients.database) == set()
