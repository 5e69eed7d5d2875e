"""The tag protection endpoints, and the effect of rules on tags, releases and pushes."""

import subprocess
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.repositories import find_repository
from holdfast.hosting.store.tag_protections import MOST_RULES
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.repository_helpers import WRITE, let_in, make_organization, make_team

RULES = "/repos/ada/ship/tag_protections"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with a commit, which Bob may write to."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    clients.account("bob")
    bob = find_user(clients.database, "bob")
    let_in(clients.database, find_repository(clients.database, "ada", "ship"), bob, WRITE)
    return ada


def test_rules_are_made_shown_changed_and_deleted(ada: httpx.Client) -> None:
    """A rule returns users by name, and an edit changes only the given fields."""
    assert ada.get(RULES).json() == []
    response = ada.post(RULES, json={"name_pattern": " v* ", "whitelist_usernames": ["Bob"]})
    assert response.status_code == 201
    shown = response.json()
    assert (shown["name_pattern"], shown["whitelist_usernames"], shown["whitelist_teams"]) == ("v*", ["bob"], [])
    rule_url = f"{RULES}/{shown['id']}"
    assert ada.get(rule_url).json() == shown
    changed = ada.patch(rule_url, json={"name_pattern": "/^v/"}).json()
    assert (changed["name_pattern"], changed["whitelist_usernames"]) == ("/^v/", ["bob"])
    assert ada.patch(rule_url, json={"whitelist_usernames": []}).json()["whitelist_usernames"] == []
    assert [item["id"] for item in ada.get(RULES).json()] == [shown["id"]]
    assert ada.delete(rule_url).status_code == 204
    assert ada.get(rule_url).status_code == 404
    assert ada.patch(rule_url, json={}).status_code == 404
    assert ada.delete(rule_url).status_code == 404


def test_an_invalid_rule_is_refused(ada: httpx.Client) -> None:
    """Invalid patterns, duplicates and unknown users or teams are refused; a rule belongs to one repository."""
    for body in (
        {},
        {"name_pattern": "  "},
        {"name_pattern": "[a"},
        {"name_pattern": "/(/"},
        {"name_pattern": "x" * 300},
        {"name_pattern": "v", "whitelist_usernames": ["nobody"]},
        {"name_pattern": "v", "whitelist_teams": ["none"]},
    ):
        assert ada.post(RULES, json=body).status_code == 422, body
    first, second = (ada.post(RULES, json={"name_pattern": name}).json()["id"] for name in "ab")
    assert ada.post(RULES, json={"name_pattern": "a"}).status_code == 403
    assert ada.patch(f"{RULES}/{second}", json={"name_pattern": "a"}).status_code == 422
    ada.post("/user/repos", json={"name": "other"})
    assert ada.get(f"/repos/ada/other/tag_protections/{first}").status_code == 404
    assert ada.delete(f"/repos/ada/other/tag_protections/{first}").status_code == 404
    assert ada.get(f"{RULES}/{first}").status_code == 200


def test_the_number_of_rules_is_limited(ada: httpx.Client) -> None:
    """The number of rules is limited, because each rule is matched against every pushed tag."""
    for number in range(MOST_RULES):
        assert ada.post(RULES, json={"name_pattern": f"r{number}"}).status_code == 201
    assert ada.post(RULES, json={"name_pattern": "one-more"}).status_code == 422


def test_a_protected_tag_is_for_those_the_rule_names(clients: ServiceClients, ada: httpx.Client) -> None:
    """Even the owner cannot create or delete the tag if the rule does not name them, but can release it."""
    bob = clients.with_token(find_user(clients.database, "bob"))
    tags, releases = "/repos/ada/ship/tags", "/repos/ada/ship/releases"
    ada.post(RULES, json={"name_pattern": "v*", "whitelist_usernames": ["bob"]})
    refused = ada.post(tags, json={"tag_name": "v1"})
    assert (refused.status_code, refused.json()["message"]) == (403, "Tag v1 is protected")
    assert ada.post(releases, json={"tag_name": "v1"}).status_code == 403
    assert ada.get(releases).json() == []
    assert ada.post(tags, json={"tag_name": "open"}).status_code == 201
    assert bob.post(tags, json={"tag_name": "v1"}).status_code == 201
    assert ada.delete(f"{tags}/v1").status_code == 403
    # The tag is there: a release changes none.
    assert ada.post(releases, json={"tag_name": "v1"}).status_code == 201
    assert bob.post(releases, json={"tag_name": "v2"}).status_code == 201
    # A tag with a release is not deleted alone.
    assert bob.delete(f"{tags}/v1").status_code == 409


def test_a_team_may_change_a_protected_tag(clients: ServiceClients) -> None:
    """Members of a team that the rule names create the tag; the name of the team matches in any case."""
    owner, bob = clients.account("owner"), clients.account("bob")
    organization = make_organization(clients.database, "fleet", owner)
    make_team(clients.database, organization, "Releasers", [bob], mode=WRITE, everywhere=True)
    first, second = clients.with_token(owner), clients.with_token(bob)
    first.post("/orgs/fleet/repos", json={"name": "ship", "auto_init": True})
    rule = {"name_pattern": "v*", "whitelist_teams": ["releasers"]}
    response = first.post("/repos/fleet/ship/tag_protections", json=rule)
    assert (response.status_code, response.json()["whitelist_teams"]) == (201, ["Releasers"])
    assert first.post("/repos/fleet/ship/tags", json={"tag_name": "v1"}).status_code == 403
    assert second.post("/repos/fleet/ship/tags", json={"tag_name": "v1"}).status_code == 201


def test_a_push_of_a_protected_tag_is_refused(clients: ServiceClients, ada: httpx.Client, tmp_path: Path) -> None:
    """Creating, moving and deleting a tag are refused if a rule protects it."""
    folder = tmp_path / "ship"
    folder.mkdir()
    address = clients.service.url.replace("://", f"://ada:{PASSWORD}@")

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)

    assert git("clone", "-q", f"{address}/ada/ship.git", ".").returncode == 0
    git("tag", "v1")
    git("tag", "open")
    assert git("push", "-q", "origin", "v1").returncode == 0
    before = ada.get("/repos/ada/ship/tags/v1").json()
    ada.post(RULES, json={"name_pattern": "v*"})
    git("tag", "v2")
    pushed = git("push", "origin", "v2")
    assert pushed.returncode != 0
    assert "Tag v2 is protected" in pushed.stderr
    assert git("push", "origin", ":v1").returncode != 0
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    assert git(*author, "commit", "-q", "--allow-empty", "-m", "More").returncode == 0
    git("tag", "-f", "v1")
    assert "Tag v1 is protected" in git("push", "-f", "origin", "v1").stderr
    assert git("push", "origin", "open").returncode == 0
    assert {tag["name"] for tag in ada.get("/repos/ada/ship/tags").json()} == {"open", "v1"}
    assert ada.get("/repos/ada/ship/tags/v1").json() == before
