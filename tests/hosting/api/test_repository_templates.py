"""Repositories generated from template repositories."""

import httpx

from tests.hosting.api.file_helpers import create_file
from tests.hosting.api_clients import ServiceClients


def made_template(client: httpx.Client) -> None:
    """Give Ada a template with two commits, a topic, a label, a webhook and a rule."""
    client.post("/user/repos", json={"name": "ship", "auto_init": True, "template": True})
    create_file(client, "ada/ship", "deck/hull.txt", "wood\n")
    client.put("/repos/ada/ship/topics", json={"topics": ["boats"]})
    client.post("/repos/ada/ship/labels", json={"name": "leak", "color": "ff0000"})
    hook = {"type": "gitea", "config": {"url": "http://192.0.2.1/", "content_type": "json"}, "events": ["push"]}
    client.post("/repos/ada/ship/hooks", json=hook)
    client.post("/repos/ada/ship/branch_protections", json={"rule_name": "main"})


def test_a_repository_is_generated_from_a_template(clients: ServiceClients) -> None:
    """The new repository has all files in one commit, and the requested parts of the template."""
    ada = clients.user("ada")
    made_template(ada)
    body = {"owner": "ada", "name": "boat", "git_content": True, "labels": True, "topics": True}
    response = ada.post("/repos/ada/ship/generate", json={**body, "webhooks": True, "protected_branch": True})
    assert response.status_code == 201, response.text
    made = response.json()
    assert (made["full_name"], made["fork"], made["template"], made["empty"]) == ("ada/boat", False, False, False)
    commits = ada.get("/repos/ada/boat/commits").json()
    assert [len(commit["parents"]) for commit in commits] == [0]
    assert ada.get("/repos/ada/boat/contents/deck/hull.txt").json()["size"] == 5
    assert ada.get("/repos/ada/boat/topics").json() == {"topics": ["boats"]}
    assert [label["name"] for label in ada.get("/repos/ada/boat/labels").json()] == ["leak"]
    assert [hook["config"]["url"] for hook in ada.get("/repos/ada/boat/hooks").json()] == ["http://192.0.2.1/"]
    assert [one["rule_name"] for one in ada.get("/repos/ada/boat/branch_protections").json()] == ["main"]
    old = ada.get("/repos/ada/ship/commits").json()[-1]["sha"]
    assert ada.get(f"/repos/ada/boat/git/commits/{old}").status_code == 404


def test_variables_of_a_template_are_expanded(clients: ServiceClients) -> None:
    """Variables are replaced in the files that `.gitea/template` matches."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "template": True})
    create_file(ada, "ada/ship", ".gitea/template", "*.md\n")
    text = "$REPO_NAME of $TEMPLATE_NAME at $REPO_HTTPS_URL, $REPO_OWNER_UPPER\n"
    create_file(ada, "ada/ship", "ABOUT.md", text)
    body = {"owner": "ada", "name": "boat", "git_content": True}
    response = ada.post("/repos/ada/ship/generate", json=body)
    assert response.status_code == 201, response.text
    url = response.json()["clone_url"]
    assert ada.get("/repos/ada/boat/raw/ABOUT.md").text == f"boat of ship at {url}, ADA\n"
    assert ada.get("/repos/ada/boat/contents/.gitea/template").status_code == 404


def test_only_the_requested_parts_are_copied(clients: ServiceClients) -> None:
    """A repository generated with topics only is empty and has no labels, no hooks and no protected branches."""
    ada = clients.user("ada")
    made_template(ada)
    created = ada.post("/repos/ada/ship/generate", json={"owner": "ada", "name": "boat", "topics": True}).json()
    assert (created["empty"], created["topics"]) == (True, ["boats"])
    assert ada.get("/repos/ada/boat/labels").json() == []
    assert ada.get("/repos/ada/boat/hooks").json() == []
    assert ada.get("/repos/ada/boat/branch_protections").json() == []


def test_teams_are_copied_within_their_organization_only(clients: ServiceClients) -> None:
    """A rule of a repository of another owner names no teams, which mean nothing there."""
    ada = clients.user("ada")
    ada.post("/orgs", json={"username": "fleet"})
    ada.post("/orgs/fleet/teams", json={"name": "Crew", "permission": "write"})
    ada.post("/orgs/fleet/repos", json={"name": "ship", "auto_init": True, "template": True})
    rule = {"rule_name": "main", "enable_push": True, "push_whitelist_teams": ["Crew"]}
    ada.post("/repos/fleet/ship/branch_protections", json=rule)
    for owner, teams in (("ada", []), ("fleet", ["Crew"])):
        body = {"owner": owner, "name": "boat", "protected_branch": True}
        assert ada.post("/repos/fleet/ship/generate", json=body).status_code == 201
        (copied,) = ada.get(f"/repos/{owner}/boat/branch_protections").json()
        assert (copied["enable_push"], copied["push_whitelist_teams"]) == (True, teams)


def test_invalid_requests_generate_nothing(clients: ServiceClients) -> None:
    """Other repositories than templates, empty requests, taken names and hooks of others are refused."""
    ada, bob = clients.user("ada"), clients.user("bob")
    made_template(ada)
    ada.post("/user/repos", json={"name": "plain"})
    body = {"owner": "bob", "name": "boat", "git_content": True}
    assert bob.post("/repos/ada/plain/generate", json=body).status_code == 422
    generate = "/repos/ada/ship/generate"
    assert bob.post(generate, json={"owner": "bob", "name": "boat"}).status_code == 422
    assert bob.post(generate, json={**body, "owner": "ada"}).status_code == 404
    assert bob.post(generate, json={**body, "webhooks": True}).status_code == 403
    assert bob.get("/user/repos").json() == []
    assert bob.post(generate, json=body).status_code == 201
    assert bob.post(generate, json=body).status_code == 409
    assert clients.anonymous.post(generate, json=body).status_code == 401
    repositories = {repo["full_name"] for repo in clients.admin.get("/repos/search").json()["data"]}
    assert repositories == {"ada/plain", "ada/ship", "bob/boat"}
