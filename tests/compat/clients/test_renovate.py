"""The sequence of API calls of Renovate, which has too many packages to be installed for a test.

`make renovate` runs the program itself, which makes these calls.
"""

from collections.abc import Callable

import pytest

from tests.compat.clients.people import Person
from tests.conftest import wait_for


def test_renovate_finds_a_repository_and_proposes_a_change(person: Callable[[str], Person]) -> None:
    """The API requests of Renovate work from the search for the repository to the closed pull request."""
    bot = person("bot")
    bot.make("app")
    api = bot.api
    assert api.get("/user").json()["login"] == "bot"
    assert api.get("/version").json()["version"]
    result = api.get("/repos/search", params={"uid": bot.account.id, "archived": "false", "limit": 50}).json()
    assert [repository["full_name"] for repository in result["data"]] == ["bot/app"]
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


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("merges", ["itself", "by schedule"])
def test_renovate_merges_its_pull_request_when_the_status_is_a_success(
    person: Callable[[str], Person], merges: str
) -> None:
    """Renovate merges after the status, or schedules the merge before it with `merge_when_checks_succeed`."""
    bot = person("bot")
    bot.make("app")
    api, branch, pulls = bot.api, "renovate/ropes-1.x", "/repos/bot/app/pulls"
    rule = {
        "rule_name": "main",
        "enable_push": True,
        "enable_status_check": True,
        "status_check_contexts": ["ci/*"],
    }
    assert api.post("/repos/bot/app/branch_protections", json=rule).status_code == 201
    bot.clone("bot/app", "work")
    bot.git("checkout", "--quiet", "-b", branch, inside="work")
    head = bot.commit("work", "versions.txt", "bot/ropes=1.1.0\n")
    bot.git("push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{branch}", inside="work")
    change = {"base": "main", "head": branch, "title": "Update dependency", "body": "", "labels": []}
    number = api.post(pulls, json=change).json()["number"]
    status = api.get(f"/repos/bot/app/commits/{branch}/status").json()
    assert (status["state"], status["statuses"]) == ("", [])
    merge = f"{pulls}/{number}/merge"
    assert api.post(merge, json={"Do": "rebase"}).status_code == 405
    later = {"Do": "rebase", "merge_when_checks_succeed": True, "delete_branch_after_merge": True}
    if merges == "by schedule":
        assert api.post(merge, json=later).status_code == 201
        assert api.get(f"{pulls}/{number}").json()["merged"] is False
    body = {"context": "ci/test", "state": "success"}
    assert api.post(f"/repos/bot/app/statuses/{head}", json=body).status_code == 201
    if merges == "itself":
        assert api.get(f"/repos/bot/app/commits/{branch}/status").json()["state"] == "success"
        assert api.get(f"{pulls}/{number}").json()["mergeable"] is True
        assert api.post(merge, json={"Do": "rebase"}).status_code == 200
        bot.git("push", "--quiet", "origin", "--delete", branch, inside="work")
    wait_for(lambda: api.get(f"{pulls}/{number}").json()["merged"])
    wait_for(lambda: api.get(f"/repos/bot/app/branches/{branch}").status_code == 404)
    assert api.get("/repos/bot/app/raw/versions.txt").text == "bot/ropes=1.1.0\n"
