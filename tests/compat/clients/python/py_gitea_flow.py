"""A typical program written with py-gitea.

`py_gitea_flow.py URL NAME PASSWORD TOKEN`
"""

import logging
import sys
from base64 import b64encode

from gitea import Gitea, Issue, NotFoundException, Repository, User
from gitea.exceptions import ConflictException, Forbidden, GiteaApiException, Unauthorized, Unprocessable


def expect(kind: type[GiteaApiException], call: object, *arguments: object, **named: object) -> None:
    """Expect a call to fail with the client's own error."""
    assert callable(call)
    try:
        call(*arguments, **named)
    except kind:
        return
    raise AssertionError(f"{call} did not fail with {kind.__name__}")


def people(client: Gitea, name: str) -> tuple[User, User]:
    """Create users as the administrator, change one and find them in the list."""
    assert client.get_version()
    me = client.get_user()
    assert (me.username, me.is_admin) == (name, True)
    created = [
        client.create_user(user, f"{user}@example.org", "under-the-sea-4", change_pw=False, send_notify=False)
        for user in ("squid", "whale")
    ]
    expect(Unprocessable, client.create_user, "squid", "squid2@example.org", "under-the-sea-4")
    assert client.get_user_by_name("squid") == created[0]
    assert client.get_user_by_email("whale@example.org") == created[1]
    created[0].full_name = "A Squid"
    created[0].commit(login_name="squid")
    assert User.request(client, "squid").full_name == "A Squid"
    expect(NotFoundException, User.request, client, "nobody-at-all")
    return created[0], created[1]


def repository(client: Gitea, owner: User) -> Repository:
    """Create repositories of another user, change one, and list them page by page."""
    created = client.create_repo(owner, "reef", "What lives there", private=True, default_branch="main")
    assert created.get_full_name() == "squid/reef"
    assert isinstance(created.owner, User)
    expect(ConflictException, client.create_repo, owner, "REEF")
    expect(Unprocessable, client.create_repo, owner, "no/name")
    created.description = "Everything that lives there"
    created.commit()
    assert Repository.request(client, "squid", "reef").description == "Everything that lives there"
    created.add_topic("sea")
    assert created.get_topics() == ["sea"]
    for number in range(35):
        client.create_repo(owner, f"shell-{number}", autoInit=False)
    assert len(owner.get_repositories()) == 36
    expect(NotFoundException, Repository.request, client, "squid", "desert")
    return created


def organization(client: Gitea, owner: User, member: User) -> None:
    """Make an organization with a repository and a team."""
    created = client.create_org(owner, "ocean", "Deep")
    assert created in client.get_orgs()
    assert created in owner.get_orgs()
    created.description = "Deeper"
    created.commit()
    repo = created.create_repo("currents", "Where it flows", default_branch="main")
    assert [repository.name for repository in created.get_repositories()] == ["currents"]
    team = client.create_team(created, "divers", "Those who go down", permission="write")
    team.add_user(member)
    team.add_repo(created.username, repo)
    assert [user.username for user in team.get_members()] == [member.username]
    assert [repo.name for repo in team.get_repos()] == ["currents"]
    assert created.get_team("DIVERS", ignore_case=True).id == team.id
    assert {user.username for user in created.get_members()} == {owner.username, member.username}
    team.remove_team_member(member.username)
    team.delete()
    fresh = Repository.request(client, "ocean", "currents")
    assert not isinstance(fresh.owner, User)
    fresh.transfer_ownership(member)
    assert Repository.request(client, member.username, "currents").name == "currents"
    created.delete()
    assert "ocean" not in [org.username for org in client.get_orgs()]


def code(repo: Repository) -> None:
    """Look at branches and commits."""
    [main] = repo.get_branches()
    created = repo.add_branch(main, "tide/low")
    assert created.commit["id"] == main.commit["id"]
    assert {branch.name for branch in repo.get_branches()} == {"main", "tide/low"}
    expect(ConflictException, repo.add_branch, main, "tide/low")
    [commit] = repo.get_commits()
    assert commit.sha == main.commit["id"]
    assert commit.inner_commit["message"]


def hooks(repo: Repository) -> None:
    """Make, list and remove webhooks."""
    created = repo.create_gitea_hook("https://ci.example.org/h", ["push", "create"])
    assert (created["type"], created["active"], created["events"]) == ("gitea", True, ["create", "push"])
    assert [hook["id"] for hook in repo.list_hooks()] == [created["id"]]
    expect(Unprocessable, repo.create_gitea_hook, "ci.example.org", ["push"])
    expect(Unprocessable, repo.create_gitea_hook, "https://ci.example.org", ["tide"])
    repo.delete_hook(created["id"])
    expect(NotFoundException, repo.delete_hook, created["id"])


