"""Renovate's sequence of calls to a host of this kind: it has too many packages to be installed for a test.

Renovate 40 itself was watched doing this: it cloned, pushed its branch, and opened its pull request.
"""

from collections.abc import Callable

from tests.compat.clients.people import Person


def test_renovate_finds_a_repository_and_proposes_a_change(person: Callable[[str], Person]) -> None:
    """Who am I, which version, the repository, its pulls, the branch pushed, the issue list, the pull request."""
    bot = person("bot")
    bot.make("app")
    api = bot.api
    assert api.get("/user").json()["login"] == "bot"
    assert api.get("/version").json()["version"]
    found = api.get("/repos/search", params={"uid": bot.account.id, "archived": "false", "limit": 50}).json()
    assert [repository["full_name"] for repository in found["data"]] == ["bot/app"]
    repository = api.get("/repos/bot/app").json()
    assert repository["permissions"] == {"admin": True, "push": True, "pull": True}
    assert (repository["archived"], repository["mirror"], repository["empty"]) == (False, False, False)
    assert (repository["has_pull_requests"], repository["allow_rebase"]) == (True, True)
    bot.git("clone", "--quiet", "--filter=blob:none", bot.url("bot/app"), "work")
    assert api.get("/repos/bot/app/pulls", params={"state": "all", "sort": "recentupdate"}).json() == []
    bot.git("checkout", "--quiet", "-b", "renovate/configure", inside="work")
    head = bot.commit("work", "renovate.json", "{}")
    bot.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/renovate/configure", inside="work")
    assert api.get("/repos/bot/app/branches/renovate%2Fconfigure").json()["commit"]["id"] == head
    assert api.get("/repos/bot/app/issues", params={"state": "all", "type": "issues"}).json() == []
    assert api.get("/repos/bot/app/labels").json() == []
    change = {
        "base": "main",
        "head": "renovate/configure",
        "title": "Configure Renovate",
        "body": "Hello",
        "labels": [],
    }
    pull = api.post("/repos/bot/app/pulls", json=change)
    assert pull.status_code == 201
    number = pull.json()["number"]
    assert api.post("/repos/bot/app/pulls", json=change).status_code == 409
    edited = api.patch(f"/repos/bot/app/pulls/{number}", json={"title": "Configure it"})
    assert (edited.status_code, edited.json()["title"]) == (201, "Configure it")
    comments = f"/repos/bot/app/issues/{number}/comments"
    assert api.post(comments, json={"body": "Rebased"}).status_code == 201
    assert [comment["body"] for comment in api.get(comments).json()] == ["Rebased"]
    dashboard = api.post("/repos/bot/app/issues", json={"title": "Dependency Dashboard", "body": "Nothing yet"})
    assert dashboard.status_code == 201
    closed = api.patch(f"/repos/bot/app/pulls/{number}", json={"state": "closed"})
    assert closed.json()["state"] == "closed"
    bot.git("push", "--quiet", "origin", "--delete", "renovate/configure", inside="work")