def issues(client: Gitea, repo: Repository, member: User) -> None:
    """Make issues, change them and page through them."""
    milestone = repo.create_milestone("High tide", "When the water is up")
    created = Issue.create_issue(client, repo, "A leak", "In the hull")
    for number in range(31):
        repo.create_issue(f"Drop {number}", assignees=[member.username])
    created.milestone = milestone
    created.title = "A big leak"
    created.commit()
    http_request = Issue.request(client, "squid", "reef", created.number)
    assert (http_request.title, http_request.milestone.title) == ("A big leak", "High tide")
    created.state = Issue.CLOSED
    created.commit()
    assert len(repo.get_issues_state(Issue.OPENED)) == 31
    [closed] = repo.get_issues_state(Issue.CLOSED)
    assert closed.number == created.number
    client.requests_post(f"/repos/squid/reef/issues/{created.number}/comments", {"body": "Plug it"})
    assert [comment.body for comment in closed.get_comments()] == ["Plug it"]
    assert len(repo.get_issues()) == 32
    expect(NotFoundException, Issue.request, client, "squid", "reef", "999")
    # The client has no methods of its own for what blocks an issue.
    path = "/repos/squid/reef/issues"
    client.requests_post(f"{path}/2/dependencies", {"index": 3, "owner": "squid", "repo": "reef"})
    assert [item["number"] for item in client.requests_get(f"{path}/2/dependencies")] == [3]
    assert [item["number"] for item in client.requests_get(f"{path}/3/blocks")] == [2]
    expect(ConflictException, client.requests_post, f"{path}/3/blocks", {"index": 2})
    assert Issue.request(client, "squid", "reef", "2").blocked_by_count == 1


def working_day(client: Gitea, url: str, repo: Repository) -> None:
    """Open, review and merge a pull request, and publish a release, with the client's generic methods."""
    path = "/repos/squid/reef"
    colleague = Gitea(url, auth=("whale", "under-the-sea-4"))
    issue = repo.create_issue("The reef is bare", assignees=[])
    [main] = [branch for branch in repo.get_branches() if branch.name == "main"]
    repo.add_branch(main, "coral")
    for number in range(3):
        content = b64encode(b"polyp\npolyp\n").decode()
        repo.create_file(f"coral/{number}.txt", content, {"branch": "coral", "message": "Plant it"})
    opened = {"head": "coral", "base": "main", "title": "Plant corals", "body": f"Fixes #{issue.number}"}
    pull = client.requests_post(f"{path}/pulls", opened)
    at = f"{path}/pulls/{pull['number']}"
    assert [item["filename"] for item in client.requests_get(f"{at}/files")] == [
        f"coral/{number}.txt" for number in range(3)
    ]
    expect(ConflictException, client.requests_post, f"{path}/pulls", opened)
    review = colleague.requests_post(f"{at}/reviews", {"event": "APPROVED", "body": "Colourful"})
    assert (review["state"], review["official"]) == ("APPROVED", True)
    sha = pull["head"]["sha"]
    client.requests_post(f"{path}/statuses/{sha}", {"state": "success", "context": "ci/water"})
    assert client.requests_get(f"{path}/commits/{sha}/status")["state"] == "success"
    expect(NotFoundException, client.requests_get, f"{at}/merge")
    # The client reads JSON of every answer to a POST, and the one to a merge is empty.
    response = client.requests.post(f"{url}/api/v1{at}/merge", json={"Do": "merge"}, headers=client.headers)
    assert (response.status_code, response.content) == (200, b"")
    assert client.requests_get(at)["merged"] is True
    assert Issue.request(client, "squid", "reef", issue.number).state == "closed"
    release = client.requests_post(
        f"{path}/releases", {"tag_name": "v1", "target_commitish": "main", "name": "One"}
    )
    # Nor does it send files; its session does.
    headers = {"Authorization": client.headers["Authorization"]}
    address = f"{url}/api/v1{path}/releases/{release['id']}/assets"
    sent = client.requests.post(address, files={"attachment": ("chart.txt", b"a chart")}, headers=headers)
    asset = sent.json()
    assert (asset["name"], asset["size"]) == ("chart.txt", 7)
    assert client.requests_get(f"{path}/releases/latest")["assets"][0]["name"] == "chart.txt"
    client.requests_delete(f"{path}/branches/coral")
    assert "coral" not in {branch.name for branch in repo.get_branches()}


def main() -> None:
    """Run all flows once."""
    url, name, password, token = sys.argv[1:]
    # The client logs every error it raises.
    logging.disable(logging.CRITICAL)
    client = Gitea(url, token)
    squid, whale = people(client, name)
    repo = repository(client, squid)
    organization(client, squid, whale)
    code(repo)
    hooks(repo)
    repo_and_whale(client, repo, whale)
    issues(client, repo, whale)
    working_day(client, url, repo)
    repo.delete()
    expect(NotFoundException, Repository.request, client, "squid", "reef")
    expect(Forbidden, Gitea(url, "0" * 40).get_user)
    expect(Unauthorized, Gitea(url, auth=("whale", "under-the-sea-4")).get_users)
    assert Gitea(url, auth=(name, password)).get_user().username == name
    for user in (squid, whale):
        for owned in user.get_repositories():
            owned.delete()
        user.delete()


def repo_and_whale(client: Gitea, repo: Repository, whale: User) -> None:
    """Share a repository."""
    client.requests_put(f"/repos/squid/reef/collaborators/{whale.username}", {"permission": "write"})
    assert repo.get_user_permission(whale).permission == "write"
    assert {user.username for user in repo.get_users_with_access()} == {"squid", "whale"}


if __name__ == "__main__":
    main()
